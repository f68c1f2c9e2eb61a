"""What people did that others may have to account for."""

from django.db import models
from django.utils.timezone import now

from rollouts_app.models.users import User
from rollouts_app.models.workspaces import Workspace


class AuditEvent(models.Model):
    """One deed: who, what, to whom or what, when. Written once, never changed.

    Names are kept beside the keys: people and workspaces may be gone when it is read. An event of
    no workspace belongs to the server.
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

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, blank=True, related_name="audit_events"
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

    class Meta:
        indexes = [models.Index(fields=["workspace", "-id"], name="audit_events_of_a_workspace")]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.deed} {self.subject}".strip()
