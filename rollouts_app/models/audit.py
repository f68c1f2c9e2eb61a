"""What people did that others may have to account for."""

import json
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils.timezone import now

from rollouts_app.models.users import User
from rollouts_app.models.workspaces import Membership, Workspace


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    def of_workspace(self, workspace: Workspace) -> "AuditEventQuerySet":
        """What happened in a workspace, and when its members signed in to the server."""
        memberships = Membership.objects.filter(workspace=workspace)
        is_member = Exists(
            memberships.filter(user=OuterRef("actor"), joined_at__lte=OuterRef("at"))
        )
        signing_in = Q(is_member, workspace=None, deed=AuditEvent.Deed.SIGNED_IN)
        return self.filter(Q(workspace=workspace) | signing_in)

    def of_server(self) -> "AuditEventQuerySet":
        """What belongs to no workspace, or is left of one."""
        return self.filter(workspace=None)

    def for_log(self) -> "AuditEventQuerySet":
        """The newest first, with the people who are still there."""
        return self.order_by("-id").select_related("actor")


class AuditEvent(models.Model):
    """One deed: who, what, to whom or what, when. Written once, never changed.

    Names are kept beside the keys: people and workspaces may be gone when it is read. An event of
    no workspace belongs to the server. The database itself refuses UPDATE, TRUNCATE and DELETE;
    events go only with their workspace, by the foreign key's own cascade.
    """

    class Deed(models.TextChoices):
        """What was done; the words of the page are made of these."""

        SIGNED_IN = "signed in"
        WAS_REFUSED = "was refused"
        CREATED_WORKSPACE = "created the workspace"
        DELETED_WORKSPACE = "deleted the workspace"
        CHANGED_SETTINGS = "changed settings"
        CONNECTED = "connected"
        DISCONNECTED = "disconnected"
        DELETED_CONTENTS = "deleted what was kept of"
        INVITED = "invited"
        REVOKED_INVITATION = "revoked the invitation of"
        JOINED = "joined"
        CHANGED_ROLE = "changed the role of"
        REMOVED_MEMBER = "removed"
        LEFT = "left"
        MINTED_KEY = "created the API key"
        REVOKED_KEY = "revoked the API key"
        SET_UP = "set up the GitHub App"
        ROTATED = "rotated"
        CHANGED_SERVER = "changed the server's settings"
        DELETED_ACCOUNT = "deleted their account"

    # The constraint is written in SQL, with ON DELETE CASCADE: were Django to delete the events
    # of a workspace itself, a trigger could not tell that from tampering.
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="audit_events",
    )
    workspace_slug = models.CharField(max_length=64, blank=True)
    actor = models.ForeignKey(
        User, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    actor_name = models.CharField(max_length=255, blank=True)
    deed = models.CharField(max_length=40, choices=Deed)
    subject = models.CharField(max_length=255, blank=True)
    details = models.JSONField(default=dict)
    at = models.DateTimeField(default=now)

    objects = AuditEventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-id"], name="audit_events_of_a_workspace"),
            models.Index(fields=["actor", "-id"], name="audit_events_of_a_person"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.deed} {self.subject}".strip()

    @property
    def is_of_server(self) -> bool:
        """Whether nobody did it but the server itself."""
        return self.actor_id is None

    @property
    def login(self) -> str:
        """The person's GitHub login of today; empty where there is none, or it is their name."""
        login = self.actor.github_login if self.actor else ""
        return "" if login == self.actor_name else login

    @property
    def lines(self) -> list[str]:
        """The details in words, one a line: "from: member". PostgreSQL keeps no order of them."""
        told = sorted(self.details.items())
        return [f"{name.replace('_', ' ')}: {_words(value)}" for name, value in told]


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_words(each) for each in value) or "none"
    if value in (None, ""):
        return "none"
    return json.dumps(value) if isinstance(value, dict) else str(value)
