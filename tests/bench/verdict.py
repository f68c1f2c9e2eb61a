"""Whether anything was lost, judged by git."""

import time
from contextlib import suppress

from django.db import transaction
from django.db.models import Count
from procrastinate.exceptions import AlreadyEnqueued

from rollouts_app.models import Branch, Repository, SyncRun, WebhookDelivery
from rollouts_app.sync.tasks import check_heads
from tests import truth
from tests.bench.postman import Postman
from tests.bench.pushes import Pushes
from tests.syncing import contents_shown, heads_shown


class Ticker:
    """The timer. The worker's own ticks once a minute, which is rare for a soak."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = time.monotonic() + seconds

    def tick_when_due(self) -> None:
        """Have the workers look which repositories were not checked for an interval."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._seconds
        with suppress(AlreadyEnqueued), transaction.atomic():
            check_heads.configure().defer(timestamp=int(time.time()))


def is_at_rest(heads: dict[str, dict[str, str]]) -> bool:
    """Whether no run is open and every branch shows the head it has."""
    if SyncRun.objects.open().exists():
        return False
    shown: dict[str, dict[str, str]] = {name: {} for name in heads}
    rows = Branch.objects.existing().values_list("repository__full_name", "name", "commit")
    for name, branch, commit in rows:
        shown[name][branch] = commit
    return shown == heads


def losses(pushes: Pushes, postman: Postman) -> list[str]:
    """What is missing or too much, a sentence each."""
    found = []
    for row in Repository.objects.order_by("full_name"):
        found += _losses_of(row, pushes)
    open_runs = SyncRun.objects.open().count()
    if open_runs:
        found.append(f"{open_runs} sync runs have not ended.")
    missing = postman.accepted - set(WebhookDelivery.objects.values_list("delivery_id", flat=True))
    if missing:
        found.append(f"{len(missing)} deliveries were accepted and left no row.")
    return found + _doubles()


def _losses_of(row: Repository, pushes: Pushes) -> list[str]:
    heads, shown = pushes.heads(row.full_name), heads_shown(row)
    found = [
        f"{row}: {branch} shows {shown.get(branch, 'nothing')}, and git has "
        f"{heads.get(branch, 'no such branch')}."
        for branch in sorted(heads.keys() | shown.keys())
        if heads.get(branch) != shown.get(branch)
    ]
    for branch in row.branches.existing():
        held = truth.contents(pushes.folder(row.full_name), branch.commit)
        if contents_shown(branch) != held:
            found.append(f"{row}: {branch} does not show what {branch.commit} holds.")
    if row.trouble:
        found.append(f"{row} is in trouble: {row.trouble_reason}")
    return found


def _doubles() -> list[str]:
    ids = WebhookDelivery.objects.values("delivery_id").annotate(rows=Count("pk"))
    doubled = ids.filter(rows__gt=1).count()
    return [f"{doubled} deliveries left more than one row."] if doubled else []
