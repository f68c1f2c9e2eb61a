"""The connection doctor: each fault made real, and the line that names it with its fix."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from rollouts_app.models import Repository, User
from tests.doctor import DOUBTFUL, GOOD, WRONG, deliver, examined, finding, findings
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, text_of
from tests.syncing import NAME

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def well(
    agents: Repository, github: GitHubEmulator, ada: User, empty_queue: None
) -> Iterator[None]:
    """A server on which nothing is wrong."""
    cache.clear()
    ada.is_administrator = True
    ada.save(update_fields=["is_administrator"])
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now())")
    deliver(github)
    yield
    github.app.webhook_url = f"{os.environ['PUBLIC_URL']}/webhooks/github"


def new_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = serialization.Encoding.PEM
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(pem, form, serialization.NoEncryption()).decode()


def test_it_finds_nothing_where_nothing_is_wrong(ada: User) -> None:
    page = examined(ada)
    assert {name: state for name, (state, _) in findings(page).items()} == dict.fromkeys(
        [
            *("PUBLIC_URL", "Clock", "Private key", "Permissions and events", "Webhook address"),
            *("Deliveries", "Webhook secret", "Requests left for acme", "Database", "Workers"),
            *("git", "Git caches"),
        ],
        GOOD,
    )
    assert "Everything is well." in page.text(".//main")


def test_it_is_for_administrators(linus: User) -> None:
    client = Client()
    client.force_login(linus)
    assert client.get("/doctor").status_code == 404


@pytest.mark.parametrize(("seconds", "side"), [(75, "fast"), (-75, "slow")])
def test_it_names_a_wrong_clock(ada: User, github: GitHubEmulator, seconds: int, side: str) -> None:
    """I13"""
    github.clock = lambda: time.time() - seconds
    state, text = finding(ada, "Clock")
    assert state == WRONG
    # The seconds that the question takes count, and GitHub's Date has no fractions.
    said = int(text.removeprefix("This server's clock is ").split()[0])
    assert abs(said - 75) <= 2
    assert text == (
        f"This server's clock is {said} s {side}. GitHub refuses what such a clock signs. "
        "To do: Set it by NTP, for example with: timedatectl set-ntp true"
    )


def test_it_names_a_key_of_another_app(ada: User, settings: Settings) -> None:
    settings.GITHUB_APP_PRIVATE_KEY = new_key()
    state, text = finding(ada, "Private key")
    assert (state, "Make a new key on the App's page" in text) == (WRONG, True)


def test_it_names_a_key_that_is_none(ada: User, settings: Settings) -> None:
    settings.GITHUB_APP_PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nnot a key"
    state, text = finding(ada, "Private key")
    assert (state, text.split(".")[0]) == (
        WRONG,
        "The GitHub App's private key cannot be read",
    )


def test_it_names_another_apps_slug(ada: User, settings: Settings) -> None:
    settings.GITHUB_APP_SLUG = "another"
    state, text = finding(ada, "Private key")
    assert (state, text.split(" To do")[0].endswith("this server's App is another.")) == (
        WRONG,
        True,
    )


def test_it_names_a_missing_permission_and_event(
    ada: User, github: GitHubEmulator, agents: Repository
) -> None:
    """I14"""
    github.edit_app_permissions({"metadata": "read"})
    github.app.events = ["push"]
    agents.installation.permissions = {"metadata": "read"}
    agents.installation.save()
    lines = page_lines(examined(ada), "Permissions")
    assert [(state, text.split(" To do")[0]) for state, text in lines] == [
        (WRONG, "The App does not ask for: contents."),
        (WRONG, "The App does not subscribe to: create, delete, repository."),
        (WRONG, "Not granted there: contents."),
    ]
    assert lines[2][1].endswith(agents.installation.permissions_page)


def page_lines(page: Page, start: str) -> list[tuple[str, str]]:
    rows = page.all(".//tbody/tr")
    return [(text_of(row[1]), text_of(row[2])) for row in rows if text_of(row[0]).startswith(start)]


def test_it_names_another_webhook_address(ada: User, github: GitHubEmulator) -> None:
    github.app.webhook_url = "https://old.example/webhooks/github"
    state, text = finding(ada, "Webhook address")
    assert (state, text.split(",")[0]) == (
        WRONG,
        "GitHub delivers to https://old.example/webhooks/github",
    )
    github.app.webhook_url = ""
    assert finding(ada, "Webhook address")[0] == DOUBTFUL


def test_it_names_a_webhook_that_sends_forms(ada: User, github: GitHubEmulator) -> None:
    github.app.webhook_content_type = "form"
    github.deliver = lambda _delivery: 415
    github.push(NAME, "main", {"b": "b"})
    github.wait_for_deliveries()
    lines = findings(examined(ada))
    github.app.webhook_content_type = "json"
    found = [lines[name] for name in ("Webhook address", "Deliveries")]
    fix = "Choose application/json as the webhook's content type on the App's page"
    assert [(state, text.split(" To do: ")[0]) for state, text in found] == [
        (WRONG, "GitHub sends forms, and this server reads JSON."),
        (WRONG, "GitHub's latest delivery (push) was a form, and this server reads JSON."),
    ]
    assert [text.split(" To do: ")[1][: len(fix)] for _, text in found] == [fix, fix]


def test_it_names_deliveries_that_do_not_arrive(ada: User, github: GitHubEmulator) -> None:
    github.deliver = lambda _delivery: 502
    github.push(NAME, "main", {"b": "b"})
    github.wait_for_deliveries()
    state, text = finding(ada, "Deliveries")
    host = urlsplit(os.environ["PUBLIC_URL"]).netloc
    assert (state, text.split(" To do")[0]) == (
        WRONG,
        f"GitHub's latest delivery (push) did not arrive: {host} answered 502.",
    )


def test_it_names_a_wrong_webhook_secret(ada: User, github: GitHubEmulator) -> None:
    """W18"""
    assert deliver(github, **{"X-Hub-Signature-256": "sha256=" + "0" * 64}) == 401
    state, text = finding(ada, "Webhook secret")
    assert (state, text.split(" since")[0]) == (WRONG, "Wrong: 1 deliveries were refused")


def test_it_names_a_used_up_budget(ada: User, github: GitHubEmulator) -> None:
    core = {"limit": 5000, "remaining": 3, "reset": int(time.time()) + 600}
    github.trouble("/api/v3/rate_limit", status=200, body={"resources": {"core": core}})
    state, text = finding(ada, "Requests left for acme")
    assert (state, text.split(" To do")[0]) == (DOUBTFUL, "3 of 5000.")


def test_it_names_a_missing_worker(ada: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 min'")
    state, text = finding(ada, "Workers")
    assert (state, text.split(",")[0]) == (WRONG, "None is running")


def test_it_names_jobs_that_wait_long(ada: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_events SET at = now() - interval '190 s'")
    state, text = finding(ada, "Workers")
    assert (state, text.split(" To do")[0].split(" of ")[0]) == (DOUBTFUL, "1 running; the oldest")
    assert "waits for 3 min." in text


@pytest.mark.parametrize(
    ("headers", "state", "said"),
    [
        ({"Host": "127.0.0.1:1"}, WRONG, "This page came by http://127.0.0.1:1, and"),
        (
            {"X-Forwarded-Host": "a.example", "X-Forwarded-Proto": "https"},
            WRONG,
            "The proxy says that people call https://a.example, and",
        ),
        ({"X-Forwarded-For": "192.0.2.1"}, DOUBTFUL, "A proxy stands in front of this server, and"),
    ],
)
def test_it_names_a_wrong_public_url(
    ada: User, headers: dict[str, str], state: str, said: str
) -> None:
    found, text = finding(ada, "PUBLIC_URL", **headers)
    assert (found, text[: len(said)]) == (state, said)


def test_it_names_a_missing_git(ada: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert finding(ada, "git")[0] == WRONG
    old = tmp_path / "git"
    old.write_text("#!/bin/sh\necho git version 2.25.1\n")
    old.chmod(0o755)
    assert finding(ada, "git") == (
        WRONG,
        "git version 2.25.1 is too old. To do: Install git 2.31 or newer.",
    )


def test_it_does_not_hang_with_github(ada: User, github: GitHubEmulator) -> None:
    slow = github.trouble("/api/v3", delay=8)
    begun = time.monotonic()
    state, text = finding(ada, "Private key")
    took = time.monotonic() - begun
    slow.end()
    assert (state, "There was no answer within 5 s." in text, took < 7) == (WRONG, True, True)


def test_it_says_when_github_is_down(ada: User, github: GitHubEmulator) -> None:
    github.outage()
    found = findings(examined(ada))
    states = {name: state for name, (state, _) in found.items()}
    assert (states["Private key"], states["Database"], states["Workers"]) == (WRONG, GOOD, GOOD)


def test_the_report_holds_no_secret(ada: User, settings: Settings, github: GitHubEmulator) -> None:
    github.trouble("/api/v3/app", status=403, body={"message": settings.GITHUB_APP_WEBHOOK_SECRET})
    report = examined(ada).text(".//*[@id='report']")
    secrets: list[Any] = [
        *(settings.SECRET_KEY, settings.GITHUB_APP_CLIENT_SECRET, settings.GITHUB_APP_PRIVATE_KEY),
        *(settings.GITHUB_APP_WEBHOOK_SECRET, *settings.ENCRYPTION_KEYS),
    ]
    assert [secret for secret in secrets if secret in report] == []
    assert "<removed>" in report
    assert "[bad] Private key:" in report


def test_the_command_does_the_same(
    github: GitHubEmulator, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("doctor")
    lines = capsys.readouterr().out.splitlines()
    assert {line.split("]")[0] for line in lines[1:]} == {"[good"}
    settings.GITHUB_APP_PRIVATE_KEY = new_key()
    with pytest.raises(SystemExit) as end:
        call_command("doctor")
    assert end.value.code == 1
    assert "[bad] Private key:" in capsys.readouterr().out
