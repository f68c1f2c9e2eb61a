"""What the emulator can be told to refuse: limits, outages, policies, permissions, tokens."""

import time

import pytest
import requests

from tests.github_emulator import GitFailed, GitHubEmulator
from tests.github_emulator.git import git

AGENTS = "acme/agents"
PATH = f"/repos/{AGENTS}"


@pytest.fixture
def installation(github: GitHubEmulator) -> int:
    """The App on Acme for all it has; there is the private acme/agents."""
    github.create_repository(AGENTS, files={"README.md": "Agents\n"})
    return github.install("acme")


def ask(github: GitHubEmulator, path: str, token: str) -> requests.Response:
    """Call an address below the API's root."""
    headers = {"Authorization": f"Bearer {token}"}
    return requests.get(f"{github.url}/api/v3{path}", headers=headers, timeout=10)


def says(answer: requests.Response) -> tuple[int, str]:
    """Status and message."""
    return answer.status_code, answer.json().get("message", "")


def ls_remote(github: GitHubEmulator, token: str) -> str:
    """What git gets to see of acme/agents, or what it is told instead."""
    address = f"http://x-access-token:{token}@127.0.0.1:{github.port}/{AGENTS}.git"
    try:
        return git(github.folder, "ls-remote", "--heads", address).decode()
    except GitFailed as failure:
        return str(failure)


@pytest.mark.parametrize("status", [403, 429])
def test_it_says_when_a_used_up_hour_ends(
    github: GitHubEmulator, installation: int, status: int
) -> None:
    token = github.token_for(installation)
    github.limit_primary(seconds=600, status=status, times=1)
    limited = ask(github, PATH, token)
    assert says(limited) == (status, "API rate limit exceeded for installation ID 1.")
    assert limited.headers["x-ratelimit-remaining"] == "0"
    assert 595 <= int(limited.headers["x-ratelimit-reset"]) - time.time() <= 600
    assert "retry-after" not in limited.headers
    assert ask(github, PATH, token).status_code == 200


@pytest.mark.parametrize("seconds", [17, None])
def test_it_limits_haste_though_there_is_budget_left(
    github: GitHubEmulator, installation: int, seconds: int | None
) -> None:
    limit = github.limit_secondary(retry_after=seconds)
    limited = ask(github, PATH, github.token_for(installation))
    assert says(limited) == (
        403,
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
    )
    assert limited.headers.get("retry-after") == (str(seconds) if seconds else None)
    assert limited.headers["x-ratelimit-remaining"] != "0"
    limit.end()
    assert ask(github, PATH, github.token_for(installation)).status_code == 200


def test_it_is_down_with_a_page_for_people(github: GitHubEmulator, installation: int) -> None:
    github.outage(status=502)
    down = ask(github, PATH, github.token_for(installation))
    assert (down.status_code, down.headers["Content-Type"]) == (502, "text/html; charset=utf-8")
    assert "502" in ls_remote(github, github.token_for(installation))


def test_an_address_that_is_not_on_the_list_gets_nothing(
    github: GitHubEmulator, installation: int
) -> None:
    github.add_organization("other", owners=["ada"])
    elsewhere = github.token_for(github.install("other"))
    token = github.token_for(installation)
    github.set_policy("acme", "ip allow list")
    words = (
        "Although you appear to have the correct authorization credentials, the `acme` "
        "organization has an IP allow list enabled, and your IP address is not permitted to access "
        "this resource."
    )
    assert says(ask(github, "/installation/repositories", token)) == (403, words)
    assert says(ask(github, PATH, github.user_token("ada"))) == (403, words)
    assert words in ls_remote(github, token)
    assert ask(github, "/installation/repositories", elsewhere).status_code == 200
    listed = ask(github, "/user/installations", github.user_token("ada")).json()
    assert listed["total_count"] == 2
    github.set_policy("acme", None)
    assert ask(github, PATH, token).status_code == 200


def test_saml_keeps_out_people_and_lets_the_app_in(
    github: GitHubEmulator, installation: int
) -> None:
    github.set_policy("acme", "saml")
    person = github.user_token("ada")
    refused = ask(github, f"/user/installations/{installation}/repositories", person)
    assert says(refused) == (
        403,
        "Resource protected by organization SAML enforcement. You must grant your OAuth token "
        "access to this organization.",
    )
    page = f"{github.url}/orgs/acme/sso?authorization_request=A"
    assert refused.headers["X-GitHub-SSO"] == f"required; url={page}"
    partial = ask(github, "/user/installations", person)
    number = github.account_named("acme").id
    assert partial.json() == {"total_count": 0, "installations": []}
    assert partial.headers["X-GitHub-SSO"] == f"partial-results; organizations={number}"
    assert ask(github, PATH, github.token_for(installation)).status_code == 200


def test_an_app_that_may_not_read_code_sees_the_repository_alone(
    github: GitHubEmulator, installation: int
) -> None:
    github.edit_app_permissions({"metadata": "read"})
    token = github.token_for(installation)
    assert ask(github, PATH, token).status_code == 200
    refused = ask(github, f"{PATH}/branches", token)
    assert says(refused) == (403, "Resource not accessible by integration")
    assert "Repository not found." in ls_remote(github, token)
    github.make_public(AGENTS)
    assert ask(github, f"{PATH}/branches", token).status_code == 200
    assert "refs/heads/main" in ls_remote(github, token)


def test_what_the_app_asks_for_anew_awaits_the_owner(
    github: GitHubEmulator, installation: int
) -> None:
    github.edit_app_permissions({"metadata": "read"})
    github.push(AGENTS, "main", {"unheard": "1"})
    github.edit_app_permissions({"contents": "write", "metadata": "read"})
    assert github.installation(installation).permissions == {"metadata": "read"}
    github.accept_permissions(installation)
    github.push(AGENTS, "main", {"heard": "1"})
    assert github.token_for(installation) in github.state.tokens
    assert [(made.event, made.action) for made in github.deliveries[1:]] == [
        ("installation", "new_permissions_accepted"),
        ("push", None),
    ]
    permissions = github.deliveries[1].payload["installation"]["permissions"]
    assert permissions == {"contents": "write", "metadata": "read"}


def test_less_is_asked_for_at_once(github: GitHubEmulator) -> None:
    github.edit_app_permissions({"contents": "write", "issues": "read"})
    installation = github.install("acme")
    github.edit_app_permissions({"contents": "read", "checks": "read"})
    assert github.installation(installation).permissions == {"contents": "read"}


def test_tokens_end_by_kind(github: GitHubEmulator, installation: int) -> None:
    def statuses() -> list[int]:
        answers = [ask(github, PATH, token), ask(github, "/user", person)]
        return [answer.status_code for answer in answers]

    token, person = github.token_for(installation), github.user_token("ada")
    github.expire_tokens("user")
    assert statuses() == [200, 401]
    person = github.user_token("ada")
    github.expire_tokens("installation")
    assert statuses() == [401, 200]
    token = github.token_for(installation)
    github.revoke_token(token)
    assert statuses() == [401, 200]


def test_an_installation_may_end_its_own_token(github: GitHubEmulator, installation: int) -> None:
    token, other = github.token_for(installation), github.token_for(installation)
    headers = {"Authorization": f"Bearer {token}"}
    address = f"{github.url}/api/v3/installation/token"
    assert requests.delete(address, headers=headers, timeout=10).status_code == 204
    assert requests.delete(address, headers=headers, timeout=10).status_code == 401
    assert ask(github, PATH, other).status_code == 200


def test_a_person_takes_back_all_they_let_the_app_do(
    github: GitHubEmulator, installation: int
) -> None:
    mine, refresh, theirs = (
        github.user_token("ada"),
        github.refresh_token("ada"),
        github.user_token("linus"),
    )
    github.revoke_authorization("ada")
    told = github.deliveries[-1]
    assert (told.event, told.action) == ("github_app_authorization", "revoked")
    assert told.payload["sender"]["login"] == "ada"
    assert ask(github, "/user", mine).status_code == 401
    assert refresh not in github.state.tokens
    assert ask(github, "/user", theirs).status_code == 200
