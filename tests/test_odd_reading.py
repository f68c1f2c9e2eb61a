"""From commits to catalogs, where the cache is damaged midway and directories are too wide."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from rollouts_app.gitstore import CommitFacts, Entry, GitStore, Limits
from rollouts_app.models import Repository
from rollouts_app.models.changes import problems_in
from rollouts_app.sync import engine
from rollouts_app.sync.clients import token_for
from rollouts_app.sync.reading import ReadCommit, read_catalogs
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import write_commit
from tests.syncing import NAME, check_all, heads_shown

pytestmark = pytest.mark.django_db

Harm = Callable[[Path], None]


class Unlucky(GitStore):
    """A cache that something happens to between a fetch and the next read, once each time."""

    def __init__(self, folder: Path, url: str, token: str, harm: Harm) -> None:
        super().__init__(folder, url, token)
        self.harms = {"commits": harm, "trees": harm, "blobs": harm}
        self._harmed = folder

    def commits(self, ids: Iterable[str]) -> dict[str, CommitFacts]:
        self._meet("commits")
        return super().commits(ids)

    def trees(self, ids: Iterable[str]) -> Iterator[tuple[str, list[Entry]]]:
        self._meet("trees")
        return super().trees(ids)

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        self._meet("blobs")
        return super().blobs(ids)

    def _meet(self, what: str) -> None:
        if what in self.harms:
            self.harms.pop(what)(self._harmed)


def lose_all(folder: Path) -> None:
    shutil.rmtree(folder)


def lose_repository(folder: Path) -> None:
    shutil.rmtree(folder / "git")


def lose_packs(folder: Path) -> None:
    for pack in (folder / "git" / "objects" / "pack").glob("*.pack"):
        pack.unlink()


def scribble(folder: Path) -> None:
    for file in (folder / "git" / "objects" / "pack").iterdir():
        file.chmod(0o600)
        file.write_bytes(b"nonsense" * 100)


@pytest.mark.parametrize("harm", [lose_all, lose_repository, lose_packs, scribble])
def test_damage_between_fetching_and_reading_costs_nothing_but_time(
    agents: Repository, github: GitHubEmulator, tmp_path: Path, harm: Harm
) -> None:
    main = github.heads(NAME)["main"]
    url = f"{github.url}/{NAME}.git"
    store = Unlucky(tmp_path / "1", url, token_for(agents.installation), harm)
    store.fetch([main])
    [read] = read_catalogs(store, agents, [main]).values()
    assert sorted(found_in(agents)) == [("maths", "Sums."), ("search", "Finds things.")]
    assert (read.catalog.problem_count, store.harms) == (0, {})


def found_in(repository: Repository) -> list[tuple[str, str]]:
    versions = repository.rollouts.values_list("name", "versions__description")
    return [(name, description) for name, description in versions]


def read_with(
    agents: Repository, github: GitHubEmulator, limits: Limits, folder: Path
) -> ReadCommit:
    main = github.heads(NAME)["main"]
    url = f"{github.url}/{NAME}.git"
    store = GitStore(folder, url, token_for(agents.installation), limits)
    store.fetch([main])
    return read_catalogs(store, agents, [main])[main]


@pytest.mark.parametrize(
    ("wide", "rollouts", "sentence"),
    [
        ("", [], "The repository's root has too many entries to be read."),
        ("rollouts/", [], "rollouts/ has too many entries to be read."),
        (
            "rollouts/maths/",
            ["maths", "search"],
            "rollouts/maths/ has too many entries to be read.",
        ),
        ("configs/", ["maths", "search"], "configs/ has too many entries to be read."),
        ("configs/eval/", ["maths", "search"], "configs/eval/ has too many entries to be read."),
    ],
)
def test_directories_that_are_too_wide_are_told(
    agents: Repository,
    github: GitHubEmulator,
    tmp_path: Path,
    wide: str,
    rollouts: list[str],
    sentence: str,
) -> None:
    github.push(NAME, "main", {f"{wide}{number:03}": "" for number in range(100)})
    read = read_with(agents, github, Limits(object_bytes=3_000), tmp_path / "1")
    assert [name for name, _description in found_in(agents)] == rollouts
    assert [problem["sentence"] for problem in problems_in(read.catalog)] == [sentence]


def test_a_rollout_of_countless_files_is_read_like_others(
    agents: Repository, github: GitHubEmulator, tmp_path: Path
) -> None:
    """Of a directory only the names are read, and few of the files."""
    github.push(NAME, "main", {f"rollouts/maths/{number:05}.json": "" for number in range(20_000)})
    read = read_with(agents, github, Limits(), tmp_path / "1")
    assert problems_in(read.catalog) == []
    assert sorted(found_in(agents)) == [("maths", "Sums."), ("search", "Finds things.")]


def test_an_unsound_commit_fails_alone_and_says_why(
    agents: Repository, github: GitHubEmulator
) -> None:
    """W25"""
    engine.sync(agents.pk)
    sound = github.push(NAME, "sound", {"rollouts/new/main.py": "1"}, start="main")
    blob = bytes.fromhex("1" * 40)
    write_commit(github, b"100644 b\0" + blob + b"100644 a\0" + blob, "Ada <a@x> 1 +0000")
    shown = heads_shown(agents)["main"]
    check_all(agents)
    runs = agents.sync_runs.order_by("-pk").values_list("branch__name", "state", "reason")[:2]
    said = {name: (state, reason) for name, state, reason in runs}
    assert said["sound"] == ("success", "")
    assert said["main"][0] == "failed"
    assert "considers unsound (treeNotSorted in " in said["main"][1]
    assert heads_shown(agents) == {"main": shown, "sound": sound}
