"""Invitations from the side of those who get them: by their link, or for their GitHub account."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from rollouts_app import invitations as flow
from rollouts_app import readers
from rollouts_app.models import Invitation, Workspace
from rollouts_app.refusals import NotPossible
from rollouts_app.views.access import PersonRequest


@require_safe
def invitations(request: PersonRequest) -> HttpResponse:
    """Those that wait for whoever is signed in, and workspaces open to readers of a repository."""
    context = {
        "invitations": flow.waiting_for(request.user),
        "open_workspaces": readers.open_to(request.user),
    }
    return render(request, "invitations/list.html", context)


@require_POST
def join(request: PersonRequest, workspace_id: int) -> HttpResponse:
    """Become a member of a workspace that is open to those who may read its repository."""
    try:
        return _welcome(request, readers.join(request.user, workspace_id))
    except NotPossible as problem:
        messages.error(request, str(problem))
        return redirect("invitations")


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: PersonRequest, token: str) -> HttpResponse:
    """What a link leads to: who invites where, and the button to accept; or why it is no good."""
    found = Invitation.objects.with_token(token).select_related("workspace", "invited_by").first()
    if found is None:
        return render(request, "invitations/one.html", {"invitation": None}, status=404)
    if request.method != "POST":
        return _page(request, found)
    if not request.user.is_authenticated:
        return redirect_to_login(request.path)
    return _accept(request, found)


@require_POST
def invitation_accept(request: PersonRequest, invitation_id: int) -> HttpResponse:
    """Accept one that is for the caller's GitHub account: no link is needed."""
    bound = Invitation.objects.bound_to(request.user.github_id).select_related("workspace")
    return _accept(request, get_object_or_404(bound, pk=invitation_id))


def _accept(request: PersonRequest, found: Invitation) -> HttpResponse:
    try:
        return _welcome(request, flow.accept(request.user, found))
    except NotPossible:
        return _page(request, found)


def _welcome(request: PersonRequest, workspace: Workspace) -> HttpResponse:
    messages.success(request, f"You belong to {workspace} now.")
    return redirect(f"{reverse('onboarding')}?{urlencode({'workspace': workspace.slug})}")


def _page(request: PersonRequest, found: Invitation) -> HttpResponse:
    user = request.user if request.user.is_authenticated else None
    context = {
        "invitation": found,
        "reason": flow.why_not(found, user),
        "is_member": user is not None and found.workspace.memberships.filter(user=user).exists(),
        "is_for_another": found.is_open,
    }
    is_good = context["is_member"] or not context["reason"]
    status = 200 if is_good else 403 if found.is_open else 410
    return render(request, "invitations/one.html", context, status=status)
