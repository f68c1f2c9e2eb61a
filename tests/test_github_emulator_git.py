"""The emulator's git side, used by the git command as anybody would."""

import gzip
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.github_emulator import GitFailed, GitHubEmulator, Submodule, Symlink

FILES = {"README.md": "Agents\n", "rollouts/maths/main.py": "print(1)\n"}
IDENTITY = ("-c", "user.name=Linus", "-c", "user.email=linus@acme.example")


class Clone:
    """A working copy on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str) -> str:
        return git(*arguments, folder=self.folder)

    def commit(self, path: str, content: bytes) -> str:
        """Write a file, commit it, and return the commit's id."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(content)
        self.git("add", "-A")
        self.git(*IDENTITY, "commit", "-q", "-m", f"Change {path}")
        return self.git("rev-parse", "HEAD").strip()


def git(*arguments: str, folder: Path | None = None) -> str:
    """What git prints; what it complains about when it fails is the error's text."""
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise GitFailed(done.stderr)
    return done.stdout


def address(github: GitHubEmulator, full_name: str, token: str | None = None) -> str:
    """Where a repository is cloned from, with a token as GitHub wants it."""
    credentials = f"x-access-token:{token}@" if token else ""
    return f"http://{credentials}127.0.0.1:{github.port}/{full_name}.git"


@pytest.fixture
def installation(github: GitHubEmulator) -> int:
    """The App on Acme, where it may write to acme/agents."""
    github.app.permissions["contents"] = "write"
    github.create_repository("acme/agents", files=FILES)
    return github.install("acme", repositories=["acme/agents"])


@pytest.fixture
def clone(github: GitHubEmulator, installation: int, tmp_path: Path) -> Clone:
    """A clone of acme/agents."""
    folder = tmp_path / "a clone"
    git("clone", "-q", address(github, "acme/agents", github.token_for(installation)), str(folder))
    return Clone(folder)


def test_it_clones_with_an_installation_token(clone: Clone) -> None:
    listed = clone.git("ls-files").splitlines()
    assert {name: (clone.folder / name).read_text() for name in listed} == FILES


def test_it_asks_for_a_login_where_a_repository_is_private(
    github: GitHubEmulator, installation: int
) -> None:
    asked = {"service": "git-upload-pack"}
    for name in ("acme/agents", "acme/no-such-repository"):
        answer = requests.get(f"{github.url}/{name}.git/info/refs", asked, timeout=5)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (
            401,
            'Basic realm="GitHub"',
        )


def test_it_refuses_a_wrong_token_in_githubs_words(
    github: GitHubEmulator, installation: int
) -> None:
    with pytest.raises(GitFailed, match="remote: Invalid username or token"):
        git("ls-remote", address(github, "acme/agents", "ghs_made_up"))


def test_it_hides_what_a_token_does_not_reach(github: GitHubEmulator, installation: int) -> None:
    github.create_repository("acme/secret", files=FILES)
    with pytest.raises(GitFailed, match="remote: Repository not found"):
        git("ls-remote", address(github, "acme/secret", github.token_for(installation)))


def test_it_lets_anybody_read_a_public_repository(github: GitHubEmulator) -> None:
    github.create_repository("ada/open", private=False, files=FILES)
    head = github.heads("ada/open")["main"]
    assert git("ls-remote", address(github, "ada/open"), "main") == f"{head}\trefs/heads/main\n"


def test_it_serves_the_newer_protocol_when_asked(github: GitHubEmulator) -> None:
    github.create_repository("ada/open", private=False, files=FILES)
    answer = requests.get(
        f"{github.url}/ada/open.git/info/refs?service=git-upload-pack",
        headers={"Git-Protocol": "version=2"},
        timeout=5,
    )
    assert answer.text.splitlines()[0] == "000eversion 2"


def test_it_reads_a_zipped_request(github: GitHubEmulator) -> None:
    github.create_repository("ada/open", private=False, files=FILES)
    head = github.heads("ada/open")["main"]
    request = b"0014command=ls-refs\n00010014ref-prefix refs/0000"
    answer = requests.post(
        f"{github.url}/ada/open.git/git-upload-pack",
        data=gzip.compress(request),
        headers={
            "Content-Type": "application/x-git-upload-pack-request",
            "Content-Encoding": "gzip",
            "Git-Protocol": "version=2",
        },
        timeout=5,
    )
    assert answer.text == f"003d{head} refs/heads/main\n0000"


def test_it_serves_clones_without_blobs(
    github: GitHubEmulator, installation: int, tmp_path: Path
) -> None:
    token = github.token_for(installation)
    folder = tmp_path / "blobless"
    git(
        "clone",
        "-q",
        "--bare",
        "--filter=blob:none",
        address(github, "acme/agents", token),
        str(folder),
    )
    objects = git("rev-list", "--objects", "--all", "--missing=print", folder=folder).splitlines()
    assert len([line for line in objects if line.startswith("?")]) == len(FILES)


def test_it_serves_commits_that_no_branch_holds_any_more(
    github: GitHubEmulator, clone: Clone
) -> None:
    lost = github.push("acme/agents", "main", {"a.txt": "a"})
    github.replace("acme/agents", "main", {"b.txt": "b"})
    clone.git("fetch", "-q", "origin", lost)
    assert clone.git("log", "-1", "--format=%an %ae %s", lost) == (
        "Ada Lovelace ada@acme.example Update files\n"
    )


def test_it_takes_a_push_of_several_refs(github: GitHubEmulator, clone: Clone) -> None:
    old = github.heads("acme/agents")["main"]
    new = clone.commit("rollouts/new/main.py", b"print(2)\n")
    clone.git("push", "-q", "origin", "HEAD:main", "HEAD:feature/x", "HEAD:refs/tags/v1")
    assert github.heads("acme/agents") == {"feature/x": new, "main": new}
    clone.git("push", "-q", "origin", f"+{old}:main", ":feature/x")
    assert github.heads("acme/agents") == {"main": old}


def test_it_takes_a_push_too_large_for_one_request(github: GitHubEmulator, clone: Clone) -> None:
    commit = clone.commit("weights.bin", os.urandom(3_000_000))
    clone.git("push", "-q", "origin", "HEAD:big")
    assert github.heads("acme/agents")["big"] == commit
    assert ("POST", "/acme/agents.git/git-receive-pack") in github.requests


def test_it_refuses_a_push_without_the_permission(github: GitHubEmulator, clone: Clone) -> None:
    github.app.permissions["contents"] = "read"
    installation = github.install("ada", repositories="all")
    github.create_repository("ada/notes", files=FILES)
    there = address(github, "ada/notes", github.token_for(installation))
    with pytest.raises(GitFailed, match="remote: Write access to repository not granted"):
        clone.git("push", there, "HEAD:new")


def test_it_refuses_a_push_to_an_archived_repository(github: GitHubEmulator, clone: Clone) -> None:
    github.archive("acme/agents")
    with pytest.raises(GitFailed, match="remote: This repository was archived so it is read-only"):
        clone.git("push", "origin", "HEAD:new")


def test_it_leads_on_from_a_former_name(github: GitHubEmulator, clone: Clone) -> None:
    github.rename_repository("acme/agents", "bots")
    assert clone.git("ls-remote", "--heads", "origin").split() == [
        github.heads("acme/bots")["main"],
        "refs/heads/main",
    ]


def test_it_stops_serving_a_suspended_installation(github: GitHubEmulator, clone: Clone) -> None:
    (installation,) = github.state.installations
    github.suspend(installation)
    with pytest.raises(GitFailed, match="remote: This installation has been suspended"):
        clone.git("fetch", "origin")


def test_it_gets_into_trouble_as_often_as_told(github: GitHubEmulator, clone: Clone) -> None:
    trouble = github.trouble("/acme/agents.git/", status=503, times=1)
    with pytest.raises(GitFailed, match="The requested URL returned error: 503"):
        clone.git("fetch", "origin")
    clone.git("fetch", "origin")
    assert trouble.met == 1


def test_it_breaks_off_in_the_middle(github: GitHubEmulator, clone: Clone) -> None:
    github.push("acme/agents", "main", {"large.bin": os.urandom(200_000)})
    github.trouble("/acme/agents.git/git-upload-pack", cut=20_000)
    with pytest.raises(GitFailed, match=r"unexpected disconnect|transfer closed"):
        clone.git("fetch", "origin", "main")


@pytest.fixture
def open_house(tmp_path: Path) -> Iterator[GitHubEmulator]:
    """An emulator of its own that asks nobody for a login."""
    with GitHubEmulator(tmp_path / "open house", anonymous_git=True) as github:
        github.deliver = lambda delivery: 202
        github.add_user("ada", name="Ada Lovelace")
        github.add_organization("acme", owners=["ada"])
        github.create_repository("acme/agents", files=FILES)
        github.install("acme")
        yield github


def test_it_lets_anybody_push_where_it_is_told_to(
    open_house: GitHubEmulator, tmp_path: Path
) -> None:
    git("clone", "-q", address(open_house, "acme/agents"), str(tmp_path / "clone"))
    clone = Clone(tmp_path / "clone")
    commit = clone.commit("new.txt", b"new")
    clone.git("push", "-q", "origin", "HEAD:experiment/100%-#1&ünï+x")
    open_house.wait_for_deliveries()
    assert open_house.heads("acme/agents")["experiment/100%-#1&ünï+x"] == commit
    assert open_house.deliveries[-1].payload["pusher"] == {"name": "ada", "email": None}


def test_it_keeps_and_removes_what_a_push_says(github: GitHubEmulator, clone: Clone) -> None:
    github.push(
        "acme/agents",
        "main",
        {
            "README.md": None,
            'odd "name" \\ ünï\n.txt': b"\xff\x00",
            "link": Symlink("rollouts"),
            "module": Submodule("1" * 40),
        },
    )
    clone.git("pull", "-q")
    listed = clone.git("ls-tree", "-r", "-z", "HEAD").split("\0")[:-1]
    assert [(line.split(" ")[0], line.split("\t")[1]) for line in listed] == [
        ("120000", "link"),
        ("160000", "module"),
        ("100644", 'odd "name" \\ ünï\n.txt'),
        ("100644", "rollouts/maths/main.py"),
    ]
    assert (clone.folder / 'odd "name" \\ ünï\n.txt').read_bytes() == b"\xff\x00"


def test_it_takes_the_first_branch_of_an_empty_repository_for_its_default(
    github: GitHubEmulator,
) -> None:
    repository = github.create_repository("acme/empty")
    github.push("acme/empty", "trunk", FILES)
    github.push("acme/empty", "main", FILES)
    assert repository.default_branch == "trunk"


def test_it_refuses_to_lose_commits_unless_forced(
    github: GitHubEmulator, installation: int
) -> None:
    first = github.heads("acme/agents")["main"]
    github.push("acme/agents", "main", {"a": "a"})
    with pytest.raises(GitFailed, match="does not contain"):
        github.push("acme/agents", "main", {"b": "b"}, start=first)
    forced = github.push("acme/agents", "main", {"b": "b"}, start=first, force=True)
    assert github.heads("acme/agents") == {"main": forced}
