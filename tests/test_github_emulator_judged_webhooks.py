"""Every payload the emulator sends, judged by GitHub's own description of it."""

import copy
from typing import Any

import pytest

from tests.github_emulator import GitHubEmulator
from tests.github_emulator.payloads import SENT
from tests.github_schemas.judge import Undescribed, descriptions, faults_of_payload, kind_of

AGENTS = "acme/agents"
MORE = "Unevaluated properties are not allowed"


@pytest.fixture
def installation(github: GitHubEmulator) -> int:
    """The App on Acme for acme/agents, and on Ada for all she has."""
    github.create_repository(AGENTS, files={"README.md": "Agents\n"})
    github.install("ada")
    github.add_organization("asked", owners=["ada"])
    github.approve_request(github.request_installation("asked", by="linus"), by="ada")
    return github.install("acme", repositories=[AGENTS], by="ada")


def lead_a_full_life(github: GitHubEmulator, installation: int) -> None:
    """Let everything happen that the emulator tells of, in some of its forms."""
    push_in_every_way(github)
    github.edit_app_permissions({"contents": "write", "metadata": "read"})
    github.accept_permissions(installation, by="ada")
    github.create_repository("ada/more", private=False, description="More")
    github.create_repository("acme/other")
    github.add_repositories(installation, ["acme/other"])
    github.remove_repositories(installation, ["acme/other"])
    github.suspend(installation)
    github.unsuspend(installation)
    github.edit_repository(AGENTS, default_branch="next", description="New")
    github.make_public(AGENTS)
    github.make_private(AGENTS)
    github.archive(AGENTS)
    github.unarchive(AGENTS)
    github.rename_repository(AGENTS, "bots")
    github.rename_account("acme", "umbrella")
    github.transfer_repository("umbrella/bots", "ada")
    github.select_repositories(installation, "all")
    github.transfer_repository("ada/more", "umbrella")
    github.delete_repository("ada/bots")
    github.revoke_authorization("linus")
    github.ping()
    github.tell_webhook_deleted(by="ada")
    github.uninstall(installation)


def push_in_every_way(github: GitHubEmulator) -> None:
    """Branches and tags made, moved, rewritten and deleted."""
    first = github.push(AGENTS, "main", {"a": "a", "README.md": None}, author="linus")
    github.push(AGENTS, "feature/x", {"b": "b"}, start="main")
    github.create_branch(AGENTS, "same", "main")
    github.push(AGENTS, "main", {"a": "c"})
    github.move_branch(AGENTS, "main", first)
    github.replace(AGENTS, "same", {"d": "d"})
    github.delete_branch(AGENTS, "feature/x")
    github.create_tag(AGENTS, "v1", "main")
    github.fast_import(
        AGENTS, b"reset refs/tags/v1\nfrom 0000000000000000000000000000000000000000\n\n"
    )


def test_it_sends_nothing_that_github_would_not(github: GitHubEmulator, installation: int) -> None:
    lead_a_full_life(github, installation)
    judged = [
        (kind_of(made.event, made.payload), faults_of_payload(made.event, made.payload))
        for made in github.deliveries
    ]
    assert [(kind, faults) for kind, faults in judged if faults] == []
    assert {kind for kind, _ in judged} == SENT == descriptions("webhooks")["payloads"].keys()


def test_it_tells_of_transfers_from_people_and_from_organizations(
    github: GitHubEmulator, installation: int
) -> None:
    lead_a_full_life(github, installation)
    origins = [
        list(made.payload["changes"]["owner"]["from"])
        for made in github.deliveries
        if made.action == "transferred"
    ]
    assert origins == [["organization"], ["user"]]


@pytest.fixture
def push(github: GitHubEmulator, installation: int) -> Any:
    """A payload that is as it should be."""
    github.push(AGENTS, "main", {"a": "a"})
    return github.deliveries[-1].payload


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (["ref"], 1, "$.ref: 1 is not of type 'string'"),
        (["repository", "id"], "1", "$.repository.id: '1' is not of type 'integer'"),
        (
            ["head_commit", "timestamp"],
            "now",
            "$.head_commit.timestamp: 'now' is not a 'date-time'",
        ),
        (["head_commit", "url"], "/x", "$.head_commit.url: '/x' is not a 'uri'"),
        (["installation", "id"], None, "$.installation.id: None is not of type 'integer'"),
        (["invented"], 1, f"$: {MORE} ('invented' was unexpected)"),
        (["sender", "invented"], 1, f"$.sender: {MORE} ('invented' was unexpected)"),
    ],
)
def test_the_judge_finds_fault(push: Any, path: list[str], value: Any, fault: str) -> None:
    payload = copy.deepcopy(push)
    place = payload
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert faults_of_payload("push", payload) == [fault]


def test_the_judge_misses_what_is_not_there(push: Any) -> None:
    del push["pusher"]
    assert faults_of_payload("push", push) == ["$: 'pusher' is a required property"]


def test_the_judge_knows_no_events_of_our_own(push: Any) -> None:
    with pytest.raises(Undescribed, match="installation-suspended"):
        faults_of_payload("installation", {**push, "action": "suspended"})


def test_the_emulator_sends_no_event_that_nobody_judges(github: GitHubEmulator) -> None:
    with pytest.raises(ValueError, match=r"SENT does not list installation-suspended"):
        github.announce("installation", {"action": "suspended"})
