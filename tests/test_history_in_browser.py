"""The history, one sync and the delivery log in a real browser: live filters, and no barriers."""

import re
from datetime import timedelta

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from rollouts_app.models import Repository, SyncRun, User, WebhookDelivery
from tests.barriers import has_no_barriers
from tests.history import ADDRESS, SYNCS, make_runs
from tests.sign_in import enter
from tests.syncing import push_hint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(synced: Repository, ada: User, live: str, page: BrowserPage) -> BrowserPage:
    """A browser in which Ada has signed in."""
    page.set_default_timeout(15_000)
    enter(page, live, ada)
    return page


def test_the_history_is_filtered_as_one_types(
    browser: BrowserPage, synced: Repository, live: str
) -> None:
    lately = {"started_at": now(), "finished_at": now()}  # or the worker prunes them
    make_runs(synced, 1, state="failed", reason="No.", subject="Break it", **lately)
    make_runs(synced, 1, subject="Mend it", **lately)
    browser.goto(f"{live}{SYNCS}")
    rows = browser.locator("tbody tr")
    expect(rows).to_have_count(3)
    has_no_barriers(browser)
    browser.get_by_label("Status", exact=True).select_option("Failed")
    expect(rows).to_have_count(1)
    expect(browser).to_have_url(re.compile(rf"{SYNCS}\?state=failed$"))
    browser.get_by_label("Find by branch, commit, message or person").fill("mend")
    expect(browser.get_by_role("heading", name="No failed sync matches “mend”.")).to_be_visible()
    expect(browser).to_have_url(re.compile(rf"{SYNCS}\?q=mend&state=failed$"))
    has_no_barriers(browser)
    browser.get_by_role("link", name="All statuses, not only Failed").click()
    expect(rows).to_have_count(1)
    expect(browser.get_by_label("Status", exact=True)).to_have_value("")
    browser.get_by_role("link", name="Clear all").click()
    expect(rows).to_have_count(3)


def test_a_waiting_sync_is_cancelled_in_a_dialog_and_retried(
    browser: BrowserPage, synced: Repository, live: str
) -> None:
    # Nobody rings for it, so no worker takes it up.
    run = push_hint(synced, "main", "b7c8d9e" + "0" * 33)
    browser.goto(f"{live}{SYNCS}/{run.pk}")
    has_no_barriers(browser)
    browser.get_by_role("link", name="Cancel").press("Enter")
    dialog = browser.get_by_role("dialog", name="Cancel this sync?")
    expect(dialog).to_contain_text("The sync of main at b7c8d9e")
    # The page below would have asked anew by the time that this has looked.
    has_no_barriers(browser)
    browser.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(browser.get_by_role("link", name="Cancel")).to_be_focused()
    browser.keyboard.press("Enter")
    dialog.get_by_role("button", name="Cancel this sync").click()
    expect(browser.get_by_text("Cancelled by Ada Lovelace.")).to_be_visible()
    has_no_barriers(browser)
    browser.get_by_role("button", name="Retry").click()
    # The worker hears of this one, and the page tells how it goes on.
    expect(browser.get_by_text("Nothing to read")).to_be_visible()
    has_no_barriers(browser)


def test_the_log_and_the_limited_page_have_no_barriers(
    browser: BrowserPage, synced: Repository, live: str
) -> None:
    browser.goto(f"{live}{ADDRESS}/deliveries")
    expect(browser.get_by_role("heading", name="No delivery has arrived yet.")).to_be_visible()
    has_no_barriers(browser)
    run = SyncRun.objects.latest("pk")
    for event in ("push", "create"):
        WebhookDelivery.objects.create(
            delivery_id=event, event=event, repository=synced, run=run, outcome="Asked for."
        )
    browser.reload()
    has_no_barriers(browser)
    browser.get_by_label("Event").select_option("push")
    expect(browser.locator("tbody tr")).to_have_count(1)
    expect(browser).to_have_url(re.compile(r"/deliveries\?event=push$"))
    Repository.objects.update(trouble="rate limited", retry_at=now() + timedelta(hours=1))
    browser.goto(f"{live}{ADDRESS}")
    expect(browser.get_by_role("button", name="Sync now")).to_be_disabled()
    has_no_barriers(browser)
