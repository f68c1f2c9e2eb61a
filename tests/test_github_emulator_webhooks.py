"""What the emulator tells the App."""

from typing import Any

import pytest

from tests.github_emulator import GitHubEmulator

NONE = "0" * 40


@pytest.fixture
def installation(github: GitHubEmulator) -> int:
    """The App on Acme for acme/agents; the delivery that tells of it is number one."""
    github.create_repository("acme/agents", files={"README.md": "Agents\n", "old.txt": "old\n"})
    return github.install("acme", repositories=["acme/agents"], by="ada")


def told(github: GitHubEmulator, *fields: str) -> list[tuple[object, ...]]:
    """Event and some fields of each delivery since the installation."""
    return [
        (made.event, *(made.payload.get(field) for field in fields))
        for made in github.deliveries[1:]
    ]


def test_it_tells_what_a_push_changed(github: GitHubEmulator, installation: int) -> None:
    before = github.heads("acme/agents")["main"]
    first = github.push("acme/agents", "main", {"new.txt": "n", "README.md": "!"}, author="linus")
    payload = github.deliveries[-1].payload
    commit = payload["head_commit"]
    assert (payload["before"], payload["after"]) == (before, first)
    assert [payload[key] for key in ("created", "deleted", "forced", "base_ref")] == [
        False,
        False,
        False,
        None,
    ]
    assert payload["commits"] == [commit]
    assert [commit[key] for key in ("id", "added", "removed", "modified", "message")] == [
        first,
        ["new.txt"],
        [],
        ["README.md"],
        "Update files",
    ]
    assert commit["author"] == {"name": "Linus T", "email": "linus@acme.example"}
    assert payload["pusher"] == {"name": "linus", "email": "linus@acme.example"}
    assert payload["sender"]["login"] == "linus"
    assert payload["compare"] == (f"{github.url}/acme/agents/compare/{before[:12]}...{first[:12]}")


def test_it_tells_of_branches_made_and_gone(github: GitHubEmulator, installation: int) -> None:
    tip = github.create_branch("acme/agents", "feature/x", "main")
    github.delete_branch("acme/agents", "feature/x", by="linus")
    fields = ("ref", "ref_type", "before", "after", "created", "deleted", "base_ref")
    assert told(github, *fields) == [
        ("create", "feature/x", "branch", None, None, None, None, None),
        ("push", "refs/heads/feature/x", None, NONE, tip, True, False, "refs/heads/main"),
        ("delete", "feature/x", "branch", None, None, None, None, None),
        ("push", "refs/heads/feature/x", None, tip, NONE, False, True, None),
    ]
    assert github.deliveries[-1].payload["head_commit"] is None


def test_it_tells_of_rewritten_history(github: GitHubEmulator, installation: int) -> None:
    first = github.heads("acme/agents")["main"]
    second = github.push("acme/agents", "main", {"a": "a"})
    github.move_branch("acme/agents", "main", first)
    third = github.replace("acme/agents", "main", {"b": "b"})
    made = [delivery.payload for delivery in github.deliveries[1:]]
    assert [(p["before"], p["after"], p["forced"], len(p["commits"])) for p in made] == [
        (first, second, False, 1),
        (second, first, True, 0),
        (first, third, True, 1),
    ]


def test_it_tells_of_at_most_three_tags_at_once(github: GitHubEmulator, installation: int) -> None:
    tip = github.create_tag("acme/agents", "v1", "main")
    assert told(github, "ref", "ref_type", "after") == [
        ("create", "v1", "tag", None),
        ("push", "refs/tags/v1", None, tip),
    ]
    resets = "".join(f"reset refs/tags/v{n}\nfrom {tip}\n\n" for n in range(2, 6))
    github.fast_import("acme/agents", resets.encode())
    assert len(told(github)) == 2


def test_it_tells_nothing_of_thousands_of_branches_at_once(
    github: GitHubEmulator, installation: int
) -> None:
    tip = github.heads("acme/agents")["main"]
    resets = "".join(f"reset refs/heads/b{n}\nfrom {tip}\n\n" for n in range(5001))
    github.fast_import("acme/agents", resets.encode())
    assert len(github.heads("acme/agents")) == 5002
    assert told(github) == []


def test_it_tells_of_an_installations_life(github: GitHubEmulator, installation: int) -> None:
    github.create_repository("acme/more")
    github.add_repositories(installation, ["acme/more"], by="ada")
    github.remove_repositories(installation, ["acme/agents"], by="ada")
    github.suspend(installation, by="ada")
    github.unsuspend(installation, by="ada")
    github.accept_permissions(installation, by="ada")
    github.uninstall(installation, by="ada")

    def names(payload: dict[str, Any], key: str) -> list[str] | None:
        return [r["full_name"] for r in payload[key]] if key in payload else None

    keys = ("repositories", "repositories_added", "repositories_removed")
    assert [
        (made.event, made.action, *(names(made.payload, key) for key in keys))
        for made in github.deliveries
    ] == [
        ("installation", "created", ["acme/agents"], None, None),
        ("installation_repositories", "added", None, ["acme/more"], []),
        ("installation_repositories", "removed", None, [], ["acme/agents"]),
        ("installation", "suspend", None, None, None),
        ("installation", "unsuspend", None, None, None),
        ("installation", "new_permissions_accepted", None, None, None),
        ("installation", "deleted", ["acme/more"], None, None),
    ]


def test_it_tells_of_a_repositorys_life(github: GitHubEmulator, installation: int) -> None:
    github.install("ada")
    before = len(github.deliveries)
    github.edit_repository("acme/agents", default_branch="next", description="New")
    github.make_public("acme/agents")
    github.make_private("acme/agents")
    github.archive("acme/agents")
    github.unarchive("acme/agents")
    github.rename_repository("acme/agents", "bots")
    github.transfer_repository("acme/bots", "ada")
    github.delete_repository("ada/bots")
    made = [
        (delivery.event, delivery.action, delivery.payload.get("changes"))
        for delivery in github.deliveries[before:]
    ]
    transferred = made.pop(7)
    assert made == [
        (
            "repository",
            "edited",
            {"default_branch": {"from": "main"}, "description": {"from": None}},
        ),
        ("repository", "publicized", None),
        ("repository", "privatized", None),
        ("repository", "archived", None),
        ("repository", "unarchived", None),
        ("repository", "renamed", {"repository": {"name": {"from": "agents"}}}),
        ("installation_repositories", "removed", None),
        ("repository", "deleted", None),
        ("installation_repositories", "removed", None),
    ]
    assert transferred[:2] == ("repository", "transferred")
    assert transferred[2]["owner"]["from"]["organization"]["login"] == "acme"


def test_it_tells_a_suspended_installation_nothing(
    github: GitHubEmulator, installation: int
) -> None:
    github.suspend(installation)
    github.push("acme/agents", "main", {"a": "a"})
    github.unsuspend(installation)
    assert told(github, "action") == [("installation", "suspend"), ("installation", "unsuspend")]


def test_it_tells_only_what_the_app_asked_for(github: GitHubEmulator, installation: int) -> None:
    github.app.events = ["delete"]
    github.accept_permissions(installation)
    github.create_branch("acme/agents", "x", "main")
    github.delete_branch("acme/agents", "x")
    assert told(github, "ref") == [("installation", None), ("delete", "x")]


def test_it_tells_of_an_accounts_new_name(github: GitHubEmulator, installation: int) -> None:
    github.rename_account("acme", "umbrella")
    payload = github.deliveries[-1].payload
    assert [payload[key] for key in ("action", "changes", "target_type")] == [
        "renamed",
        {"login": {"from": "acme"}},
        "Organization",
    ]
    assert (payload["account"]["login"], payload["installation"]["id"]) == (
        "umbrella",
        installation,
    )
    assert sorted(github.heads("umbrella/agents")) == ["main"]


def test_it_pings(github: GitHubEmulator) -> None:
    github.ping()
    (ping,) = github.deliveries
    assert (ping.event, ping.payload["hook_id"], ping.payload["hook"]["events"]) == (
        "ping",
        github.app.id,
        ["push", "create", "delete", "repository"],
    )
