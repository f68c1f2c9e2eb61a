"""Runs the git command, untouched by the settings of whoever runs it."""

import os
import subprocess
from pathlib import Path


class GitFailed(Exception):
    """git ended with an error; the message is what it wrote."""


def environment(**more: str) -> dict[str, str]:
    """The variables git gets: nobody's own settings, no prompts, English, files of any owner."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        **more,
    }


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """What `git ARGUMENTS` prints in the bare repository `folder`. Raises GitFailed."""
    done = subprocess.run(
        ["git", f"--git-dir={folder}", *arguments],
        input=stdin,
        capture_output=True,
        env=environment(),
        check=False,
    )
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()
        raise GitFailed(f"git {' '.join(arguments)[:200]} failed: {words or done.returncode}")
    return done.stdout
