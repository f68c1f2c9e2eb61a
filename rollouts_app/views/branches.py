"""The branch picker: all branches, searched on the server; the default, one's own, the newest."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from rollouts_app.models import Branch, Repository
from rollouts_app.models.changes import rollout_counts
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import repository_asked, text_asked
from rollouts_app.views.fragments import page, wants_part

BRANCHES_IN_PICKER = 20
BRANCHES_A_PAGE = 50
OWN_BRANCHES = 5


@dataclass(frozen=True)
class BranchRow:
    """A branch in a list, the page of its commit, and what it holds.

    `differs` says that it does not hold what the default branch holds.
    """

    branch: Branch
    is_default: bool
    commit_page: str
    rollouts: int
    differs: bool


@dataclass(frozen=True)
class Section:
    """Some branches under a heading; none where they are what a search found."""

    heading: str
    rows: list[BranchRow]


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
        "sections": _sections(request, repository, list(pages), text),
    }
    return page(request, "rollouts/branches.html", context, "options")


def _sections(
    request: WorkspaceRequest, repository: Repository, found: list[Branch], text: str
) -> list[Section]:
    """What the list shows: a search as it is; else in the picker the default, own ones, the rest.

    Four queries at most, however many branches there are.
    """
    own: list[Branch] = []
    if wants_part(request) and not text:
        others = repository.branches.existing().exclude(name=repository.default_branch)
        own = list(others.pushed_by(request.user.github_login)[:OWN_BRANCHES])
    default = repository.branches.named([repository.default_branch]).first()
    counts = rollout_counts(branch.catalog_id for branch in [*found, *own])

    def rows(branches: Iterable[Branch]) -> list[BranchRow]:
        return [_row(repository, branch, default, counts) for branch in branches]

    if text or not wants_part(request):
        return [Section("", rows(found))]
    mine = {branch.pk for branch in own}
    first = [branch for branch in found if branch.name == repository.default_branch]
    rest = [branch for branch in found if branch not in first and branch.pk not in mine]
    sections = [
        Section("Default", rows(first)),
        Section("Yours", rows(own)),
        Section("Recent", rows(rest)),
    ]
    return [section for section in sections if section.rows]


def _row(
    repository: Repository, branch: Branch, default: Branch | None, counts: dict[int, int]
) -> BranchRow:
    return BranchRow(
        branch=branch,
        is_default=branch.name == repository.default_branch,
        commit_page=repository.commit_page(branch.commit),
        rollouts=counts.get(branch.catalog_id or 0, 0),
        differs=default is not None and branch.catalog_id != default.catalog_id,
    )
