"""The JSON twins of pages: what `?format=json` answers. Their fields are listed in docs/api.md."""

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse

from rollouts_app.models.changes import Problem

if TYPE_CHECKING:
    from datetime import datetime

    from django.core.paginator import Page

    from rollouts_app.views.access import WorkspaceRequest
    from rollouts_app.views.asked import AskedBranch
    from rollouts_app.views.freshness import Freshness
    from rollouts_app.views.rows import ConfigRow, RolloutRow

Json = dict[str, Any]
PROBLEM_FIELDS = ("id", "severity", "sentence", "remedy", "path", "line", "url")


def wants_twin(request: HttpRequest) -> bool:
    """Whether the address asks for JSON."""
    return request.GET.get("format") == "json"


def address_of(request: HttpRequest) -> str:
    """Where the twin of the page that is asked for lies."""
    query = urlencode({**request.GET.dict(), "format": "json"})
    return f"{request.path}?{query}"


def twin(values: Json, status: int = 200) -> JsonResponse:
    """JSON that is true now only, as the pages are."""
    return JsonResponse(values, status=status, headers={"Cache-Control": "no-store"})


def failure(code: str, message: str, **more: Any) -> Json:
    """What went wrong, as the CLI's addresses have it, too."""
    return {"error": message, "message": message, "code": code, **more}


def listed(request: "WorkspaceRequest", context: Json) -> Json:
    """The twin of the Rollouts page."""
    asked: AskedBranch | None = context.get("asked")
    if asked is None:
        return _of_workspace(request, None) | {"branch": None, "reason": "not-connected"} | NOTHING
    if context["emptiness"] == "unknown":
        return unknown_branch(asked.name, [each.name for each in context["nearest"]])
    rows = context["rows"]
    return {
        **_of_workspace(request, asked),
        "branch": _branch(asked, context["freshness"]),
        "reason": context["emptiness"] or None,
        **paged(request, context["pages"]),
        "rollouts": [_rollout(request, asked, row) for row in rows.rollouts],
        "problems": _problems([*rows.notices, *rows.lost_problems]),
    }


def detailed(request: "WorkspaceRequest", context: Json) -> Json:
    """The twin of one rollout's page."""
    asked: AskedBranch = context["asked"]
    if "row" not in context:
        message = f"There is no rollout {context['name']} on {asked.name}."
        return failure("NOT_FOUND", message, branches=[each.name for each in context["holding"]])
    row: RolloutRow = context["row"]
    version = row.version
    return {
        **_of_workspace(request, asked),
        "branch": _branch(asked, context["freshness"]),
        **_rollout(request, asked, row),
        "first_seen_at": _time(version.rollout.first_seen_at),
        "readme": version.readme,
        "project": {
            name: value for name, value in version.metadata.items() if name not in NOT_OF_PROJECT
        },
        "files": [
            {"name": file.name, "kind": file.kind, "url": file.page} for file in context["files"]
        ],
        "file_count": context["file_count"],
        "configs": [_config(config) for config in context["configs"]],
        "versions": [
            {
                "commit": each.commit,
                "subject": each.subject,
                "author": each.author,
                "synced_at": _time(each.at),
                "is_removal": each.is_removal,
            }
            for each in context["versions"]
        ],
        "other_branches": [
            {"name": each.name, "is_same": each.is_same} for each in context["elsewhere"]
        ],
    }


def unknown_branch(name: str, nearest: list[str]) -> Json:
    """That a branch is not known here, and what it may be called."""
    message = f"No branch {name} is known here."
    return failure("NOT_FOUND", message, nearest=nearest)


NOTHING: Json = {
    "total_count": 0,
    "page": 1,
    "page_count": 1,
    "next": None,
    "rollouts": [],
    "problems": [],
}
# What is stored beside the facts of pyproject.toml.
NOT_OF_PROJECT = {"files", "file-count", "readme"}


def _of_workspace(request: "WorkspaceRequest", asked: "AskedBranch | None") -> Json:
    repository = asked.repository.full_name if asked else None
    return {"workspace": request.workspace.slug, "repository": repository}


def _branch(asked: "AskedBranch", freshness: "Freshness") -> Json:
    branch = asked.branch
    return {
        "name": asked.name,
        "is_default": asked.is_default,
        "commit": asked.commit or None,
        "synced_at": _time(branch.changed_at if branch else None),
        "deleted_at": _time(branch.deleted_at if branch else None),
        "state": freshness.state,
        "incoming_commit": freshness.incoming or None,
        "checked_at": _time(freshness.checked_at),
        "cause": freshness.cause or None,
    }


def _rollout(request: "WorkspaceRequest", asked: "AskedBranch", row: "RolloutRow") -> Json:
    address = reverse("rollout-detail", args=[request.workspace.slug, row.name])
    page = f"{settings.PUBLIC_URL}{address}?{asked.query}"
    return {
        "name": row.name,
        "description": row.version.description or None,
        "tags": row.version.metadata.get("tags", []),
        "tree": row.version.tree_id,
        "change": row.change or None,
        "config_kinds": sorted({config.kind for config in row.configs}),
        "problems": _problems(row.problems),
        "source_url": row.source,
        "page_url": page,
        "twin_url": f"{page}&format=json",
    }


def _config(config: "ConfigRow") -> Json:
    return {
        "kind": config.kind,
        "path": config.path,
        "url": config.page,
        "model": config.model or None,
        "dataset": config.dataset or None,
        "parameters": [
            {
                "section": each.section,
                "key": each.key,
                "value": each.value,
                "default": each.default or None,
            }
            for each in config.parameters
        ],
    }


def _problems(problems: list[Problem]) -> list[Json]:
    return [{field: problem[field] for field in PROBLEM_FIELDS} for problem in problems]


def paged(request: HttpRequest, pages: "Page[Any]") -> Json:
    """Which page of how many things this is, and where the next one lies."""
    following = None
    if pages.has_next():
        query = urlencode({**request.GET.dict(), "page": pages.next_page_number()})
        following = f"{settings.PUBLIC_URL}{request.path}?{query}"
    return {
        "total_count": pages.paginator.count,
        "page": pages.number,
        "page_count": pages.paginator.num_pages,
        "next": following,
    }


def _time(when: "datetime | None") -> str | None:
    return when.isoformat() if when else None
