"""A workspace's settings: name, time zone, and the ways out of it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from rollouts_app import workspaces as flow
from rollouts_app.forms import AccessForm, SettingsForm
from rollouts_app.refusals import NotAllowed, NotPossible
from rollouts_app.views.access import WorkspaceRequest, people_page
from rollouts_app.views.confirming import Question, ask, go
from rollouts_app.views.fragments import page


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def workspace_settings(request: WorkspaceRequest) -> HttpResponse:
    """The settings; owners and admins change them."""
    if request.method != "POST":
        return _page(request, SettingsForm(None, request.workspace))
    if not request.membership.may_change_settings:
        raise PermissionDenied("Owners and admins change the settings of this workspace.")
    form = SettingsForm(request.POST, request.workspace)
    try:
        if form.is_valid():
            values = form.cleaned_data
            flow.change_settings(
                request.user, request.workspace, slug=values["slug"], timezone=values["timezone"]
            )
            messages.success(request, "The settings were saved.")
            return redirect(_home(request))
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    except NotPossible as problem:
        form.add_error("slug", str(problem))
    return _page(request, form)


@require_POST
@people_page
def workspace_access(request: WorkspaceRequest) -> HttpResponse:
    """Set what GitHub's permissions count for."""
    form = AccessForm(request.POST)
    form.full_clean()
    try:
        flow.change_access(request.user, request.workspace, **form.cleaned_data)
    except NotAllowed as refusal:
        raise PermissionDenied(str(refusal)) from refusal
    messages.success(request, "The access rules were saved.")
    return redirect(_home(request))


@require_http_methods(["GET", "HEAD", "POST"])
@people_page
def workspace_delete(request: WorkspaceRequest) -> HttpResponse:
    """Ask for the workspace's name, then delete it with all that belongs to it."""
    workspace = request.workspace
    if not request.membership.is_owner:
        raise PermissionDenied("Only owners delete a workspace.")
    question = Question(
        heading=f"Delete {workspace}",
        text=_what_goes(request),
        button=f"Delete {workspace} for good",
        icon="trash",
        back=_home(request),
        tab="settings",
        typed=workspace.slug,
    )
    if not question.is_answered(request):
        return ask(request, question)
    try:
        flow.delete_workspace(request.user, workspace)
    except NotAllowed as refusal:
        raise Http404 from refusal
    request.session.pop("last_workspace", None)
    messages.success(request, f"{workspace} was deleted, with all that was stored of it.")
    return go(request, resolve_url("landing"))


def _what_goes(request: WorkspaceRequest) -> str:
    workspace = request.workspace
    people = workspace.memberships.count()
    names = sorted(workspace.repositories.values_list("full_name", flat=True))
    if workspace.repository and not request.shown_repository:
        # GitHub does not let this owner know what they are called.
        names = ["its repositories"]
    stored = f"all rollouts and history of {', '.join(names)}, " if names else ""
    return (
        f"Deleted for good: {stored}the access of {people} "
        f"{'person' if people == 1 else 'people'}, invitations, settings and the audit log. "
        "On GitHub nothing changes: repositories stay, and the App stays installed."
    )


def _page(request: WorkspaceRequest, form: SettingsForm) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "repository": request.workspace.repository,
        "join_address": settings.PUBLIC_URL + reverse("invitations"),
    }
    status = 422 if form.is_bound else 200
    return page(request, "members/settings.html", context, "settings", status)


def _home(request: WorkspaceRequest) -> str:
    return resolve_url("workspace-settings", request.workspace.slug)
