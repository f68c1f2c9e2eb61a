"""Taking a repository off its workspace: kept until it is connected again, or deleted for good."""

import logging
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from rollouts_app.models import Repository, User
from rollouts_app.sync import removal

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Holdings:
    """How much is stored of a repository: what a deletion takes."""

    rollouts: int
    branches: int
    syncs: int
    deliveries: int

    @property
    def is_nothing(self) -> bool:
        return not (self.rollouts or self.branches or self.syncs or self.deliveries)


def holdings_of(repository: Repository) -> Holdings:
    """Count what is stored of the repository. Four queries."""
    return Holdings(
        rollouts=repository.rollouts.count(),
        branches=repository.branches.exclude(commit="").count(),
        syncs=repository.sync_runs.count(),
        deliveries=repository.deliveries.count(),
    )


def disconnect(user: User, repository: Repository) -> None:
    """Take the repository off its workspace; what was synced is kept, out of sight.

    A sync that is running ends by itself, and none begins after it. Twice is once.
    """
    _take_off(repository)
    _end(user, repository, "disconnected")


def disconnect_and_delete(user: User, repository: Repository) -> None:
    """Take the repository off its workspace, and all that is stored of it out of the database.

    It is out of sight at once. While a sync of it is running its rows only carry the mark, and go
    when that has ended, without anybody doing anything. Twice is once.
    """
    _take_off(repository, deletion_requested_at=Now())
    _end(user, repository, "disconnected and deleted")


def delete_kept(user: User, repository: Repository) -> None:
    """Delete what is kept of a repository, as `disconnect_and_delete` does.

    Nothing happens when it was connected again in the meantime.
    """
    Repository.objects.kept().filter(pk=repository.pk).update(deletion_requested_at=Now())
    _end(user, repository, "deleted what was kept of")


def _take_off(repository: Repository, **marks: Any) -> None:
    Repository.objects.connected().filter(pk=repository.pk).update(
        disconnected_at=Now(), full_check_requested_at=None, full_check_by_hand=False, **marks
    )


def _end(user: User, repository: Repository, deed: str) -> None:
    log.info("%s %s %s in workspace %s", user, deed, repository, repository.workspace)
    removal.finish(repository.pk)
