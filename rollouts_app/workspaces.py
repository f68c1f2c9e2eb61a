"""A workspace's own settings, and its end."""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from rollouts_app import audit
from rollouts_app.memberships import people_of
from rollouts_app.models import AuditEvent, User, Workspace
from rollouts_app.refusals import NotAllowed, NotPossible
from rollouts_app.sync import removal

Deed = AuditEvent.Deed


def change_settings(actor: User, workspace: Workspace, **changes: str | bool) -> None:
    """Set `slug` or `timezone`, both validated. What is as it was is no change.

    Old addresses lead to the new ones. Raises `NotAllowed`, or `NotPossible` when the slug is, or
    was, another workspace's.
    """
    try:
        with people_of(workspace, actor) as own:
            if not own.may_change_settings:
                raise NotAllowed("Owners and admins change the settings of this workspace.")
            _change(actor, workspace, changes)
    except IntegrityError as error:
        raise NotPossible(
            f"The name {changes['slug']} is, or was, another workspace's. Choose another one."
        ) from error


def change_access(actor: User, workspace: Workspace, **changes: str | bool) -> None:
    """Set `needs_read_access` or `is_open_to_readers`, what GitHub's permissions count for here.

    Raises `NotAllowed`.
    """
    with people_of(workspace, actor) as own:
        if not own.is_owner:
            raise NotAllowed("Only owners decide what GitHub's permissions count for.")
        _change(actor, workspace, changes)


def delete_workspace(actor: User, workspace: Workspace) -> None:
    """Take the workspace away from everybody at once, and delete all that is stored of it.

    While a sync of its repository is running, its rows wait, reached by nobody, for that to end.
    One record is left, of the server. Raises `NotAllowed`.
    """
    with people_of(workspace, actor) as own:
        if not own.is_owner:
            raise NotAllowed("Only owners delete a workspace.")
        workspace.memberships.all().delete()
        workspace.invitations.all().delete()
        Workspace.objects.filter(pk=workspace.pk).update(deletion_requested_at=Now())
        repositories = sorted(workspace.repositories.values_list("full_name", flat=True))
        audit.record(actor, Deed.DELETED_WORKSPACE, workspace.slug, repositories=repositories)
    removal.finish_workspace(workspace.pk)


def _change(actor: User, workspace: Workspace, changes: dict[str, str | bool]) -> None:
    fresh = Workspace.objects.get(pk=workspace.pk)
    before = {name: getattr(fresh, name) for name in changes}
    changed = {name: value for name, value in changes.items() if before[name] != value}
    if not changed:
        return
    # A savepoint of its own: a slug that is taken must not spoil the caller's transaction.
    with transaction.atomic():
        Workspace.objects.filter(pk=workspace.pk).update(**changed)
    for name, value in changed.items():
        setattr(workspace, name, value)
    details = {name: f"{before[name]} → {value}" for name, value in changed.items()}
    audit.record(actor, Deed.CHANGED_SETTINGS, str(workspace), workspace=workspace, **details)
