"""Signing in with the emulator: the page that asks, and the exchange of codes and tokens."""

import base64
import hashlib
import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
import requests

from tests.github_emulator import GitHubEmulator

CALLBACK = "http://127.0.0.1:8000/accounts/github/login/callback/"
VERIFIER = "a-verifier-of-at-least-forty-three-characters-0123456789"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode()
Exchange = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(github: GitHubEmulator) -> Iterator[dict[str, str]]:
    """What an App asks the sign-in page with."""
    before, github.app.callback_urls = github.app.callback_urls, [CALLBACK]
    yield {
        "client_id": github.app.client_id,
        "redirect_uri": CALLBACK,
        "state": "a state & more",
        "scope": "",
        "code_challenge": CHALLENGE.rstrip("="),
        "code_challenge_method": "S256",
    }
    github.app.callback_urls = before


def page(github: GitHubEmulator, asked: dict[str, str]) -> requests.Response:
    """The sign-in page."""
    return requests.get(f"{github.url}/login/oauth/authorize", asked, timeout=5)


def choose(github: GitHubEmulator, asked: dict[str, str], login: str = "ada") -> str:
    """Press "Continue as"; the address one is sent to."""
    answer = requests.post(
        f"{github.url}/login/oauth/authorize",
        data={**asked, "user": login},
        allow_redirects=False,
        timeout=5,
    )
    return answer.headers["Location"]


def code_of(address: str) -> str:
    """The code in the address of a way back."""
    return dict(parse_qsl(urlsplit(address).query))["code"]


@pytest.fixture
def exchange(github: GitHubEmulator) -> Exchange:
    """Ask for tokens, as the App with its secret."""

    def exchange(**fields: str) -> dict[str, Any]:
        answer = requests.post(
            f"{github.url}/login/oauth/access_token",
            data={
                "client_id": github.app.client_id,
                "client_secret": github.app.client_secret,
                "code_verifier": VERIFIER,
                "redirect_uri": CALLBACK,
                **fields,
            },
            headers={"Accept": "application/json"},
            timeout=5,
        )
        assert answer.status_code == 200
        parsed: dict[str, Any] = answer.json()
        return parsed

    return exchange


def who(github: GitHubEmulator, token: str) -> str:
    """The login a token stands for."""
    headers = {"Authorization": f"Bearer {token}"}
    answer = requests.get(f"{github.url}/api/v3/user", headers=headers, timeout=5)
    return str(answer.json().get("login", answer.status_code))


def test_it_offers_everybody(github: GitHubEmulator, asked: dict[str, str]) -> None:
    github.account_named("mallory").name, github.account_named("mallory").email = "mallory", None
    shown = page(github, asked).text
    assert re.findall(r"Continue as (.*?)</strong>.*?<span>(.*?)</span>", shown) == [
        ("Ada Lovelace", "ada · ada@acme.example"),
        ("Linus T", "linus · linus@acme.example"),
        ("mallory", "mallory · e-mail hidden"),
    ]


def test_it_signs_somebody_in(
    github: GitHubEmulator, asked: dict[str, str], exchange: Exchange
) -> None:
    back = choose(github, asked, "linus")
    assert back.startswith(f"{CALLBACK}?code=")
    assert parse_qs(urlsplit(back).query)["state"] == ["a state & more"]
    tokens = exchange(code=code_of(back))
    assert who(github, tokens["access_token"]) == "linus"
    assert {key: tokens[key] for key in tokens if not key.endswith("_token")} == {
        "expires_in": 28800,
        "refresh_token_expires_in": 15897600,
        "scope": "",
        "token_type": "bearer",
    }
    renewed = exchange(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert who(github, renewed["access_token"]) == "linus"
    again = exchange(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert again["error"] == "bad_refresh_token"


def test_it_answers_as_a_form_unless_asked_for_json(
    github: GitHubEmulator, asked: dict[str, str]
) -> None:
    fields = {
        "client_id": github.app.client_id,
        "client_secret": github.app.client_secret,
        "code": code_of(choose(github, asked)),
        "code_verifier": VERIFIER,
    }
    answer = requests.post(f"{github.url}/login/oauth/access_token", fields, timeout=5)
    assert who(github, dict(parse_qsl(answer.text))["access_token"]) == "ada"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"client_secret": "wrong"}, "incorrect_client_credentials"),
        ({"code": "wrong"}, "bad_verification_code"),
        ({"code_verifier": "wrong"}, "bad_verification_code"),
        ({"redirect_uri": CALLBACK + "elsewhere"}, "redirect_uri_mismatch"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
    ],
)
def test_it_refuses_with_githubs_errors(
    github: GitHubEmulator,
    asked: dict[str, str],
    exchange: Exchange,
    fields: dict[str, str],
    error: str,
) -> None:
    code = code_of(choose(github, asked))
    assert exchange(**{"code": code, **fields})["error"] == error


def test_it_takes_a_code_once_and_not_late(
    github: GitHubEmulator, asked: dict[str, str], exchange: Exchange
) -> None:
    code = code_of(choose(github, asked))
    assert "access_token" in exchange(code=code)
    assert exchange(code=code)["error"] == "bad_verification_code"
    code = code_of(choose(github, asked))
    github.clock = lambda: time.time() + 601
    assert exchange(code=code)["error"] == "bad_verification_code"


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"client_id": "somebody-else"}, 404, "No App has this client_id."),
        ({"redirect_uri": "http://127.0.0.1:8001/accounts/"}, 400, "is not associated with"),
        ({"redirect_uri": CALLBACK.rstrip("/") + "-evil"}, 400, "is not associated with"),
        ({"code_challenge_method": "plain"}, 400, "has to be S256"),
    ],
)
def test_it_does_not_ask_for_strangers(
    github: GitHubEmulator, asked: dict[str, str], changes: dict[str, str], status: int, words: str
) -> None:
    shown = page(github, {**asked, **changes})
    assert (shown.status_code, words in shown.text, "Continue as" in shown.text) == (
        status,
        True,
        False,
    )
