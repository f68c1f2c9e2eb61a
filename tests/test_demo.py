"""What the demo refuses, what it keeps, and the lines it gives to paste."""

import os
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

from osmosis_web.demo import Demo
from osmosis_web.locks import locked
from osmosis_web.welcome import lines_to_paste, welcome
from tests.settings import free_port

PROJECT = Path(__file__).resolve().parent.parent

# Only what every user has: no identity for git, no settings, no credentials.
STRANGER = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}


def demo(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Run it with these arguments, and say how it ended and what it said."""
    ended = subprocess.run(
        [sys.executable, "-m", "osmosis_web.demo", *arguments],
        cwd=PROJECT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_it_says_where_it_is_already_running(tmp_path: Path) -> None:
    with locked(tmp_path / "demo.pid", seconds=1):
        (tmp_path / "demo.pid").write_text("4711 http://127.0.0.1:8000")
        answer = demo("--data", str(tmp_path))

    assert answer == (
        1,
        "",
        "The demo is already running at http://127.0.0.1:8000. "
        "Stop it with Ctrl-C where it was started, or by: kill 4711\n",
    )


def test_it_names_the_port_that_is_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1] - 1
        answer = demo("--data", str(tmp_path), PORT=str(port))

    assert answer == (
        1,
        "",
        f"Port {port + 1} is in use by another program. Choose two others, such as {port + 100} "
        f"and the next: script/demo --port {port + 100}\n",
    )


def test_it_says_that_it_cannot_make_its_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert demo("--data", str(tmp_path / "file" / "data")) == (
        1,
        "",
        f"Cannot make the folder {tmp_path}/file/data: Not a directory.\n",
    )


def test_it_forgets_only_what_it_has_made(tmp_path: Path) -> None:
    for name in ("github", "git", "static", "mine"):
        (tmp_path / name).mkdir()
    (tmp_path / "secrets.json").write_text("{}")
    Demo(tmp_path, free_port()).forget()

    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_it_keeps_its_secrets_to_itself_and_over_restarts(tmp_path: Path) -> None:
    made = Demo(tmp_path, free_port()).secrets()
    kept = Demo(tmp_path, free_port()).secrets()

    assert made == kept
    assert sorted(made) == ["ENCRYPTION_KEYS", "SECRET_KEY"]
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600


def test_it_prints_lines_that_push_a_rollout_as_often_as_one_likes(tmp_path: Path) -> None:
    world = tmp_path / "world"
    bare = world / "acme" / "agents.git"
    bare.parent.mkdir(parents=True)
    git("init", "--quiet", "--bare", "--initial-branch=main", str(bare))
    tree = git("-C", str(bare), "mktree")
    commit = git("-C", str(bare), "commit-tree", tree, "-m", "Start")
    git("-C", str(bare), "update-ref", "refs/heads/main", commit)
    for home in ("first", "second"):
        (tmp_path / home).mkdir()
        pasted = subprocess.run(
            ["sh"],
            input=lines_to_paste(world.as_uri()),
            cwd=tmp_path / home,
            env={**STRANGER, "HOME": str(tmp_path / home), "TMPDIR": str(tmp_path / home)},
            capture_output=True,
            text=True,
        )
        clone = Path(pasted.stdout.removeprefix("Pushed from ").strip())
        assert (pasted.returncode, pasted.stderr, clone.name) == (0, "", "agents")

    branches = git("-C", str(bare), "branch", "--format=%(refname:short)").splitlines()
    files = git("-C", str(bare), "ls-tree", "-r", "--name-only", branches[0]).splitlines()
    experiments = [git("-C", str(bare), "show", f"{branches[0]}:{path}") for path in files[:2]]
    assert {branch.split("-")[0] for branch in branches} == {"hello", "main"}
    assert files == [
        *("configs/eval/hello.toml", "configs/training/hello.toml", "rollouts/hello/README.md"),
        *("rollouts/hello/main.py", "rollouts/hello/pyproject.toml"),
    ]
    assert [tomllib.loads(text)["experiment"]["rollout"] for text in experiments] == ["hello"] * 2
    remote = [
        git("-C", str(clone), "remote", "get-url", *what, "origin") for what in ((), ("--push",))
    ]
    assert remote == ["https://github.com/acme/agents.git", f"{world.as_uri()}/acme/agents.git"]


def git(*arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@acme.example")
    return subprocess.run(
        ["git", *identity, *arguments],
        env=STRANGER,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_it_prints_no_line_wider_than_a_hundred_characters() -> None:
    text = welcome("http://127.0.0.1:8000", "http://127.0.0.1:8001", Path("/home/ada/logs"))

    assert [line for line in text.splitlines() if len(line) > 100] == []
