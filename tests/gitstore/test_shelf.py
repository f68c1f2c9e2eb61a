"""All caches on one disk: which of them go when they take too much."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rollouts_app.gitstore import GitStore, Shelf
from rollouts_app.gitstore.folder import Folder
from tests.gitstore.conftest import MakeStore, all_of

Cache = Callable[..., Path]


@pytest.fixture
def shelf_path(tmp_path: Path) -> Path:
    return tmp_path / "git"


@pytest.fixture
def put(shelf_path: Path) -> Cache:
    """Puts a cache of a size there that was used so many seconds ago."""

    def make(name: str, size: int, age: int) -> Path:
        path = shelf_path / name
        path.mkdir(parents=True)
        (path / "pack").write_bytes(bytes(size))
        (path / "lock").touch()
        os.utime(path / "lock", (1_700_000_000 - age, 1_700_000_000 - age))
        return path

    return make


def test_the_least_recently_used_go_first(put: Cache, shelf_path: Path) -> None:
    for name, size, age in (("1", 100, 3), ("2", 100, 9), ("3", 100, 5), ("4", 100, 1)):
        put(name, size, age)
    shelf = Shelf(shelf_path)
    assert shelf.keep_within(400) == []
    assert shelf.keep_within(250) == ["2", "3"]
    assert sorted(os.listdir(shelf_path)) == ["1", "4"]
    assert shelf.keep_within(0) == ["1", "4"]
    assert os.listdir(shelf_path) == []


def test_one_that_is_in_use_stays(put: Cache, shelf_path: Path) -> None:
    put("1", 100, 9)
    put("2", 100, 5)
    shelf = Shelf(shelf_path)
    with Folder(shelf_path / "1").locked(seconds=1):
        assert shelf.keep_within(100) == ["2"]
        assert shelf.keep_only([]) == []
        assert shelf.make_room(1, shelf_path / "9") == []
    assert shelf.keep_only([]) == ["1"]


def test_room_is_made_by_all_others_but_one(put: Cache, shelf_path: Path) -> None:
    for name, age in (("1", 9), ("2", 8), ("3", 7)):
        put(name, 100, age)
    assert Shelf(shelf_path).make_room(101, shelf_path / "1") == ["2", "3"]
    assert Shelf(shelf_path).make_room(101, shelf_path / "1") == []


def test_only_caches_are_touched(put: Cache, shelf_path: Path) -> None:
    put("1", 100, 9)
    put("1.doomed", 100, 9)
    (shelf_path / "notes").mkdir()
    (shelf_path / "7").write_text("a file")
    assert Shelf(shelf_path).keep_only(["2"]) == ["1"]
    assert sorted(os.listdir(shelf_path)) == ["7", "notes"]
    assert Shelf(shelf_path / "nowhere").keep_only([]) == []


def test_a_cache_is_used_by_a_sync_and_not_by_a_look(
    store: GitStore, cache: Path, main: str
) -> None:
    store.fetch([main])
    os.utime(cache / "lock", (1, 1))
    store.heads()
    assert Folder(cache).used_at == 1
    store.fetch([main])
    assert Folder(cache).used_at > 1_700_000_000


def test_a_cache_that_was_removed_in_between_is_made_again(
    make_store: MakeStore, cache: Path, main: str
) -> None:
    store = make_store()
    whole = all_of(store, main)
    assert Shelf(cache.parent).keep_within(0) == ["1"]
    assert all_of(store, main) == whole
