"""The sync history, one sync of it, and what may be done about it: Retry and Cancel."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import replace_url

from rollouts_app.models import Repository, SyncRun
from rollouts_app.models.changes import Change, changes_between, problems_in
from rollouts_app.models.syncs import KEPT
from rollouts_app.sync.manual import retry
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import repository_asked
from rollouts_app.views.filters import STATE_CHOICES, TRIGGER_CHOICES, filters_asked
from rollouts_app.views.fragments import page
from rollouts_app.views.history import liveness, rows_of
from rollouts_app.views.rows import MOST_PROBLEMS, linked
from rollouts_app.views.steps import steps_of

RUNS_A_PAGE = 50
DELIVERIES_OF_A_RUN = 10


@require_safe
@workspace_page
def sync_list(request: WorkspaceRequest) -> HttpResponse:
    """The history, filtered by `?branch= &q= &state= &trigger=` and paged."""
    repository = repository_asked(request)
    filters = filters_asked(request)
    found = filters.of(repository.sync_runs.for_history())
    pages = Paginator(found, RUNS_A_PAGE).get_page(request.GET.get("page"))
    runs = rows_of(repository, pages.object_list)
    context = {
        "repository": repository,
        "filters": filters,
        "states": STATE_CHOICES,
        "triggers": TRIGGER_CHOICES,
        "pages": pages,
        "runs": runs,
        "kept_days": KEPT.days,
        **liveness(repository, runs),
    }
    response = page(request, "git/syncs.html", context, "history")
    if request.htmx.trigger == "filters":
        replace_url(response, f"{request.path}{filters.query}")
    return response


@require_safe
@workspace_page
def sync_detail(request: WorkspaceRequest, run_id: int) -> HttpResponse:
    """One run: its steps, what it changed, the problems it found, why it failed."""
    repository = repository_asked(request)
    run = _run(repository, run_id)
    [row] = rows_of(repository, [run])
    problems = problems_in(run.catalog_after)
    context = {
        "repository": repository,
        "row": row,
        "run": run,
        "newer": run.newer_run() if run.is_worth_a_retry else None,
        "steps": steps_of(run),
        "deliveries": run.deliveries.order_by("received_at")[:DELIVERIES_OF_A_RUN],
        "changes": _changes(repository, run),
        "problems": linked(repository, run.commit, problems[:MOST_PROBLEMS]),
        "problem_count": len(problems),
        **liveness(repository, [row]),
    }
    return page(request, "git/sync.html", context, "run")


@require_POST
@workspace_page
def sync_retry(request: WorkspaceRequest, run_id: int) -> HttpResponse:
    """Ask anew for the branch of a run that failed or was cancelled; shows the run that answers."""
    run = _run(repository_asked(request), run_id)
    asked = retry(run, request.user.github_login)
    if asked.pk == run.pk:
        messages.info(request, "Nothing to retry: this sync neither failed nor was cancelled.")
    else:
        messages.success(request, f"Sync of {run.branch.name} asked for.")
    return redirect("sync-detail", request.workspace.slug, asked.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@workspace_page
def sync_cancel(request: WorkspaceRequest, run_id: int) -> HttpResponse:
    """Cancel a run that waits. A GET says what would go, as a page and as a dialog."""
    repository = repository_asked(request)
    run = _run(repository, run_id)
    if request.method != "POST":
        [row] = rows_of(repository, [run])
        shown_url = repository.commit_page(run.branch.commit)
        context = {"repository": repository, "run": run, "row": row, "shown_url": shown_url}
        return page(request, "git/cancel.html", context, "dialog")
    is_as_shown = request.POST.get("commit", run.commit) == run.commit
    if is_as_shown and run.cancel(request.user.display_name):
        messages.success(request, f"The sync of {run.branch.name} was cancelled.")
    else:
        run.refresh_from_db()
        messages.warning(request, _why_not_cancelled(run))
    return redirect("sync-detail", request.workspace.slug, run.pk)


def _run(repository: Repository, run_id: int) -> SyncRun:
    run: SyncRun = get_object_or_404(repository.sync_runs.for_history(), pk=run_id)
    return run


def _why_not_cancelled(run: SyncRun) -> str:
    """Why a run that somebody meant to cancel goes on, or had ended before."""
    if run.state == SyncRun.State.PENDING:
        return "Not cancelled: a push told of another commit meanwhile. This is about that one now."
    if run.state == SyncRun.State.SYNCING:
        return "Not cancelled: this sync had begun before, and goes on."
    return "Not cancelled: this sync had ended before."


def _changes(repository: Repository, run: SyncRun) -> list[tuple[Change, str]]:
    """What the run changed, each with its source at the run's commit where it is there."""
    changes = changes_between(run.catalog_before_id, run.catalog_after_id)
    return [
        (change, _source(repository, run, change.name) if change.kind != "removed" else "")
        for change in changes
    ]


def _source(repository: Repository, run: SyncRun, name: str) -> str:
    return repository.tree_page(run.commit, f"rollouts/{name}")
