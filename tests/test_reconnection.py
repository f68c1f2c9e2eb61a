"""Reconnect, as people meet it, and what a failed first sync must not block."""

import pytest
from django.core.cache import cache
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import Repository, User
from rollouts_app.sync import engine
from tests.conftest import Browser
from tests.connection import HOME, address, press
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME, DISMISS, messages_of
from tests.pages import page_of
from tests.syncing import NAME, names_on

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(ada: User, browser_of: Browser) -> Client:
    return browser_of(ada)


def test_sent_twice_or_late_it_changes_nothing(client: Client, synced: Repository) -> None:
    path = address(synced, "disconnect")
    press(client, path, choice="keep")
    assert press(client, path, choice="delete", name=NAME) == [
        "That repository is not connected any more. Nothing was changed."
    ]
    assert client.get(path).status_code == 404
    assert press(client, address(synced, "reconnect"))[0].startswith(f"{NAME} is active again")
    assert press(client, address(synced, "reconnect")) == [
        "Nothing is kept of that repository, or it has returned. Nothing was changed."
    ]
    assert press(client, address(synced, "delete"), name=NAME) == [
        "Nothing is kept of that repository any more. Nothing was changed."
    ]
    assert Repository.objects.connected().get() == synced


def test_it_returns_with_what_was_kept(
    client: Client, synced: Repository, github: GitHubEmulator
) -> None:
    press(client, address(synced, "disconnect"), choice="keep")
    github.rename_repository(NAME, "robots", by="ada")
    assert press(client, address(synced, "reconnect")) == [
        "acme/robots is active again, with its rollouts and history. "
        "All branches are being checked."
    ]
    page = page_of(client.get("/acme/rollouts"))
    assert [row.split()[0] for row in page.texts(".//a[@class='title']")] == ["maths", "search"]


def test_it_returns_through_an_app_that_was_installed_anew(
    client: Client, synced: Repository, github: GitHubEmulator
) -> None:
    press(client, address(synced, "disconnect"), choice="keep")
    github.uninstall(synced.installation.github_id, by="ada")
    [message] = press(client, address(synced, "reconnect"))
    assert message.startswith("GitHub does not show you this repository through the App.")
    number = github.install("acme", repositories=[NAME], by="ada")
    press(client, address(synced, "reconnect"))
    again = Repository.objects.connected().get()
    assert (again.pk, again.installation.github_id) == (synced.pk, number)


def test_it_asks_to_sign_in_again_before_it_returns(
    client: Client, ada: User, synced: Repository
) -> None:
    press(client, address(synced, "disconnect"), choice="keep")
    cache.delete(f"user-token-{ada.github_id}")
    answer = client.post(address(synced, "reconnect"), follow=True)
    assert answer.redirect_chain == [(AT_ACME, 302)]
    page = page_of(answer)
    assert messages_of(page) == [
        f"Sign in with GitHub again, then choose {NAME}: what is kept of it returns."
    ]
    assert page.actions() == ["/accounts/github/login/", DISMISS]


@pytest.mark.usefixtures("empty_queue")
def test_a_failed_first_sync_blocks_no_way_on(
    client: Client, agents: Repository, github: GitHubEmulator
) -> None:
    """I20: Sync now, Disconnect and Reconnect work after a first sync that failed."""
    refusal = github.trouble("/acme/agents.git", status=403)
    engine.sync(agents.pk)
    ProcrastinateJob.objects.all().delete()
    agents.refresh_from_db()
    assert (agents.trouble, agents.heads_checked_at) == ("denied", None)
    assert address(agents, "disconnect") in page_of(client.get(HOME)).links().values()

    assert press(client, f"{HOME}/sync-now") == ["Checking all branches on GitHub."]
    assert ProcrastinateJob.objects.count() == 1
    engine.sync(agents.pk)
    assert press(client, address(agents, "disconnect"), choice="keep") == [
        f"{NAME} was disconnected. "
        "Its rollouts and history are kept, inactive, until it is reactivated."
    ]
    assert press(client, address(agents, "reconnect"))[0].startswith(f"{NAME} is active again")
    refusal.end()
    assert engine.sync(agents.pk) is None
    agents.refresh_from_db()
    assert (agents.trouble, names_on(agents, "main")) == ("", ["maths", "search"])
