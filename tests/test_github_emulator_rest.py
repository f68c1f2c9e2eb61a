"""The emulator's REST API, by requests alone."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import jwt
import pytest
import requests

from tests.github_emulator import GitHubEmulator
from tests.github_emulator.state import new_app

Call = Callable[..., requests.Response]


@pytest.fixture
def call(github: GitHubEmulator) -> Call:
    """Call an address below the API's root, with a token."""

    def call(path: str, token: str | None = None, method: str = "GET", **body: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return requests.request(
            method,
            f"{github.url}/api/v3{path}",
            headers=headers,
            json=body or None,
            allow_redirects=False,
            timeout=10,
        )

    return call


@pytest.fixture
def installation(github: GitHubEmulator) -> int:
    """The App on Acme for acme/agents; there is acme/secret, too."""
    github.create_repository("acme/agents", files={"README.md": "Agents\n"})
    github.create_repository("acme/secret")
    return github.install("acme", repositories=["acme/agents"])


def app_token(github: GitHubEmulator, **changes: Any) -> str:
    """The App's own JWT."""
    now = int(github.clock())
    claims = {"iat": now - 60, "exp": now + 540, "iss": github.app.client_id, **changes}
    return jwt.encode(claims, github.app.private_key, "RS256")


def says(answer: requests.Response) -> tuple[int, str]:
    """Status and message."""
    return answer.status_code, answer.json().get("message", "")


def test_it_knows_the_app_by_either_id(github: GitHubEmulator, call: Call) -> None:
    for issuer in (github.app.client_id, str(github.app.id)):
        answer = call("/app", app_token(github, iss=issuer))
        assert answer.json()["slug"] == github.app.slug


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (
            {"exp": 661},
            "'Expiration time' claim ('exp') is too far in the future",
        ),
        (
            {"exp": -1},
            "'Expiration time' claim ('exp') must be a numeric value representing the future time "
            "at which the assertion expires",
        ),
        (
            {"iat": 60},
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion "
            "was issued",
        ),
    ],
)
def test_it_minds_the_times_of_a_jwt(
    github: GitHubEmulator, call: Call, seconds: dict[str, int], words: str
) -> None:
    times = {name: int(github.clock()) + offset for name, offset in seconds.items()}
    assert says(call("/app", app_token(github, **times))) == (401, words)


def test_it_verifies_whose_a_jwt_is(github: GitHubEmulator, call: Call) -> None:
    now = int(github.clock())
    claims = {"iat": now, "exp": now + 60, "iss": github.app.client_id}
    forged = jwt.encode(claims, new_app(0).private_key, "RS256")
    unsigned = jwt.encode(claims, "", "none")
    refusal = (401, "A JSON web token could not be decoded")
    assert [says(call("/app", token)) for token in (forged, unsigned, "a.b.c", None)] == [
        refusal
    ] * 4
    assert says(call("/app", app_token(github, iss="1"))) == (401, "Integration not found")


def test_it_gives_out_tokens_for_an_hour(
    github: GitHubEmulator, call: Call, installation: int
) -> None:
    answer = call(f"/app/installations/{installation}/access_tokens", app_token(github), "POST")
    token = answer.json()
    assert answer.status_code == 201
    assert token["token"].startswith(f"ghs_{github.app.id}_")
    assert len(token["token"]) > 300
    expected = datetime.fromtimestamp(github.clock() + 3600, UTC)
    expires = datetime.fromisoformat(token["expires_at"])
    assert abs((expires - expected).total_seconds()) < 5
    assert (token["permissions"], token["repository_selection"]) == (
        {"contents": "read", "metadata": "read"},
        "selected",
    )
    assert "repositories" not in token


def test_it_limits_a_token_as_asked(github: GitHubEmulator, call: Call, installation: int) -> None:
    github.select_repositories(installation, "all")
    path = f"/app/installations/{installation}/access_tokens"
    token = call(path, app_token(github), "POST", repositories=["secret"]).json()
    assert [repository["name"] for repository in token["repositories"]] == ["secret"]
    reached = call("/installation/repositories", token["token"]).json()
    assert [repository["name"] for repository in reached["repositories"]] == ["secret"]
    assert call(path, app_token(github), "POST", repositories=["nothing"]).status_code == 422
    assert call(path, app_token(github), "POST", permissions={"issues": "read"}).status_code == 422


def test_it_refuses_tokens_of_the_suspended_and_the_unknown(
    github: GitHubEmulator, call: Call, installation: int
) -> None:
    token = github.token_for(installation)
    github.suspend(installation)
    path = f"/app/installations/{installation}/access_tokens"
    suspended = (403, "This installation has been suspended")
    assert says(call(path, app_token(github), "POST")) == suspended
    assert says(call("/installation/repositories", token)) == suspended
    github.uninstall(installation)
    assert says(call(path, app_token(github), "POST")) == (404, "Not Found")
    assert says(call("/installation/repositories", token)) == (401, "Bad credentials")


def test_it_lets_tokens_run_out(github: GitHubEmulator, call: Call, installation: int) -> None:
    token = github.token_for(installation)
    github.clock = lambda: time.time() + 3601
    late = call("/installation/repositories", token)
    assert says(late) == (401, "Bad credentials")
    ahead = parsedate_to_datetime(late.headers["Date"]) - datetime.now(UTC)
    assert round(ahead.total_seconds() / 60) == 60
    fresh = github.token_for(installation)
    github.expire_tokens()
    assert says(call("/installation/repositories", fresh)) == (401, "Bad credentials")


def test_it_shows_an_installation_what_it_reaches(
    github: GitHubEmulator, call: Call, installation: int
) -> None:
    github.create_repository("ada/open", private=False)
    token = github.token_for(installation)
    listed = call("/installation/repositories", token).json()
    assert [r["full_name"] for r in listed["repositories"]] == ["acme/agents"]
    assert call("/repos/acme/agents", token).json()["default_branch"] == "main"
    assert call("/repos/ada/open", token).json()["visibility"] == "public"
    assert call("/repos/ada/open").json()["permissions"]["push"] is False
    assert says(call("/repos/acme/secret", token)) == (404, "Not Found")
    assert says(call("/repos/acme/agents")) == (404, "Not Found")


def test_it_shows_people_what_they_may_read(
    github: GitHubEmulator, call: Call, installation: int
) -> None:
    def seen_by(login: str) -> tuple[list[int], int]:
        token = github.user_token(login)
        installations = call("/user/installations", token).json()["installations"]
        repositories = call(f"/user/installations/{installation}/repositories", token)
        return [i["id"] for i in installations], repositories.status_code

    assert seen_by("ada") == ([installation], 200)
    assert seen_by("linus") == ([installation], 200)
    assert seen_by("mallory") == ([], 404)
    github.add_collaborator("acme/agents", "mallory", "read")
    assert seen_by("mallory") == ([installation], 200)
    listed = call(
        f"/user/installations/{installation}/repositories", github.user_token("mallory")
    ).json()
    assert [(r["full_name"], r["permissions"]) for r in listed["repositories"]] == [
        (
            "acme/agents",
            {"admin": False, "maintain": False, "push": False, "triage": False, "pull": True},
        )
    ]


def test_it_tells_who_somebody_is(github: GitHubEmulator, call: Call) -> None:
    token = github.user_token("ada")
    person = call("/user", token).json()
    assert [person[key] for key in ("login", "name", "email", "type")] == [
        "ada",
        "Ada Lovelace",
        "ada@acme.example",
        "User",
    ]
    assert says(call("/user/emails", token)) == (403, "Resource not accessible by integration")
    github.app.permissions["email_addresses"] = "read"
    assert [entry["email"] for entry in call("/user/emails", token).json()] == ["ada@acme.example"]
    assert says(call("/user")) == (401, "Requires authentication")


def test_it_leads_on_from_a_former_name(
    github: GitHubEmulator, call: Call, installation: int
) -> None:
    token, number = github.token_for(installation), github.repository_named("acme/agents").id
    github.rename_repository("acme/agents", "bots")
    moved = call("/repos/acme/agents", token)
    there = f"{github.url}/api/v3/repositories/{number}"
    assert (moved.status_code, moved.headers["Location"]) == (301, there)
    assert call(f"/repositories/{number}", token).json()["full_name"] == "acme/bots"
    assert says(call("/repos/acme/agents")) == (404, "Not Found")


def test_it_pages_long_lists(github: GitHubEmulator, installation: int) -> None:
    github.select_repositories(installation, "all")
    for number in range(5):
        github.create_repository(f"acme/r{number}")
    headers = {"Authorization": f"token {github.token_for(installation)}"}
    address = f"{github.url}/api/v3/installation/repositories?per_page=3"
    pages = []
    while address:
        answer = requests.get(address, headers=headers, timeout=10)
        pages.append([repository["name"] for repository in answer.json()["repositories"]])
        address = answer.links.get("next", {}).get("url", "")
    assert pages == [["agents", "secret", "r0"], ["r1", "r2", "r3"], ["r4"]]
    assert answer.json()["total_count"] == 7
    assert set(answer.links) == {"prev", "first"}


def test_it_keeps_count_of_the_hour(github: GitHubEmulator, call: Call, installation: int) -> None:
    github.budget.limit = 2
    token = github.token_for(installation)
    left = [call("/repos/acme/agents", token).headers["x-ratelimit-remaining"] for _ in range(2)]
    assert left == ["1", "0"]
    limited = call("/repos/acme/agents", token)
    words = f"API rate limit exceeded for installation ID {installation}."
    assert says(limited) == (403, words)
    reset = int(limited.headers["x-ratelimit-reset"])
    assert call("/rate_limit", token).json()["rate"]["remaining"] == 0
    github.clock = lambda: reset + 1
    assert call("/repos/acme/agents", github.token_for(installation)).status_code == 200


def test_it_lists_its_deliveries_and_repeats_them(
    github: GitHubEmulator, call: Call, installation: int
) -> None:
    github.deliver = lambda delivery: 500
    github.push("acme/agents", "main", {"a": "a"})
    token = app_token(github)
    newest = call("/app/hook/deliveries?per_page=1", token)
    (item,) = newest.json()
    assert [item[key] for key in ("event", "guid", "status_code", "redelivery")] == [
        "push",
        github.deliveries[-1].id,
        500,
        False,
    ]
    older = requests.get(
        newest.links["next"]["url"], headers={"Authorization": f"Bearer {token}"}, timeout=10
    )
    assert [made["event"] for made in older.json()] == ["installation"]
    whole = call(f"/app/hook/deliveries/{item['id']}", token).json()
    assert whole["request"]["payload"] == github.deliveries[-1].payload
    assert call(f"/app/hook/deliveries/{item['id']}/attempts", token, "POST").status_code == 202
    github.wait_for_deliveries()
    assert [made.redelivery for made in github.deliveries] == [False, False, True]
