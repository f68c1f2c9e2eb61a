"""What the pages of Git Integration share: a line of the sync history, and what keeps it true."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rollouts_app.models import Repository, SyncRun
from rollouts_app.models.changes import rollout_counts
from rollouts_app.views.trouble import trouble_of


@dataclass(frozen=True)
class TriggerWords:
    """What asked for a sync, in the forms the pages need.

    `title` calls a line that has no commit message, `found_by` stands below one that has, `cause`
    is a phrase, `label` an entry of a menu, `of` says which syncs those are.
    """

    title: str
    found_by: str
    cause: str
    label: str
    of: str


RECOVERED = "Recovered: the webhook never arrived"
TRIGGERS = {
    SyncRun.Trigger.CONNECTED.value: TriggerWords(
        title="First sync",
        found_by="First sync",
        cause="The repository was connected",
        label="First sync",
        of="that belongs to the first one",
    ),
    SyncRun.Trigger.PUSH.value: TriggerWords(
        title="Push", found_by="", cause="A push", label="Push", of="asked for by a push"
    ),
    SyncRun.Trigger.CREATED.value: TriggerWords(
        title="New branch",
        found_by="New branch",
        cause="The branch was created",
        label="New branch",
        of="asked for by a new branch",
    ),
    SyncRun.Trigger.MANUAL.value: TriggerWords(
        title="Sync now",
        found_by="Found by Sync now",
        cause="Somebody pressed Sync now",
        label="Sync now",
        of="asked for by Sync now",
    ),
    SyncRun.Trigger.TIMER.value: TriggerWords(
        title="Check by the timer",
        found_by="Found by the timer",
        cause="The timer found a new commit",
        label="Timer",
        of="found by the timer",
    ),
    SyncRun.Trigger.RECOVERED.value: TriggerWords(
        title="Check by the timer",
        found_by=RECOVERED,
        cause=RECOVERED,
        label="Recovered",
        of="that was recovered",
    ),
}


@dataclass(frozen=True)
class RunRow:
    """A line of the sync history. The counts are those of the rollouts before and after.

    `is_taken_off` says that a force push has taken the commit off the branch since;
    `replaced_url` is the page of the commit that this one took off.
    """

    run: SyncRun
    commit_url: str
    replaced_url: str
    is_taken_off: bool
    before: int | None
    after: int | None

    @property
    def title(self) -> str:
        """The commit's message, or what asked for the sync."""
        return self.run.subject or TRIGGERS[self.run.trigger].title

    @property
    def cause(self) -> str:
        """What asked for the sync, as a phrase."""
        return TRIGGERS[self.run.trigger].cause

    @property
    def note(self) -> str:
        """What is to be known about it beside its title: the first of these that there is."""
        if self.run.reason:
            return self.run.reason
        if self.is_taken_off:
            return "No longer on the branch: a force push took this commit off it."
        if self.run.replaced_commit:
            return f"Rewritten: a force push took {self.run.replaced_commit[:7]} off the branch."
        return TRIGGERS[self.run.trigger].found_by if self.run.subject else ""

    @property
    def author(self) -> str:
        """Who wrote the commit; until it is read, who pushed it."""
        return self.run.author or self.run.pusher

    @property
    def has_changed_count(self) -> bool:
        """Whether the branch held another number of rollouts before."""
        return None not in {self.before, self.after} and self.before != self.after


def rows_of(repository: Repository, runs: Iterable[SyncRun]) -> list[RunRow]:
    """Lines of the history, with their links to GitHub under the repository's name of today."""
    runs = list(runs)
    counts = rollout_counts(
        pk for run in runs for pk in (run.catalog_before_id, run.catalog_after_id)
    )
    taken_off = SyncRun.objects.taken_off(runs)
    return [
        RunRow(
            run,
            commit_url=repository.commit_page(run.commit) if run.commit else "",
            replaced_url=repository.commit_page(run.replaced_commit),
            is_taken_off=run.pk in taken_off,
            before=counts.get(run.catalog_before_id or 0),
            after=counts.get(run.catalog_after_id or 0),
        )
        for run in runs
    ]


def liveness(repository: Repository, runs: list[RunRow]) -> dict[str, Any]:
    """Whether the page should ask again by itself, how often, and what stands in the way."""
    trouble = trouble_of(repository)
    limited_until = repository.limited_until
    is_moving = any(row.run.is_open for row in runs) or bool(repository.full_check_requested_at)
    # Where GitHub is waited for, nothing moves within seconds.
    seconds = 15 if trouble and trouble.is_passing else 2
    return {
        "trouble": trouble,
        "limited_until": limited_until,
        "poll_seconds": seconds if is_moving or limited_until else None,
    }
