"""Members, invitations and settings in a real browser, by keyboard alone."""

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from rollouts_app.models import Repository, User
from tests.barriers import has_no_barriers
from tests.github_emulator import GitHubEmulator
from tests.members import deed, join, roles
from tests.sign_in import enter

pytestmark = pytest.mark.django_db(transaction=True)


def press(page: BrowserPage, role: str, name: str) -> None:
    page.get_by_role(role, name=name, exact=True).focus()  # type: ignore[arg-type]
    page.keyboard.press("Enter")


@pytest.mark.usefixtures("empty_queue")
def test_people_come_and_go_by_keyboard(
    page: BrowserPage,
    live_server: LiveServer,
    synced: Repository,
    ada: User,
    mallory: User,
    github: GitHubEmulator,
) -> None:
    grace = join(synced.workspace, github, "grace", "member")
    enter(page, live_server.url, ada)
    page.goto(f"{live_server.url}/acme/members")
    press(page, "link", "Invite people")
    logins = page.get_by_label("GitHub logins")
    expect(page.get_by_role("dialog")).to_be_visible()
    has_no_barriers(page)
    press(page, "button", "Invite")
    expect(logins).to_be_focused()
    expect(page.get_by_role("alert").get_by_text("Enter one GitHub login")).to_be_visible()
    has_no_barriers(page)
    page.keyboard.type("mallory, grace")
    press(page, "button", "Invite")
    expect(page.get_by_text("Invited: mallory.")).to_be_visible()
    expect(page.get_by_text("Members already: grace.")).to_be_visible()
    has_no_barriers(page)
    link = page.locator("#invitation-link").text_content() or ""

    press(page, "button", "Manage grace")
    press(page, "button", "Make admin")
    expect(page.get_by_text("grace is an admin now.")).to_be_visible()
    press(page, "button", "Manage grace")
    has_no_barriers(page)
    press(page, "link", "Remove…")
    expect(page.get_by_role("dialog")).to_be_visible()
    has_no_barriers(page)
    press(page, "button", "Remove grace")
    expect(page.get_by_text("grace was removed and has no access any more.")).to_be_visible()

    press(page, "link", "Settings")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    has_no_barriers(page)
    press(page, "link", "Delete…")
    has_no_barriers(page)
    press(page, "button", "Delete acme for good")
    expect(page.get_by_role("textbox", name="To confirm")).to_be_focused()
    page.keyboard.press("Escape")

    page.context.clear_cookies()
    page.goto(link)
    expect(page.get_by_role("heading", name="Join acme")).to_be_visible()
    has_no_barriers(page)
    enter(page, live_server.url, mallory)
    page.goto(link)
    press(page, "button", "Accept as Mallory")
    expect(page.get_by_text("You belong to acme now.")).to_be_visible()
    page.goto(f"{live_server.url}/account")
    has_no_barriers(page)
    page.goto(f"{live_server.url}/invitations")
    has_no_barriers(page)
    assert roles(synced.workspace) == {"ada": "owner", "linus": "member", "mallory": "member"}
    assert page.goto(f"{live_server.url}{deed(grace, 'remove')}").status == 403  # type: ignore[union-attr]
