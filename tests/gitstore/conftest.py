"""The host, a repository on it, and a cache of that repository: all real, over HTTP."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from rollouts_app.gitstore import GitStore, Limits
from tests.github_emulator import Content, GitHubEmulator
from tests.github_emulator.git import git

FILES: dict[str, Content] = {
    "README.md": "Agents of Acme.",
    "rollouts/maths/README.md": "Counts. And more.",
    "rollouts/maths/pyproject.toml": '[project]\nname = "maths"\n',
    "rollouts/maths/main.py": "print(1)\n",
    "configs/eval/maths.toml": '[experiment]\nrollout = "maths"\n',
}

MakeStore = Callable[..., GitStore]
Asked = Callable[[], list[str]]
ONE_FETCH = ["info/refs", "git-upload-pack"]


@pytest.fixture
def github(github: GitHubEmulator) -> GitHubEmulator:
    """Acme with one private repository."""
    github.create_repository("acme/agents", files=FILES)
    return github


@pytest.fixture
def token(github: GitHubEmulator) -> str:
    """A token of the App, which is installed on Acme."""
    return github.token_for(github.install("acme"))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A folder that does not exist yet, with a space in its name."""
    return tmp_path / "git cache" / "1"


@pytest.fixture
def make_store(github: GitHubEmulator, token: str, cache: Path) -> MakeStore:
    def make(
        full_name: str = "acme/agents",
        *,
        token: str | None = token,
        limits: Limits | None = None,
        folder: Path = cache,
    ) -> GitStore:
        return GitStore(folder, f"{github.url}/{full_name}.git", token, limits)

    return make


@pytest.fixture
def store(make_store: MakeStore) -> GitStore:
    return make_store()


@pytest.fixture
def asked(github: GitHubEmulator) -> Callable[[], list[str]]:
    """What git asked the host for since the last call of this, without the repository's name."""
    seen = 0

    def since() -> list[str]:
        nonlocal seen
        targets = [target for _method, target in github.requests[seen:]]
        seen += len(targets)
        return [target.partition(".git/")[2].partition("?")[0] for target in targets]

    return since


@pytest.fixture
def main(github: GitHubEmulator) -> str:
    """The commit of the default branch."""
    return github.heads("acme/agents")["main"]


def all_of(store: GitStore, commit: str) -> dict[str, bytes]:
    """Every file of a commit below rollouts/maths, read through the cache."""
    entries = store.tree(commit, "rollouts/maths") or []
    blobs = dict(store.blobs([entry.id for entry in entries]))
    return {entry.name: blobs[entry.id] for entry in entries}


def push(github: GitHubEmulator, files: Mapping[str, Content], branch: str = "main") -> str:
    return github.push("acme/agents", branch, files)


def objects_of(cache: Path, kind: str) -> list[str]:
    """Every object of a kind in the cache, as git itself sees it."""
    listing = git(
        cache / "git",
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objecttype) %(objectname)",
    )
    lines = [line.split() for line in listing.decode().splitlines()]
    return [id for its_kind, id in lines if its_kind == kind]


def write_commit(github: GitHubEmulator, tree: bytes, author: str) -> str:
    """A commit on main that no git of today would make, written past all checks."""
    folder = github.bare(github.repository_named("acme/agents")).folder
    raw = ["hash-object", "-w", "--literally", "--stdin", "-t"]
    tree_id = git(folder, *raw, "tree", stdin=tree).decode().strip()
    commit = f"tree {tree_id}\nauthor {author}\ncommitter {author}\n\nOld"
    commit_id = git(folder, *raw, "commit", stdin=commit.encode()).decode().strip()
    git(folder, "update-ref", "refs/heads/main", commit_id)
    return commit_id
