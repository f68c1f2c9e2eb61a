"""Who belongs to a workspace: change a role, hand over, remove, leave. Never without an owner.

Each of these reads the roles anew while it holds the workspace's row, so that two people who act
on each other, or two owners who leave at once, come one after the other.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.utils.timezone import now

from rollouts_app import audit
from rollouts_app.accounts import forget_user_token
from rollouts_app.models import AuditEvent, CliToken, Membership, User, Workspace
from rollouts_app.refusals import NotAllowed, NotPossible

Role = Membership.Role
Deed = AuditEvent.Deed

LAST_OWNER = (
    "{workspace} would be left without an owner. Hand it over to somebody first, or delete it."
)


@contextmanager
def people_of(workspace: Workspace, actor: User) -> Iterator[Membership]:
    """The actor's own membership, while nobody else changes who belongs to the workspace.

    A transaction. Raises `NotAllowed` when the actor does not belong to it any more.
    """
    with transaction.atomic():
        Workspace.objects.select_for_update(no_key=True).filter(pk=workspace.pk).first()
        own = workspace.memberships.filter(user=actor).select_related("user").first()
        if own is None:
            raise NotAllowed(f"You do not belong to {workspace} any more.")
        own.workspace = workspace
        yield own


def change_role(actor: User, workspace: Workspace, membership_id: int, role: str) -> Membership:
    """Give somebody another role. The role they have already is no change.

    Raises `NotAllowed`, or `NotPossible` when they are no member any more.
    """
    with people_of(workspace, actor) as own:
        other = _other(own, membership_id)
        if role not in own.roles_to_give:
            raise NotAllowed("Only owners make somebody an owner.")
        _set_role(actor, other, role)
    return other


def hand_over(actor: User, workspace: Workspace, membership_id: int) -> Membership:
    """Make somebody else an owner, and the actor, who is one, an admin.

    Raises `NotAllowed`, or `NotPossible` when they are no member any more.
    """
    with people_of(workspace, actor) as own:
        other = _other(own, membership_id)
        if not own.is_owner:
            raise NotAllowed("Only an owner hands a workspace over.")
        _set_role(actor, other, Role.OWNER, handed_over=True)
        _set_role(actor, own, Role.ADMIN, handed_over=True)
    return other


def remove(actor: User, workspace: Workspace, membership_id: int) -> Membership:
    """End somebody's membership, and with it all their access, at once.

    Raises `NotAllowed`, or `NotPossible` when they are no member any more.
    """
    with people_of(workspace, actor) as own:
        other = _other(own, membership_id)
        _end(other)
        audit.record(
            actor,
            Deed.REMOVED_MEMBER,
            other.user.display_name,
            workspace=workspace,
            login=other.user.github_login,
            role=other.role,
        )
    return other


def leave(user: User, workspace: Workspace) -> None:
    """End the user's own membership. Raises `NotPossible` for the last owner, else `NotAllowed`."""
    with people_of(workspace, user) as own:
        if own.is_owner and not others_own(own):
            raise NotPossible(LAST_OWNER.format(workspace=workspace))
        _end(own)
        audit.record(user, Deed.LEFT, str(workspace), workspace=workspace, role=own.role)


def others_own(membership: Membership) -> bool:
    """Whether the workspace has an owner besides this person."""
    owners = membership.workspace.memberships.filter(role=Role.OWNER)
    return owners.exclude(pk=membership.pk).exists()


def check_departure(user: User) -> None:
    """Raise `NotPossible` while something here would be left without an owner, or administrator."""
    owned = user.memberships.filter(role=Role.OWNER).select_related("workspace")
    owned = owned.order_by("workspace__slug")
    left = [each.workspace.slug for each in owned if not others_own(each)]
    if left:
        raise NotPossible(
            f"You are the only owner of {', '.join(left)}. Hand over or delete what is yours alone "
            "first, then delete your account."
        )
    others = User.objects.filter(is_administrator=True).exclude(pk=user.pk)
    if user.is_administrator and not others.exists():
        raise NotPossible(
            "You are the only administrator of this server. Make somebody else one first, then "
            "delete your account."
        )


def delete_account(user: User) -> None:
    """Delete the user, with all memberships. Raises `NotPossible` as `check_departure` does."""
    with transaction.atomic():
        # In this order everywhere: workspaces, then people.
        own = Workspace.objects.filter(memberships__user=user).order_by("pk")
        list(own.select_for_update(no_key=True, of=("self",)))
        list(User.objects.select_for_update().filter(is_administrator=True).order_by("pk"))
        check_departure(user)
        for workspace in own:
            audit.record(user, Deed.LEFT, str(workspace), workspace=workspace)
        audit.record(user, Deed.DELETED_ACCOUNT, user.github_login)
        user.delete()
    forget_user_token(user)


def _other(own: Membership, membership_id: int) -> Membership:
    """Somebody whom the person may change. Raises `NotAllowed` or `NotPossible`."""
    if not own.may_invite:
        raise NotAllowed("Owners and admins manage the members of this workspace.")
    memberships = own.workspace.memberships.select_related("user")
    other = memberships.filter(pk=membership_id).first()
    if other is None:
        raise NotPossible("That person does not belong to this workspace any more.")
    if other.pk == own.pk:
        raise NotAllowed("Nobody changes their own role. Another owner can, or you leave.")
    if not own.may_change(other):
        raise NotAllowed("Only owners change or remove an owner.")
    return other


def _end(membership: Membership) -> None:
    """End a membership. Its API keys end for good, also for those who come back."""
    keys = CliToken.objects.kept().filter(user=membership.user, workspace=membership.workspace)
    keys.update(revoked_at=now())
    membership.delete()


def _set_role(actor: User, membership: Membership, role: str, **details: bool) -> None:
    if membership.role == role:
        return
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    audit.record(
        actor,
        Deed.CHANGED_ROLE,
        membership.user.display_name,
        workspace=membership.workspace,
        before=before,
        after=role,
        **details,
    )
