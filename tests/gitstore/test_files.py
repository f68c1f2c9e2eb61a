"""The files that are read: fetched when missing, in one go, and never without a bound."""

import os
from pathlib import Path

from rollouts_app.gitstore import GitStore, Limits
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import FILES, ONE_FETCH, Asked, MakeStore, objects_of, push


def test_it_reads_files_in_one_fetch_and_keeps_them(
    store: GitStore, github: GitHubEmulator, asked: Asked
) -> None:
    main = github.heads("acme/agents")["main"]
    store.fetch([main])
    entries = store.tree(main, "rollouts/maths") or []
    asked()
    blobs = dict(store.blobs([entry.id for entry in entries] * 2))
    assert asked() == ONE_FETCH
    expected = {e.name: str(FILES[f"rollouts/maths/{e.name}"]).encode() for e in entries}
    assert {entry.name: blobs[entry.id] for entry in entries} == expected
    assert dict(store.blobs(blobs)) == blobs
    assert asked() == []


def test_it_leaves_out_large_files(make_store: MakeStore, github: GitHubEmulator) -> None:
    main = push(github, {"x/small": "s" * 100, "x/large": "l" * 101})
    store = make_store(limits=Limits(blob_bytes=100))
    entries = {entry.name: entry.id for entry in store.tree(main, "x") or []}
    assert dict(store.blobs(entries.values())) == {entries["small"]: b"s" * 100}


def test_it_leaves_out_what_is_no_file(store: GitStore, github: GitHubEmulator) -> None:
    main = github.heads("acme/agents")["main"]
    entries = {entry.name: entry.id for entry in store.tree(main) or []}
    blobs = dict(store.blobs(entries.values()))
    assert blobs == {entries["README.md"]: b"Agents of Acme."}


def test_a_giant_file_does_not_keep_the_others_away(
    make_store: MakeStore, github: GitHubEmulator, cache: Path
) -> None:
    noise = os.urandom(300_000)
    small = {f"x/{number:02}": str(number) for number in range(20)}
    main = push(github, {**small, "x/giant": noise})
    limits = Limits(blob_pack_bytes=20_000, blob_pack_bytes_each=100)
    store = make_store(limits=limits)
    entries = {entry.name: entry.id for entry in store.tree(main, "x") or []}
    giant = entries.pop("giant")
    blobs = dict(store.blobs([*entries.values(), giant]))
    assert blobs == {id: str(int(name)).encode() for name, id in entries.items()}
    assert giant not in objects_of(cache, "blob")
    assert store.size() < 100_000
