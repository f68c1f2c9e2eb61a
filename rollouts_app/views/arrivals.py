"""What became of the push that somebody waits for after making a rollout."""

from dataclasses import dataclass

from rollouts_app.models import Branch, Repository, SyncRun
from rollouts_app.models.changes import changes_between
from rollouts_app.models.versions import branches_holding

# Of the runs since the waiting began, how many are looked at.
NEWEST_RUNS = 10


@dataclass(frozen=True)
class Arrival:
    """`state` is waiting, syncing, arrived, missing (pushed without it), failed, or elsewhere.

    `branch` and `commit` are those of the push; `name` is the rollout that arrived. In `elsewhere`
    nothing has been pushed since, and the branch has held the name from before.
    """

    state: str
    branch: Branch | None = None
    commit: str = ""
    name: str = ""
    reason: str = ""


def arrival_of(repository: Repository, default: Branch | None, name: str, since: int) -> Arrival:
    """What came after the run `since`: the rollout of this name, any new one when it is empty."""
    base = default.catalog_id if default else None
    runs = repository.sync_runs.filter(pk__gt=since).exclude(state=SyncRun.State.SUPERSEDED)
    newest = list(runs.select_related("branch").order_by("-pk")[:NEWEST_RUNS])
    for run in newest:
        come = _come(run, base, name)
        if come:
            return Arrival("arrived", run.branch, run.commit, come)
    pushes = [run for run in newest if _is_push(run)]
    if pushes:
        return _of_push(pushes[0])
    branch = branches_holding(repository, name).first() if name else None
    return Arrival("elsewhere", branch, branch.commit, name) if branch else Arrival("waiting")


def _come(run: SyncRun, base: int | None, name: str) -> str:
    """The rollout that a run brought: that of the name, else the first new one; empty for none."""
    if run.catalog_after_id is None:
        return ""
    # A new branch brings what the default branch has not.
    changes = changes_between(run.catalog_before_id or base, run.catalog_after_id)
    kinds = {"added", "changed"} if name else {"added"}
    return next((c.name for c in changes if c.kind in kinds and name in {"", c.name}), "")


def _is_push(run: SyncRun) -> bool:
    return run.trigger in SyncRun.PUSHES or run.catalog_before_id != run.catalog_after_id


def _of_push(run: SyncRun) -> Arrival:
    """A push that has not brought the rollout, or not yet."""
    if run.is_open:
        return Arrival("syncing", run.branch, run.commit)
    state = "failed" if run.state == SyncRun.State.FAILED else "missing"
    return Arrival(state, run.branch, run.commit, reason=run.reason)
