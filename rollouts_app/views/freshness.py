"""How true a page is: what GitHub said last, when, and what is under way."""

from dataclasses import dataclass
from datetime import datetime

from rollouts_app.models import Branch, Repository, SyncRun

PASSING_TROUBLES = {Repository.Trouble.RATE_LIMITED, Repository.Trouble.UNAVAILABLE}


@dataclass(frozen=True)
class Freshness:
    """One of the states of the freshness line.

    `state` is fresh, syncing, checking, reading (the first sync), waiting, blocked, overdue or
    deleted. `incoming` is the commit under way, `shown` the one on the page.
    """

    state: str
    shown: str
    incoming: str
    checked_at: datetime | None
    reason: str
    retry_at: datetime | None
    done: int
    total: int

    @property
    def is_moving(self) -> bool:
        """Whether asking again soon will tell something new."""
        return self.state in {"syncing", "checking", "reading", "waiting"}


def freshness_of(repository: Repository, branch: Branch | None) -> Freshness:
    """The freshness of a branch, or of the whole repository when there is none. Two queries."""
    open_runs = list(repository.sync_runs.open().values_list("branch_id", "commit"))
    ours = [commit for branch_id, commit in open_runs if branch and branch_id == branch.pk]
    shown = branch.commit if branch else ""
    done, total = (0, 0) if shown else _progress(repository, len(open_runs))
    return Freshness(
        state=_state(repository, branch, is_syncing=bool(ours)),
        shown=shown,
        incoming=ours[-1] if ours else "",
        checked_at=_checked_at(repository, branch),
        reason=repository.trouble_reason,
        retry_at=repository.retry_at,
        done=done,
        total=total,
    )


def _state(repository: Repository, branch: Branch | None, *, is_syncing: bool) -> str:
    if branch and branch.deleted_at:
        return "deleted"
    if repository.trouble:
        return "waiting" if repository.trouble in PASSING_TROUBLES else "blocked"
    if branch is None or not branch.commit:
        is_looking = is_syncing or repository.heads_checked_at is None
        return "reading" if is_looking or repository.full_check_requested_at else "fresh"
    if is_syncing:
        return "syncing"
    if repository.is_overdue:
        return "overdue"
    return "checking" if repository.full_check_requested_at else "fresh"


def _checked_at(repository: Repository, branch: Branch | None) -> datetime | None:
    """A branch was last seen by the check of all heads, or by the sync of its own."""
    times = [repository.heads_checked_at, branch.changed_at if branch else None]
    return max((time for time in times if time), default=None)


def _progress(repository: Repository, open_count: int) -> tuple[int, int]:
    """How many of the branches of the first sync are read."""
    first = repository.sync_runs.filter(trigger=SyncRun.Trigger.CONNECTED)
    total = first.count()
    return total - min(open_count, total), total
