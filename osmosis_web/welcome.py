"""What the demo prints when it is up: where to go, and lines to paste that push a rollout."""

from pathlib import Path
from shlex import quote
from string import Template
from textwrap import indent

LINE_WIDTH = 92

TEXT = Template("""
  Osmosis Web is ready.

    Open     $url
             Continue as Ada, who owns the workspace acme. Linus is a member of it,
             and Grace is new: she has yet to connect her repository.
    GitHub   $github
             A small one on this machine. Nothing leaves it.
    Logs     $logs
    Stop     Ctrl-C

  Push a new rollout: paste this into another terminal, as often as you like.

$lines
""")

# In a subshell that ends at the first failure: whoever pastes this stays where they are. The
# osmosis command knows workspaces by their github.com address, so only pushes go to the emulator.
LINES = Template("""\
( set -e
cd "$$(mktemp -d)"
git clone -q $github/acme/agents.git
cd agents
git remote set-url origin https://github.com/acme/agents.git
git remote set-url --push origin $github/acme/agents.git
git switch -q -c "hello-$$(date +%H%M%S)-$$$$"
mkdir -p rollouts/hello configs/eval configs/training
$files
git add rollouts configs
git -c user.name='Ada Lovelace' -c user.email=ada@acme.example -c commit.gpgsign=false \\
  commit -q -m 'Add rollout hello'
git push -q -u origin HEAD
echo "Pushed from $$PWD" )""")

FILES = {
    "rollouts/hello/main.py": """\
from osmosis_ai.rollout.agent_workflow import AgentWorkflow
from osmosis_ai.rollout.grader import Grader

class Hello(AgentWorkflow):
    async def run(self, ctx):
        return None

class Friendliness(Grader):
    async def grade(self, ctx):
        ctx.set_reward(1.0)
""",
    "rollouts/hello/pyproject.toml": """\
[project]
name = "hello"
version = "0.1.0"
description = "Says hello and is graded for friendliness."
""",
    "rollouts/hello/README.md": """\
# Hello

Says hello.
""",
    "configs/eval/hello.toml": """\
[experiment]
rollout = "hello"
entrypoint = "main.py"
model_path = "openai/gpt-5-mini"
dataset = "greetings"
[secrets]
required = []
""",
    "configs/training/hello.toml": """\
[experiment]
rollout = "hello"
entrypoint = "main.py"
model_path = "Qwen/Qwen3.6-35B-A3B"
dataset = "greetings"
""",
}


def welcome(url: str, github_url: str, logs: Path) -> str:
    """The whole text, for the addresses of the web server and the emulator."""
    lines = indent(lines_to_paste(github_url), "    ")
    return TEXT.substitute(url=url, github=github_url, logs=logs, lines=lines)


def lines_to_paste(github_url: str) -> str:
    """Shell lines that clone, add the rollout `hello` on a new branch, commit and push.

    They need sh and git, and no identity, credentials or settings of git.
    """
    files = "\n".join(_writing(path, text) for path, text in FILES.items())
    return LINES.substitute(github=github_url, files=files)


def _writing(path: str, text: str) -> str:
    """A command that writes a file, broken where a line would get long."""
    rows = ["printf '%s\\n'"]
    for word in [*(quote(line) for line in text.splitlines()), f"> {path}"]:
        if len(rows[-1]) + len(word) > LINE_WIDTH:
            rows[-1] += " \\"
            rows.append(" ")
        rows[-1] += f" {word}"
    return "\n".join(rows)
