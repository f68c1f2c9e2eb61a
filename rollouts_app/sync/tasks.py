"""Procrastinate's entry points: ids only. A job is a doorbell; the rows say what is to be done."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.timezone import now
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import JobDeferrer

from rollouts_app.sync import caches, engine, pruning, reconcile

# How long pruning stands back where a sync is at work.
PRUNING_PAUSE = timedelta(minutes=5)


@app.task(name="sync_repository")
def sync_repository(repository_id: int) -> None:
    """Make the repository's catalogs equal to GitHub's heads."""
    again_at = engine.sync(repository_id)
    if again_at:
        ring_later(repository_id, again_at)
    caches.tidy()


@app.periodic(cron="* * * * *")
@app.task(name="check_heads", queueing_lock="check_heads")
def check_heads(timestamp: int) -> None:
    """Once a minute: ask for a look at each repository whose last one is an interval old."""
    for repository_id in reconcile.repositories_due():
        ring(repository_id)


@app.periodic(cron="23 * * * *")
@app.task(name="prune", queueing_lock="prune")
def prune(timestamp: int) -> None:
    """Drop what is older than history is kept. Once an hour: some servers are off at night."""
    pruning.prune_deliveries()
    for repository_id in pruning.repositories_to_prune():
        _defer_pruning(repository_id, at=now())


@app.task(name="prune_repository")
def prune_repository(repository_id: int) -> None:
    """Prune one repository; where a sync goes first, come back."""
    if not pruning.prune(repository_id):
        _defer_pruning(repository_id, at=now() + PRUNING_PAUSE)


def ring(repository_id: int) -> None:
    """Wake a worker for the repository, in the caller's transaction. A ring that waits is enough.

    The waiting job may start, and look, before we commit: then the ring is repeated once our rows
    can be seen.
    """
    if not _defer(repository_id):
        transaction.on_commit(lambda: _defer(repository_id))


def ring_later(repository_id: int, at: datetime) -> None:
    """Wake a worker at the given time; a push in between need not wait for it."""
    _defer(repository_id, at=max(at, now()))


def _defer(repository_id: int, at: datetime | None = None) -> bool:
    """Put one job in the queue. False when one of the same kind waits already."""
    lock = f"repository-{repository_id}"
    queueing_lock = f"{lock}-later" if at else lock
    job = sync_repository.configure(lock=lock, queueing_lock=queueing_lock, schedule_at=at)
    return _enqueue(job, repository_id)


def _defer_pruning(repository_id: int, at: datetime) -> bool:
    lock = f"prune-repository-{repository_id}"
    job = prune_repository.configure(lock=lock, queueing_lock=lock, schedule_at=at)
    return _enqueue(job, repository_id)


def _enqueue(job: JobDeferrer, repository_id: int) -> bool:
    try:
        # A savepoint: a refused job must not spoil the caller's transaction.
        with transaction.atomic():
            job.defer(repository_id=repository_id)
    except AlreadyEnqueued:
        return False
    return True
