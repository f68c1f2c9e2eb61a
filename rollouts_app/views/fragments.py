"""The part or the whole: the server chooses."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from rollouts_app.views.access import PersonRequest


def wants_part(request: PersonRequest) -> bool:
    """Whether htmx asks for a part: not for history, boosted links or a browser's own request."""
    htmx = request.htmx
    return bool(htmx) and not htmx.history_restore_request and not htmx.boosted


def page(
    request: PersonRequest,
    template: str,
    context: dict[str, Any],
    fragment: str,
    status: int = 200,
) -> HttpResponse:
    """The whole page, or only `fragment` of it when htmx asks for a part."""
    name = f"{template}#{fragment}" if wants_part(request) else template
    response = render(request, name, context, status=status)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request", "HX-Boosted"])
    # What a page says of the state is true now only; Back asks again.
    response["Cache-Control"] = "no-store"
    return response
