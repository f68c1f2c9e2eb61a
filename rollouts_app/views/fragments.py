"""The part or the whole: the server chooses."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from rollouts_app.views import twins
from rollouts_app.views.access import PersonRequest

Twin = Callable[[Any, dict[str, Any]], dict[str, Any]]

# What a page may look at to choose between the whole and a part.
VARYING = ["HX-Request", "HX-History-Restore-Request", "HX-Boosted", "HX-Target"]


def wants_part(request: PersonRequest) -> bool:
    """Whether htmx asks for a part: not for history, boosted links or a browser's own request."""
    htmx = request.htmx
    return bool(htmx) and not htmx.history_restore_request and not htmx.boosted


def part_asked(request: PersonRequest, parts: Mapping[str, str], otherwise: str) -> str:
    """Which part of a page belongs where htmx will put it, by the id of that place."""
    return parts.get(request.htmx.target or "", otherwise)


def page(
    request: PersonRequest,
    template: str,
    context: dict[str, Any],
    fragment: str,
    status: int = 200,
    *,
    twin: "Twin | None" = None,
) -> HttpResponse:
    """The whole page, or only `fragment` of it when htmx asks for a part.

    `twin` makes of the same context what is answered where JSON is asked for.
    """
    if twin and twins.wants_twin(request):
        return twins.twin(twin(request, context), status)
    if twin:
        context |= {"twin_address": twins.address_of(request)}
    name = f"{template}#{fragment}" if wants_part(request) else template
    response = render(request, name, context, status=status)
    patch_vary_headers(response, VARYING)
    # What a page says of the state is true now only; Back asks again.
    response["Cache-Control"] = "no-store"
    return response
