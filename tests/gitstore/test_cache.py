"""The cache on the disk: private, without secrets, and whole again whatever happened to it."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore import GitStore, Limits, Unusable
from rollouts_app.gitstore.folder import Folder
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import MakeStore, all_of

ROOT = Path(__file__).parents[2]
FETCHER = """
import sys
from pathlib import Path
from rollouts_app.gitstore import GitStore
folder, url, token, commit = sys.argv[1:]
GitStore(Path(folder), url, token).fetch([commit])
"""


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gits_in(cache: Path) -> list[str]:
    """The command lines of what works in the cache just now."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        # Those of others, and those that end meanwhile, cannot be read.
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve() == cache / "home":
                lines.append((process / "cmdline").read_bytes().decode(errors="replace"))
    return lines


def test_only_its_owner_can_enter_it(store: GitStore, cache: Path, main: str) -> None:
    store.fetch([main])
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_the_token_is_in_no_file_and_no_command_line(
    store: GitStore, cache: Path, main: str, github: GitHubEmulator, token: str
) -> None:
    github.trouble("/acme/agents.git", delay=0.7, times=1)
    reader = subprocess.Popen(
        [sys.executable, "-c", FETCHER.replace("sys.argv[1:]", "sys.stdin.read().split('\\n')")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
    )
    assert reader.stdin is not None
    reader.stdin.write(
        "\n".join([str(cache), f"{github.url}/acme/agents.git", token, main]).encode()
    )
    reader.stdin.close()
    wait_for(lambda: any("remote-http" in line for line in gits_in(cache)))
    lines = gits_in(cache)
    assert len(lines) > 1
    assert [line for line in lines if token in line or "Basic" in line] == []
    assert reader.wait() == 0
    assert all_of(store, main) != {}
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if token.encode() in path.read_bytes()] == []


def test_deleting_leaves_nothing(store: GitStore, cache: Path, main: str) -> None:
    assert store.size() == 0
    whole = all_of(store, main)
    assert store.size() > 500
    store.delete()
    assert not cache.exists()
    assert store.size() == 0
    assert all_of(store, main) == whole
    store.delete()
    store.delete()
    assert list(cache.parent.iterdir()) == []


def test_tidying_merges_many_packs_and_loses_nothing(
    make_store: MakeStore, github: GitHubEmulator, cache: Path
) -> None:
    store = make_store(limits=Limits(packs=4))
    commits, files = [], []
    for number in range(4):
        commits.append(
            github.push(
                "acme/agents", f"b{number}", {"rollouts/maths/n": str(number)}, start="main"
            )
        )
        files.append(all_of(store, commits[-1]))
    packs = cache / "git" / "objects" / "pack"
    assert len(list(packs.glob("*.pack"))) == 8
    store.tidy()
    assert len(list(packs.glob("*.pack"))) == 1
    asked = len(github.requests)
    assert [all_of(store, commit) for commit in commits] == files
    assert len(github.requests) == asked
    before = list(packs.iterdir())
    store.tidy()
    assert list(packs.iterdir()) == before


def test_tidying_deletes_a_cache_that_is_too_large(
    make_store: MakeStore, cache: Path, main: str
) -> None:
    store = make_store(limits=Limits(cache_bytes=500))
    whole = all_of(store, main)
    store.tidy()
    assert not cache.exists()
    assert all_of(store, main) == whole


def test_a_worker_killed_while_it_fetches_does_no_harm(
    store: GitStore, cache: Path, main: str, github: GitHubEmulator, token: str
) -> None:
    trouble = github.trouble("/acme/agents.git", delay=0.7, times=1)
    url = f"{github.url}/acme/agents.git"
    worker = subprocess.Popen(
        [sys.executable, "-c", FETCHER, str(cache), url, token, main], cwd=ROOT
    )
    wait_for(lambda: bool(gits_in(cache)))
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    trouble.end()
    assert all_of(store, main) != {}
    assert gits_in(cache) == []


def test_a_git_that_outlives_its_worker_keeps_the_cache(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "cache")
    with folder.locked(seconds=1) as lock:
        orphan = subprocess.Popen(["sleep", "30"], pass_fds=[lock])
    with pytest.raises(Unavailable, match="Another process"), folder.locked(seconds=0.1):
        pass
    orphan.kill()
    orphan.wait()
    with folder.locked(seconds=1):
        pass


def test_it_waits_for_another_process_but_not_for_ever(
    make_store: MakeStore, cache: Path, main: str, github: GitHubEmulator, token: str
) -> None:
    github.trouble("/acme/agents.git", delay=0.7, times=1)
    url = f"{github.url}/acme/agents.git"
    other = subprocess.Popen(
        [sys.executable, "-c", FETCHER, str(cache), url, token, main], cwd=ROOT
    )
    wait_for(lambda: bool(gits_in(cache)))
    with pytest.raises(Unavailable, match="Another process is still working"):
        make_store(limits=Limits(lock_seconds=0.1)).fetch([main])
    make_store().fetch([main])
    assert other.wait() == 0
    assert all_of(make_store(), main) != {}


def test_it_says_where_the_disk_refuses(make_store: MakeStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unusable, match=r"The git cache in .* cannot be used: Not a directory"):
        make_store(folder=tmp_path / "file" / "cache").heads()


def test_it_works_in_a_long_path(make_store: MakeStore, tmp_path: Path, main: str) -> None:
    store = make_store(folder=tmp_path / ("long " * 30) / ("path " * 30))
    assert all_of(store, main) != {}


def test_it_says_when_there_is_no_git(
    store: GitStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="The git command is missing on this server"):
        store.heads()


def test_nobody_s_own_settings_reach_it(
    store: GitStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, main: str
) -> None:
    """Hooks, aliases, rewritten addresses and traces of whoever runs the worker."""
    (tmp_path / ".gitconfig").write_text(
        '[url "https://elsewhere.invalid/"]\n\tinsteadOf = http://\n[core]\n\thooksPath = /\n'
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'http.proxy=http://127.0.0.1:1'")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    assert store.heads() == {"main": main}
    assert not (tmp_path / "trace").exists()
