"""A clone on somebody's machine, and the command line in it."""

import json
import os
import pty
import re
import select
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDERS = ("rollouts", "configs/eval", "configs/training", "data")
FILES = ("AGENTS.md", "CLAUDE.md", "configs/AGENTS.md")
# What a program asks its terminal for, and what a terminal answers: where the cursor is.
CURSOR_ASKED, CURSOR = b"\x1b[6n", b"\x1b[1;1R"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


@dataclass(frozen=True)
class Answer:
    """What one call printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The object on standard output."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@dataclass
class Machine:
    """A home folder, and the server that the command line there is pointed at."""

    osmosis: Path
    home: Path
    server: str
    environment: dict[str, str] = field(default_factory=dict)

    def clone(self, push_to: str = "", origin: str = "git@github.com:acme/agents.git") -> Path:
        """A clone that the command line takes for a workspace directory."""
        folder = self.home / "agents"
        if push_to:
            self.git("clone", "-q", push_to, str(folder))
            self.git("remote", "set-url", "origin", origin, folder=folder)
            self.git("remote", "set-url", "--push", "origin", push_to, folder=folder)
        else:
            self.git("init", "-q", "-b", "main", str(folder))
            self.git("remote", "add", "origin", origin, folder=folder)
        for name in FOLDERS:
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (folder / name).write_text("Read the docs.\n")
        return folder

    def git(self, *arguments: str, folder: Path | None = None) -> None:
        subprocess.run(
            ["git", *arguments], cwd=folder or self.home, check=True, env=self.variables()
        )

    def variables(self) -> dict[str, str]:
        """All that a call gets to see of the machine it runs on."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "TZ": "UTC",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "NO_PROXY": "127.0.0.1,localhost",
            "OSMOSIS_PLATFORM_URL": self.server,
            "OSMOSIS_TOKEN_STORE": "file",
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "Ada Lovelace"), ("EMAIL", "ada@acme.example"))
            },
            **self.environment,
        }

    def run(self, *arguments: str, folder: Path | None = None, token: str = "") -> Answer:
        """One call, to its end; with a token as on a CI machine."""
        own = {"OSMOSIS_TOKEN": token, "OSMOSIS_TOKEN_PLATFORM_URL": self.server} if token else {}
        done = subprocess.run(
            [self.osmosis, *arguments],
            cwd=folder or self.home,
            env={**self.variables(), **own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str, output: Path) -> "subprocess.Popen[bytes]":
        """One call that goes on by itself; what it prints is in the file at once."""
        with output.open("wb") as file:
            return subprocess.Popen(
                [self.osmosis, *arguments],
                cwd=self.home,
                env=self.variables(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def talk(self, *arguments: str, folder: Path, answers: dict[str, bytes]) -> Answer:
        """One call at a terminal: when it shows a text, in this order, the keys are pressed."""
        controller, terminal = pty.openpty()
        process = subprocess.Popen(
            [self.osmosis, *arguments],
            cwd=folder,
            env=self.variables(),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        shown = _converse(controller, list(answers.items()))
        os.close(controller)
        return Answer(process.wait(timeout=10), ESCAPES.sub("", shown), "")


def _converse(controller: int, waiting: list[tuple[str, bytes]], seconds: float = 60) -> str:
    """What is shown until the program ends. A terminal whose program has ended gives an error."""
    shown, seen, until = "", 0, time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([controller], [], [], 0.2)[0]:
            continue
        try:
            chunk = os.read(controller, 65536)
        except OSError:
            return shown
        for _ in range(chunk.count(CURSOR_ASKED)):
            os.write(controller, CURSOR)
        shown += chunk.decode(errors="replace")
        if waiting and waiting[0][0] in ESCAPES.sub("", shown[seen:]):
            seen = len(shown)
            os.write(controller, waiting.pop(0)[1])
    raise AssertionError(f"It has not ended after {seconds:.0f} s: {ESCAPES.sub('', shown)}")
