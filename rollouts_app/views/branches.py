"""The branch picker: all branches, searched on the server; the default first, then the newest."""

from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from rollouts_app.models import Branch, Repository
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import repository_asked, text_asked
from rollouts_app.views.fragments import page, wants_part

BRANCHES_IN_PICKER = 20
BRANCHES_A_PAGE = 50


@dataclass(frozen=True)
class BranchRow:
    """A branch in a list, and the page of its commit."""

    branch: Branch
    is_default: bool
    commit_page: str


@require_safe
@workspace_page
def branch_list(request: WorkspaceRequest) -> HttpResponse:
    """The branches whose names contain `?q=`; a part of the list is what the picker shows.

    `?open=first` leads to the first of them: that is what Enter does in the picker.
    """
    repository = repository_asked(request)
    text = text_asked(request, "q").strip()
    branches = repository.branches.existing().in_menu_order(repository.default_branch)
    found = branches.matching(text)
    if request.GET.get("open") == "first" and (first := found.first()):
        return redirect(f"{reverse('rollout-list', args=[request.workspace.slug])}?{first.query}")
    if wants_part(request) and request.GET.get("open") == "first":
        return HttpResponse(status=204)
    size = BRANCHES_IN_PICKER if wants_part(request) else BRANCHES_A_PAGE
    pages = Paginator(found, size).get_page(request.GET.get("page"))
    context = {
        "repository": repository,
        "text": text,
        "current": text_asked(request, "branch") or repository.default_branch,
        "pages": pages,
        "rows": [_row(repository, branch) for branch in pages],
    }
    return page(request, "rollouts/branches.html", context, "options")


def _row(repository: Repository, branch: Branch) -> BranchRow:
    is_default = branch.name == repository.default_branch
    return BranchRow(branch, is_default, repository.commit_page(branch.commit))
