"""API keys and sign-ins of the command line: who calls by a bearer token; made, listed, revoked.

A key is good for its workspace alone, a sign-in wherever the person is a member. Neither outlives
the membership: what somebody may see is looked up at every call.
"""

import re
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.timezone import now

from rollouts_app import audit, vault
from rollouts_app.audit import Deed
from rollouts_app.models import CliToken, Membership, User, Workspace
from rollouts_app.models.tokens import CliTokenQuerySet, new_token
from rollouts_app.refusals import NotAllowed, NotPossible

# https://datatracker.ietf.org/doc/html/rfc6750#section-2.1
BEARER = re.compile(r"bearer +(?P<token>[A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)
# How long a new key waits to be read, in seconds: once, by whoever made it.
SHOWN_SECONDS = 600
MOST_KEYS = 100


class KeyRefused(Exception):
    """A call without a token that is good now. `code` is a word of the command line's."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def key_of(authorization: str | None) -> CliToken:
    """The token that a request's Authorization header shows, with its person; its use is noted.

    Says nothing of what they may see: `memberships_of` does. Raises `KeyRefused`.
    """
    if not authorization:
        raise KeyRefused("AUTH_HEADER_MISSING", "Send a token: Authorization: Bearer <token>.")
    shown = BEARER.fullmatch(authorization)
    found = CliToken.objects.with_token(shown["token"]) if shown else CliToken.objects.none()
    key = found.select_related("user").first()
    if key is None:
        raise KeyRefused("TOKEN_INVALID", "This server knows no such token.")
    if key.revoked_at or not key.user.is_active:
        raise KeyRefused("TOKEN_REVOKED", "This token was revoked.")
    if key.has_expired:
        raise KeyRefused("TOKEN_EXPIRED", "This token has expired.")
    key.note_use()
    return key


def memberships_of(key: CliToken) -> list[Membership]:
    """Where the bearer is a member now and the token is good, with the repositories. One query."""
    memberships = key.user.memberships.filter(workspace__deletion_requested_at=None)
    if key.workspace_id:
        memberships = memberships.filter(workspace=key.workspace_id)
    found = memberships.order_by("workspace__slug").with_repositories(and_installations=False)
    for membership in found:
        membership.user = key.user
    return found


def make_key(
    membership: Membership, name: str, days: int, device: str, request: UUID | None
) -> CliToken:
    """A key for the member's own use of this workspace; it can be read once by `read_once`.

    The same `request` twice is one key. Raises `NotPossible` when there are too many.
    """
    user, workspace = membership.user, membership.workspace
    own = CliToken.objects.kept().filter(user=user, workspace=workspace, expires_at__gt=now())
    if own.count() >= MOST_KEYS:
        raise NotPossible(f"You have {MOST_KEYS} keys here. Revoke one that is not used first.")
    key, token = new_token(user, name, now() + timedelta(days=days))
    key.workspace, key.device, key.request = workspace, device[:255], request
    try:
        with transaction.atomic():
            key.save()
            told = {"expires": f"{key.expires_at:%Y-%m-%d}", "begins": key.hint}
            audit.record(user, Deed.MINTED_KEY, key.name, workspace=workspace, **told)
    except IntegrityError:
        return CliToken.objects.get(request=request, user=user, workspace=workspace)
    vault.keep(_secret_name(key), token, SHOWN_SECONDS)
    return key


def read_once(user: User, key: CliToken) -> str:
    """The token itself, the first time whoever made it asks; empty from then on."""
    name = _secret_name(key)
    token = vault.recall(name) if key.user_id == user.pk else None
    vault.forget(name)
    return token or ""


def keys_of(membership: Membership) -> CliTokenQuerySet:
    """The keys of the workspace that the member may see: owners and admins all, members theirs."""
    keys = CliToken.objects.of_members(membership.workspace).kept()
    return keys if membership.may_invite else keys.filter(user=membership.user_id)


def own_keys(user: User) -> CliTokenQuerySet:
    """All that a person has made and not revoked: keys of workspaces, and sign-ins of devices."""
    return CliToken.objects.kept().filter(user=user)


def revoke(actor: User, key: CliToken) -> None:
    """End a key at once. Twice is once. Raises `NotAllowed`."""
    with transaction.atomic():
        is_own = key.user_id == actor.pk
        if not is_own and not _looks_after(actor, key.workspace):
            raise NotAllowed("Owners and admins revoke the keys of others.")
        if key.revoke():
            of = {} if is_own else {"of": key.user.display_name}
            audit.record(
                actor, Deed.REVOKED_KEY, key.name, workspace=key.workspace, begins=key.hint, **of
            )


def _looks_after(actor: User, workspace: Workspace | None) -> bool:
    own = Membership.objects.filter(user=actor, workspace=workspace).first()
    return workspace is not None and own is not None and own.may_invite


def _secret_name(key: CliToken) -> str:
    return f"api-key-{key.pk}"
