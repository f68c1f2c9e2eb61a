"""Keeping this machine's git caches within bounds."""

import logging

from django.conf import settings

from rollouts_app.models import Repository
from rollouts_app.sync.clients import shelf

log = logging.getLogger(__name__)

# No longer one is in the database.
LONGEST_NUMBER = 19


# How often one machine's caches are looked through, which takes a moment where there are many.
PAUSE_SECONDS = 60


def tidy() -> None:
    """Remove caches that nobody needs, then the least recently used of what is too much.

    To be called after a sync: each machine has a disk of its own, which only its workers reach.
    """
    ours = shelf()
    if not ours.is_due(PAUSE_SECONDS):
        return
    names = ours.names()
    numbers = [int(name) for name in names if len(name) < LONGEST_NUMBER]
    connected = Repository.objects.connected().filter(github_id__in=numbers)
    kept = {str(number) for number in connected.values_list("github_id", flat=True)}
    for name in ours.keep_only(kept):
        log.info("Removed the git cache of repository %s: it is connected no longer", name)
    for name in ours.keep_within(settings.GIT_CACHE_BYTES):
        log.info("Removed the git cache of repository %s: together they took too much room", name)
