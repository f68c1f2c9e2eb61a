"""What is done from time to time, whether anybody asks or not: Procrastinate's entry points."""

import logging
import time
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.utils.timezone import now
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued

from rollouts_app.errors import GitHubError
from rollouts_app.sync import hearing, pruning, removal
from rollouts_app.sync.tasks import enqueue

log = logging.getLogger(__name__)

DELIVERIES_READ = "deliveries-read"
# How long pruning stands back where a sync is at work.
PRUNING_PAUSE = timedelta(minutes=5)


def begin() -> None:
    """What a worker that starts has done at once: while none ran, much may have been missed."""
    cache.delete(DELIVERIES_READ)
    with suppress(AlreadyEnqueued), transaction.atomic():
        repeat_lost_deliveries.configure().defer(timestamp=int(time.time()))


@app.periodic(cron="* * * * *")
@app.task(name="repeat_lost_deliveries", queueing_lock="repeat_lost_deliveries")
def repeat_lost_deliveries(timestamp: int) -> None:
    """Once an interval, and when a worker starts: have GitHub repeat what did not arrive."""
    if not cache.add(DELIVERIES_READ, timestamp, timeout=settings.SYNC_INTERVAL_SECONDS):
        return
    try:
        hearing.ask_for_lost_deliveries()
    except GitHubError as error:
        # All heads are compared as well, so nothing stays lost but the reason of a change.
        log.warning("GitHub's list of deliveries could not be read: %s", error)


@app.periodic(cron="* * * * *")
@app.task(name="finish_disconnections", queueing_lock="finish_disconnections")
def finish_disconnections(timestamp: int) -> None:
    """Once a minute: end what could not be ended when somebody disconnected, or deleted."""
    for repository_id in removal.repositories_to_finish():
        removal.finish(repository_id)
    for workspace_id in removal.workspaces_to_finish():
        removal.finish_workspace(workspace_id)


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


def _defer_pruning(repository_id: int, at: datetime) -> None:
    lock = f"prune-repository-{repository_id}"
    job = prune_repository.configure(lock=lock, queueing_lock=lock, schedule_at=at)
    enqueue(job, repository_id)
