"""The New Rollout dialog in a real browser: copying, and the wait for the push."""

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from rollouts_app.models import Repository, User
from tests.github_emulator import Content, GitHubEmulator
from tests.sign_in import enter
from tests.syncing import NAME

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def dialog(synced: Repository, ada: User, live: str, page: BrowserPage) -> BrowserPage:
    """A browser with New Rollout open."""
    enter(page, live, ada)
    page.goto(f"{live}/acme/rollouts")
    page.get_by_role("link", name="New Rollout").click()
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
    return page


def test_copying_fills_the_clipboard_and_begins_the_wait(dialog: BrowserPage) -> None:
    """U10, U14"""
    dialog.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog.get_by_role("button", name="Copy").first.click()
    expect(dialog.get_by_text("Copied. Replace <name> before running.")).to_be_visible()
    assert dialog.evaluate("navigator.clipboard.readText()") == "osmosis rollout init <name>"
    expect(dialog.get_by_text("Waiting for the push.")).to_be_visible()


def test_copying_works_without_a_clipboard_object(dialog: BrowserPage) -> None:
    """U09"""
    dialog.context.grant_permissions(["clipboard-read"])
    dialog.evaluate("window.kept = navigator.clipboard")
    dialog.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    dialog.get_by_role("button", name="Copy").nth(1).click()
    expect(dialog.locator("#publish-commands-status")).to_have_text(
        "Copied. Replace <name> before running."
    )
    assert dialog.evaluate("window.kept.readText()") == (
        'git add rollouts configs\ngit commit -m "Add rollout <name>"\ngit push -u origin HEAD'
    )


def test_where_copying_is_refused_the_text_is_selected(dialog: BrowserPage) -> None:
    """U09"""
    dialog.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    dialog.evaluate("document.execCommand = () => false")
    dialog.get_by_role("button", name="Copy").first.click()
    expect(dialog.locator("#init-command-status")).to_have_text(
        "This browser refuses to copy. The text is selected: press Ctrl+C or ⌘C."
    )
    assert dialog.evaluate("getSelection().toString()") == "osmosis rollout init <name>"


def test_a_push_turns_the_dialog_into_the_link(dialog: BrowserPage, github: GitHubEmulator) -> None:
    dialog.keyboard.type("Hello")
    expect(dialog.get_by_role("alert")).to_contain_text("A name starts with a–z")
    dialog.get_by_label("Name").fill("hello")
    expect(dialog.get_by_text("Waiting for the push of hello.")).to_be_visible()
    files: dict[str, Content] = {"rollouts/hello/main.py": "x"}
    github.push(NAME, "main", files)
    link = dialog.get_by_role("link", name="Open hello")
    expect(link).to_be_visible(timeout=15_000)
    dialog.keyboard.press("Escape")
    expect(dialog.get_by_role("link", name="hello on GitHub")).to_be_visible()
