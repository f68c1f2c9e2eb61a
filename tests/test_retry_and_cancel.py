"""Retry and Cancel: what may be done about one sync, by whom, and that twice is once."""

import threading
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.test import Client
from django.utils.timezone import now
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import Repository, SyncRun, User
from rollouts_app.sync import engine
from rollouts_app.sync.manual import retry
from rollouts_app.sync.plan import take_up
from rollouts_app.templatetags.rollouts import clock
from tests.conftest import truncate_queue
from tests.github_emulator import GitHubEmulator
from tests.history import ADDRESS, SYNCS, make_runs, seen_by
from tests.pages import Page, page_of
from tests.syncing import NAME, push_hint

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]

COMMIT = "b7c8d9e" + "0" * 33


def press(user: User, run: SyncRun, verb: str, **fields: str) -> Page:
    """Send the form, and follow to the page it leads to."""
    client = Client()
    client.force_login(user)
    return page_of(client.post(f"{SYNCS}/{run.pk}/{verb}", fields, follow=True))


def said(page: Page) -> list[str]:
    return page.texts(".//*[@class='messages stack tight']//p")


@pytest.fixture
def failed(agents: Repository) -> SyncRun:
    """A run of main that failed, the last of its branch, with nothing in the queue."""
    make_runs(agents, 1, state="failed", reason="No.", commit=COMMIT)
    truncate_queue()
    return SyncRun.objects.get()


@pytest.fixture
def waiting(agents: Repository) -> SyncRun:
    """A push to main that no worker has taken up; the first sync is done."""
    engine.sync(agents.pk)
    return push_hint(agents, "main", COMMIT)


def test_any_member_retries_and_twice_is_once(linus: User, failed: SyncRun) -> None:
    for _ in range(2):
        page = press(linus, failed, "retry")
        assert page.text(".//h1") == "Sync now"
        assert page.facts()["Cause"] == "Somebody pressed Sync now by linus"
        assert said(page) == ["Sync of main asked for."]
    assert list(SyncRun.objects.order_by("pk").values_list("state", "trigger")) == [
        ("failed", "push"),
        ("pending", "sync now"),
    ]
    assert ProcrastinateJob.objects.count() == 1


def test_a_retry_brings_what_github_has_now(
    ada: User, failed: SyncRun, agents: Repository, github: GitHubEmulator
) -> None:
    """I20: a failed first sync does not stand in the way of the next."""
    press(ada, failed, "retry")
    engine.sync(agents.pk)
    newest = agents.sync_runs.filter(branch=failed.branch).latest("pk")
    assert (newest.state, newest.commit) == ("success", github.heads(NAME)["main"])


def test_a_failed_sync_that_was_followed_by_another_leads_there(
    ada: User, failed: SyncRun, agents: Repository
) -> None:
    newer = push_hint(agents, "main", "1" * 40)
    page = seen_by(ada, f"{SYNCS}/{failed.pk}")
    assert page.one(".//a[@id='newer']").get("href") == f"{SYNCS}/{newer.pk}"
    assert page.actions() == []
    assert retry(failed, "ada") == newer


@pytest.mark.parametrize("state", ["success", "issues", "superseded"])
def test_it_retries_nothing_that_needs_none(ada: User, agents: Repository, state: str) -> None:
    make_runs(agents, 1, state=state)
    run = SyncRun.objects.get()
    assert seen_by(ada, f"{SYNCS}/{run.pk}").actions() == []
    assert said(press(ada, run, "retry")) == [
        "Nothing to retry: this sync neither failed nor was cancelled."
    ]
    assert SyncRun.objects.count() == 1


def test_the_buttons_wait_while_github_limits_us(
    ada: User, failed: SyncRun, agents: Repository
) -> None:
    """W22: nobody can make it worse by pressing, and the page says until when."""
    until = now() + timedelta(minutes=20)
    Repository.objects.update(trouble="rate limited", retry_at=until)
    for address, button in ((ADDRESS, "Sync now"), (f"{SYNCS}/{failed.pk}", "Retry")):
        page = seen_by(ada, address)
        [form] = page.one(".//main").iter("form")
        [pressed] = form.iter("button")
        assert "disabled" in pressed.attrib
        reason = page.one(f".//*[@id='{pressed.get('aria-describedby')}']")
        assert "".join(reason.itertext()) == f"Waiting until {clock(until)}"
        assert "".join(pressed.itertext()).strip() == button
    Repository.objects.update(retry_at=now() - timedelta(seconds=1))
    assert seen_by(ada, ADDRESS).all(".//main//button[@disabled]") == []


def test_sync_now_says_when_it_will_be(ada: User, agents: Repository) -> None:
    """W22: pressed on a page that was older than the limit."""
    until = now() + timedelta(minutes=20)
    Repository.objects.update(trouble="rate limited", retry_at=until)
    client = Client()
    client.force_login(ada)
    page = page_of(client.post(f"{ADDRESS}/sync-now", follow=True))
    assert said(page) == [f"GitHub limits our requests: asking again at {clock(until)}."]


def test_a_page_asks_again_until_the_limit_is_over(ada: User, agents: Repository) -> None:
    Repository.objects.update(
        trouble="rate limited", retry_at=now() + timedelta(minutes=20), full_check_requested_at=None
    )
    trigger = seen_by(ada).one(".//*[@id='connection']").get("hx-trigger", "")
    assert trigger.startswith("every 15s, ")


def test_a_waiting_sync_says_until_when(ada: User, waiting: SyncRun, agents: Repository) -> None:
    until = now() + timedelta(minutes=20)
    Repository.objects.update(trouble="rate limited", retry_at=until)
    page = seen_by(ada, f"{SYNCS}/{waiting.pk}")
    [first, *_] = page.texts(".//*[@class='notice']//p")
    assert first == f"This sync is waiting until {clock(until)}, and goes on by itself."


def test_it_names_what_goes_before_it_cancels(
    ada: User, waiting: SyncRun, github: GitHubEmulator
) -> None:
    address = f"{SYNCS}/{waiting.pk}"
    assert seen_by(ada, address).one(".//a[@id='cancel']").get("href") == f"{address}/cancel"
    page = seen_by(ada, f"{address}/cancel")
    shown = waiting.branch.commit[:7]
    assert page.texts(".//main//p") == [
        "The sync of main at b7c8d9e, asked for just now, will not be done.",
        f"The branch goes on showing {shown}. The next push or Sync now syncs it.",
    ]
    assert page.actions() == [f"{address}/cancel"]
    assert page.one(".//input[@name='commit']").get("value") == COMMIT


def test_any_member_cancels_and_twice_is_once(
    linus: User, ada: User, waiting: SyncRun, agents: Repository
) -> None:
    reason = "Cancelled by Linus T. The next push or Sync now syncs this branch."
    page = press(linus, waiting, "cancel", commit=COMMIT)
    assert said(page) == ["The sync of main was cancelled."]
    assert page.texts(".//*[@id='run']//*[@class='notice']//p") == [reason]
    assert said(press(ada, waiting, "cancel")) == ["Not cancelled: this sync had ended before."]
    waiting.refresh_from_db()
    assert (waiting.state, waiting.reason) == ("cancelled", reason)
    assert waiting.finished_at is not None
    assert agents.sync_runs.open().count() == 0


def test_a_cancelled_sync_can_be_retried(ada: User, waiting: SyncRun, agents: Repository) -> None:
    """W09: whoever cancelled by mistake is not stuck."""
    press(ada, waiting, "cancel")
    assert press(ada, waiting, "retry").text(".//h1") == "Sync now"
    assert agents.sync_runs.open().count() == 1


def test_a_newer_push_supersedes_what_waits(
    ada: User, waiting: SyncRun, agents: Repository
) -> None:
    """W09: a queued row, then a push: the old one gives way, the new one can be cancelled."""
    newer = push_hint(agents, "main", "1" * 40)
    waiting.refresh_from_db()
    assert (waiting.state, newer.state) == ("superseded", "pending")
    press(ada, newer, "cancel")
    newer.refresh_from_db()
    assert newer.state == "cancelled"


def test_it_does_not_cancel_another_commit_than_it_showed(ada: User, agents: Repository) -> None:
    engine.sync(agents.pk)
    run = push_hint(agents, "main")
    push_hint(agents, "main", COMMIT)
    page = press(ada, run, "cancel", commit="")
    assert said(page) == [
        "Not cancelled: a push told of another commit meanwhile. This is about that one now."
    ]
    run.refresh_from_db()
    assert run.state == "pending"


def test_it_says_so_when_the_sync_has_begun(
    ada: User, waiting: SyncRun, agents: Repository
) -> None:
    take_up(agents)
    address = f"{SYNCS}/{waiting.pk}"
    assert seen_by(ada, address).all(".//a[@id='cancel']") == []
    assert seen_by(ada, f"{address}/cancel").texts(".//main//p")[0] == (
        "This sync has begun: it cannot be cancelled any more."
    )
    assert said(press(ada, waiting, "cancel", commit=COMMIT)) == [
        "Not cancelled: this sync had begun before, and goes on."
    ]


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_takes_it_up_at_that_moment_goes_first(agents: Repository) -> None:
    run = push_hint(agents, "main", COMMIT)
    outcome: list[bool] = []

    def cancel() -> None:
        outcome.append(SyncRun.objects.get(pk=run.pk).cancel("Ada"))
        connections.close_all()

    with transaction.atomic():
        take_up(agents)
        # It finds the row locked, and decides once the worker's transaction has ended.
        late = threading.Thread(target=cancel)
        late.start()
        late.join(0.3)
        assert late.is_alive()
    late.join(10)
    run.refresh_from_db()
    assert (outcome, run.state) == ([False], "syncing")


def test_the_dialog_is_the_page(ada: User, waiting: SyncRun) -> None:
    client = Client()
    client.force_login(ada)
    address = f"{SYNCS}/{waiting.pk}/cancel"
    part = page_of(client.get(address, headers={"HX-Request": "true", "HX-Target": "dialog"}))
    assert [each.tag for each in part.root] == ["dialog"]
    assert part.text(".//h2") == "Cancel this sync?"
    [form] = [each for each in part.root.iter("form") if each.get("method") == "post"]
    assert form.get("action") == address
