"""What differs between two branches: the rollouts that one has and the other has not just so."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from rollouts_app.models import Branch, Repository
from rollouts_app.models.changes import Change, changes_between
from rollouts_app.views.access import WorkspaceRequest, workspace_page
from rollouts_app.views.asked import repository_asked, text_asked
from rollouts_app.views.fragments import page
from rollouts_app.views.twins import Json, paged, unknown_branch

CHANGES_A_PAGE = 50
NEAREST_NAMES = 5


@dataclass(frozen=True)
class ChangeRow:
    """A rollout that differs, its page where it is, and GitHub's diff, at its place in it."""

    change: Change
    branch: Branch
    source: str
    diff: str


@dataclass(frozen=True)
class Side:
    """One of the two branches, and the page of its commit; `branch` is None without such a one."""

    name: str
    branch: Branch | None
    page: str

    @property
    def is_there(self) -> bool:
        return self.branch is not None and self.branch.catalog_id is not None


@dataclass(frozen=True)
class Near:
    """A branch that may have been meant, and the comparison with it."""

    name: str
    address: str


@require_safe
@workspace_page
def compare(request: WorkspaceRequest) -> HttpResponse:
    """The rollouts that differ: `?branch=` against `?base=`, each the default branch if empty."""
    repository = repository_asked(request)
    base, head = _sides(request, repository)
    changes = []
    if base.branch and head.branch and base.is_there and head.is_there:
        changes = changes_between(base.branch.catalog_id, head.branch.catalog_id)
    pages = Paginator(changes, CHANGES_A_PAGE).get_page(request.GET.get("page"))
    unknown = [side for side in (base, head) if not side.is_there]
    context = {
        "repository": repository,
        "base": base,
        "head": head,
        "sides": [base, head],
        "pages": pages,
        "rows": _rows(repository, base.branch, head.branch, list(pages)),
        "unknown": [(side.name, _nearest(repository, base, head, side)) for side in unknown],
        "swapped": urlencode({"branch": base.name, "base": head.name}),
    }
    status = 404 if unknown else 200
    return page(request, "rollouts/compare.html", context, "comparison", status, twin=_twin)


def _sides(request: WorkspaceRequest, repository: Repository) -> tuple[Side, Side]:
    """The two branches, in one query."""
    base = text_asked(request, "base") or repository.default_branch
    head = text_asked(request, "branch") or repository.default_branch
    found = {branch.name: branch for branch in repository.branches.named({base, head})}
    return _side(repository, base, found.get(base)), _side(repository, head, found.get(head))


def _side(repository: Repository, name: str, branch: Branch | None) -> Side:
    return Side(name, branch, repository.commit_page(branch.commit) if branch else "")


def _nearest(repository: Repository, base: Side, head: Side, unknown: Side) -> list[Near]:
    """Names like the one that is not known, each with the same comparison by it."""
    found = []
    for name in repository.branches.existing().nearest(unknown.name, NEAREST_NAMES):
        names = [name if side is unknown else side.name for side in (base, head)]
        query = urlencode(dict(zip(("base", "branch"), names, strict=True)))
        found.append(Near(name, f"?{query}"))
    return found


def _rows(
    repository: Repository, base: Branch | None, head: Branch | None, changes: list[Change]
) -> list[ChangeRow]:
    if base is None or head is None:
        return []
    rows = []
    for change in changes:
        where = base if change.kind == "removed" else head
        path = f"rollouts/{change.name}"
        source = repository.tree_page(where.commit, path)
        diff = repository.folder_diff(base.commit, head.commit, path)
        rows.append(ChangeRow(change, where, source, diff))
    return rows


def _twin(request: WorkspaceRequest, context: Json) -> Json:
    for name, nearest in context["unknown"]:
        return unknown_branch(name, [each.name for each in nearest])
    rows: list[ChangeRow] = context["rows"]
    return {
        "workspace": request.workspace.slug,
        "repository": context["repository"].full_name,
        "base": _side_twin(context["base"]),
        "branch": _side_twin(context["head"]),
        **paged(request, context["pages"]),
        "changes": [
            {
                "name": row.change.name,
                "change": row.change.kind,
                "source_url": row.source,
                "diff_url": row.diff,
            }
            for row in rows
        ],
    }


def _side_twin(side: Side) -> Json:
    return {"name": side.name, "commit": side.branch.commit if side.branch else None}
