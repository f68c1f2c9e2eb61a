"""The first steps of one person in one workspace: which are theirs, and which are done."""

from dataclasses import dataclass

from django.conf import settings
from django.utils.timezone import now

from rollouts_app.addresses import GITHUB_COM
from rollouts_app.models import Membership

WORKSPACE, REPOSITORY, SYNC = "workspace", "repository", "sync"
CLONE, CLI, VERIFY = "clone", "cli", "verify"
# Those that only the person can say are done.
TICKED = (CLONE, CLI, VERIFY)
# What `osmosis quickstart` asks people for, and what that is in a sentence.
INTENTS = {
    "train": "to train",
    "eval": "to run evals",
    "benchmark": "to run benchmarks",
    "explore": "to look around",
}


@dataclass(frozen=True)
class Checklist:
    """`steps` in their order, and those of them that are `done`."""

    steps: tuple[str, ...]
    done: frozenset[str]
    is_dismissed: bool = False

    @property
    def is_over(self) -> bool:
        return self.done >= set(self.steps)

    @property
    def is_shown(self) -> bool:
        """Whether the header leads to it."""
        return not self.is_over and not self.is_dismissed

    @property
    def next(self) -> str:
        """The first step that is not done; empty when all are."""
        return next((step for step in self.steps if step not in self.done), "")


def has_cli() -> bool:
    """Whether the osmosis command works with the repositories here: it knows github.com only."""
    return bool(settings.GITHUB_URL == GITHUB_COM)


def checklist_of(membership: Membership | None) -> Checklist:
    """The steps of a member, of their role; without a membership those of who begins anew.

    Without a query, when the workspace's repository is known.
    """
    own = (CLONE, CLI, VERIFY) if has_cli() else (CLONE,)
    if membership is None:
        return Checklist((WORKSPACE, REPOSITORY, SYNC, *own), frozenset())
    repository = membership.workspace.repository
    done = {WORKSPACE, *membership.setup_done}
    if repository:
        done.add(REPOSITORY)
    if membership.quickstart_completed_at:
        done |= {CLONE, CLI}
    if repository and repository.heads_checked_at:
        done.add(SYNC)
    is_managers = membership.may_manage_connection
    steps = (WORKSPACE, REPOSITORY, SYNC, *own) if is_managers else own
    return Checklist(steps, frozenset(done & set(steps)), membership.setup_dismissed_at is not None)


def tick(membership: Membership, step: str, *, is_done: bool) -> None:
    """Keep that a step is done, or is not. Steps that are read from live state are left alone."""
    if step not in TICKED:
        return
    done = set(membership.setup_done) - {step}
    membership.setup_done = sorted(done | {step} if is_done else done)
    membership.save(update_fields=["setup_done"])


def note(membership: Membership, *steps: str) -> None:
    """Keep that steps were seen to be done. Without a query when they are known to be."""
    done = set(membership.setup_done) | set(steps)
    if done != set(membership.setup_done):
        membership.setup_done = sorted(done)
        membership.save(update_fields=["setup_done"])


def complete_quickstart(membership: Membership, intent: str) -> None:
    """Keep when `osmosis quickstart` was gone through first, and what for last: one of INTENTS."""
    membership.quickstart_completed_at = membership.quickstart_completed_at or now()
    membership.quickstart_intent = intent
    membership.save(update_fields=["quickstart_completed_at", "quickstart_intent"])


def quickstart_fact(membership: Membership) -> str:
    """That, in words; empty before."""
    at = membership.quickstart_completed_at
    what_for = INTENTS.get(membership.quickstart_intent, "")
    return f"osmosis quickstart gone through on {at:%d %B %Y}, {what_for}" if at else ""


def dismiss(membership: Membership, *, is_dismissed: bool) -> None:
    """Take the checklist out of the header, or put it back."""
    membership.setup_dismissed_at = now() if is_dismissed else None
    membership.save(update_fields=["setup_dismissed_at"])
