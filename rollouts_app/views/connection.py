"""Deactivate and Disconnect, Delete what is kept, and Reactivate."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from rollouts_app import connection as flow
from rollouts_app.errors import GitHubError
from rollouts_app.forms import DeletionForm, DisconnectForm
from rollouts_app.models import Repository
from rollouts_app.refusals import NotPossible, SignInAgain
from rollouts_app.views.access import WorkspaceRequest, connection_page, manager_page
from rollouts_app.views.fragments import page, part_asked, wants_part

# Where htmx puts an answer → the part that belongs there.
PARTS = {"disconnect-form": "form"}
KEPT = "Its rollouts and history are kept, inactive, until it is reactivated."


@require_http_methods(["GET", "HEAD", "POST"])
@connection_page
def disconnect(request: WorkspaceRequest, repository_id: int) -> HttpResponse:
    """Ask, then take the connected repository off the workspace; `?then=choose` another one."""
    repository = request.workspace.repositories.connected().filter(pk=repository_id).first()
    if repository is None:
        return _nothing_to_do(request, "That repository is not connected any more.")
    form = DisconnectForm(_posted(request), repository)
    if not form.is_valid():
        return _confirmation(request, repository, form)
    if form.wants_deletion:
        flow.disconnect_and_delete(request.user, repository)
        _tell_of_deletion(request, repository)
    else:
        flow.disconnect(request.user, repository)
        messages.success(request, f"{repository.full_name} was disconnected. {KEPT}")
    is_to_choose = request.GET.get("then") == "choose"
    return _go(request, _choice(request) if is_to_choose else _home(request))


@require_http_methods(["GET", "HEAD", "POST"])
@connection_page
def deactivate(request: WorkspaceRequest, repository_id: int) -> HttpResponse:
    """Ask, then let the repository rest: no longer synced, its rollouts inactive and kept."""
    repository = request.workspace.repositories.connected().filter(pk=repository_id).first()
    if repository is None:
        return _nothing_to_do(request, "That repository is not connected any more.")
    if request.method != "POST":
        context = {"repository": repository, "holdings": flow.holdings_of(repository)}
        return page(request, "git/deactivate.html", context, "dialog")
    flow.disconnect(request.user, repository)
    messages.success(request, f"{repository.full_name} was deactivated. {KEPT}")
    return redirect(_home(request))


@require_http_methods(["GET", "HEAD", "POST"])
@manager_page
def delete_kept(request: WorkspaceRequest, repository_id: int) -> HttpResponse:
    """Ask, then delete what is kept of a repository that was disconnected."""
    repository = request.workspace.repositories.kept().filter(pk=repository_id).first()
    if repository is None:
        return _nothing_to_do(request, "Nothing is kept of that repository any more.")
    form = DeletionForm(_posted(request), repository)
    if not form.is_valid():
        return _confirmation(request, repository, form)
    flow.delete_kept(request.user, repository)
    _tell_of_deletion(request, repository)
    return _go(request, _home(request))


@require_POST
@manager_page
def reconnect(request: WorkspaceRequest, repository_id: int) -> HttpResponse:
    """Connect a kept repository again, as far as GitHub shows it to this person."""
    repository = request.workspace.repositories.kept().filter(pk=repository_id).first()
    if repository is None:
        return _nothing_to_do(request, "Nothing is kept of that repository, or it has returned.")
    try:
        connected = flow.reconnect_repository(request.user, repository)
        messages.success(
            request,
            f"{connected.full_name} is active again, with its rollouts and history. "
            "All branches are being checked.",
        )
    except (NotPossible, GitHubError) as problem:
        messages.error(request, str(problem))
    except SignInAgain:
        messages.error(
            request,
            f"Sign in with GitHub again, then choose {repository.full_name}: "
            "what is kept of it returns.",
        )
        return redirect(_choice(request))
    return redirect(_home(request))


def _confirmation(
    request: WorkspaceRequest, repository: Repository, form: DeletionForm
) -> HttpResponse:
    """The page that names what goes; also a dialog, and in it the form anew."""
    context: dict[str, Any] = {
        "repository": repository,
        "holdings": flow.holdings_of(repository),
        "form": form,
        "is_to_choose": request.GET.get("then") == "choose",
    }
    part = part_asked(request, PARTS, "dialog")
    status = 422 if form.is_bound else 200
    return page(request, "git/disconnect.html", context, part, status=status)


def _tell_of_deletion(request: WorkspaceRequest, repository: Repository) -> None:
    """Say what has become of the repository's rows: they alone know."""
    left = Repository.objects.filter(pk=repository.pk).first()
    name = repository.full_name
    if left is None:
        messages.success(request, f"{name} was deleted here, with all that was stored of it.")
    elif left.deletion_requested_at:
        messages.success(
            request,
            f"{name} is out of sight, and a sync of it is still ending. "
            "All that is stored of it is deleted as soon as that has ended.",
        )
    else:
        messages.error(request, f"{name} was connected again meanwhile. Nothing was deleted.")


def _nothing_to_do(request: WorkspaceRequest, reason: str) -> HttpResponse:
    """A form that was sent twice, or late, ends on the page that shows how things stand."""
    if request.method != "POST":
        raise Http404
    messages.info(request, f"{reason} Nothing was changed.")
    return _go(request, _home(request))


def _posted(request: WorkspaceRequest) -> dict[str, Any] | None:
    return request.POST.dict() if request.method == "POST" else None


def _home(request: WorkspaceRequest) -> str:
    return resolve_url("git-integration", request.workspace.slug)


def _choice(request: WorkspaceRequest) -> str:
    return f"{reverse('onboarding')}?{urlencode({'workspace': request.workspace.slug})}"


def _go(request: WorkspaceRequest, address: str) -> HttpResponse:
    """On to a whole page, also from within a dialog."""
    return HttpResponseClientRedirect(address) if wants_part(request) else redirect(address)
