"""Error pages: what happened, why, what to do next."""

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from rollouts_app import audit
from rollouts_app.views.twins import failure, twin, wants_twin

ONE_HOUR = 3600
NOTHING_HERE = "There is nothing here, or nothing that you may see."
FAULT = "Something went wrong on this server. It has been noted in its log; try again."
GENERAL_REFUSAL = "Your role in this workspace does not allow it. Owners and admins may do it."


@login_not_required
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, mostly a host that is not ours: rendered without the request, which is not trusted."""
    context = {"public_url": settings.PUBLIC_URL}
    return HttpResponse(render_to_string("400.html", context), status=400)


@login_not_required
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: the sentence that came with the refusal, or a general one."""
    reason = str(exception) or GENERAL_REFUSAL
    _note_refusal(request, reason)
    if wants_twin(request):
        return twin(failure("FORBIDDEN", reason), 403)
    context = {"reason": reason}
    return render(request, "403.html", context, status=403)


def _note_refusal(request: HttpRequest, reason: str) -> None:
    """Write down that a member tried what their role does not allow, once an hour for each deed.

    Who only looks where they may not has tried nothing.
    """
    workspace, match = getattr(request, "workspace", None), request.resolver_match
    if request.method != "POST" or workspace is None or match is None:
        return
    user, name = get_user(request), str(match.url_name)
    if user.is_authenticated and cache.add(
        f"refused-{workspace.pk}-{user.pk}-{name}", "", timeout=ONE_HOUR
    ):
        tried = name.replace("-", " ")
        audit.record(user, audit.Deed.WAS_REFUSED, tried, workspace=workspace, why=reason)


@login_not_required
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404, the same for what does not exist and for what belongs to others."""
    if wants_twin(request):
        return twin(failure("NOT_FOUND", NOTHING_HERE), 404)
    return render(request, "404.html", status=404)


@login_not_required
def server_error(request: HttpRequest) -> HttpResponse:
    """500: rendered without context processors, which may be what failed."""
    if wants_twin(request):
        return twin(failure("INTERNAL_ERROR", FAULT), 500)
    return HttpResponse(render_to_string("500.html"), status=500)


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form that cannot be trusted; names a mismatch of origins when there is one."""
    origin = request.headers.get("Origin", "")
    context = {
        "origin": origin if origin != settings.PUBLIC_URL else "",
        "public_url": settings.PUBLIC_URL,
    }
    return HttpResponse(render_to_string("403_csrf.html", context), status=403)
