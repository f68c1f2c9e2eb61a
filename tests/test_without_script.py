"""Everything on the Rollouts pages works in a browser that runs no JavaScript."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from rollouts_app.models import Repository, User
from tests.github_emulator import GitHubEmulator
from tests.sign_in import enter
from tests.syncing import NAME, check_all
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def plain(browser: Browser, synced: Repository, ada: User, live: str) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=False, base_url=live)
    page = context.new_page()
    page.set_default_timeout(15_000)
    enter(page, live, ada)
    yield page
    context.close()


def test_it_works_without_script(plain: Page, synced: Repository, github: GitHubEmulator) -> None:
    github.push(NAME, "feature/reward", {"rollouts/maths/README.md": "Other."}, start="main")
    check_all(synced)
    plain.goto("/acme/rollouts")
    search_filter_and_order(plain)
    switch_branch(plain)
    compare(plain)
    write_the_commands(plain)
    sync_now(plain, synced)


def search_filter_and_order(plain: Page) -> None:
    titles = plain.locator("a.title")
    plain.get_by_role("searchbox", name="Find a rollout on this branch").fill("sea")
    plain.keyboard.press("Enter")
    expect(plain).to_have_url(re.compile(r"q=sea"))
    expect(titles).to_have_count(1)
    plain.goto("/acme/rollouts")
    plain.get_by_role("button", name="Filter and order").click()
    plain.get_by_role("link", name="By name, backwards").click()
    expect(titles.first).to_contain_text("search")


def switch_branch(plain: Page) -> None:
    """The button opens its panel by itself; Enter takes the first branch that matches."""
    plain.get_by_role("button", name="Branch main, default: switch").click()
    plain.get_by_role("link", name="View all branches").click()
    expect(plain.get_by_role("link", name="feature/reward")).to_be_visible()
    plain.go_back()
    plain.get_by_role("button", name="Branch main, default: switch").click()
    plain.get_by_role("searchbox", name="Find a branch").fill("rew")
    plain.keyboard.press("Enter")
    expect(plain).to_have_url(re.compile(r"\?branch=feature%2Freward$"))
    expect(plain.get_by_text("Changed", exact=True)).to_have_count(1)


def compare(plain: Page) -> None:
    plain.get_by_role("link", name="Compare with main").click()
    expect(plain.locator("table.compare tbody tr")).to_have_count(1)
    plain.get_by_role("link", name="maths", exact=True).click()
    expect(plain.get_by_role("heading", name="maths")).to_be_visible()


def write_the_commands(plain: Page) -> None:
    plain.goto("/acme/rollouts")
    plain.get_by_role("link", name="New Rollout").click()
    plain.get_by_role("textbox", name="Name").fill("hello")
    plain.keyboard.press("Enter")
    expect(plain.get_by_text("osmosis rollout init hello")).to_be_visible()


def sync_now(plain: Page, synced: Repository) -> None:
    synced.refresh_from_db()
    before = synced.heads_checked_at
    plain.goto("/acme/rollouts")
    plain.get_by_role("button", name="Sync now").click()
    expect(plain.get_by_role("heading", name="Rollouts", exact=True)).to_be_visible()
    wait_until(lambda: Repository.objects.exclude(heads_checked_at=before).exists())
