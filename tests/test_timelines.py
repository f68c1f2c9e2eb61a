"""The whole onboarding by keyboard: an owner alone, one who has to ask, and who was invited."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from rollouts_app.models import Membership, User, Workspace
from rollouts_app.models.invitations import new_invitation
from tests.barriers import has_no_barriers
from tests.conftest import FILES
from tests.github_emulator import GitHubEmulator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]


def press(page: Page, name: str) -> None:
    """Press a button or follow a link, by the keyboard alone."""
    found = page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name))
    found.first.focus()
    page.keyboard.press("Enter")


def come_in(page: Page, live: str, name: str) -> None:
    """Sign in as somebody, by GitHub's page."""
    page.goto(live)
    press(page, "Continue with GitHub")
    press(page, f"Continue as {name}")


def start(page: Page, slug: str) -> None:
    page.get_by_label("Name").focus()
    page.keyboard.type(slug)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"Set up {slug}")).to_be_visible()


def choose_and_finish(page: Page, work_off_the_queue: Callable[[], None]) -> None:
    """From the list of repositories to the end."""
    page.get_by_role("radio", name="acme/agents").focus()
    page.keyboard.press("Space")
    press(page, "Connect repository")
    expect(page.get_by_text("Asking GitHub for the branches")).to_be_visible()
    has_no_barriers(page)
    work_off_the_queue()
    expect(page.get_by_text("Synced 1 branch, 2 rollouts on main")).to_be_visible()
    has_no_barriers(page)
    press(page, "I have a clone")
    expect(page.get_by_role("heading", name="You are set up.")).to_be_visible()
    has_no_barriers(page)
    press(page, "Open Rollouts")
    expect(page.get_by_role("heading", name="Rollouts", exact=True)).to_be_visible()


def test_an_owner_alone(
    page: Page,
    live_server: LiveServer,
    github: GitHubEmulator,
    work_off_the_queue: Callable[[], None],
) -> None:
    github.create_repository("acme/agents", files=FILES)
    come_in(page, live_server.url, "Ada Lovelace")
    expect(page.get_by_role("heading", name="Set up a workspace")).to_be_visible()
    has_no_barriers(page)
    start(page, "team")
    has_no_barriers(page)
    press(page, "Connect GitHub")
    acme = page.locator(".row").filter(has_text="acme")
    acme.get_by_role("link", name="Install").press("Enter")
    press(page, "Install")
    expect(page.get_by_text("Choose the one repository")).to_be_visible()
    has_no_barriers(page)
    choose_and_finish(page, work_off_the_queue)


def test_one_who_has_to_ask_the_owners(
    page: Page,
    browser: Browser,
    live_server: LiveServer,
    github: GitHubEmulator,
    work_off_the_queue: Callable[[], None],
) -> None:
    github.create_repository("acme/agents", files=FILES)
    come_in(page, live_server.url, "Linus T")
    start(page, "team")
    press(page, "Connect GitHub")
    acme = page.locator(".row").filter(has_text="acme")
    acme.get_by_role("link", name="Request").press("Enter")
    press(page, "Request")
    expect(page.get_by_text("Waiting for an owner of acme to approve the App.")).to_be_visible()
    has_no_barriers(page)
    # The owner gets the link that was to be sent. They never came here before, and need not.
    sent = page.locator("#request-text").text_content() or ""
    elsewhere = browser.new_context()
    owner = elsewhere.new_page()
    owner.goto(sent.split(" here: ")[1])
    press(owner, "Continue as Ada Lovelace")
    press(owner, "Review request")
    press(owner, "Approve and install")
    expect(owner.get_by_role("heading", name="That is all that was needed")).to_be_visible()
    has_no_barriers(owner)
    elsewhere.close()
    press(page, "Check now")
    choose_and_finish(page, work_off_the_queue)


def test_who_was_invited(
    page: Page,
    live_server: LiveServer,
    github: GitHubEmulator,
    synced: object,
    acme: Workspace,
    ada: User,
) -> None:
    grace = github.add_user("grace", name="Grace Hopper")
    with github.changing():
        github.account_named("acme").members[grace.id] = "member"
    invitation, token = new_invitation(acme, ada, Membership.Role.MEMBER, None)
    invitation.save()
    page.goto(f"{live_server.url}/invitations/{token}")
    expect(page.get_by_role("heading", name="Join acme")).to_be_visible()
    has_no_barriers(page)
    press(page, "Continue with GitHub")
    press(page, "Continue as Grace Hopper")
    press(page, "Accept as Grace Hopper")
    expect(page.get_by_text("You belong to acme now.")).to_be_visible()
    expect(page.get_by_text("0 of 1 step done")).to_be_visible()
    has_no_barriers(page)
    press(page, "I have a clone")
    press(page, "Open Rollouts")
    expect(page.get_by_role("link", name="maths on GitHub")).to_be_visible()
