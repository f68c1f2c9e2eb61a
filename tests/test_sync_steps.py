"""The steps of a sync: when each was reached, how long it took, and where it stopped."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync import engine
from rollouts_app.templatetags.rollouts import exact, span
from rollouts_app.views.steps import steps_of
from tests.conftest import Read
from tests.github_emulator import GitHubEmulator
from tests.history import SYNCS, check_all, make_runs
from tests.syncing import NAME, push_hint

NOON = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def told(**facts: Any) -> list[str]:
    """The steps of a run asked for at noon, each as "kind: name, seconds since the last"."""
    run = SyncRun(**{"requested_at": NOON, "trigger": "push", **facts})
    return [
        f"{step.kind}: {step.name}"
        + (f" · {step.note}" if step.note else "")
        + ("" if step.took is None else f", {span(step.took)}")
        for step in steps_of(run)
    ]


BEGUN = {"started_at": after(1), "attempts": 1}
KNOWN = {**BEGUN, "looked_at": after(1.5)}
HERE = {**KNOWN, "fetched_at": after(2)}


@pytest.mark.parametrize(
    ("facts", "steps"),
    [
        (
            {**HERE, "state": "success", "finished_at": after(4)},
            [
                "done: Asked for",
                "done: Begun, 1.0 s",
                "done: GitHub's heads known, 500 ms",
                "done: Commit and trees here, 500 ms",
                "done: Read and shown, 2.0 s",
            ],
        ),
        (
            {**BEGUN, "state": "issues", "finished_at": after(4)},
            ["done: Asked for", "done: Begun, 1.0 s", "done: Read and shown, 3.0 s"],
        ),
        (
            {**KNOWN, "state": "success", "finished_at": after(1.4)},
            [
                "done: Asked for",
                "done: Begun, 1.0 s",
                "done: GitHub's heads known, 500 ms",
                "done: Nothing to read, 0 ms",
            ],
        ),
        (
            {"state": "pending"},
            [
                "done: Asked for",
                "waiting: Waiting for a worker",
                "later: GitHub's heads known",
                "later: Commit and trees here",
                "later: Read and shown",
            ],
        ),
        (
            {**BEGUN, "state": "syncing"},
            [
                "done: Asked for",
                "done: Begun, 1.0 s",
                "running: Asking GitHub for its heads",
                "later: Commit and trees here",
                "later: Read and shown",
            ],
        ),
        (
            {**HERE, "state": "syncing", "started_at": after(9), "attempts": 2},
            [
                "done: Asked for",
                "done: Begun, 9.0 s",
                "running: Asking GitHub for its heads",
                "later: Commit and trees here",
                "later: Read and shown",
            ],
        ),
        (
            {**KNOWN, "state": "pending", "reason": "GitHub limits our requests."},
            [
                "done: Asked for",
                "done: Begun, 1.0 s",
                "done: GitHub's heads known, 500 ms",
                "waiting: Waiting for the next attempt",
                "later: Commit and trees here",
                "later: Read and shown",
            ],
        ),
        (
            {**BEGUN, "state": "failed", "finished_at": after(3)},
            [
                "done: Asked for",
                "done: Begun, 1.0 s",
                "failed: Failed · Asking GitHub for its heads, 2.0 s",
            ],
        ),
        (
            {**HERE, "state": "failed", "finished_at": after(3)},
            [
                "done: Asked for",
                "done: Begun, 1.0 s",
                "done: GitHub's heads known, 500 ms",
                "done: Commit and trees here, 500 ms",
                "failed: Failed · Reading rollouts and configs, 1.0 s",
            ],
        ),
        (
            {"state": "superseded", "finished_at": after(3)},
            ["done: Asked for", "ended: Superseded, 3.0 s"],
        ),
        (
            {"state": "cancelled", "finished_at": after(3)},
            ["done: Asked for", "ended: Cancelled, 3.0 s"],
        ),
        # The clock of the worker's machine is behind that of the web server's.
        (
            {"state": "failed", "started_at": after(-2), "finished_at": after(-1), "attempts": 1},
            [
                "done: Asked for",
                "done: Begun, 0 ms",
                "failed: Failed · Asking GitHub for its heads, 1.0 s",
            ],
        ),
    ],
    ids=lambda value: value.get("state") if isinstance(value, dict) else "",
)
def test_it_tells_how_far_a_sync_came(facts: dict[str, Any], steps: list[str]) -> None:
    assert told(**facts) == steps


@pytest.mark.django_db
def test_it_shows_each_step_with_its_exact_time(read: Read, agents: Repository) -> None:
    make_runs(agents, 1)
    page = read(f"{SYNCS}/{SyncRun.objects.get().pk}")
    assert page.texts(".//ol[@class='plain lines run-steps']/li") == [
        f"Asked for {exact(after(0))}",
        f"Begun after +1.0 s {exact(after(1))}",
        f"Read and shown after +2.5 s {exact(after(3.5))}",
    ]
    times = page.all(".//ol[@class='plain lines run-steps']//time")
    assert times[2].get("datetime") == "2026-08-20T12:00:03.500000+00:00"


@pytest.mark.django_db
def test_a_real_sync_reaches_every_step_in_order(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    github.push(NAME, "main", {"rollouts/chess/main.py": "…"})
    push_hint(agents, "main")
    engine.sync(agents.pk)
    [*_, run] = SyncRun.objects.order_by("pk")
    assert [step.name for step in steps_of(run)] == [
        "Asked for",
        "Begun",
        "GitHub's heads known",
        "Commit and trees here",
        "Read and shown",
    ]
    assert all(step.took is None or step.took >= timedelta() for step in steps_of(run))


@pytest.mark.django_db
def test_a_sync_without_news_ends_when_the_heads_are_known(
    agents: Repository, github: GitHubEmulator
) -> None:
    """W26: nothing changed, and the history says so."""
    engine.sync(agents.pk)
    push_hint(agents, "main")
    run = check_all(agents)
    assert [step.name for step in steps_of(run)] == [
        "Asked for",
        "Begun",
        "GitHub's heads known",
        "Nothing to read",
    ]
