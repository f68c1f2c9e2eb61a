"""For those who run the server: is the process there, is it ready, how does it fare."""

import secrets
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from rollouts_app.metrics.collecting import as_text
from rollouts_app.metrics.readiness import OK, readiness
from rollouts_app.views.setup_first import open_before_setup


@open_before_setup
@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@open_before_setup
@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether database, migrations and a worker are as they should be: 200, else 503.

    `?without=worker` is for load balancers: pages can be shown while no worker runs.
    """
    parts = readiness(without=frozenset(request.GET.getlist("without")))
    lines = "".join(f"{part}: {state}\n" for part, state in parts.items())
    status = 200 if all(state == OK for state in parts.values()) else 503
    return HttpResponse(lines, content_type="text/plain", status=status)


@open_before_setup
@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """All metrics, for who has METRICS_TOKEN; without such a token there is no such page.

    https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config
    """
    if not settings.METRICS_TOKEN:
        raise Http404
    expected = f"Bearer {settings.METRICS_TOKEN}".encode()
    given = request.headers.get("Authorization", "").encode()
    if not secrets.compare_digest(given, expected):
        response = HttpResponse("Send METRICS_TOKEN as a bearer token.\n", status=401)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response
    return HttpResponse(as_text(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


PROBES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/healthz": healthz,
    "/readyz": readyz,
    "/metrics": metrics,
}


class ProbesMiddleware:
    """Answers machines that ask this process directly, by whatever name and without TLS.

    Load balancers and Prometheus ask each machine by its own address, which is not PUBLIC_URL.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        probe = PROBES.get(request.path_info)
        return probe(request) if probe else self.get_response(request)
