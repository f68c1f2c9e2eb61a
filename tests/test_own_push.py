"""What one has just pushed is told above the list of another branch."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from rollouts_app.models import Branch, Repository, SyncRun, User
from rollouts_app.sync import engine
from tests.github_emulator import GitHubEmulator
from tests.rollouts_page import client_of, seen_by
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db


def push(synced: Repository, github: GitHubEmulator, name: str, pusher: str = "ADA") -> SyncRun:
    commit = github.push(NAME, name, {"rollouts/x/main.py": name}, start="main")
    branch, _ = Branch.objects.get_or_create(repository=synced, name=name)
    run = SyncRun.objects.request(branch, SyncRun.Trigger.PUSH, commit=commit, pusher=pusher)
    engine.sync(synced.pk)
    return run


def told(user: User, query: str = "") -> list[str]:
    return seen_by(user, query).texts(".//p[@class='notice messages own-push']")


def test_it_leads_to_what_one_pushed_last(
    synced: Repository, github: GitHubEmulator, ada: User, linus: User
) -> None:
    push(synced, github, "first")
    push(synced, github, "a&b")
    push(synced, github, "later", pusher="linus")
    assert told(ada) == ["a&b: you pushed just now. View"]
    assert seen_by(ada).links()["View"] == "?branch=a%26b"
    assert told(ada, "?branch=a%26b") == []
    assert told(linus) == ["later: you pushed just now. View"]


def test_it_tells_of_nothing_that_is_over_or_gone(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    run = push(synced, github, "dev")
    SyncRun.objects.filter(pk=run.pk).update(requested_at=now() - timedelta(minutes=11))
    assert told(ada) == []
    SyncRun.objects.filter(pk=run.pk).update(requested_at=now())
    assert told(ada) != []
    github.delete_branch(NAME, "dev")
    check_all(synced)
    assert told(ada) == []


def test_the_open_page_learns_of_it_once(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    """When its tab is shown again, it asks."""
    asked = seen_by(ada).one(".//*[@id='freshness']").get("hx-get", "")
    headers = {"HX-Request": "true"}
    assert "HX-Trigger" not in client_of(ada).get(asked, headers=headers).headers
    run = push(synced, github, "dev")
    answer = client_of(ada).get(asked, headers=headers)
    assert answer.headers["HX-Trigger"] == '{"catalog-synced": {}}'
    assert f"told={run.pk}" in answer.text
    again = asked.replace("told=", f"told={run.pk}")
    assert "HX-Trigger" not in client_of(ada).get(again, headers=headers).headers
