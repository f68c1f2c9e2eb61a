"""What git itself says of a bare repository: by the git command alone, past all code of ours."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROLLOUT = re.compile(r"rollouts/[^/]+")
CONFIG = re.compile(r"configs/(?:eval|training)/(?!default\.toml$)[^/]+\.toml")


@dataclass(frozen=True)
class Contents:
    """What one commit holds: rollout → tree id, and config path → blob id."""

    rollouts: dict[str, str]
    configs: dict[str, str]


def heads(folder: Path) -> dict[str, str]:
    """Branch → commit, now."""
    listing = _git(folder, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
    pairs = (line.split(" ", 1) for line in listing.splitlines())
    return {ref.removeprefix("refs/heads/"): commit for commit, ref in pairs}


def contents(folder: Path, commit: str) -> Contents:
    """Subdirectories of `rollouts`, and the files of `configs` that are configs."""
    listing = _git(folder, "ls-tree", "-rtz", "--full-tree", commit, "rollouts", "configs")
    rollouts, configs = {}, {}
    for line in filter(None, listing.split("\0")):
        facts, path = line.split("\t", 1)
        mode, _kind, id = facts.split()
        if mode == "040000" and ROLLOUT.fullmatch(path):
            rollouts[path.removeprefix("rollouts/")] = id
        elif mode.startswith("100") and CONFIG.fullmatch(path):
            configs[path] = id
    return Contents(rollouts, configs)


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "--git-dir", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
