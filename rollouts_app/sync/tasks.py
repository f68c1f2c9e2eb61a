"""Procrastinate's entry points: ids only. A job is a doorbell; the rows say what is to be done."""

from datetime import datetime

from django.db import transaction
from django.utils.timezone import now
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import JobDeferrer

from rollouts_app.sync import caches, engine, reconcile

# Of the jobs with one lock the queue lets only the first begin, though its time may be far away,
# unless it is of lower priority.
PRIORITY_OF_LATER = -1


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
    job = sync_repository.configure(
        lock=lock,
        queueing_lock=queueing_lock,
        schedule_at=at,
        priority=PRIORITY_OF_LATER if at else 0,
    )
    return enqueue(job, repository_id)


def enqueue(job: JobDeferrer, repository_id: int) -> bool:
    """Put a job about a repository in the queue. False when one of its kind waits already."""
    try:
        # A savepoint: a refused job must not spoil the caller's transaction.
        with transaction.atomic():
            job.defer(repository_id=repository_id)
    except AlreadyEnqueued:
        return False
    return True
