"""What has to be done so that a repository's branches equal GitHub's heads."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.db import transaction
from django.db.models import F
from django.utils.timezone import now

from rollouts_app.catalog import PARSER
from rollouts_app.models import Branch, Repository, SyncRun
from rollouts_app.models.syncs import SyncRunQuerySet

State = SyncRun.State
Trigger = SyncRun.Trigger

WORKER_LOST = "The worker was lost in the middle of this sync; it was begun anew."


@dataclass(frozen=True)
class Look:
    """GitHub's answer to the question which heads there are.

    `heads` maps branch to commit. Only a complete answer may say that a branch is gone.
    `request` is the time of the request for a full check that it answers, if there was one.
    """

    heads: dict[str, str]
    is_complete: bool
    request: datetime | None

    @property
    def digest(self) -> str:
        """A fingerprint of all heads, and of how they are read."""
        lines = (f"{commit} {name}\n" for name, commit in sorted(self.heads.items()))
        return sha256("".join([f"{PARSER}\n", *lines]).encode()).hexdigest()


@dataclass(frozen=True)
class Move:
    """A branch that is to show another commit, and the run that says so in the history."""

    branch: Branch
    run: SyncRun
    commit: str


def take_up(repository: Repository) -> None:
    """Begin the runs that wait, among them those that a dead worker left unfinished.

    Call it under the repository's lock: whatever is at work then was left. Before GitHub is asked:
    a push told of from now on leaves a run of its own, since the answer may be older than the push.
    """
    if not repository.sync_runs.open().exists():
        return
    with transaction.atomic():
        runs_at_work(repository).hold_branches()
        open_runs = list(repository.sync_runs.open().select_for_update().order_by("pk"))
        _begin_anew(open_runs)
        repository.sync_runs.filter(state=State.PENDING).update(
            state=State.SYNCING, started_at=now(), reason="", attempts=F("attempts") + 1
        )


def runs_at_work(repository: Repository) -> SyncRunQuerySet:
    """The runs that have begun and not ended, one of a branch at most."""
    return SyncRun.objects.filter(repository=repository, state=State.SYNCING).order_by("pk")


def plan(repository: Repository, look: Look, working: list[SyncRun]) -> list[Move]:
    """What brings the branches to GitHub's heads, the default branch first.

    In one transaction: closes what has become idle, marks deleted branches, creates the rows that
    are missing.
    """
    with transaction.atomic():
        branches = _branches(repository, look, working)
        gone = _bury(repository, branches.values(), look)
        former = _formerly_read(repository)
        moving = [
            name
            for name, commit in look.heads.items()
            if not _shows(branches[name], commit) or branches[name].catalog_id in former
        ]
        _show_again(repository, branches, look.heads.keys() - moving)
        runs = {run.branch_id: run for run in working}
        _close_idle(look, {branches[name].pk for name in moving}, working)
        started = _start(repository, look, [branches[name] for name in moving], runs)
        if started or gone:
            repository.forget_heads()
        SyncRun.objects.filter(pk__in=[run.pk for run in working]).update(looked_at=now())
    default = repository.default_branch
    return sorted(started, key=lambda move: move.branch.name != default)


def _begin_anew(open_runs: list[SyncRun]) -> None:
    """End the runs that were at work, and ask again for what none that waits asks for."""
    lost = [run for run in open_runs if run.state == State.SYNCING]
    SyncRun.objects.filter(pk__in=[run.pk for run in lost]).close(State.FAILED, WORKER_LOST)
    waiting = {run.branch_id for run in open_runs if run.state == State.PENDING}
    SyncRun.objects.bulk_create(
        [run.anew() for run in lost if run.branch_id not in waiting],
        batch_size=1000,
    )


def _branches(repository: Repository, look: Look, working: Iterable[SyncRun]) -> dict[str, Branch]:
    """The Branch rows that the look is about, by name; missing ones are created."""
    rows = repository.branches.all()
    if not look.is_complete:
        rows = rows.named({*look.heads, *(run.branch.name for run in working)})
    branches = {branch.name: branch for branch in rows}
    missing = [name for name in look.heads if name not in branches]
    # A webhook may announce the same branch at the same moment.
    created = Branch.objects.bulk_create(
        [Branch(repository=repository, name=name) for name in missing],
        update_conflicts=True,
        unique_fields=["repository", "name"],
        update_fields=["name"],
        batch_size=1000,
    )
    return branches | {branch.name: branch for branch in created}


def _shows(branch: Branch, commit: str) -> bool:
    return branch.commit == commit and branch.deleted_at is None


def _formerly_read(repository: Repository) -> set[int]:
    """The catalogs that an earlier version of this server has read, in its own way."""
    return set(repository.catalogs.exclude(parser=PARSER).values_list("pk", flat=True))


def _bury(repository: Repository, branches: Iterable[Branch], look: Look) -> list[int]:
    """Turn branches that GitHub no longer has into tombstones, which keep their catalogs."""
    if not look.is_complete:
        return []
    gone = [each.pk for each in branches if each.name not in look.heads and not each.deleted_at]
    if gone:
        repository.branches.filter(pk__in=gone).update(deleted_at=now())
    return gone


def _show_again(repository: Repository, branches: dict[str, Branch], names: set[str]) -> None:
    """GitHub went back to the commits that these branches show: nothing is withheld any more."""
    back = [branches[name].pk for name in names if branches[name].withheld]
    if back:
        repository.branches.filter(pk__in=back).update(withheld="")


def _close_idle(look: Look, moving: set[int], working: list[SyncRun]) -> None:
    for run in working:
        if run.branch_id in moving:
            continue
        if twin := _twin_of(run):
            run.deliveries.update(run=twin)
            run.delete()
        elif run.branch.name in look.heads:
            run.catalog_before_id = run.catalog_after_id = run.branch.catalog_id
            run.commit = run.branch.commit
            run.save(update_fields=["catalog_before", "catalog_after", "commit"])
            run.close(State.SUCCESS, "Nothing changed: the branch already showed this commit.")
        elif look.is_complete:
            run.close(State.SUPERSEDED, "The branch was deleted before this push was synced.")


def _twin_of(run: SyncRun) -> SyncRun | None:
    """The run that told of the same creation already.

    GitHub announces a new branch by two events; when both found a worker, one line is enough.
    """
    if run.trigger != Trigger.PUSH:
        return None
    twins = run.branch.sync_runs.exclude(pk=run.pk).filter(
        trigger=Trigger.CREATED, commit=run.commit, finished_at__isnull=False
    )
    return twins.first()


def _start(
    repository: Repository, look: Look, moving: list[Branch], runs: dict[int, SyncRun]
) -> list[Move]:
    """Give each moving branch a run that says syncing."""
    trigger = _trigger_of_discoveries(repository)
    if trigger in {Trigger.RECOVERED, Trigger.TIMER}:
        moving = _without_withheld(look, moving, runs)
    started_at = now()
    discovered = SyncRun.objects.bulk_create(
        [
            SyncRun(
                repository=repository,
                branch=branch,
                trigger=trigger,
                commit=look.heads[branch.name],
                state=State.SYNCING,
                started_at=started_at,
                looked_at=started_at,
                attempts=1,
            )
            for branch in moving
            if branch.pk not in runs
        ],
        batch_size=1000,
    )
    all_runs = runs | {run.branch_id: run for run in discovered}
    return [Move(branch, all_runs[branch.pk], look.heads[branch.name]) for branch in moving]


def _trigger_of_discoveries(repository: Repository) -> Trigger:
    """Why we looked at branches that nobody had announced."""
    if repository.heads_checked_at is None:
        return Trigger.CONNECTED
    if repository.full_check_by_hand:
        return Trigger.MANUAL
    # While GitHub kept us out, a webhook may well have come, and its run have failed.
    return Trigger.TIMER if repository.trouble else Trigger.RECOVERED


def _without_withheld(look: Look, moving: list[Branch], runs: dict[int, SyncRun]) -> list[Branch]:
    """What somebody cancelled, or what failed, the timer does not begin again."""
    return [b for b in moving if b.pk in runs or b.withheld != look.heads[b.name]]
