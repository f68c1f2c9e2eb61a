"""The Rollouts page, one rollout, the branch picker and the freshness line."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from rollouts_app.models import Branch, Membership, Repository, RolloutVersion
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.fragments import page
from rollouts_app.views.freshness import freshness_of
from rollouts_app.views.rows import rows_of

ROLLOUTS_A_PAGE = 50
BRANCHES_IN_MENU = 20
NEAREST_NAMES = 5


@require_safe
@workspace_page
def rollout_list(request: WorkspaceRequest) -> HttpResponse:
    """What a branch holds: `?branch= &q= &page=`, the default branch when none is named."""
    repository = request.workspace.repository_or_none()
    if repository is None:
        return page(request, "rollouts/unconnected.html", _unconnected(request), "whole")
    name = request.GET.get("branch") or repository.default_branch
    branch = repository.branches.filter(name=name).select_related("catalog").first()
    if branch is None and name != repository.default_branch:
        return _unknown_branch(request, repository, name)
    query = request.GET.get("q", "").strip()
    shown = RolloutVersion.objects.on(branch) if branch else RolloutVersion.objects.none()
    pages = Paginator(shown.matching(query), ROLLOUTS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "repository": repository,
        "branch_name": name,
        "branch": branch,
        "query": query,
        "freshness": freshness_of(repository, branch),
        "pages": pages,
        "rows": rows_of(repository, branch, list(pages)) if branch else [],
    }
    fragment = "rows" if request.htmx.target == "rows" else "catalog"
    return page(request, "rollouts/list.html", context, fragment)


def _unconnected(request: WorkspaceRequest) -> dict[str, Any]:
    managers = request.workspace.memberships.filter(
        role__in=[Membership.Role.OWNER, Membership.Role.ADMIN]
    ).select_related("user")
    return {"managers": [membership.user for membership in managers]}


def _unknown_branch(request: WorkspaceRequest, repository: Repository, name: str) -> HttpResponse:
    """404 that helps: the nearest names, and the promise that a push will show."""
    context = {
        "repository": repository,
        "branch_name": name,
        "nearest": repository.branches.existing().nearest(name, NEAREST_NAMES),
        "freshness": freshness_of(repository, None),
    }
    return page(request, "rollouts/unknown_branch.html", context, "whole", status=404)


@require_safe
@workspace_page
def rollout_detail(request: WorkspaceRequest, name: str) -> HttpResponse:
    """One rollout on a branch: description, configs, problems with their places."""
    repository, branch = _branch_shown(request)
    versions = RolloutVersion.objects.filter(
        pk__in=RolloutVersion.objects.on(branch).values("pk"), rollout__name=name
    ).select_related("rollout")
    version = get_object_or_404(versions)
    [row] = rows_of(repository, branch, [version])
    context = {
        "repository": repository,
        "branch": branch,
        "row": row,
        "freshness": freshness_of(repository, branch),
    }
    return page(request, "rollouts/detail.html", context, "whole")


@require_safe
@workspace_page
def branch_menu(request: WorkspaceRequest) -> HttpResponse:
    """The lines of the branch picker that match what was typed, the default branch first."""
    repository = _connected(request)
    query = request.GET.get("name", "").strip()
    branches = repository.branches.existing().in_menu_order(repository.default_branch)
    context = {
        "repository": repository,
        "query": query,
        "current": request.GET.get("branch") or repository.default_branch,
        "branches": branches.select_related("catalog").matching(query)[:BRANCHES_IN_MENU],
    }
    return page(request, "rollouts/branches.html", context, "menu")


@require_safe
@workspace_page
def sync_status(request: WorkspaceRequest) -> HttpResponse:
    """The freshness line alone; says `catalog-synced` when what it waited for is there."""
    repository = _connected(request)
    name = request.GET.get("branch") or repository.default_branch
    branch = repository.branches.filter(name=name).select_related("catalog").first()
    freshness = freshness_of(repository, branch)
    context = {"repository": repository, "branch_name": name, "freshness": freshness}
    response = page(request, "rollouts/status.html", context, "line")
    if freshness.shown != request.GET.get("shown", "") or freshness.state == "deleted":
        response["HX-Trigger"] = "catalog-synced"
    return response


def _branch_shown(request: WorkspaceRequest) -> tuple[Repository, Branch]:
    repository = _connected(request)
    name = request.GET.get("branch") or repository.default_branch
    branches = repository.branches.exclude(catalog=None).select_related("catalog")
    return repository, get_object_or_404(branches, name=name)


def _connected(request: WorkspaceRequest) -> Repository:
    repository = request.workspace.repository_or_none()
    if repository is None:
        raise Http404
    return repository
