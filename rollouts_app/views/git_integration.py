"""Git Integration: what is connected, what was synced, and Sync now."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from rollouts_app.models import Membership, Repository
from rollouts_app.models.changes import changes_between, problems_in
from rollouts_app.sync.manual import check_now
from rollouts_app.views.access import WorkspaceRequest, safe_next, workspace_page
from rollouts_app.views.fragments import page
from rollouts_app.views.freshness import freshness_of

NEWEST_RUNS = 20
RUNS_A_PAGE = 50


@require_safe
@workspace_page
def git_integration(request: WorkspaceRequest) -> HttpResponse:
    """The connection and the newest lines of the history."""
    repository = request.workspace.repository_or_none()
    if repository is None:
        return page(request, "git/unconnected.html", {"managers": _managers(request)}, "whole")
    runs = repository.sync_runs.for_history()[:NEWEST_RUNS]
    default = repository.branches.filter(name=repository.default_branch).first()
    context = {
        "repository": repository,
        "runs": runs,
        "is_moving": any(run.is_open for run in runs),
        "freshness": freshness_of(repository, default),
        "last_delivery": repository.deliveries.order_by("-received_at").first(),
        "managers": _managers(request),
    }
    return page(request, "git/integration.html", context, "history")


@require_safe
@workspace_page
def sync_list(request: WorkspaceRequest) -> HttpResponse:
    """The whole history, paged."""
    repository = _connected(request)
    runs = repository.sync_runs.for_history()
    pages = Paginator(runs, RUNS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "repository": repository,
        "pages": pages,
        "runs": pages.object_list,
        "is_moving": any(run.is_open for run in pages.object_list),
    }
    return page(request, "git/syncs.html", context, "history")


@require_safe
@workspace_page
def sync_detail(request: WorkspaceRequest, run_id: int) -> HttpResponse:
    """One run: what it changed, the problems it found, why it failed."""
    repository = _connected(request)
    run = get_object_or_404(repository.sync_runs.for_history(), pk=run_id)
    context = {
        "repository": repository,
        "run": run,
        "changes": changes_between(run.catalog_before_id, run.catalog_after_id),
        "problems": problems_in(run.catalog_after),
    }
    return page(request, "git/sync.html", context, "run")


@require_POST
@workspace_page
def sync_now(request: WorkspaceRequest) -> HttpResponse:
    """Have all branches compared with GitHub. Any member may; twice in a row is one job."""
    repository = _connected(request)
    check_now(repository)
    if not request.htmx:
        messages.success(request, "Checking GitHub now.")
    return safe_next(request, "git-integration", request.workspace.slug)


def _connected(request: WorkspaceRequest) -> Repository:
    repository = request.workspace.repository_or_none()
    if repository is None:
        raise Http404
    return repository


def _managers(request: WorkspaceRequest) -> list[str]:
    """Who may connect a repository here, by name."""
    roles = [Membership.Role.OWNER, Membership.Role.ADMIN]
    managers = request.workspace.memberships.filter(role__in=roles).select_related("user")
    return [membership.user.display_name for membership in managers]
