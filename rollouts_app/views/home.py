"""The landing page, the way to the last workspace, and the theme."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from rollouts_app.invitations import waiting_for
from rollouts_app.views.access import PersonRequest, WorkspaceRequest, safe_next, workspace_page
from rollouts_app.views.setup_first import open_before_setup

THEMES = ("system", "light", "dark")
YEAR_SECONDS = 365 * 24 * 3600


@login_not_required
@require_safe
def landing(request: PersonRequest) -> HttpResponse:
    """What this is, for the signed-out; the last workspace, or onboarding, for everyone else."""
    if not request.user.is_authenticated:
        return render(request, "landing.html")
    slugs = request.user.memberships.order_by("pk").values_list("workspace__slug", flat=True)
    last = request.session.get("last_workspace")
    slug = last if last in slugs else next(iter(slugs), None)
    if slug:
        return redirect("rollout-list", slug)
    return redirect("invitations" if waiting_for(request.user) else "onboarding")


@require_safe
@workspace_page
def workspace_home(request: WorkspaceRequest) -> HttpResponse:
    """A workspace's bare address leads to its rollouts."""
    return redirect("rollout-list", request.workspace.slug)


@open_before_setup
@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Keep the chosen theme in a cookie, so that the first byte of every page knows it."""
    response = safe_next(request, "landing")
    chosen = request.POST.get("theme")
    if chosen in THEMES:
        response.set_cookie(
            "theme", chosen, max_age=YEAR_SECONDS, samesite="Lax", secure=request.is_secure()
        )
    return response
