"""Who calls, and what they ask for: the bearer token, the body, the page of a list."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from rollouts_app import tracing
from rollouts_app.api_keys import KeyRefused, key_of
from rollouts_app.catalog import json_safe
from rollouts_app.cli_api.errors import CliError
from rollouts_app.device_login import TooOften
from rollouts_app.models import CliToken

View = Callable[..., HttpResponseBase]

VERSION = re.compile(r"[\w.+-]{1,32}", re.ASCII)
NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
MOST_ROWS = 50


class CliRequest(HttpRequest):
    """A call by somebody who showed a token."""

    key: CliToken


def open_door(*methods: str) -> Callable[[View], View]:
    """An address of the command line that needs no token."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @login_not_required
        @never_cache
        @require_http_methods(methods)
        @wraps(view)
        def wrapper(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            _note_version(request)
            try:
                return view(request, **kwargs)
            except CliError as problem:
                return problem.answer()
            except TooOften as problem:
                return CliError(429, "RATE_LIMITED", str(problem)).answer()

        return wrapper

    return decorate


def cli_door(*methods: str) -> Callable[[View], View]:
    """An address of the command line for who shows a token that is good now: 401 for others."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: CliRequest, **kwargs: Any) -> HttpResponseBase:
            try:
                request.key = key_of(request.headers.get("Authorization"))
            except KeyRefused as refusal:
                answer = CliError(401, refusal.code, str(refusal)).answer()
                answer.headers["WWW-Authenticate"] = "Bearer"
                return answer
            tracing.bind(user=request.key.user_id, key=request.key.public_id)
            return view(request, **kwargs)

        return open_door(*methods)(wrapper)

    return decorate


def _note_version(request: HttpRequest) -> None:
    """Every line of the log that this call causes carries the caller's version."""
    version = request.headers.get("X-Osmosis-CLI-Version", "")
    if VERSION.fullmatch(version):
        tracing.bind(cli=version)


def body_of(request: HttpRequest) -> dict[str, Any]:
    """The body's object, without what PostgreSQL refuses. Raises `CliError` when there is none."""
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise CliError(400, "BODY_INVALID", "The body must be a JSON object.")
    safe: dict[str, Any] = json_safe(body)
    return safe


def text_in(body: dict[str, Any], name: str, *, is_needed: bool = True) -> str:
    """A text of a body; empty where it may be left out. Raises `CliError`."""
    value = body.get(name, None if is_needed else "")
    if not isinstance(value, str) or (is_needed and not value):
        raise CliError(400, "VALIDATION", f"{name} must be a text.")
    return value


@dataclass(frozen=True)
class Slice:
    """The part of a list that is asked for."""

    limit: int
    offset: int

    def around(self, total: int) -> dict[str, Any]:
        """What is told beside the rows: where the next ones begin, if there are any."""
        end = self.offset + self.limit
        has_more = end < total
        next_offset = end if has_more else None
        return {"total_count": total, "has_more": has_more, "next_offset": next_offset}


def slice_asked(request: HttpRequest) -> Slice:
    """`?limit=` (1 to 50, which is the default) and `?offset=` (0). Raises `CliError`."""
    limit, offset = request.GET.get("limit", str(MOST_ROWS)), request.GET.get("offset", "0")
    if not NUMBER.fullmatch(limit) or not 1 <= int(limit) <= MOST_ROWS:
        raise CliError(400, "VALIDATION", f"limit must be a number from 1 to {MOST_ROWS}.")
    if not NUMBER.fullmatch(offset):
        raise CliError(400, "VALIDATION", "offset must be a number, 0 or more.")
    return Slice(int(limit), int(offset))
