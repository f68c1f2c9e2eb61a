"""Around every request: its id, its line in the log, and what is counted of it."""

import logging
import re
import time
from collections.abc import Callable
from uuid import uuid4

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from rollouts_app import meters, tracing

log = logging.getLogger("rollouts_app.requests")

# What a proxy may have called the request, which is then found in its log, too.
GIVEN_ID = re.compile(r"[\w-]{8,64}", re.ASCII)
# Static files, and addresses that lead nowhere.
OTHER = "other"


class RequestMiddleware:
    """The outermost: everything that is done for a request happens inside.

    Addresses stay out of the log: they carry codes, invitations, and searches. The page's name in
    the URL table says what was asked, the ids say of what.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if GIVEN_ID.fullmatch(given) else uuid4().hex
        begun = time.perf_counter()
        with tracing.bound(request=request_id):
            response = self.get_response(request)
            _note(request, response, time.perf_counter() - begun)
        response.headers["X-Request-ID"] = request_id
        return response


def _note(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    match = request.resolver_match
    page = (match and match.view_name) or OTHER
    meters.count("responses", page=page, status=str(response.status_code))
    meters.took("page_seconds", seconds, page=page)
    if page != OTHER or response.status_code >= 400:
        log.info("%s %s: %s in %.0f ms", request.method, page, response.status_code, seconds * 1000)
