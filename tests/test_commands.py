"""The commands people copy: pasted into a shell, they do what they say and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

from rollouts_app.commands import clone_commands, list_command, quoted
from rollouts_app.models import Repository, User
from tests.new_rollout_page import ADDRESS, HOSTILE, commands
from tests.pages import page_of
from tests.rollouts_page import client_of

pytestmark = pytest.mark.django_db


def paste(text: str, folder: Path) -> list[list[str]]:
    """Run pasted lines in `sh`; what the `osmosis` and `git` there were called with.

    Both write down their arguments instead of doing anything.
    """
    tools = folder / "bin"
    tools.mkdir()
    record = folder / "calls"
    for tool in ("osmosis", "git"):
        program = tools / tool
        program.write_text(f"#!/bin/sh\nprintf '%s\\0' {tool} \"$@\" END >> '{record}'\n")
        program.chmod(0o755)
    work = folder / "work"
    (work / "agents").mkdir(parents=True)
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    subprocess.run(["sh", "-e", "-c", text], cwd=work, env=environment, check=True)
    assert sorted(path.name for path in folder.rglob("*")) == sorted(
        ["bin", "osmosis", "git", "calls", "work", "agents"]
    )
    words = record.read_text().split("\0")[:-1]
    calls: list[list[str]] = [[]]
    for word in words:
        if word == "END":
            calls.append([])
        else:
            calls[-1].append(word)
    return calls[:-1]


def test_pasting_the_commands_of_a_hostile_branch_runs_nothing_else(
    synced: Repository, ada: User, tmp_path: Path
) -> None:
    """U10"""
    synced.branches.create(name=HOSTILE)
    page = page_of(client_of(ada).get(ADDRESS, {"branch": HOSTILE, "name": "hello"}))
    shown = commands(page)
    shown.pop("install-command")
    shown.pop("sign-in-commands")
    text = "\n".join(shown.values())
    assert paste(text, tmp_path) == [
        ["osmosis", "rollout", "init", "hello"],
        ["git", "add", "rollouts", "configs"],
        ["git", "commit", "-m", "Add rollout hello"],
        ["git", "push", "-u", "origin", "HEAD"],
        ["git", "clone", f"{synced.page}.git"],
        ["osmosis", "rollout", "list", "--branch", HOSTILE],
    ]


def test_what_is_copied_hides_nothing() -> None:
    assert quoted("ma\u202ein%\\'\"") == r'''"$(printf 'ma\342\200\256in%%\134\047"')"'''.replace(
        "%%", r"\045"
    )


@pytest.mark.parametrize("name", ["a\u202e$(b)", "a\u200b`c`", "a\u200b\"'\\%d", "-x", "a b", "ü"])
def test_a_quoted_name_arrives_as_it_is(name: str, tmp_path: Path) -> None:
    [[_, _, _, *branch]] = paste(list_command(name, "https://github.com"), tmp_path)
    assert branch == (["--branch=-x"] if name == "-x" else ["--branch", name])


def test_it_clones_what_has_an_odd_address() -> None:
    assert clone_commands("https://git.example/a/b;c") == (
        "git clone 'https://git.example/a/b;c.git'\ncd 'b;c'"
    )
