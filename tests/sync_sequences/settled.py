"""When the dust has settled: what must hold, judged by git, and during the dust as well."""

from itertools import pairwise
from typing import Any

from django.apps import apps
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import (
    Branch,
    Repository,
    SyncRun,
    WebhookDelivery,
)
from rollouts_app.sync.plan import WORKER_LOST
from tests import truth
from tests.sync_sequences.at_github import AcceptPermission, GiveBack, Install, Unsuspend
from tests.sync_sequences.at_ours import PressSyncNow, StartWorker, Timer, Wait, Work
from tests.sync_sequences.underway import Mend, Release
from tests.sync_sequences.world import ACCOUNTS, REPOSITORIES, World
from tests.syncing import contents_shown

ROUNDS = 6
# Longer than the longest pause between two looks at what is blocked.
LONGEST_PAUSE_MINUTES = 8 * 60
INTERVAL_MINUTES = 6


def check_what_is_shown(world: World) -> None:
    """At any time: a branch shows a commit it really had, and exactly what that commit holds."""
    for which in REPOSITORIES:
        for branch in Branch.objects.filter(repository=world.rows[which]).exclude(commit=""):
            known = (branch.commit, branch.catalog_id or 0)
            assert branch.commit in world.had[which][branch.name], f"{branch} never had {known}"
            if known not in world.verified:
                held = truth.contents(world.folder(which), branch.commit)
                assert contents_shown(branch) == held, f"{branch} at {branch.commit}"
                world.verified.add(known)


def settle(world: World) -> None:
    """End all trouble, and let timer, queue and time do the rest."""
    Mend().run(world)
    Release(0).run(world)
    world.github.outbox.mishaps.clear()
    for account in ACCOUNTS:
        for end in (Install, Unsuspend, AcceptPermission):
            end(account).run(world)
    for which in REPOSITORIES:
        GiveBack(which).run(world)
    Wait(LONGEST_PAUSE_MINUTES).run(world)
    StartWorker().run(world)
    _work_until_quiet(world)
    if world.has_cancelled:
        # The timer leaves alone what somebody cancelled.
        for which in REPOSITORIES:
            PressSyncNow(which).run(world)
        _work_until_quiet(world)


def _work_until_quiet(world: World) -> None:
    for _ in range(ROUNDS):
        Timer().run(world)
        Work().run(world)
        if is_quiet():
            return
        Wait(INTERVAL_MINUTES).run(world)
    raise AssertionError(f"Work is left after {ROUNDS} rounds: {list(SyncRun.objects.open())}")


def is_quiet() -> bool:
    """Whether nothing is left to be done."""
    asked = Repository.objects.exclude(full_check_requested_at=None)
    return not (
        asked.exists() or SyncRun.objects.open().exists() or ProcrastinateJob.objects.exists()
    )


def check_all_is_well(world: World) -> None:
    """In the end: everything equals what GitHub has, and nothing is half done or doubled."""
    for which in REPOSITORIES:
        _check_repository(world, which)
    _check_history(world)
    _check_deliveries(world)
    assert world.faults.met == []
    Wait(INTERVAL_MINUTES).run(world)
    before = rows()
    Timer().run(world)
    Work().run(world)
    assert rows() == before


def _check_repository(world: World, which: str) -> None:
    row, there = world.row(which), world.there(which)
    assert (row.trouble, row.trouble_reason, row.retry_at, row.is_blocked) == ("", "", None, False)
    assert not row.is_overdue
    assert (row.full_name, row.default_branch) == (world.name(which), there.default_branch)
    assert (row.installation.account_id, row.is_private) == (there.owner_id, there.private)
    heads = truth.heads(world.folder(which))
    assert dict(row.branches.existing().values_list("name", "commit")) == heads
    assert set(row.branches.filter(deleted_at=None).values_list("name", flat=True)) == set(heads)


def _check_history(world: World) -> None:
    assert not SyncRun.objects.filter(state__in=["failed", "superseded"], reason="").exists()
    assert not SyncRun.objects.filter(reason__contains="a fault in Osmosis Web").exists()
    assert world.has_lost_workers or not SyncRun.objects.filter(reason=WORKER_LOST).exists()
    moving = SyncRun.objects.filter(state__in=["success", "issues"]).exclude(
        reason__startswith="Nothing changed"
    )
    for branch in Branch.objects.select_related("repository").exclude(commit=""):
        moves = list(
            moving.filter(branch=branch).order_by("finished_at").values_list("commit", flat=True)
        )
        assert moves[-1] == branch.commit
        if "" not in world.had_by_pk(branch.repository_id)[branch.name]:
            assert not any(a == b for a, b in pairwise(moves)), moves


def _check_deliveries(world: World) -> None:
    """Each that arrived is one row that says what came of it."""
    received = WebhookDelivery.objects.received()
    made = {delivery.id for delivery in world.github.deliveries if delivery.status in (200, 202)}
    assert set(received.values_list("delivery_id", flat=True)) == made | world.extra
    assert not received.filter(outcome="").exists()


def rows() -> dict[str, list[dict[str, Any]]]:
    """All our rows, without the one thing that a look at unchanged heads may write."""
    found = {}
    for model in apps.get_app_config("rollouts_app").get_models():
        found[model.__name__] = list(model._default_manager.order_by("pk").values())
    for row in found["Repository"]:
        del row["heads_checked_at"]
    return found
