"""The log: ids that follow a push from the webhook to the page, and no secrets."""

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from osmosis_web.logs import HIDDEN, Discreet, JsonLines
from rollouts_app import tracing
from rollouts_app.models import Repository, SyncRun, User
from tests.github_emulator import GitHubEmulator
from tests.serving import serving, session_of, working
from tests.settings import EMULATOR
from tests.waiting import wait_until

JSON = {"LOG_FORMAT": "json"}
INVITATION = "an-invitation-that-nobody-may-read-in-a-log"
# Made to look right, so that no scanner takes them for real ones.
INSTALLATION_TOKEN = "ghs_" + "a1B2" * 9
JWT = "eyJhbGciOiJSUzI1NiJ9." + "eyJpc3MiOiIxIn0.c2ln"


def record(message: str, *values: object) -> logging.LogRecord:
    return logging.LogRecord("rollouts_app", logging.INFO, "x.py", 1, message, values, None)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        (f"Token {INSTALLATION_TOKEN} expired", f"Token {HIDDEN} expired"),
        (f"Authorization: Bearer {JWT}", f"Authorization: Bearer {HIDDEN}"),
        ("Authorization: basic eC1hY2Nlc3M6dG9rZW4=", f"Authorization: basic {HIDDEN}"),
        ("postgres://osmosis:hunter2@db/osmosis", f"postgres://{HIDDEN}@db/osmosis"),
        (f"Internal Server Error: /invitations/{INVITATION}", "Internal Server Error: /invitations/"
         + HIDDEN),
        ("our own secret word", f"our {HIDDEN} word"),
        ("https://github.com/acme/agents", "https://github.com/acme/agents"),
    ],
)  # fmt: skip
def test_it_hides_secrets(said: str, written: str) -> None:
    assert Discreet(secrets=["own secret", "our"]).format(record(said)) == written


def test_it_hides_each_line_of_a_key() -> None:
    key = EMULATOR.app.private_key
    line = key.splitlines()[3]
    formatter = JsonLines(secrets=[key])
    assert json.loads(formatter.format(record("%s", line)))["message"] == HIDDEN


def test_it_keeps_text_on_one_line() -> None:
    with tracing.bound(job=7, repository=None):
        line = Discreet().format(record("Branch %s", "main\n2026 INFO all is well\x1b[2J"))
    assert line == "Branch main\\x0a2026 INFO all is well\\x1b[2J job=7"


def test_it_writes_the_trace_of_an_error_without_its_secrets() -> None:
    try:
        raise ValueError(INSTALLATION_TOKEN)
    except ValueError as error:
        failed = record("It failed")
        failed.exc_info = (ValueError, error, error.__traceback__)
    line = json.loads(JsonLines().format(failed))
    assert (line["level"], line["message"]) == ("info", "It failed")
    assert line["error"].splitlines()[-1] == f"ValueError: {HIDDEN}"


def test_it_forgets_ids_with_the_work_they_belong_to() -> None:
    with tracing.bound(request="a"):
        tracing.bind(repository=3)
        assert tracing.ids() == {"request": "a", "repository": 3}
    assert tracing.ids() == {}


@pytest.mark.django_db(transaction=True)
def test_it_follows_a_push_from_the_webhook_to_the_page(
    agents: Repository, ada: User, github: GitHubEmulator, empty_queue: None, tmp_path: Path
) -> None:
    commit = github.push("acme/agents", "main", {"rollouts/new/main.py": "…"})
    github.wait_for_deliveries()
    push = next(each for each in reversed(github.deliveries) if each.event == "push")
    with serving(tmp_path, **JSON) as web, working(tmp_path, **JSON) as worker:
        called = {**push.headers, "X-Request-ID": "called-by-the-proxy"}
        requests.post(f"{web.url}/webhooks/github", data=push.body, headers=called, timeout=30)
        wait_until(lambda: SyncRun.objects.filter(state="success", commit=commit).exists())
        wait_until(lambda: f"to {commit[:7]}" in worker.text())
        page = requests.get(f"{web.url}/acme/rollouts", cookies=session_of(ada), timeout=30)
        assert page.status_code == 200
        requests.get(f"{web.url}/invitations/{INVITATION}?code={INVITATION}", timeout=30)
        run = SyncRun.objects.get(commit=commit)
        told, synced, shown, strange = steps(web.lines() + worker.lines())
        everything = web.text() + worker.text()
    assert told == {
        "request": "called-by-the-proxy",
        "delivery": push.headers["X-GitHub-Delivery"],
        "repository": agents.pk,
        "run": run.pk,
    }
    assert synced.pop("job") > 0
    assert synced == {"task": "sync_repository", "repository": agents.pk, "run": run.pk}
    assert shown == {
        "request": page.headers["X-Request-ID"],
        "user": ada.pk,
        "workspace": agents.workspace_id,
        "repository": agents.pk,
    }
    assert list(strange) == ["request"]
    assert secrets_in(everything) == []


def steps(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The ids of the lines about the push, its sync, the page, and an address of nobody's."""
    patterns = ("POST github-webhook: 202", "Synced a branch", "GET rollout-list", "GET invitation")
    found = [
        next(line for line in lines if line["message"].startswith(pattern)) for pattern in patterns
    ]
    known = ("time", "level", "logger", "message")
    return [{name: line[name] for name in line if name not in known} for line in found]


def secrets_in(text: str) -> list[str]:
    """What no log may hold, of all that went over the wire for these steps."""
    app = EMULATOR.app
    secrets = [app.webhook_secret, app.client_secret, *app.private_key.splitlines()[1:-1]]
    patterns = [*map(re.escape, secrets), r"gh[a-z]_\w+", r"eyJ\w+\.", INVITATION, "sessionid="]
    return [pattern for pattern in patterns if re.search(pattern, text)]
