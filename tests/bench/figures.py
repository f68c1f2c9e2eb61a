"""What a soak has measured, as lines to print."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import Count

from rollouts_app.models import Catalog, RolloutVersion, SyncRun, WebhookDelivery
from tests.bench.crew import Crew
from tests.bench.postman import Postman
from tests.bench.pushes import Pushes

# From when a push was taken in to when its commit, or a newer one of the branch, was on show;
# without those whose branch was deleted first.
DELAYS = """
    SELECT extract(epoch FROM shown.at - delivery.received_at)
    FROM rollouts_app_webhookdelivery AS delivery
    JOIN rollouts_app_syncrun AS run ON run.id = delivery.run_id
    CROSS JOIN LATERAL (
        SELECT later.state, later.finished_at AS at FROM rollouts_app_syncrun AS later
        WHERE later.branch_id = run.branch_id AND later.id >= run.id
            AND (later.state IN ('success', 'issues') OR later.reason LIKE '%deleted%')
        ORDER BY later.id LIMIT 1
    ) AS shown
    WHERE delivery.event = 'push' AND shown.state IN ('success', 'issues')
        AND shown.at > delivery.received_at
"""


def figures(
    options: Namespace,
    pushes: Pushes,
    postman: Postman,
    crew: Crew,
    pushing: float,
    settling: float,
) -> Iterator[str]:
    """The lines. Times in seconds."""
    made = sum(pushes.kinds.values())
    yield row("pushes", f"{made} to {len(pushes.names)} repositories ({told(pushes.kinds)})")
    yield row("seconds", f"{pushing:.1f}, and {settling:.1f} until all was on show")
    yield row("pushes a second", f"{made / pushing:.1f}")
    yield row(
        "kills", f"{crew.kills} of {options.workers} workers; {len(crew.exits)} ended by themselves"
    )
    yield row("deliveries", told(postman.fates))
    yield row("answers", told(postman.statuses))
    yield row("runs", told(counts("state")))
    yield row("runs by trigger", told(counts("trigger")))
    yield row("delivery to shown", spread(delays()))
    asked = WebhookDelivery.objects.filter(outcome__contains="asked to deliver it again").count()
    recovered = SyncRun.objects.filter(trigger=SyncRun.Trigger.RECOVERED).count()
    yield row("recovered", f"{recovered} commits by the timer; {asked} repetitions still to come")
    rows = {
        "runs": SyncRun.objects.count(),
        "deliveries": WebhookDelivery.objects.count(),
        "catalogs": Catalog.objects.count(),
        "versions": RolloutVersion.objects.count(),
    }
    yield row("rows", told(rows))
    yield row("git caches", f"{size_of(settings.DATA_DIR / 'git') / 1e6:.2f} MB")
    yield row("peak of a worker", f"{crew.peak_kilobytes / 1024:.0f} MB")


def row(name: str, value: str) -> str:
    return f"{name + ':':<19}{value}"


def told(numbers: Mapping[str, int] | Mapping[int, int]) -> str:
    """The numbers, the greatest first."""
    by_size = sorted(numbers.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{number} {name}" for name, number in by_size)


def counts(field: str) -> Counter[str]:
    """How many runs there are of each kind."""
    found = SyncRun.objects.values(field).annotate(runs=Count("pk"))
    return Counter({kind[field]: kind["runs"] for kind in found})


def delays() -> list[float]:
    """Seconds from delivery to page, in order."""
    with connection.cursor() as cursor:
        cursor.execute(DELAYS)
        return sorted(float(seconds) for (seconds,) in cursor.fetchall())


def spread(values: list[float]) -> str:
    """Median, 95 % and the greatest."""
    if not values:
        return "not measured"
    middle, most = values[len(values) // 2], values[len(values) * 95 // 100]
    return f"median {middle:.2f} s, 95 % {most:.2f} s, at most {values[-1]:.2f} s"


def size_of(folder: Path) -> int:
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
