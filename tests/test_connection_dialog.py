"""The end of a connection and its return in a real browser, by keyboard alone."""

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from rollouts_app.accounts import keep_user_token
from rollouts_app.models import Repository, User
from tests.barriers import has_no_barriers
from tests.github_emulator import GitHubEmulator
from tests.sign_in import enter
from tests.syncing import NAME

pytestmark = pytest.mark.django_db(transaction=True)


def open_menu(page: BrowserPage, choice: str) -> None:
    page.get_by_role("button", name="Manage", exact=True).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    expect(page.get_by_role("link", name=choice)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.usefixtures("empty_queue")
def test_disconnect_reconnect_and_delete_by_keyboard(
    page: BrowserPage,
    live_server: LiveServer,
    synced: Repository,
    ada: User,
    github: GitHubEmulator,
) -> None:
    """U14"""
    keep_user_token(ada.github_id or 0, github.user_token("ada"))
    enter(page, live_server.url, ada)
    for address in ("/acme/audit", "/acme/integrations/git/permissions"):
        page.goto(f"{live_server.url}{address}")
        has_no_barriers(page)
    page.goto(f"{live_server.url}/acme/integrations/git")

    open_menu(page, "Disconnect…")
    has_no_barriers(page)
    keyboard = page.keyboard
    keep = page.get_by_label("Keep its rollouts and history")
    keep.focus()
    expect(page.get_by_label("To delete for good")).to_be_hidden()
    keyboard.press("Enter")
    expect(page.get_by_text(f"{NAME} was disconnected.")).to_be_visible()
    has_no_barriers(page)

    page.get_by_role("button", name=f"Reactivate {NAME}").focus()
    keyboard.press("Enter")
    expect(page.get_by_text(f"{NAME} is active again")).to_be_visible()

    open_menu(page, "Disconnect…")
    page.get_by_label("Keep its rollouts and history").focus()
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    name = page.get_by_label("To delete for good")
    expect(page.get_by_role("alert").get_by_text("Nothing was changed.")).to_be_visible()
    expect(name).to_be_focused()
    has_no_barriers(page)
    keyboard.type(NAME)
    keyboard.press("Enter")
    expect(page.get_by_text(f"{NAME} was deleted here")).to_be_visible()
    assert Repository.objects.count() == 0
