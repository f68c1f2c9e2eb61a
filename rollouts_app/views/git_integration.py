"""Git Integration: what is connected, what was synced, and Sync now."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import trigger_client_event

from rollouts_app.models import Repository, SyncRun
from rollouts_app.models.changes import (
    Change,
    Problem,
    changes_between,
    problems_in,
    rollout_counts,
)
from rollouts_app.sync.manual import check_now
from rollouts_app.views.access import WorkspaceRequest, safe_next, workspace_page
from rollouts_app.views.fragments import page, wants_part
from rollouts_app.views.trouble import trouble_of

NEWEST_RUNS = 20
RUNS_A_PAGE = 50

# What a line of the history is called when there is no commit message to call it by.
TITLES = {
    SyncRun.Trigger.CONNECTED.value: "First sync",
    SyncRun.Trigger.PUSH.value: "Push",
    SyncRun.Trigger.CREATED.value: "New branch",
    SyncRun.Trigger.MANUAL.value: "Sync now",
    SyncRun.Trigger.TIMER.value: "Check by the timer",
    SyncRun.Trigger.RECOVERED.value: "Check by the timer",
}
CAUSES = {
    SyncRun.Trigger.CONNECTED.value: "The repository was connected",
    SyncRun.Trigger.PUSH.value: "A push",
    SyncRun.Trigger.CREATED.value: "The branch was created",
    SyncRun.Trigger.MANUAL.value: "Somebody pressed Sync now",
    SyncRun.Trigger.TIMER.value: "The timer found a new commit",
    SyncRun.Trigger.RECOVERED.value: "Recovered: the webhook never arrived",
}


@dataclass(frozen=True)
class RunRow:
    """A line of the sync history. The counts are those of the rollouts before and after."""

    run: SyncRun
    commit_url: str
    before: int | None
    after: int | None

    @property
    def title(self) -> str:
        """The commit's message, or what asked for the sync."""
        return self.run.subject or TITLES[self.run.trigger]

    @property
    def cause(self) -> str:
        """What asked for the sync, as a phrase."""
        return CAUSES[self.run.trigger]

    @property
    def author(self) -> str:
        """Who wrote the commit; until it is read, who pushed it."""
        return self.run.author or self.run.pusher

    @property
    def has_changed_count(self) -> bool:
        """Whether the branch held another number of rollouts before."""
        return None not in {self.before, self.after} and self.before != self.after


@dataclass(frozen=True)
class Permission:
    """One permission of the App on the connected account; `granted` is empty when it is missing."""

    name: str
    granted: str


@require_safe
@workspace_page
def git_integration(request: WorkspaceRequest) -> HttpResponse:
    """The connection and the newest lines of the history."""
    repository = request.workspace.repository
    if repository is None:
        managers = request.workspace.manager_names()
        return page(request, "git/unconnected.html", {"managers": managers}, "connection")
    runs = rows_of(repository, repository.sync_runs.for_history()[:NEWEST_RUNS])
    context = {
        "repository": repository,
        "permissions": _permissions(repository),
        "last_delivery": repository.deliveries.received().order_by("-received_at").first(),
        "runs": runs,
        **_liveness(repository, runs),
    }
    return page(request, "git/integration.html", context, "connection")


@require_safe
@workspace_page
def sync_list(request: WorkspaceRequest) -> HttpResponse:
    """The whole history, paged."""
    repository = _connected(request)
    pages = Paginator(repository.sync_runs.for_history(), RUNS_A_PAGE).get_page(
        request.GET.get("page")
    )
    runs = rows_of(repository, pages.object_list)
    context = {
        "repository": repository,
        "pages": pages,
        "runs": runs,
        **_liveness(repository, runs),
    }
    return page(request, "git/syncs.html", context, "history")


@require_safe
@workspace_page
def sync_detail(request: WorkspaceRequest, run_id: int) -> HttpResponse:
    """One run: what it changed, the problems it found, why it failed."""
    repository = _connected(request)
    run = get_object_or_404(repository.sync_runs.for_history(), pk=run_id)
    [row] = rows_of(repository, [run])
    context = {
        "repository": repository,
        "row": row,
        "run": run,
        "changes": _changes(repository, run),
        "problems": _problems(repository, run),
        **_liveness(repository, [row]),
    }
    return page(request, "git/sync.html", context, "run")


@require_POST
@workspace_page
def sync_now(request: WorkspaceRequest) -> HttpResponse:
    """Have all branches compared with GitHub. Any member may; twice in a row is one job."""
    check_now(_connected(request))
    if wants_part(request):
        return trigger_client_event(HttpResponse(status=204), "sync-asked")
    messages.success(request, "Checking all branches on GitHub.")
    return safe_next(request, "git-integration", request.workspace.slug)


def rows_of(repository: Repository, runs: Iterable[SyncRun]) -> list[RunRow]:
    """Lines of the history, with their links to GitHub under the repository's name of today."""
    runs = list(runs)
    counts = rollout_counts(
        pk for run in runs for pk in (run.catalog_before_id, run.catalog_after_id)
    )
    return [
        RunRow(
            run,
            commit_url=repository.commit_page(run.commit) if run.commit else "",
            before=counts.get(run.catalog_before_id or 0),
            after=counts.get(run.catalog_after_id or 0),
        )
        for run in runs
    ]


def _liveness(repository: Repository, runs: list[RunRow]) -> dict[str, Any]:
    """Whether the page should ask again by itself, how often, and what stands in the way."""
    trouble = trouble_of(repository)
    is_moving = any(row.run.is_open for row in runs) or bool(repository.full_check_requested_at)
    # Where GitHub is waited for, nothing moves within seconds.
    seconds = 15 if trouble and trouble.is_passing else 2
    return {"trouble": trouble, "poll_seconds": seconds if is_moving else None}


def _permissions(repository: Repository) -> list[Permission]:
    """What the App was granted, first what Git Sync needs."""
    granted = repository.installation.permissions
    needed = repository.installation.NEEDED_PERMISSIONS
    names = [*needed, *sorted(granted.keys() - needed)]
    return [
        Permission(name.replace("_", " ").capitalize(), granted.get(name, "")) for name in names
    ]


def _changes(repository: Repository, run: SyncRun) -> list[tuple[Change, str]]:
    """What the run changed, each with its source at the run's commit where it is there."""
    changes = changes_between(run.catalog_before_id, run.catalog_after_id)
    return [
        (change, _source(repository, run, change.name) if change.kind != "removed" else "")
        for change in changes
    ]


def _source(repository: Repository, run: SyncRun, name: str) -> str:
    return repository.tree_page(run.commit, f"rollouts/{name}")


def _problems(repository: Repository, run: SyncRun) -> list[Problem]:
    """The problems of what the run found, each linked to its line at the run's commit."""
    return [
        {**problem, "url": repository.blob_page(run.commit, problem["path"], problem["line"])}
        for problem in problems_in(run.catalog_after)
    ]


def _connected(request: WorkspaceRequest) -> Repository:
    repository = request.workspace.repository
    if repository is None:
        raise Http404
    return repository
