"""The audit log: who did what."""

import logging
from typing import Any

from rollouts_app.models import AuditEvent, User, Workspace

log = logging.getLogger(__name__)

Deed = AuditEvent.Deed
LONGEST = 255


def record(
    actor: User | None,
    deed: AuditEvent.Deed,
    subject: str = "",
    *,
    workspace: Workspace | None = None,
    **details: Any,
) -> AuditEvent:
    """Write down a deed, in the caller's transaction: it is there exactly when what it tells is.

    `subject` names whom or what it was done to; `details` are JSON values and hold no secret.
    Without a workspace it is an event of the server, without an actor the server's own.
    """
    event = AuditEvent.objects.create(
        workspace=workspace,
        workspace_slug=workspace.slug if workspace else "",
        actor=actor,
        actor_name=actor.display_name[:LONGEST] if actor else "",
        deed=deed,
        subject=subject[:LONGEST],
        details=details,
    )
    log.info("%s (%s) %s", event, workspace or "server", details)
    return event
