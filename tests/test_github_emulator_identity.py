"""Repositories that are renamed, given away, deleted and made anew: what their names lead to."""

import pytest
import requests

from tests.github_emulator import GitFailed, GitHubEmulator
from tests.github_emulator.git import git

AGENTS = "acme/agents"


@pytest.fixture
def token(github: GitHubEmulator) -> str:
    """Of the App on Acme, for all it has; there is the private acme/agents."""
    github.create_repository(AGENTS, files={"README.md": "Agents\n"})
    return github.token_for(github.install("acme"))


def ask(github: GitHubEmulator, path: str, token: str = "") -> requests.Response:
    """Call an address below the API's root; redirects are followed."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return requests.get(f"{github.url}/api/v3{path}", headers=headers, timeout=10)


def named(answer: requests.Response) -> tuple[list[int], str]:
    """The statuses on the way to an answer, and the repository's name in it."""
    statuses = [each.status_code for each in (*answer.history, answer)]
    return statuses, answer.json().get("full_name", "")


def heads(github: GitHubEmulator, name: str, token: str) -> str:
    """What git sees there, or what it is told instead."""
    address = f"http://x-access-token:{token}@127.0.0.1:{github.port}/{name}.git"
    try:
        return git(github.folder, "ls-remote", "--heads", address).decode()
    except GitFailed as failure:
        return str(failure)


def test_a_former_name_leads_on_everywhere(github: GitHubEmulator, token: str) -> None:
    tip = github.heads(AGENTS)["main"]
    github.rename_repository(AGENTS, "bots")
    github.rename_account("acme", "umbrella")
    for former in (AGENTS, "acme/bots"):
        assert named(ask(github, f"/repos/{former}", token)) == ([301, 200], "umbrella/bots")
        branches = ask(github, f"/repos/{former}/branches?per_page=1", token)
        assert [branch["commit"]["sha"] for branch in branches.json()] == [tip]
        assert ask(github, f"/repos/{former}/commits/main", token).json()["sha"] == tip
        assert heads(github, former, token) == f"{tip}\trefs/heads/main\n"


def test_a_private_one_given_away_is_gone(github: GitHubEmulator, token: str) -> None:
    number = github.repository_named(AGENTS).id
    github.transfer_repository(AGENTS, "mallory")
    for path in (f"/repos/{AGENTS}", "/repos/mallory/agents", f"/repositories/{number}"):
        assert named(ask(github, path, token)) == ([404], "")
    assert "Repository not found." in heads(github, AGENTS, token)
    assert [made.event for made in github.deliveries] == [
        "installation",
        "installation_repositories",
    ]


def test_a_public_one_given_away_can_be_seen(github: GitHubEmulator, token: str) -> None:
    github.make_public(AGENTS)
    github.transfer_repository(AGENTS, "mallory")
    assert named(ask(github, f"/repos/{AGENTS}", token)) == ([301, 200], "mallory/agents")
    assert "refs/heads/main" in heads(github, AGENTS, token)


def test_one_given_to_another_account_of_the_app_goes_on_there(
    github: GitHubEmulator, token: str
) -> None:
    there = github.token_for(github.install("ada"))
    github.transfer_repository(AGENTS, "ada")
    assert named(ask(github, f"/repos/{AGENTS}", there)) == ([301, 200], "ada/agents")
    assert named(ask(github, f"/repos/{AGENTS}", token)) == ([404], "")
    assert "refs/heads/main" in heads(github, AGENTS, there)


def test_a_name_used_again_is_another_repository(github: GitHubEmulator, token: str) -> None:
    first = github.repository_named(AGENTS).id
    github.delete_repository(AGENTS)
    assert named(ask(github, f"/repositories/{first}", token)) == ([404], "")
    second = github.create_repository(AGENTS).id
    assert second > first
    assert ask(github, f"/repos/{AGENTS}", token).json()["id"] == second
    assert heads(github, AGENTS, token) == ""


def test_a_name_used_again_leads_to_the_former_no_more(github: GitHubEmulator, token: str) -> None:
    github.rename_repository(AGENTS, "bots")
    github.create_repository(AGENTS)
    assert named(ask(github, f"/repos/{AGENTS}", token)) == ([200], AGENTS)
    github.delete_repository(AGENTS)
    assert named(ask(github, f"/repos/{AGENTS}", token)) == ([404], "")
    github.rename_repository("acme/bots", "agents")
    assert named(ask(github, "/repos/acme/bots", token)) == ([301, 200], AGENTS)


def test_names_are_taken_once(github: GitHubEmulator, token: str) -> None:
    github.create_repository("acme/other")
    github.create_repository("ada/agents")
    with pytest.raises(ValueError, match="acme/agents already"):
        github.rename_repository("acme/other", "agents")
    with pytest.raises(ValueError, match="ada/agents already"):
        github.transfer_repository(AGENTS, "ada")
    assert named(ask(github, f"/repos/{AGENTS}", token)) == ([200], AGENTS)


def test_an_empty_one_says_so(github: GitHubEmulator, token: str) -> None:
    github.create_repository("acme/fresh")
    empty = ask(github, "/repos/acme/fresh/commits", token)
    assert (empty.status_code, empty.json()["message"]) == (409, "Git Repository is empty.")
    assert ask(github, "/repos/acme/fresh/branches", token).json() == []
    tip = github.push("acme/fresh", "main", {"a": "a"})
    assert [each["sha"] for each in ask(github, "/repos/acme/fresh/commits", token).json()] == [tip]


def test_an_archived_one_is_read_and_not_written(github: GitHubEmulator, token: str) -> None:
    github.archive(AGENTS)
    assert ask(github, f"/repos/{AGENTS}", token).json()["archived"] is True
    assert "refs/heads/main" in heads(github, AGENTS, token)
    github.unarchive(AGENTS)
    assert ask(github, f"/repos/{AGENTS}", token).json()["archived"] is False


def test_visibility_decides_who_sees_it(github: GitHubEmulator, token: str) -> None:
    assert named(ask(github, f"/repos/{AGENTS}")) == ([404], "")
    github.make_public(AGENTS)
    assert named(ask(github, f"/repos/{AGENTS}")) == ([200], AGENTS)
    github.make_private(AGENTS)
    assert named(ask(github, f"/repos/{AGENTS}")) == ([404], "")
