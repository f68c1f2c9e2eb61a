"""Whether GitHub's deliveries reach us: refused signatures, silence, and what was lost.

GitHub does not repeat a delivery by itself. It keeps a list of the App's deliveries for some days,
from which those that failed are asked for again.
https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile

from django.core.cache import cache
from django.utils.timezone import now

from rollouts_app import github_app
from rollouts_app.errors import GitHubError, Gone
from rollouts_app.github import AppClient, DeliveryFacts
from rollouts_app.models import Installation, Repository, WebhookDelivery
from rollouts_app.sync.clients import app_client
from rollouts_app.sync.events import HANDLERS

REFUSED = "refused-deliveries"
REFUSED_SECONDS = 7 * 24 * 3600
FORMS = "deliveries-as-forms"
READ_UNTIL = "deliveries-read-until"
# GitHub repeats what is not older than this.
KEPT = timedelta(days=3)
# Of a longer list the oldest are left to the comparison of all heads.
MOST_READ = 5_000
# A delivery may still be under way, or be written down late.
OVERLAP = timedelta(minutes=10)
# How long a new connection may go without a delivery before that is worth a word.
PATIENCE = timedelta(minutes=10)


@dataclass(frozen=True)
class Refused:
    """Deliveries to our App whose signature was wrong, since the last one that was right."""

    since: datetime
    count: int


def note_refused(headers: Mapping[str, str]) -> None:
    """Count a delivery with a wrong signature, if it says that it is meant for our App."""
    app = github_app.known()
    is_ours = app and headers.get("X-GitHub-Hook-Installation-Target-ID") == app.app_id
    if not is_ours or not headers.get("X-Hub-Signature-256"):
        return
    known = refused() or Refused(since=now(), count=0)
    cache.set(REFUSED, (known.since, known.count + 1), timeout=REFUSED_SECONDS)


def refused() -> Refused | None:
    """What was refused since the last genuine delivery; None when nothing was."""
    kept = cache.get(REFUSED)
    if not kept or _has_come_since(kept[0]):
        return None
    return Refused(*kept)


def note_form() -> None:
    """Remember that a genuine delivery came as a form, which is not read."""
    cache.add(FORMS, now(), timeout=REFUSED_SECONDS)


def forms_since() -> datetime | None:
    """Since when deliveries come as forms; None when one has come as JSON after it."""
    since: datetime | None = cache.get(FORMS)
    if since and _has_come_since(since):
        cache.delete(FORMS)
        return None
    return since


def _has_come_since(moment: datetime) -> bool:
    return WebhookDelivery.objects.received().filter(received_at__gt=moment).exists()


def has_heard_nothing(repository: Repository) -> bool:
    """Whether a repository is connected for a while, and GitHub never delivered anything here."""
    is_settled = now() - repository.connected_at > PATIENCE
    return is_settled and not WebhookDelivery.objects.received().exists()


def ask_for_lost_deliveries() -> int:
    """Have GitHub repeat, once, the failed deliveries that concern us. Returns how many.

    Raises RateLimited or Unavailable, and Denied where GitHub does not accept the App; what was
    asked for until then is not asked for again.
    """
    client = app_client()
    until = cache.get(READ_UNTIL) or now() - KEPT
    begun = now()
    newest = islice(client.deliveries(), MOST_READ)
    attempts = list(takewhile(lambda made: made.delivered_at > until, newest))
    connected = Repository.objects.connected()
    repositories = {repository.github_id: repository for repository in connected}
    lost = _lost(attempts, repositories)
    asked = [
        _ask_again(client, attempt, repositories.get(attempt.repository_id)) for attempt in lost
    ]
    cache.set(READ_UNTIL, begun - OVERLAP, timeout=None)
    return sum(asked)


def _lost(attempts: Iterable[DeliveryFacts], repositories: Collection[int]) -> list[DeliveryFacts]:
    """The latest attempt of each delivery that concerns us and never arrived, oldest first."""
    latest: dict[str, DeliveryFacts] = {}
    arrived = set()
    for attempt in attempts:
        latest.setdefault(attempt.guid, attempt)
        if attempt.has_arrived:
            arrived.add(attempt.guid)
    installations = set(
        Installation.objects.filter(repositories__in=Repository.objects.connected()).values_list(
            "github_id", flat=True
        )
    )
    ours = [
        attempt
        for attempt in latest.values()
        if attempt.event in HANDLERS
        and (
            attempt.repository_id in repositories
            or (not attempt.repository_id and attempt.installation_id in installations)
        )
    ]
    received = WebhookDelivery.objects.filter(delivery_id__in=[made.guid for made in ours])
    known = arrived | set(received.values_list("delivery_id", flat=True))
    return [attempt for attempt in reversed(ours) if attempt.guid not in known]


def _ask_again(client: AppClient, attempt: DeliveryFacts, repository: Repository | None) -> bool:
    """Ask for one delivery; the row that says so is there before it can come.

    False when it has come, or was asked for, this moment.
    """
    row, is_new = WebhookDelivery.objects.get_or_create(
        delivery_id=attempt.guid,
        defaults={
            "event": attempt.event,
            "action": attempt.action,
            "repository": repository,
            "outcome": "It did not reach this server. GitHub was asked to deliver it again.",
            "received_at": attempt.delivered_at,
            "is_received": False,
        },
    )
    if not is_new:
        return False
    try:
        client.redeliver(attempt.id)
    except Gone as error:
        row.outcome = f"It did not reach this server, and GitHub cannot repeat it: {error}"
        row.save(update_fields=["outcome"])
    except GitHubError:
        # Without an answer it may have been repeated all the same, and have come.
        WebhookDelivery.objects.filter(pk=row.pk, is_received=False).delete()
        raise
    return True
