"""Requests, answers and the table of addresses."""

import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from functools import cached_property
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, quote, unquote, urlencode

from .settings import World

ADDRESS_SIGNS = ":/?#[]@!$&'()*+,;=%~"


@dataclass
class Request:
    """One request. `path` is still percent-encoded; of repeated parameters the last counts."""

    world: World
    method: str
    path: str
    query: dict[str, str]
    headers: Message
    body: bytes = b""

    @cached_property
    def form(self) -> list[tuple[str, str]]:
        """The fields of a posted form, in order."""
        return parse_qsl(self.body.decode(errors="replace"), keep_blank_values=True)

    @cached_property
    def fields(self) -> dict[str, str]:
        """The fields of a posted form or JSON object, by name."""
        if "json" not in self.headers.get("Content-Type", ""):
            return dict(self.form)
        try:
            parsed = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}

    @cached_property
    def cookies(self) -> dict[str, str]:
        """Cookies by name."""
        jar = SimpleCookie(self.headers.get("Cookie", ""))
        return {name: morsel.value for name, morsel in jar.items()}


@dataclass
class Answer:
    """What to send back."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


Route = Callable[..., Answer]


class Routes:
    """Addresses, tried in the order they were added; `{name}` is one segment, `{name:rest}` any.

    `served` lists them as (method, address).
    """

    def __init__(self) -> None:
        self.served: list[tuple[str, str]] = []
        self._routes: list[tuple[str, re.Pattern[str], Route]] = []

    def add(self, method: str, address: str) -> Callable[[Route], Route]:
        """Decorates the function that answers: it gets the request and the named parts, decoded."""
        pattern = re.sub(r"\\\{(\w+)(:rest)?\\\}", _group, re.escape(address))

        def register(route: Route) -> Route:
            self.served.append((method, address))
            self._routes.append((method, re.compile(f"^{pattern}/?$"), route))
            return route

        return register

    def include(self, more: "Routes") -> None:
        """Try these addresses, too."""
        self.served += more.served
        self._routes += more._routes

    def answer(self, request: Request) -> Answer | None:
        """The answer of the first address that fits, or None."""
        method = "GET" if request.method == "HEAD" else request.method
        for wanted, pattern, route in self._routes:
            match = pattern.match(request.path) if wanted == method else None
            if match:
                parts = {name: unquote(part) for name, part in match.groupdict().items()}
                return route(request, **parts)
        return None


def _group(match: re.Match[str]) -> str:
    return f"(?P<{match[1]}>{'.+' if match[2] else '[^/]+'})"


def json_answer(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:
    """A JSON answer, typed as GitHub types its own."""
    typed = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
    return Answer(status, json.dumps(body).encode(), typed)


def redirect(address: str, cookies: str = "") -> Answer:
    """Go there by GET."""
    headers = {
        "Location": quote(address, safe=ADDRESS_SIGNS),
        "Content-Type": "text/html; charset=utf-8",
    }
    if cookies:
        headers["Set-Cookie"] = cookies
    link = html.escape(address)
    return Answer(303, f'<a href="{link}">Go on</a>'.encode(), headers)


def with_query(address: str, parameters: Mapping[str, str]) -> str:
    """The address with parameters added to those it has."""
    joint = "&" if "?" in address else "?"
    return address + joint + urlencode(parameters) if parameters else address


def path_of(*parts: str) -> str:
    """An address path of names: each encoded by itself, slashes inside a name kept as slashes."""
    return "".join(f"/{quote(part, safe='/')}" for part in parts if part)
