"""A disk without room, really: a small file system of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rollouts_app.gitstore import DiskFull, GitStore, Limits, Shelf
from tests.disks import fill, small_disk
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import MakeStore, all_of, push

SENTENCE = (
    "The disk that holds this server's git cache is full. Its administrator can free space on it,"
    " or set GIT_CACHE_BYTES lower; Git Sync then goes on by itself."
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 1 MiB."""
    with small_disk(tmp_path / "disk") as folder:
        yield folder


def test_it_says_so_and_goes_on_when_there_is_room(
    make_store: MakeStore, disk: Path, main: str
) -> None:
    """Whatever needs room first: the folder, the repository, the commits or the files."""
    store = make_store(folder=disk / "git" / "1")
    ballast = fill(disk)
    for ask in (store.heads, lambda: store.fetch([main]), lambda: all_of(store, main)):
        with pytest.raises(DiskFull) as caught:
            ask()
        assert str(caught.value) == SENTENCE
    ballast.unlink()
    assert all_of(store, main) != {}


def test_a_cache_that_no_longer_has_room_is_made_anew(
    make_store: MakeStore, disk: Path, github: GitHubEmulator, main: str
) -> None:
    store = make_store(folder=disk / "1")
    whole = all_of(store, main)
    head = push(github, {f"rollouts/r{number}/main.py": str(number) for number in range(50)})
    (disk / "1" / "git" / "objects" / "pack" / "pack-old.idx").write_bytes(bytes(100_000))
    fill(disk)
    store.fetch([head], known=[main])
    assert all_of(store, head) == whole


def test_others_make_room_the_least_recently_used_first(
    make_store: MakeStore, disk: Path, github: GitHubEmulator, main: str, token: str
) -> None:
    shelf = Shelf(disk)
    stores = {name: make_store(folder=disk / name) for name in ("1", "2", "3")}
    for store in stores.values():
        assert all_of(store, main) != {}
    fill(disk)
    limits = Limits(room_bytes=stores["1"].size())
    head = push(github, {"rollouts/new/README.md": "new"})
    url = f"{github.url}/acme/agents.git"
    GitStore(disk / "3", url, token, limits, shelf=shelf).fetch([head])
    assert sorted(shelf.names()) == ["2", "3"]


def test_tidying_a_full_disk_gives_room(
    make_store: MakeStore, disk: Path, github: GitHubEmulator
) -> None:
    store = make_store(folder=disk / "1", limits=Limits(packs=3))
    for number in range(4):
        store.fetch([push(github, {"rollouts/maths/n": str(number)})])
    fill(disk)
    store.tidy()
    assert store.size() == 0
    assert all_of(store, push(github, {"rollouts/maths/n": "x"})) != {}
