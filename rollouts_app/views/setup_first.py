"""Before the first run is over, every page leads to it."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from rollouts_app import github_app

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

NOT_YET = "This server has no GitHub App yet. Whoever runs it sets it up: {}\n"
# Where machines call, whom a redirect would mislead.
MACHINES = ("/webhooks/", "/api/")


def open_before_setup(view: View) -> View:
    """Marks a view that works without the GitHub App."""
    view.is_open_before_setup = True  # type: ignore[attr-defined]
    return view


class SetupFirstMiddleware:
    """Leads everybody to the first run until there is a GitHub App; from then on asks no more."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._is_over = False

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], *_: object
    ) -> HttpResponse | None:
        if self._is_over or getattr(view, "is_open_before_setup", False):
            return None
        self._is_over = github_app.known() is not None
        if self._is_over:
            return None
        if request.path.startswith(MACHINES):
            words = NOT_YET.format(request.build_absolute_uri(reverse("setup")))
            return HttpResponse(words, status=503, content_type="text/plain")
        return redirect("setup")
