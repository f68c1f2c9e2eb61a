"""What ends the work on a disconnected repository: open runs are closed, or all its rows go.

A sync that was running when somebody disconnected writes until it has ended. So both happen under
the repository's lock: at once where it is free, else by the timer.
"""

import logging

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce, Now

from rollouts_app.models import Repository, SyncRun, Workspace
from rollouts_app.sync.locks import repository_lock

log = logging.getLogger(__name__)

# Branches are held before their runs, as requests hold them. Rows that others refer to go after
# those. One statement a table, however many rows there are.
DELETIONS = (
    "SELECT FROM rollouts_app_branch WHERE repository_id = %(id)s ORDER BY id FOR UPDATE",
    """
    DELETE FROM rollouts_app_webhookdelivery WHERE repository_id = %(id)s
        OR run_id IN (SELECT id FROM rollouts_app_syncrun WHERE repository_id = %(id)s)
    """,
    "DELETE FROM rollouts_app_syncrun WHERE repository_id = %(id)s",
    "DELETE FROM rollouts_app_branch WHERE repository_id = %(id)s",
    "DELETE FROM rollouts_app_catalog WHERE repository_id = %(id)s",
    """
    DELETE FROM rollouts_app_rolloutversion WHERE rollout_id IN
        (SELECT id FROM rollouts_app_rollout WHERE repository_id = %(id)s)
    """,
    "DELETE FROM rollouts_app_rollout WHERE repository_id = %(id)s",
    "DELETE FROM rollouts_app_configversion WHERE repository_id = %(id)s",
    "DELETE FROM rollouts_app_repositoryname WHERE repository_id = %(id)s",
    "DELETE FROM rollouts_app_repository WHERE id = %(id)s",
)


def repositories_to_finish() -> list[int]:
    """The ids of disconnected repositories with runs that are open, or that are to be deleted."""
    has_open_runs = Exists(SyncRun.objects.open().filter(repository=OuterRef("pk")))
    unfinished = Repository.objects.filter(
        Q(deletion_requested_at__isnull=False) | has_open_runs, disconnected_at__isnull=False
    )
    return list(unfinished.order_by("pk").values_list("pk", flat=True))


def workspaces_to_finish() -> list[int]:
    """The ids of workspaces that are to be deleted."""
    doomed = Workspace.objects.filter(deletion_requested_at__isnull=False)
    return list(doomed.order_by("pk").values_list("pk", flat=True))


def finish_workspace(workspace_id: int) -> bool:
    """Delete a workspace whose deletion was asked for, with all that is stored of it.

    False when a sync of its repository is still running: then it is to be tried again later.
    """
    doomed = Workspace.objects.filter(pk=workspace_id, deletion_requested_at__isnull=False)
    repositories = Repository.objects.filter(workspace__in=doomed)
    # Also one that was being connected while the workspace was deleted.
    repositories.update(
        deletion_requested_at=Coalesce("deletion_requested_at", Now()),
        disconnected_at=Coalesce("disconnected_at", Now()),
        full_check_requested_at=None,
    )
    for repository_id in repositories.values_list("pk", flat=True):
        finish(repository_id)
    if repositories.exists():
        return False
    doomed.delete()
    return True


def finish(repository_id: int) -> bool:
    """End the work on a disconnected repository, as far as it was not connected again.

    False when somebody still works on it: then it is to be tried again later.
    """
    with repository_lock(repository_id) as is_ours:
        if not is_ours:
            return False
        try:
            with transaction.atomic():
                _finish(repository_id)
        except IntegrityError:
            # A delivery that came in beside us has left a row that we could not see.
            log.info("Repository %s gained a row while it was deleted", repository_id)
            return False
        return True


def _finish(repository_id: int) -> None:
    # Nobody connects it again meanwhile.
    rows = Repository.objects.select_for_update(no_key=True).filter(disconnected_at__isnull=False)
    repository = rows.filter(pk=repository_id).first()
    if repository and repository.deletion_requested_at:
        _delete(repository)
    elif repository:
        _close_runs(repository)


def _delete(repository: Repository) -> None:
    with connection.cursor() as cursor:
        for deletion in DELETIONS:
            cursor.execute(deletion, {"id": repository.pk})
    log.info("All rows of %s in %s were deleted", repository, repository.workspace)


def _close_runs(repository: Repository) -> None:
    # Locked in the order in which syncs lock them.
    open_runs = repository.sync_runs.open().select_for_update().order_by("pk")
    ids = list(open_runs.values_list("pk", flat=True))
    SyncRun.objects.filter(pk__in=ids).close(
        SyncRun.State.SUPERSEDED, "The repository was disconnected."
    )
