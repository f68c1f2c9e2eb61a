"""What pages that change in parts get wrong elsewhere, in a real browser."""

import re
from collections.abc import Callable

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, Request, Route, expect

from rollouts_app.models import Repository, SyncRun, User
from tests.github_emulator import GitHubEmulator
from tests.sign_in import enter
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rollouts(synced: Repository, github: GitHubEmulator, ada: User, live: str, page: Page) -> Page:
    """Ada's Rollouts page; there is a branch `dev` besides main."""
    github.push(NAME, "dev", {"rollouts/chess/main.py": "x"}, start="main")
    check_all(synced)
    page.set_default_timeout(15_000)
    enter(page, live, ada)
    page.goto(f"{live}/acme/rollouts")
    return page


def test_back_and_an_ended_session_lead_to_whole_pages(rollouts: Page, live: str) -> None:
    """U01, U02"""
    rollouts.get_by_role("button", name="Branch main, default: switch").press("Enter")
    rollouts.get_by_role("link", name="dev").click()
    expect(rollouts.locator("a.title")).to_have_count(3)
    rollouts.get_by_role("link", name="Details of chess").click()
    expect(rollouts.get_by_role("heading", name="chess")).to_be_visible()
    rollouts.go_back()
    rollouts.go_back()
    expect(rollouts.get_by_role("button", name="Branch main, default: switch")).to_be_visible()
    expect(rollouts.get_by_role("navigation", name="Workspace")).to_be_visible()
    expect(rollouts.locator("a.title")).to_have_count(2)
    rollouts.context.clear_cookies()
    rollouts.get_by_role("searchbox", name="Find a rollout on this branch").fill("mat")
    expect(rollouts).to_have_url(re.compile(r"/accounts/login/\?next=%2Facme%2Frollouts"))
    expect(rollouts.get_by_role("button", name="Continue with GitHub")).to_be_visible()


def answering(status: int) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=status, body="<h1>Broken</h1>")


def test_failures_are_told_and_what_is_there_stays(rollouts: Page) -> None:
    """U03"""
    field = rollouts.get_by_role("searchbox", name="Find a rollout on this branch")
    alert = rollouts.get_by_role("alert")
    told = {
        500: "The server could not answer (status 500).",
        403: "The server refused this request.",
        429: "Too many requests in a short time.",
    }
    for number, (status, words) in enumerate(told.items()):
        rollouts.route("**/acme/rollouts?*", answering(status))
        field.fill(f"mat{number}")
        expect(alert).to_contain_text(words)
        expect(rollouts.locator("a.title")).to_have_count(2)
        expect(rollouts.get_by_text("Broken")).to_have_count(0)
        rollouts.unroute("**/acme/rollouts?*")
        field.fill("")
        expect(alert).to_be_hidden()
    rollouts.route("**/acme/rollouts?*", lambda route: route.abort())
    field.fill("maths")
    expect(alert).to_contain_text("The server could not be reached.")
    expect(rollouts.locator("a.title")).to_have_count(2)
    rollouts.unroute("**/acme/rollouts?*")


def test_two_clicks_are_one_sync(rollouts: Page, synced: Repository) -> None:
    """U04"""
    posts = requests_of(rollouts, "sync-now")
    rollouts.get_by_role("button", name="Sync now").dblclick()
    expect(rollouts.get_by_text("Matches GitHub at")).to_be_visible()
    assert [request.method for request in posts] == ["POST"]


def test_it_asks_while_something_moves_and_only_while_it_is_looked_at(
    rollouts: Page, synced: Repository
) -> None:
    """U05: a run that nobody works at keeps the line moving."""
    asked = requests_of(rollouts, "sync-status")
    run = push_hint(synced, "main", "b7c8d9e" + "0" * 33)
    rollouts.reload()
    expect(rollouts.get_by_text("Syncing b7c8d9e")).to_be_visible()
    with rollouts.expect_request("**/sync-status?*"):
        pass
    set_hidden(rollouts, "true")
    asked.clear()
    rollouts.wait_for_timeout(3_000)
    assert asked == []
    SyncRun.objects.filter(pk=run.pk).update(state="superseded", finished_at=now())
    set_hidden(rollouts, "false")
    expect(rollouts.get_by_text("Matches GitHub at")).to_be_visible()
    asked.clear()
    rollouts.wait_for_timeout(3_000)
    assert asked == []


def requests_of(page: Page, part: str) -> list[Request]:
    """What the page asks for from now on, of addresses with this part."""
    found: list[Request] = []

    def note(request: Request) -> None:
        if part in request.url:
            found.append(request)

    page.on("request", note)
    return found


def set_hidden(page: Page, value: str) -> None:
    """Tell the page that its tab went into the background, or came back."""
    page.evaluate(
        "value => {"
        " Object.defineProperty(document, 'hidden', {configurable: true, get: () => value});"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        value == "true",
    )
