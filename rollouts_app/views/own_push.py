"""What the person who looks has just pushed to another branch than the one on show."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils.timezone import now

from rollouts_app.models import Branch, SyncRun, User
from rollouts_app.views.asked import AskedBranch

# How long somebody is told of their own push.
LATELY = timedelta(minutes=10)


@dataclass(frozen=True)
class OwnPush:
    """The branch, and the sync that the push asked for."""

    branch: Branch
    run: SyncRun


def own_push(user: User, asked: AskedBranch) -> OwnPush | None:
    """The latest push of the user to a branch that can be looked at, unless that is on show.

    One query.
    """
    if not user.github_login:
        return None
    pushes = asked.repository.sync_runs.filter(
        pusher__iexact=user.github_login,
        trigger__in=SyncRun.PUSHES,
        requested_at__gte=now() - LATELY,
        branch__deleted_at=None,
    )
    run = pushes.order_by("-pk").select_related("branch").first()
    if run is None or run.branch.name == asked.name or not run.branch.commit:
        return None
    return OwnPush(run.branch, run)
