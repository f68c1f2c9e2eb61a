"""Approve a sign-in of the command line: the code on the device, typed here or in the link."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from rollouts_app import device_login
from rollouts_app.models import DeviceGrant
from rollouts_app.models.tokens import LOGIN_LASTS
from rollouts_app.refusals import NotPossible
from rollouts_app.views.access import PersonRequest

LONGEST_CODE = 64


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def device(request: PersonRequest) -> HttpResponse:
    """Which device asks, from where and since when; approve or deny. `?code=` as shown there."""
    values = request.POST if request.method == "POST" else request.GET
    code = values.get("code", "").strip()[:LONGEST_CODE]
    if not code:
        return _page(request, {}, 422 if request.method == "POST" else 200)
    try:
        grant = device_login.find(request.user, code)
    except device_login.TooOften as problem:
        return _page(request, {"problem": str(problem)}, 429)
    if grant is None:
        return _page(request, {"is_unknown": True, "code": code}, 404)
    if request.method == "POST":
        return _decide(request, grant)
    context = {"grant": grant, "state": _state(grant), "lasts": LOGIN_LASTS.days}
    return _page(request, context, 200)


def _decide(request: PersonRequest, grant: DeviceGrant) -> HttpResponse:
    answer = request.POST.get("answer")
    if answer in {"approve", "deny"}:
        try:
            device_login.decide(request.user, grant, is_approved=answer == "approve")
        except NotPossible as problem:
            messages.info(request, str(problem))
    return redirect(f"{reverse('device')}?{urlencode({'code': grant.shown_code})}")


def _state(grant: DeviceGrant) -> str:
    """Its state; one that nobody decided on in time has expired, and so has one not picked up."""
    is_open = grant.state in {DeviceGrant.State.WAITING, DeviceGrant.State.APPROVED}
    return "expired" if is_open and grant.has_expired else grant.state


def _page(request: PersonRequest, context: dict[str, Any], status: int) -> HttpResponse:
    return render(request, "device/device.html", context, status=status)
