"""The versions of one rollout that a branch has shown, as far back as the history goes."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any, TypedDict

from django.db.models import BooleanField, F, Func, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from rollouts_app.models import RolloutVersion, SyncRun
from rollouts_app.views.asked import AskedBranch

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class Brought(TypedDict):
        """The tree of the rollout in what a sync brought; empty without the rollout."""

        tree: str

    BringingRun = WithAnnotations[SyncRun, Brought]

# Syncs that are looked through, and versions that are shown.
MOST_RUNS = 200
MOST_VERSIONS = 5


@dataclass(frozen=True)
class VersionRow:
    """What the branch came to show, by the sync that brought it.

    `is_removal` says that it took the rollout away. `diff` is GitHub's page of what was changed
    against the version before; empty for the first one known.
    """

    commit: str
    commit_page: str
    subject: str
    author: str
    at: datetime | None
    is_removal: bool
    diff: str


def versions_of(asked: AskedBranch, version: RolloutVersion) -> list[VersionRow]:
    """The versions on the branch, the newest first, and one more than is shown. One query."""
    runs = _runs(asked, version)[:MOST_RUNS]
    # Of syncs that brought the same contents, the first did.
    came = [list(same)[-1] for _tree, same in groupby(runs, key=lambda run: run.tree)]
    while came and not came[-1].tree:
        came.pop()
    repository, path = asked.repository, f"rollouts/{version.rollout.name}"
    return [
        VersionRow(
            commit=run.commit,
            commit_page=repository.commit_page(run.commit),
            subject=run.subject,
            author=run.author,
            at=run.finished_at,
            is_removal=not run.tree,
            diff=repository.folder_diff(before.commit, run.commit, path) if before else "",
        )
        for run, before in zip_longest(came[: MOST_VERSIONS + 1], came[1 : MOST_VERSIONS + 2])
        if run
    ]


class IsAmong(Func):
    """Whether a value is an element of an array."""

    arg_joiner = " = ANY("
    template = "(%(expressions)s))"
    output_field = BooleanField()


def _runs(asked: AskedBranch, version: RolloutVersion) -> "QuerySet[BringingRun]":
    """The syncs that changed what the branch shows, the newest first."""
    held = IsAmong(F("pk"), OuterRef("catalog_after__versions"))
    trees = RolloutVersion.objects.filter(held, rollout=version.rollout).values("tree_id")
    runs = SyncRun.objects.filter(branch=asked.branch, catalog_after__isnull=False)
    found: Any = runs.exclude(catalog_after=F("catalog_before")).annotate(
        tree=Coalesce(Subquery(trees[:1]), Value(""))
    )
    ordered: QuerySet[BringingRun] = found.order_by("-pk")
    return ordered
