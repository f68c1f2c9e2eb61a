"""A cache that something happened to: it reads as before, or is made anew by itself."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rollouts_app.gitstore import GitStore, Limits
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import MakeStore, all_of


def overwrite(path: Path, content: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(content)


def truncate_pack(git: Path) -> None:
    for pack in (git / "objects" / "pack").glob("*.pack"):
        overwrite(pack, pack.read_bytes()[:-100])


def scribble_on_pack(git: Path) -> None:
    for pack in (git / "objects" / "pack").glob("*.pack"):
        content = pack.read_bytes()
        overwrite(pack, content[:14] + bytes(len(content) - 34) + content[-20:])


def scribble_on_index(git: Path) -> None:
    for index in (git / "objects" / "pack").glob("*.idx"):
        overwrite(index, b"nonsense" * 200)


def empty_index(git: Path) -> None:
    for index in (git / "objects" / "pack").glob("*.idx"):
        overwrite(index, b"")


def lose_index(git: Path) -> None:
    for index in (git / "objects" / "pack").glob("*.idx"):
        index.unlink()


def lose_pack(git: Path) -> None:
    for pack in (git / "objects" / "pack").glob("*.pack"):
        pack.unlink()


def lose_promisor(git: Path) -> None:
    for mark in (git / "objects" / "pack").glob("*.promisor"):
        mark.unlink()


def lose_head(git: Path) -> None:
    (git / "HEAD").unlink()


def empty_head(git: Path) -> None:
    overwrite(git / "HEAD", b"")


def scribble_on_config(git: Path) -> None:
    overwrite(git / "config", b"[core\nnonsense")


def scribble_on_shallow(git: Path) -> None:
    (git / "shallow").write_text("nonsense\n")


def lose_objects(git: Path) -> None:
    (git / "objects").rename(git / "elsewhere")


def lose_home(git: Path) -> None:
    (git.parent / "home").rmdir()


def leave_locks(git: Path) -> None:
    for name in ("shallow.lock", "config.lock", "HEAD.lock", "packed-refs.lock"):
        (git / name).write_text("")


def leave_half_a_pack(git: Path) -> None:
    for name in ("tmp_pack_abc", "tmp_idx_abc", ".tmp-1-pack-abc.pack", f"pack-{'a' * 40}.pack"):
        (git / "objects" / "pack" / name).write_bytes(b"PACK nonsense")


DAMAGES = [
    *(truncate_pack, scribble_on_pack, scribble_on_index, empty_index, lose_index, lose_pack),
    *(lose_promisor, lose_head, empty_head, scribble_on_config, scribble_on_shallow, lose_objects),
    *(lose_home, leave_locks, leave_half_a_pack),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_reads_as_before_and_takes_a_push(
    store: GitStore,
    cache: Path,
    main: str,
    github: GitHubEmulator,
    make_store: MakeStore,
    damage: Callable[[Path], None],
) -> None:
    whole = all_of(store, main)
    damage(cache / "git")
    assert all_of(store, main) == whole
    head = github.push("acme/agents", "main", {"rollouts/maths/new": "1"})
    damage(cache / "git")
    assert store.heads() == {"main": head}
    store.fetch([head], known=[main])
    assert all_of(store, head) == {**whole, "new": b"1"}
    damage(cache / "git")
    make_store(limits=Limits(packs=0)).tidy()
    assert all_of(store, head) == {**whole, "new": b"1"}
    litter = [p.name for p in cache.rglob("*") if "tmp" in p.name or p.name.endswith(".lock")]
    assert litter == []


def test_a_cache_half_made_by_a_killed_process_is_made_whole(
    store: GitStore, cache: Path, main: str
) -> None:
    (cache / "git.new" / "objects").mkdir(parents=True)
    (cache / "git.doomed").mkdir()
    (cache / "git").mkdir()
    store.fetch([main])
    assert sorted(path.name for path in cache.iterdir()) == ["git", "home", "lock"]


def empty(path: Path) -> None:
    overwrite(path, b"")


def truncate(path: Path) -> None:
    overwrite(path, path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    """One bit in each 64 bytes."""
    content = bytearray(path.read_bytes())
    for at in range(12, len(content), 64):
        content[at] ^= 0x10
    overwrite(path, bytes(content))


def replace_by_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def replace_by_a_dead_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def make_unreadable(path: Path) -> None:
    path.chmod(0)


HARMS = (
    *(empty, truncate, flip, Path.unlink, replace_by_a_directory, replace_by_a_dead_link),
    make_unreadable,
)


@pytest.mark.parametrize("harm", HARMS)
def test_harm_to_any_file_is_mended(
    store: GitStore, cache: Path, main: str, harm: Callable[[Path], None]
) -> None:
    whole = all_of(store, main)
    git = cache / "git"
    shutil.copytree(git, cache.parent / "sound")
    files = sorted(path.relative_to(git) for path in git.rglob("*") if path.is_file())
    assert len(files) == 8
    for file in files:
        shutil.rmtree(git)
        shutil.copytree(cache.parent / "sound", git)
        harm(git / file)
        if harm is make_unreadable and os.access(git / file, os.R_OK):
            pytest.skip("Nothing is unreadable for root.")
        assert (file, all_of(store, main)) == (file, whole)


@pytest.mark.parametrize("part", ["lock", "home"])
def test_harm_beside_the_repository_is_mended(
    store: GitStore, cache: Path, main: str, part: str
) -> None:
    whole = all_of(store, main)
    shutil.rmtree(cache / part) if part == "home" else (cache / part).unlink()
    (cache / part).write_text("") if part == "home" else (cache / part).mkdir()
    store.fetch([main])
    assert all_of(store, main) == whole


def test_the_offsets_of_two_objects_exchanged_fool_nobody(
    store: GitStore, cache: Path, main: str
) -> None:
    """Git itself hands out the other object without a word."""
    whole = all_of(store, main)
    for index in (cache / "git" / "objects" / "pack").glob("*.idx"):
        content = index.read_bytes()
        count = int.from_bytes(content[8 + 255 * 4 : 8 + 256 * 4])
        first = 8 + 256 * 4 + count * 24
        offsets = [content[first + at * 4 : first + at * 4 + 4] for at in range(count)]
        turned = b"".join([*offsets[1:], offsets[0]])
        overwrite(index, content[:first] + turned + content[first + count * 4 :])
    assert all_of(store, main) == whole
