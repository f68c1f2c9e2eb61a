"""Git Integration: what is connected, what stands in the way, and Sync now."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import Installation, Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from rollouts_app.templatetags.rollouts import exact
from tests.conftest import counted_queries, receive
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "/acme/integrations/git"
SYNC_NOW = f"{ADDRESS}/sync-now"
HTMX = {"HX-Request": "true", "HX-Target": "connection"}
NAME = "acme/agents"


def seen_by(user: User, address: str = ADDRESS) -> Page:
    client = Client()
    client.force_login(user)
    return page_of(client.get(address))


def part_seen_by(user: User) -> Page:
    client = Client()
    client.force_login(user)
    return page_of(client.get(ADDRESS, headers=HTMX))


def notice(page: Page) -> str:
    return page.text(".//main//*[@class='notice danger']//strong")


def asks_again(page: Page, id: str = "connection") -> bool:
    trigger = page.one(f".//*[@id='{id}']").get("hx-trigger") or ""
    assert trigger.endswith("sync-asked from:body, tab-shown from:body")
    return trigger.startswith("every ")


def test_it_lets_an_owner_connect(ada: User, acme: Workspace) -> None:
    page = seen_by(ada)
    assert page.text(".//main//h2") == "No repository is connected"
    assert page.actions() == ["/acme/integrations/git/installation"]
    assert page.text(".//main//button") == "Connect GitHub"
    assert page.links()["Installed already? Choose a repository"] == "/onboarding?workspace=acme"


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
        "arrives, pushes are found when the timer next looks.",
        "Permissions": "Contents: read · Metadata: read",
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
        "push just now · Sync of branch feature/x asked for."
    )


def test_it_names_a_permission_that_is_missing(ada: User, agents: Repository) -> None:
    agents.installation.permissions = {"metadata": "read", "issues": "write"}
    agents.installation.save()
    assert seen_by(ada).facts()["Permissions"] == (
        "Contents: not granted · Metadata: read · Issues: write"
    )


def test_it_says_so_when_nobody_has_looked_for_long(ada: User, agents: Repository) -> None:
    engine.sync(agents.pk)
    checked_at = now() - timedelta(hours=3)
    Repository.objects.update(heads_checked_at=checked_at)
    assert seen_by(ada).facts()["Last check"] == f"Not checked since {exact(checked_at)} (3 h ago)"


@pytest.mark.usefixtures("empty_queue")
def test_two_presses_of_sync_now_are_one_job(linus: User, agents: Repository) -> None:
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


def refuse_by_uninstalling(github: GitHubEmulator, repository: Repository) -> None:
    github.uninstall(repository.installation.github_id, by="ada")


def refuse_by_suspending(github: GitHubEmulator, repository: Repository) -> None:
    github.suspend(repository.installation.github_id, by="ada")


def refuse_by_removing(github: GitHubEmulator, repository: Repository) -> None:
    github.remove_repositories(repository.installation.github_id, [NAME], by="ada")


def refuse_by_policy(github: GitHubEmulator, repository: Repository) -> None:
    github.trouble(f"/{NAME}.git", status=403)


@pytest.mark.parametrize(
    ("refuse", "title", "link"),
    [
        (
            refuse_by_uninstalling,
            "Sync is blocked: the GitHub App is no longer installed on acme.",
            "",
        ),
        (refuse_by_suspending, "Sync is blocked: the GitHub App is suspended on acme.", "settings"),
        (
            refuse_by_removing,
            "Sync is blocked: GitHub does not show acme/agents to the App.",
            "settings",
        ),
        (
            refuse_by_policy,
            "Sync is blocked: GitHub refuses the App access to acme/agents.",
            "settings",
        ),
    ],
)
def test_it_says_why_sync_is_blocked_and_what_to_do(
    ada: User,
    agents: Repository,
    github: GitHubEmulator,
    refuse: Callable[[GitHubEmulator, Repository], None],
    title: str,
    link: str,
) -> None:
    engine.sync(agents.pk)
    github.deliver = receive
    refuse(github, agents)
    github.wait_for_deliveries()
    agents.request_full_check()
    engine.sync(agents.pk)
    page = seen_by(ada)
    assert notice(page) == title
    assert [each.get("href") for each in page.all(".//a[@id='trouble-link']")] == (
        [agents.installation.page] if link else []
    )
    assert page.text(".//nav[@class='tabs']/a[2]") == "Git Integration, sync is blocked"
    assert page.texts(".//tbody/tr/td[2]") == ["main"] * len(page.all(".//tbody/tr"))


def test_it_offers_owners_to_install_the_app_again(
    ada: User, linus: User, agents: Repository, github: GitHubEmulator
) -> None:
    github.deliver = receive
    refuse_by_uninstalling(github, agents)
    github.wait_for_deliveries()
    assert "/acme/integrations/git/installation" in seen_by(ada).actions()
    assert "/acme/integrations/git/installation" not in seen_by(linus).actions()
    github.install("acme", repositories=[NAME], by="ada")
    github.wait_for_deliveries()
    engine.sync(agents.pk)
    page = seen_by(ada)
    assert page.all(".//main//*[@class='notice danger']") == []
    assert page.facts()["Last check"] == "All branches compared just now"
    assert page.text(".//nav[@class='tabs']/a[2]") == "Git Integration"


@pytest.mark.parametrize(
    ("trouble", "title"),
    [
        ({"status": 429}, "Sync waits: GitHub limits our requests."),
        ({"status": 503}, "Sync waits: GitHub gave no usable answer."),
    ],
)
def test_it_says_what_sync_waits_for_and_until_when(
    ada: User, agents: Repository, github: GitHubEmulator, trouble: dict[str, int], title: str
) -> None:
    github.trouble(f"/{NAME}.git", status=trouble["status"])
    engine.sync(agents.pk)
    page = seen_by(ada)
    assert page.text(".//main//*[@class='notice attention']//strong") == title
    times = page.texts(".//main//*[@class='notice attention']//p[@class='small']")[0]
    assert times.startswith("Since 20")
    assert " UTC (just now). Next try in " in times
    assert page.one(".//*[@id='connection']").get("hx-trigger", "").startswith("every 15s")
    assert page.text(".//nav[@class='tabs']/a[2]") == "Git Integration"


def test_the_mark_of_a_blocked_sync_costs_no_query(ada: User, agents: Repository) -> None:
    engine.sync(agents.pk)
    seen_by(ada)
    with counted_queries() as fine:
        seen_by(ada)
    Repository.objects.update(trouble="denied", trouble_reason="No.", trouble_since=now())
    with counted_queries() as blocked:
        page = seen_by(ada)
    assert page.all(".//nav[@class='tabs']//*[@class='dot']") != []
    assert len(blocked) == len(fine)
