"""What tests of Git Integration and its history make and see."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client

from rollouts_app.models import Branch, Repository, SyncRun, User
from rollouts_app.sync import engine
from tests.pages import Page, page_of

ADDRESS = "/acme/integrations/git"
SYNCS = f"{ADDRESS}/syncs"


def seen_by(user: User, address: str = ADDRESS) -> Page:
    """The page as this person sees it."""
    client = Client()
    client.force_login(user)
    return page_of(client.get(address))


def check_all(repository: Repository) -> SyncRun:
    """Sync all branches; the newest run."""
    repository.request_full_check()
    engine.sync(repository.pk)
    return SyncRun.objects.order_by("-pk")[0]


def make_runs(repository: Repository, count: int, **facts: Any) -> None:
    """Runs that have ended, on one branch."""
    branch, _ = Branch.objects.get_or_create(repository=repository, name="main")
    long_ago = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
    ended = {
        "state": "success",
        "trigger": "push",
        "requested_at": long_ago,
        "started_at": long_ago + timedelta(seconds=1),
        "finished_at": long_ago + timedelta(seconds=3.5),
    }
    SyncRun.objects.bulk_create(
        SyncRun(repository=repository, branch=branch, **{**ended, **facts}) for _ in range(count)
    )


def cells(page: Page) -> list[list[str]]:
    """The table's texts, by row."""
    found = []
    for number in range(1, len(page.all(".//tbody/tr")) + 1):
        found.append(page.texts(f".//tbody/tr[{number}]/td"))
    return found
