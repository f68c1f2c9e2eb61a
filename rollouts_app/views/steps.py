"""How far one sync came, and when: its steps as the page tells them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rollouts_app.models import SyncRun

State = SyncRun.State

ASKED, BEGUN, HEADS, HERE, SHOWN = (
    "Asked for",
    "Begun",
    "GitHub's heads known",
    "Commit and trees here",
    "Read and shown",
)
STEPS = (ASKED, BEGUN, HEADS, HERE, SHOWN)
# What is under way until a step is reached.
UNDER_WAY = {
    BEGUN: "Waiting for a worker",
    HEADS: "Asking GitHub for its heads",
    HERE: "Fetching the commit and its trees",
    SHOWN: "Reading rollouts and configs",
}
# How a run ended that did not get to the last step.
ENDINGS = {
    State.FAILED.value: "Failed",
    State.SUPERSEDED.value: "Superseded",
    State.CANCELLED.value: "Cancelled",
    State.SUCCESS.value: "Nothing to read",
}


@dataclass(frozen=True)
class Step:
    """One step of a run.

    `kind` is done, running, waiting, failed, ended (without success or failure) or later. `at` is
    when it was reached and `took` how long after the step before it; None where it was not, or
    where that is not known.
    """

    name: str
    kind: str
    at: datetime | None = None
    took: timedelta | None = None
    note: str = ""


def steps_of(run: SyncRun) -> list[Step]:
    """The steps reached, then where it stopped or what is under way, then those to come."""
    reached = _reached(run)
    times = [None, *reached.values()]
    done = [
        Step(name, "done", at, _between(before, at))
        for before, (name, at) in zip(times, reached.items(), strict=False)
    ]
    if SHOWN in reached:
        return done
    following = STEPS[STEPS.index(done[-1].name) + 1 :]
    if run.finished_at:
        took = _between(times[-1], run.finished_at)
        return [*done, _ending(run, run.finished_at, took, UNDER_WAY[following[0]])]
    if run.state == State.PENDING and run.attempts:
        waiting = Step("Waiting for the next attempt", "waiting")
        return [*done, waiting, *(Step(name, "later") for name in following)]
    current = Step(UNDER_WAY[following[0]], "running" if run.state == State.SYNCING else "waiting")
    return [*done, current, *(Step(name, "later") for name in following[1:])]


def _reached(run: SyncRun) -> dict[str, datetime]:
    """When each step was reached, without those of an earlier attempt."""
    began = run.started_at
    times = {
        ASKED: run.requested_at,
        BEGUN: began,
        HEADS: _since(run.looked_at, began),
        HERE: _since(run.fetched_at, began),
        SHOWN: run.finished_at if _was_shown(run) else None,
    }
    return {name: at for name, at in times.items() if at}


def _since(at: datetime | None, began: datetime | None) -> datetime | None:
    return at if at and began and at >= began else None


def _was_shown(run: SyncRun) -> bool:
    """Whether something was read. A run that found its commit on show already knew the heads."""
    has_ended_well = run.state in {State.SUCCESS, State.ISSUES}
    return has_ended_well and (run.looked_at is None or run.fetched_at is not None)


def _between(before: datetime | None, at: datetime) -> timedelta | None:
    """The clocks of web server and workers may differ by a little: no time runs backwards."""
    return max(at - before, timedelta()) if before else None


def _ending(run: SyncRun, at: datetime, took: timedelta | None, under_way: str) -> Step:
    """The end of a run that showed nothing new."""
    kind = {State.FAILED.value: "failed", State.SUCCESS.value: "done"}.get(run.state, "ended")
    note = under_way if run.state == State.FAILED else ""
    return Step(ENDINGS[run.state], kind, at, took, note)
