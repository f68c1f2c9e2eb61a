"""Invitations to workspaces: who may join, as what, until when."""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from rollouts_app.models.users import User
from rollouts_app.models.workspaces import Membership, Workspace

LASTS = timedelta(days=7)


def hash_of(token: str) -> str:
    """What is stored of a token. It is random enough to need no salt; any text may come in."""
    return sha256(token.encode(errors="replace")).hexdigest()


def expiry() -> datetime:
    return now() + LASTS


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def pending(self) -> "InvitationQuerySet":
        """Neither accepted nor revoked; those that have expired are among them."""
        return self.filter(accepted_at=None, revoked_at=None)

    def open(self) -> "InvitationQuerySet":
        """Those that can be accepted now."""
        return self.pending().filter(expires_at__gt=now())

    def with_token(self, token: str) -> "InvitationQuerySet":
        """The one that a link leads to, or none."""
        return self.filter(token_hash=hash_of(token))

    def bound_to(self, github_id: int | None) -> "InvitationQuerySet":
        """Those for one GitHub account, by its number."""
        return self.filter(github_id=github_id, github_id__isnull=False)


class Invitation(models.Model):
    """One place in a workspace, for whoever brings its link; for one GitHub account if it is bound.

    Of the link's token only the hash is stored. `request` is the number of the form that asked for
    it: the same form sent twice makes one invitation.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role)
    token_hash = models.CharField(max_length=64, unique=True)
    request = models.UUIDField(unique=True, null=True)
    email = models.EmailField(blank=True)
    github_id = models.BigIntegerField(null=True)
    github_login = models.CharField(max_length=255, blank=True)
    invited_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField(default=expiry)
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["owner", "admin", "member"]),
                name="invitation_role_is_known",
            ),
            models.CheckConstraint(
                condition=Q(accepted_at=None) | Q(revoked_at=None),
                name="an_accepted_invitation_is_not_revoked",
            ),
            models.UniqueConstraint(
                fields=["workspace", "github_id"],
                condition=Q(accepted_at=None, revoked_at=None),
                name="one_pending_invitation_per_account",
            ),
            models.UniqueConstraint(
                fields=["workspace", "email"],
                condition=Q(accepted_at=None, revoked_at=None) & ~Q(email=""),
                name="one_pending_invitation_per_email",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.workspace}"

    @property
    def subject(self) -> str:
        """Whom it is for, as far as that is known."""
        return self.github_login or self.email or "whoever has the link"

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= now()

    @property
    def is_open(self) -> bool:
        return not (self.accepted_at or self.revoked_at or self.has_expired)

    def renew_token(self) -> str:
        """A new token, which is returned and not stored; the one before it leads nowhere now."""
        token = secrets.token_urlsafe(32)
        self.token_hash, self.expires_at = hash_of(token), expiry()
        return token


def new_invitation(
    workspace: Workspace, invited_by: User, role: str, request: UUID | None
) -> tuple[Invitation, str]:
    """An invitation that is not saved yet, and its token."""
    invitation = Invitation(workspace=workspace, invited_by=invited_by, role=role, request=request)
    return invitation, invitation.renew_token()
