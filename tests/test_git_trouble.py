"""What stands between Git Sync and GitHub, as Git Integration tells it."""

from collections.abc import Callable

import pytest
from django.utils.timezone import now

from rollouts_app.models import Repository, User
from rollouts_app.sync import engine
from tests.conftest import counted_queries, receive
from tests.github_emulator import GitHubEmulator
from tests.history import seen_by
from tests.syncing import NAME

pytestmark = pytest.mark.django_db


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
            "Sync is blocked: acme/agents was taken off the App's list on acme.",
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
    assert page.text(".//main//*[@class='notice danger']//strong") == title
    assert [each.get("href") for each in page.all(".//a[@id='trouble-link']")] == (
        [agents.installation.page] if link else []
    )
    assert page.text(".//nav[@class='tabs']/a[2]") == "Git Integration, sync is blocked"
    assert page.texts(".//tbody/tr/td[2]") == ["main"]


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
