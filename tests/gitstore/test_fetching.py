"""Commits, trees and files: what is brought, and with how many requests."""

from pathlib import Path

import pytest

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore import Entry, GitStore, Limits, Unreadable, Vanished
from tests.github_emulator import GitHubEmulator, Submodule, Symlink
from tests.github_emulator.git import git
from tests.gitstore.conftest import ONE_FETCH, Asked, MakeStore, objects_of, push, write_commit

NOWHERE = "1" * 40


def names(entries: list[Entry] | None) -> list[str] | None:
    return None if entries is None else [entry.name for entry in entries]


def test_it_brings_commits_and_their_trees_with_two_requests(
    store: GitStore, github: GitHubEmulator, asked: Asked, cache: Path
) -> None:
    main = github.heads("acme/agents")["main"]
    other = push(github, {"rollouts/other/main.py": "2"}, "other")
    asked()
    store.fetch([main, other, main])
    assert asked() == ONE_FETCH
    assert names(store.tree(main, "rollouts")) == ["maths"]
    assert names(store.tree(other, "rollouts")) == ["other"]
    assert objects_of(cache, "blob") == []
    assert asked() == []


def test_it_asks_nothing_for_what_it_has(
    store: GitStore, github: GitHubEmulator, asked: Asked
) -> None:
    store.fetch(github.heads("acme/agents").values())
    asked()
    store.fetch(github.heads("acme/agents").values())
    store.fetch([])
    assert asked() == []


def test_it_brings_no_history(store: GitStore, github: GitHubEmulator, cache: Path) -> None:
    first = push(github, {"a": "1"})
    second = push(github, {"a": "2"})
    third = push(github, {"a": "3"})
    store.fetch([first])
    store.fetch([third], known=[first])
    assert sorted(objects_of(cache, "commit")) == sorted([first, third])
    assert second not in objects_of(cache, "commit")


def test_a_known_commit_saves_what_both_share(
    store: GitStore, github: GitHubEmulator, asked: Asked, cache: Path
) -> None:
    many = {f"rollouts/r{number}/main.py": str(number) for number in range(50)}
    before = push(github, many)
    after = push(github, {"rollouts/r7/main.py": "changed"})
    store.fetch([before])
    count = len(objects_of(cache, "tree"))
    asked()
    store.fetch([after], known=[before, NOWHERE])
    assert asked() == ONE_FETCH
    # The root, rollouts/ and rollouts/r7 are new.
    assert len(objects_of(cache, "tree")) == count + 3
    assert len(store.tree(after, "rollouts") or []) == 51


def test_it_has_all_of_a_commit_that_goes_back(store: GitStore, github: GitHubEmulator) -> None:
    """The trees of an older commit come back; the host must not think that we have them."""
    old = push(github, {"rollouts/maths/deep/er/x": "1"})
    newer = push(github, {"rollouts/maths/deep/er/x": None, "rollouts/maths/y": "2"})
    store.fetch([newer])
    back = push(github, {"rollouts/maths/deep/er/x": "1", "rollouts/maths/y": None})
    store.fetch([back], known=[newer])
    assert names(store.tree(back, "rollouts/maths/deep/er")) == ["x"]
    assert store.tree(old, "rollouts") == store.tree(back, "rollouts")


def test_it_takes_a_force_push(store: GitStore, github: GitHubEmulator) -> None:
    before = github.heads("acme/agents")["main"]
    store.fetch([before])
    after = github.replace("acme/agents", "main", {"rollouts/new/main.py": "1"})
    store.fetch(store.heads().values(), known=[before])
    assert names(store.tree(after, "rollouts")) == ["new"]
    assert names(store.tree(before, "rollouts")) == ["maths"]


def test_it_takes_branch_names_that_exclude_each_other(
    store: GitStore, github: GitHubEmulator
) -> None:
    github.create_branch("acme/agents", "a", "main")
    store.fetch(store.heads().values())
    github.delete_branch("acme/agents", "a")
    deeper = push(github, {"rollouts/deeper/main.py": "1"}, "a/b")
    store.fetch(store.heads().values())
    assert names(store.tree(deeper, "rollouts")) == ["deeper"]


def test_it_brings_a_commit_that_no_branch_has_any_more(
    store: GitStore, github: GitHubEmulator
) -> None:
    lost = push(github, {"rollouts/lost/main.py": "1"}, "doomed")
    github.delete_branch("acme/agents", "doomed")
    store.fetch([lost])
    assert names(store.tree(lost, "rollouts")) == ["lost"]


def test_a_commit_that_vanished_is_named_and_brings_nothing(
    store: GitStore, github: GitHubEmulator, cache: Path
) -> None:
    lost = push(github, {"rollouts/lost/main.py": "1"}, "doomed")
    github.delete_branch("acme/agents", "doomed")
    bare = github.bare(github.repository_named("acme/agents"))
    git(bare.folder, "prune", "--expire=now")
    git(bare.folder, "repack", "-adq")
    main = github.heads("acme/agents")["main"]
    with pytest.raises(Vanished, match=f"no longer has {lost[:12]}") as caught:
        store.fetch([main, lost])
    assert caught.value.commit == lost
    assert objects_of(cache, "commit") == []
    store.fetch([main])
    assert objects_of(cache, "commit") == [main]


def test_reading_fetches_what_is_missing(
    store: GitStore, github: GitHubEmulator, asked: Asked
) -> None:
    main = github.heads("acme/agents")["main"]
    asked()
    assert store.commits([main])[main].subject == "Initial commit"
    assert asked() == ONE_FETCH
    store.delete()
    tree = git(
        github.bare(github.repository_named("acme/agents")).folder, "rev-parse", "main^{tree}"
    )
    assert names(dict(store.trees([tree.decode().strip()])).popitem()[1]) == [
        *("README.md", "configs", "rollouts"),
    ]
    assert asked() == ONE_FETCH


def test_a_pack_over_the_limit_is_refused(make_store: MakeStore, github: GitHubEmulator) -> None:
    main = push(github, {f"rollouts/r{number}/main.py": str(number) for number in range(300)})
    store = make_store(limits=Limits(pack_bytes=5_000))
    with pytest.raises(Unavailable, match="larger than this server allows"):
        store.fetch([main])


def test_it_walks_modes_and_follows_nothing(store: GitStore, github: GitHubEmulator) -> None:
    main = github.push(
        "acme/agents",
        "main",
        {
            ".gitmodules": '[submodule "module"]\n\tpath = module\n\turl = ./m\n',
            "link": Symlink("rollouts"),
            "module": Submodule("1" * 40),
            "rollouts/link": Symlink("maths"),
            "rollouts/module": Submodule("2" * 40),
            "rollouts/.gitkeep": "",
        },
    )
    entries = {
        entry.name: (entry.kind, oct(entry.mode)) for entry in store.tree(main, "rollouts") or []
    }
    assert entries == {
        ".gitkeep": ("file", "0o100644"),
        "link": ("symlink", "0o120000"),
        "maths": ("directory", "0o40000"),
        "module": ("submodule", "0o160000"),
    }
    for path in ("link", "module", "README.md", "missing", "rollouts/link", "README.md/x"):
        assert store.tree(main, path) is None
    root = [".gitmodules", "README.md", "configs", "link", "module", "rollouts"]
    assert names(store.tree(main)) == root


@pytest.mark.parametrize("there", ["a file", Symlink("configs"), Submodule("1" * 40), None])
def test_rollouts_that_are_no_directory_are_none(
    store: GitStore, github: GitHubEmulator, there: str | Symlink | Submodule | None
) -> None:
    main = github.replace("acme/agents", "main", {"README.md": "x", "rollouts": there})
    assert store.tree(main, "rollouts") is None


def test_it_reads_names_that_are_not_utf_8(store: GitStore, github: GitHubEmulator) -> None:
    main = push(github, {"x/caf\udce9/a": "1", "x/ünï 'code'\t\"\n/b": "2"})
    assert names(store.tree(main, "x")) == ["caf\udce9", "ünï 'code'\t\"\n"]
    assert names(store.tree(main, "x/caf\udce9")) == ["a"]


def test_it_fetches_in_portions(
    make_store: MakeStore, github: GitHubEmulator, asked: Asked
) -> None:
    commits = [push(github, {"n": str(number)}, f"b{number}") for number in range(5)]
    store = make_store(limits=Limits(ids_a_request=2))
    asked()
    store.fetch(commits)
    assert asked() == ONE_FETCH * 3
    assert list(store.commits(commits)) == commits


def test_it_refuses_what_is_no_id(store: GitStore) -> None:
    for nonsense in ("", "main", "--upload-pack=x", "1" * 39, "1" * 40 + "\n"):
        with pytest.raises(ValueError, match="is no object id"):
            store.fetch([nonsense])


def test_it_takes_faults_of_old_times(store: GitStore, github: GitHubEmulator) -> None:
    main = github.heads("acme/agents")["main"]
    rollouts = {entry.name: entry.id for entry in store.tree(main) or []}["rollouts"]
    tree = b"040000 rollouts\0" + bytes.fromhex(rollouts)
    old = write_commit(github, tree, "Ada<ada@x> 01700000000 +051800")
    store.fetch([old])
    assert names(store.tree(old, "rollouts")) == ["maths"]


def test_it_refuses_unsound_objects(store: GitStore, github: GitHubEmulator, cache: Path) -> None:
    blob = bytes.fromhex("1" * 40)
    tree = b"100644 b\0" + blob + b"100644 a\0" + blob
    unsound = write_commit(github, tree, "Ada <ada@x> 1700000000 +0000")
    sound = push(github, {"x": "1"}, "sound")
    store.fetch([sound, unsound])
    assert objects_of(cache, "commit") == [sound]
    with pytest.raises(Unreadable, match=r"considers unsound \(treeNotSorted in "):
        store.commits([sound, unsound])
    assert store.commits([sound])[sound].subject != ""
