"""The heads, as the host has them now."""

import pytest

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore import GitStore
from tests.github_emulator import GitHubEmulator
from tests.gitstore.conftest import Asked, MakeStore

ODD_NAMES = (
    "feature/reward",
    "Feature/Reward",
    "fix/#12&a=b%20+c",
    "ünïcode/ветка/枝",
    "x;$(touch${IFS}pwned)",
    'it\'s-"quoted"',
    "refs/heads/main",
    "-dash",
)


def test_it_lists_what_git_lists(store: GitStore, github: GitHubEmulator) -> None:
    for name in ODD_NAMES:
        github.create_branch("acme/agents", name, "main")
    github.create_tag("acme/agents", "v1", "main")
    bare = github.bare(github.repository_named("acme/agents"))
    for ref in ("refs/pull/1/head", "refs/pull/1/merge", "refs/notes/commits"):
        bare.set_ref(ref, github.heads("acme/agents")["main"])
    assert store.heads() == github.heads("acme/agents")
    assert sorted(store.heads()) == sorted(["main", *ODD_NAMES])


def test_it_lists_a_name_that_is_not_utf_8(store: GitStore, github: GitHubEmulator) -> None:
    bare = github.bare(github.repository_named("acme/agents"))
    (bare.folder / "refs/heads" / b"caf\xe9".decode(errors="surrogateescape")).write_text(
        f"{github.heads('acme/agents')['main']}\n"
    )
    assert list(store.heads()) == ["caf\udce9", "main"]
    assert list(store.heads(["caf\udce9"])) == ["caf\udce9"]


def test_it_tells_only_of_the_names_asked_for(store: GitStore, github: GitHubEmulator) -> None:
    for name in ("feature", "other/feature", "refs/heads/feature"):
        github.create_branch("acme/agents", name, "main")
    head = github.heads("acme/agents")["main"]
    assert store.heads(["feature", "gone", "mai*"]) == {"feature": head}


def test_it_asks_nothing_when_no_name_is_given(store: GitStore, asked: Asked) -> None:
    asked()
    assert store.heads([]) == {}
    assert asked() == []


def test_it_sees_a_push_at_once(store: GitStore, github: GitHubEmulator) -> None:
    before = store.heads()
    head = github.push("acme/agents", "main", {"new.txt": "new"})
    assert store.heads() == {**before, "main": head}


def test_an_empty_repository_has_no_heads(make_store: MakeStore, github: GitHubEmulator) -> None:
    github.create_repository("acme/empty")
    assert make_store("acme/empty").heads() == {}


def test_it_follows_a_renamed_repository(store: GitStore, github: GitHubEmulator) -> None:
    github.rename_repository("acme/agents", "rollouts")
    head = github.heads("acme/rollouts")["main"]
    assert store.heads() == {"main": head}
    store.fetch([head])
    assert [entry.name for entry in store.tree(head, "rollouts") or []] == ["maths"]
    # It remembers the new address: the old one is asked once.
    asked = [target for _method, target in github.requests if target.startswith("/acme/agents.git")]
    assert asked == ["/acme/agents.git/info/refs?service=git-upload-pack"]


def test_it_takes_the_token_to_no_other_host(
    store: GitStore, github: GitHubEmulator, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("another host")
    with GitHubEmulator(folder) as other:
        github.trouble("/acme/agents.git", status=301, headers={"Location": f"{other.url}/x/y.git"})
        with pytest.raises(Unavailable, match="redirects git to another host"):
            store.heads()
        assert other.requests == []


def test_it_gives_up_on_redirects_in_circles(store: GitStore, github: GitHubEmulator) -> None:
    circle = {"Location": f"{github.url}/acme/agents.git/info/refs?service=git-upload-pack"}
    github.trouble("/acme/agents.git", status=301, headers=circle)
    with pytest.raises(Unavailable, match="redirects git in circles"):
        store.heads()
