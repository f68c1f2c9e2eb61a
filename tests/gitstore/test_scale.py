"""A repository of many branches: what it costs, told by the number of requests and the memory."""

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from rollouts_app.gitstore import GitStore
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import ONE_FETCH, Asked

BRANCHES = 1_000
ROLLOUTS = 50
FILES = ("README.md", "pyproject.toml", "main.py")
WHO = b"Ada <ada@acme.example> 1700000000 +0100\n"


def data(text: str) -> bytes:
    return b"data %d\n%b\n" % (len(text), text.encode())


def monster() -> bytes:
    """A fast-import stream: every branch differs from main in one README."""
    base = b"".join(
        f"M 100644 inline rollouts/r{rollout:03}/{name}\n".encode() + data(f"{rollout} {name}")
        for rollout in range(ROLLOUTS)
        for name in FILES
    )
    main = b"commit refs/heads/main\nmark :1\ncommitter " + WHO + data("base") + base + b"\n"
    return main + b"".join(
        b"commit refs/heads/feature/b%04d\ncommitter " % branch
        + WHO
        + data(f"branch {branch}")
        + b"from :1\nM 100644 inline rollouts/r%03d/README.md\n" % (branch % ROLLOUTS)
        + data(f"branch {branch}")
        + b"\n"
        for branch in range(1, BRANCHES)
    )


@contextmanager
def timed(what: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - started:.3f} s")  # noqa: T201 - to be seen with -s


def test_many_branches_cost_few_requests_and_little_memory(
    github: GitHubEmulator, store: GitStore, asked: Asked
) -> None:
    github.deliver = None  # nobody listens to a thousand branches
    github.fast_import("acme/agents", b"reset refs/heads/main\n" + monster())
    asked()
    with timed("heads"):
        heads = store.heads()
    assert len(heads) == BRANCHES
    with timed("fetch"):
        store.fetch(heads.values())
    tracemalloc.start()
    with timed("commits, roots and rollouts"):
        roots = [commit.tree for commit in store.commits(heads.values()).values()]
        rollouts = {
            entry.id
            for _id, entries in store.trees(roots)
            for entry in entries
            if entry.name == "rollouts"
        }
        directories = set()
        count = 0
        for _id, entries in store.trees(rollouts):
            count += len(entries)
            directories |= {entry.id for entry in entries}
    assert count == BRANCHES * ROLLOUTS
    assert len(directories) == ROLLOUTS + BRANCHES - 1
    assert tracemalloc.get_traced_memory()[1] < 15_000_000
    tracemalloc.stop()
    assert asked() == ONE_FETCH * 2
    with timed("files"):
        wanted = {e.id for _id, entries in store.trees(directories) for e in entries}
        files = dict(store.blobs(wanted))
    assert len(files) == ROLLOUTS * len(FILES) + BRANCHES - 1
    assert asked() == ONE_FETCH
