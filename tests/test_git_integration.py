"""Git Integration: what is connected, and Sync now."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import Installation, Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from rollouts_app.templatetags.rollouts import exact
from tests.conftest import receive
from tests.github_emulator import GitHubEmulator
from tests.history import ADDRESS, seen_by
from tests.pages import Page, page_of
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

SYNC_NOW = f"{ADDRESS}/sync-now"
HTMX = {"HX-Request": "true", "HX-Target": "connection"}


def part_seen_by(user: User) -> Page:
    client = Client()
    client.force_login(user)
    return page_of(client.get(ADDRESS, headers=HTMX))


def asks_again(page: Page, id: str = "connection") -> bool:
    trigger = page.one(f".//*[@id='{id}']").get("hx-trigger") or ""
    assert trigger.endswith("sync-asked from:body, tab-shown from:body")
    return trigger.startswith("every ")


def test_it_lets_an_owner_connect(ada: User, acme: Workspace) -> None:
    page = seen_by(ada)
    assert page.text(".//main//h2") == "No repository is connected"
    assert page.actions() == ["/acme/integrations/git/installation"]
    assert page.text(".//main//button") == "Install the App"
    assert page.links()["Choose a repository"] == "/onboarding?workspace=acme"


def test_it_tells_a_member_whom_to_ask(linus: User, acme: Workspace) -> None:
    page = seen_by(linus)
    assert page.actions() == []
    assert page.text(".//main//p").endswith(
        "Ask one of them to connect a repository: Ada Lovelace."
    )


def test_it_says_what_is_connected(ada: User, agents: Repository, github: GitHubEmulator) -> None:
    engine.sync(agents.pk)
    page = seen_by(ada)
    assert page.text(".//h2[@id='connection-title']") == f"Connected to {NAME}"
    assert page.one(".//a[@id='repository-link']").get("href") == f"{github.url}/{NAME}"
    assert page.one(".//a[@id='manage-link']").get("href") == agents.installation.page
    assert page.facts() == {
        "Default branch": "main",
        "Last check": "All branches compared just now",
        "Last delivery": "None yet. GitHub announces each push by a delivery; until the first one "
        "arrives, pushes are found when the timer next looks. What to check",
        "Permissions": "Contents: read · Metadata: read Details of the permissions",
    }


def test_it_links_the_settings_of_the_account(
    installation: Installation, github: GitHubEmulator
) -> None:
    number = installation.github_id
    assert installation.page == f"{github.url}/organizations/acme/settings/installations/{number}"
    installation.account_type = "User"
    assert installation.page == f"{github.url}/settings/installations/{number}"


def test_it_shows_members_the_same_without_the_owners_buttons(
    ada: User, linus: User, agents: Repository
) -> None:
    engine.sync(agents.pk)
    owners, members = seen_by(ada), seen_by(linus)
    assert members.facts() == owners.facts()
    assert members.actions() == owners.actions() == [SYNC_NOW]
    assert members.all(".//a[@id='manage-link']") == []
    sentence = "Every push to any branch is synced."
    assert owners.text(".//main//section//p") == sentence
    assert members.text(".//main//section//p") == (
        f"{sentence} Owners and admins manage this connection."
    )


def test_it_says_what_came_of_the_last_delivery(
    ada: User, agents: Repository, github: GitHubEmulator
) -> None:
    github.push(NAME, "feature/x", {"a": "b"}, start="main")
    github.wait_for_deliveries()
    [push] = [each for each in github.deliveries if each.event == "push"]
    receive(push)
    assert seen_by(ada).facts()["Last delivery"] == (
        "push just now · Sync of branch feature/x asked for. View all deliveries"
    )


def test_it_names_a_permission_that_is_missing(ada: User, agents: Repository) -> None:
    agents.installation.permissions = {"metadata": "read", "issues": "write"}
    agents.installation.save()
    assert seen_by(ada).facts()["Permissions"] == (
        "Contents: not granted · Metadata: read · Issues: write Details of the permissions"
    )


def test_it_says_so_when_nobody_has_looked_for_long(ada: User, agents: Repository) -> None:
    engine.sync(agents.pk)
    checked_at = now() - timedelta(hours=3)
    Repository.objects.update(heads_checked_at=checked_at)
    assert seen_by(ada).facts()["Last check"] == f"Not checked since {exact(checked_at)} (3 h ago)"


def test_it_says_that_no_worker_takes_up_a_check(ada: User, agents: Repository) -> None:
    assert seen_by(ada).facts()["Last check"] == "Checking all branches"
    past = now() - timedelta(hours=3)
    Repository.objects.update(connected_at=past, full_check_requested_at=past)
    assert seen_by(ada).facts()["Last check"] == (
        "None yet: the worker of this server does not look. Its administrator can start it again."
    )


@pytest.mark.usefixtures("empty_queue")
def test_two_presses_of_sync_now_are_one_job(linus: User, agents: Repository) -> None:
    """U04"""
    engine.sync(agents.pk)
    ProcrastinateJob.objects.all().delete()
    client = Client()
    client.force_login(linus)
    for _ in range(2):
        assert client.post(SYNC_NOW).headers["Location"] == ADDRESS
    assert ProcrastinateJob.objects.count() == 1
    assert SyncRun.objects.open().count() == 1
    assert (
        page_of(client.get(ADDRESS)).texts(".//*[@role='status']/p")
        == ["Checking all branches on GitHub."] * 2
    )


@pytest.mark.usefixtures("empty_queue")
def test_sync_now_tells_the_parts_of_the_page(ada: User, agents: Repository) -> None:
    client = Client()
    client.force_login(ada)
    answer = client.post(SYNC_NOW, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.content, answer.headers["HX-Trigger"]) == (
        204,
        b"",
        '{"sync-asked": {}}',
    )


@pytest.mark.usefixtures("empty_queue")
@pytest.mark.parametrize(
    ("asked", "landed"),
    [
        ("/acme/rollouts?branch=x", "/acme/rollouts?branch=x"),
        ("//evil.example", ADDRESS),
        ("https://evil.example/", ADDRESS),
        ("rollout-list", ADDRESS),
        ("/\\evil.example", ADDRESS),
    ],
)
def test_sync_now_leads_back_to_our_own_pages_only(
    ada: User, agents: Repository, asked: str, landed: str
) -> None:
    client = Client()
    client.force_login(ada)
    assert client.post(SYNC_NOW, {"next": asked}).headers["Location"] == landed


def test_sync_now_needs_a_repository(ada: User, acme: Workspace) -> None:
    client = Client()
    client.force_login(ada)
    assert client.post(SYNC_NOW).status_code == 404


@pytest.mark.usefixtures("empty_queue")
def test_it_asks_again_while_something_moves_and_then_no_more(
    ada: User, agents: Repository, work_off_the_queue: Callable[[], None]
) -> None:
    """U05"""
    client = Client()
    client.force_login(ada)
    client.post(SYNC_NOW)
    moving = part_seen_by(ada)
    assert asks_again(moving)
    assert moving.facts()["Last check"] == "Checking all branches"
    work_off_the_queue()
    still = part_seen_by(ada)
    assert not asks_again(still)
    assert still.texts(".//tbody/tr/td[1]") == ["Success"]


def test_it_answers_htmx_with_the_part_and_history_with_the_page(
    ada: User, agents: Repository
) -> None:
    client = Client()
    client.force_login(ada)
    part = client.get(ADDRESS, headers=HTMX)
    assert [child.get("id") for child in page_of(part).root] == ["connection"]
    whole = client.get(ADDRESS, headers=HTMX | {"HX-History-Restore-Request": "true"})
    assert page_of(whole).text(".//h1") == "Git Integration"
    assert "HX-Request" in part.headers["Vary"]
    assert part.headers["Cache-Control"] == "no-store"
