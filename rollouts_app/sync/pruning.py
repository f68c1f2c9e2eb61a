"""What is old goes: deliveries and syncs, then the contents that nothing shows any more.

In batches, so that no transaction is long. Rollouts themselves stay, with the day they were first
seen.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from rollouts_app.models import Catalog, ConfigVersion, RolloutVersion, SyncRun, WebhookDelivery
from rollouts_app.models.reach import unreached_catalogs, unreached_configs, unreached_versions
from rollouts_app.sync.locks import repository_lock

# Rows deleted in one transaction.
BATCH = 1000

Contents = type[Catalog] | type[RolloutVersion] | type[ConfigVersion]


def prune_deliveries() -> None:
    """Drop the deliveries that were received longer ago than history is kept."""
    outdated = WebhookDelivery.objects.outdated().order_by("pk").values_list("pk", flat=True)
    while ids := list(outdated[:BATCH]):
        WebhookDelivery.objects.filter(pk__in=ids).delete()


def repositories_to_prune() -> list[int]:
    """The ids of repositories with syncs older than history is kept."""
    outdated = SyncRun.objects.outdated().order_by("repository")
    return list(outdated.values_list("repository", flat=True).distinct())


def prune(repository_id: int) -> bool:
    """Drop a repository's old syncs, and the contents that nothing shows any more.

    False when a sync is at work or waits: it goes first, and the rest is to be done later.
    """
    outdated = SyncRun.objects.outdated().filter(repository=repository_id).order_by("pk")
    while ids := list(outdated.values_list("pk", flat=True)[:BATCH]):
        SyncRun.objects.filter(pk__in=ids).delete()
    with repository_lock(repository_id) as is_ours:
        return is_ours and _prune_contents(repository_id)


def _prune_contents(repository_id: int) -> bool:
    """Drop what nothing reaches; stops, and is False, when a sync waits for the lock."""
    waiting = SyncRun.objects.open().filter(repository=repository_id)
    for model, ids in _unreached(repository_id):
        if waiting.exists():
            return False
        model._default_manager.filter(pk__in=ids).delete()
    return True


def _unreached(repository_id: int) -> Iterator[tuple[Contents, list[int]]]:
    """What nothing reaches, by batches. Versions are looked for once their catalogs are gone."""
    for ids in _batches(unreached_catalogs(repository_id)):
        yield Catalog, ids
    for ids in _batches(unreached_versions(repository_id)):
        yield RolloutVersion, ids
    for ids in _batches(unreached_configs(repository_id)):
        yield ConfigVersion, ids


def _batches(ids: Iterable[int]) -> Iterator[list[int]]:
    remaining = iter(ids)
    while batch := list(islice(remaining, BATCH)):
        yield batch
