"""How true a page is: what GitHub said last, when, and what is under way."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.timezone import now

from rollouts_app.models import Branch, Repository, SyncRun
from rollouts_app.views.trouble import trouble_of

# Seconds between two questions of a page that waits; a state not named here asks no more.
PAUSES = {"syncing": 2, "checking": 2, "reading": 2, "absent": 5, "waiting": 15, "overdue": 15}

# How long a worker may be at one sync: git may fetch for fifteen minutes.
LONGEST_WORK = timedelta(minutes=20)
# How long somebody who asked for a look at GitHub is told that it is on its way.
PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True)
class Freshness:
    """One of the states of the freshness line.

    `state` is fresh, syncing, checking, reading (the first sync), absent (GitHub has no such
    branch), withheld (the sync of GitHub's commit failed or was cancelled), waiting, blocked,
    overdue or deleted. `incoming` is the commit under way or withheld, `shown` the one on the
    page; `cause` says what keeps us from GitHub, `retry_at` when we try again; `done` of `total`
    branches are read in the first sync.
    """

    state: str
    shown: str
    shown_page: str
    incoming: str
    incoming_page: str
    checked_at: datetime | None
    cause: str
    retry_at: datetime | None
    done: int
    total: int

    @property
    def is_moving(self) -> bool:
        """Whether asking again soon will tell something new."""
        return self.state in {"syncing", "checking", "reading"}

    @property
    def pause(self) -> int:
        """Seconds to wait before asking again; 0 asks no more."""
        return PAUSES.get(self.state, 0)

    @property
    def seen(self) -> str:
        """What somebody who saw this line has seen: where it is the same, it says nothing new."""
        return f"{self.state} {self.shown} {self.incoming}"


def freshness_of(repository: Repository, branch: Branch | None) -> Freshness:
    """The freshness of a branch, None being one that was never heard of. One query, or two."""
    runs = list(branch.sync_runs.open().order_by("pk")) if branch else []
    shown = branch.commit if branch else ""
    incoming = next((run.commit for run in reversed(runs) if run.commit), "")
    state = _state(repository, branch, runs, incoming)
    if branch and state == "withheld":
        incoming = branch.withheld
    is_first = state == "reading"
    done, total = repository.sync_runs.first_sync_progress() if is_first else (0, 0)
    return Freshness(
        state=state,
        shown=shown,
        shown_page=repository.commit_page(shown),
        incoming=incoming,
        incoming_page=repository.commit_page(incoming),
        checked_at=_checked_at(repository, branch),
        cause=_cause(repository),
        retry_at=_still_to_come(repository.retry_at),
        done=done,
        total=total,
    )


def _state(
    repository: Repository, branch: Branch | None, runs: list[SyncRun], incoming: str
) -> str:
    if branch and branch.is_tombstone and not runs:
        return "deleted"
    if repository.trouble in repository.PASSING_TROUBLES:
        return "waiting"
    is_asked = _is_asked(repository, runs)
    if repository.is_blocked and not is_asked:
        return "blocked"
    if repository.is_overdue and not is_asked and not is_at_work(runs):
        return "overdue"
    return _state_of_work(repository, branch, runs, incoming)


def _state_of_work(
    repository: Repository, branch: Branch | None, runs: list[SyncRun], incoming: str
) -> str:
    """The state while nothing keeps us from GitHub."""
    shown = branch.commit if branch else ""
    if not shown and repository.heads_checked_at is None:
        return "reading"
    if runs and (not shown or incoming not in {"", shown}):
        return "syncing"
    if runs or repository.full_check_requested_at:
        return "checking"
    if branch and branch.withheld and not branch.deleted_at:
        return "withheld"
    return "fresh" if shown else "absent"


def _is_asked(repository: Repository, runs: list[SyncRun]) -> bool:
    """Whether somebody has just asked for a look at GitHub."""
    times = [repository.full_check_requested_at, *(run.requested_at for run in runs)]
    return any(now() - time < PATIENCE for time in times if time)


def is_at_work(runs: Iterable[SyncRun]) -> bool:
    """Whether a worker has begun one of the runs, and can still be at it."""
    began = [run.started_at for run in runs if run.state == SyncRun.State.SYNCING]
    return any(now() - at < LONGEST_WORK for at in began if at)


def _cause(repository: Repository) -> str:
    """What keeps us from GitHub, as a sentence; empty when nothing does."""
    trouble = trouble_of(repository)
    return trouble.cause if trouble else ""


def _still_to_come(time: datetime | None) -> datetime | None:
    return time if time and time > now() else None


def _checked_at(repository: Repository, branch: Branch | None) -> datetime | None:
    """A branch was last seen by the check of all heads, or by the sync of its own."""
    times = [repository.heads_checked_at, branch.changed_at if branch else None]
    return max((time for time in times if time), default=None)
