"""Git Integration: what is connected, what was synced last, and Sync now."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import trigger_client_event

from rollouts_app.models import Repository, WebhookDelivery
from rollouts_app.standing import standing_of
from rollouts_app.sync.manual import check_now
from rollouts_app.templatetags.rollouts import clock
from rollouts_app.views.access import WorkspaceRequest, safe_next, workspace_page
from rollouts_app.views.asked import repository_asked
from rollouts_app.views.fragments import page, wants_part
from rollouts_app.views.freshness import is_at_work
from rollouts_app.views.hints import hints_of
from rollouts_app.views.history import liveness, rows_of
from rollouts_app.views.unconnected import without_repository

NEWEST_RUNS = 20


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
        context = without_repository(request.workspace)
        is_asked = request.membership.may_manage_connection and not context["all_kept"]
        if is_asked and not context["waiting"]:
            context["standing"] = standing_of(request.user)
        return page(request, "git/unconnected.html", context, "connection")
    runs = rows_of(repository, repository.sync_runs.for_history()[:NEWEST_RUNS])
    context = {
        "repository": repository,
        "all_kept": request.workspace.kept_repositories(),
        "hints": hints_of(repository) if request.membership.may_manage_connection else [],
        "permissions": _permissions(repository),
        "last_delivery": _last_delivery(repository),
        "runs": runs,
        "is_forgotten": repository.is_overdue and not is_at_work(row.run for row in runs),
        **liveness(repository, runs),
    }
    return page(request, "git/integration.html", context, "connection")


@require_POST
@workspace_page
def sync_now(request: WorkspaceRequest) -> HttpResponse:
    """Have all branches compared with GitHub. Any member may; twice in a row is one job."""
    repository = repository_asked(request)
    check_now(repository)
    if wants_part(request):
        return trigger_client_event(HttpResponse(status=204), "sync-asked")
    until = repository.limited_until
    if until:
        messages.info(request, f"GitHub limits our requests: asking again at {clock(until)}.")
    else:
        messages.success(request, "Checking all branches on GitHub.")
    return safe_next(request, "git-integration", request.workspace.slug)


def _last_delivery(repository: Repository) -> WebhookDelivery | None:
    return WebhookDelivery.objects.concerning(repository).received().for_log().first()


def _permissions(repository: Repository) -> list[Permission]:
    """What the App was granted, first what Git Sync needs."""
    granted = repository.installation.permissions
    needed = repository.installation.NEEDED_PERMISSIONS
    names = [*needed, *sorted(granted.keys() - needed)]
    return [
        Permission(name.replace("_", " ").capitalize(), granted.get(name, "")) for name in names
    ]
