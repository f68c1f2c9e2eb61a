"""The sync history, and one sync of it."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from rollouts_app.models import Repository, SyncRun
from rollouts_app.models.changes import Change, Problem, changes_between, problems_in
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import repository_asked
from rollouts_app.views.fragments import page
from rollouts_app.views.history import liveness, rows_of

RUNS_A_PAGE = 50


@require_safe
@workspace_page
def sync_list(request: WorkspaceRequest) -> HttpResponse:
    """The whole history, paged."""
    repository = repository_asked(request)
    pages = Paginator(repository.sync_runs.for_history(), RUNS_A_PAGE).get_page(
        request.GET.get("page")
    )
    runs = rows_of(repository, pages.object_list)
    context = {
        "repository": repository,
        "pages": pages,
        "runs": runs,
        **liveness(repository, runs),
    }
    return page(request, "git/syncs.html", context, "history")


@require_safe
@workspace_page
def sync_detail(request: WorkspaceRequest, run_id: int) -> HttpResponse:
    """One run: what it changed, the problems it found, why it failed."""
    repository = repository_asked(request)
    run = get_object_or_404(repository.sync_runs.for_history(), pk=run_id)
    [row] = rows_of(repository, [run])
    context = {
        "repository": repository,
        "row": row,
        "run": run,
        "changes": _changes(repository, run),
        "problems": _problems(repository, run),
        **liveness(repository, [row]),
    }
    return page(request, "git/sync.html", context, "run")


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
