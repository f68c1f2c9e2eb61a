"""What the timer does: look where nothing was heard for a while."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.timezone import now

from rollouts_app.models import Repository, SyncRun


def repositories_due() -> list[int]:
    """Ask for a full check of each repository that was not checked for an interval.

    Returns their ids, and those of repositories whose open runs nobody seems to work on. Where
    the next try has a time, nobody should before that.
    """
    interval_ago = now() - timedelta(seconds=settings.SYNC_INTERVAL_SECONDS)
    unchecked = Q(heads_checked_at=None) | Q(heads_checked_at__lte=interval_ago)
    free = Repository.objects.connected().filter(Q(retry_at=None) | Q(retry_at__lte=Now()))
    ids = set(free.filter(unchecked).values_list("pk", flat=True))
    Repository.objects.filter(pk__in=ids, full_check_requested_at=None).update(
        full_check_requested_at=Now()
    )
    forgotten = SyncRun.objects.open().filter(
        repository__in=free, requested_at__lte=now() - timedelta(minutes=1)
    )
    return sorted(ids | set(forgotten.values_list("repository_id", flat=True)))
