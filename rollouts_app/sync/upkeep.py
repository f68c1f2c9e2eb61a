"""What is done from time to time, whether anybody asks or not: Procrastinate's entry points."""

import logging
import time
from contextlib import suppress

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued

from rollouts_app.errors import GitHubError
from rollouts_app.sync import hearing, removal

log = logging.getLogger(__name__)

DELIVERIES_READ = "deliveries-read"


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
    """Once a minute: end what could not be ended when somebody disconnected a repository."""
    for repository_id in removal.repositories_to_finish():
        removal.finish(repository_id)
