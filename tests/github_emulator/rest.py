"""What all calls of the REST API have in common. https://docs.github.com/en/rest"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .core import UnknownName
from .credentials import NOT_ACCESSIBLE, Caller, Refused, identify
from .records import Account, Installation
from .settings import World
from .shapes import Json, Shapes
from .web import Answer, Request, Routes, json_answer, with_query

ROOT = "/api/v3"
NOT_FOUND = "Not Found"
MOST_PER_PAGE = 100


@dataclass(frozen=True)
class Call:
    """One call: who asks for what."""

    request: Request
    caller: Caller

    @property
    def world(self) -> World:
        """The emulator."""
        return self.request.world

    @property
    def shapes(self) -> Shapes:
        """What makes JSON of records."""
        return self.request.world.shapes

    def by_app(self) -> None:
        """Go on only if the App itself calls, by a JWT."""
        if not self.caller.is_app:
            raise Refused(401, "A JSON web token could not be decoded")

    def by_installation(self) -> Installation:
        """The calling installation."""
        if self.caller.installation is None:
            words = "You must authenticate with an installation access token in order to "
            raise Refused(403, words + "list repositories for an installation.")
        return self.caller.installation

    def by_person(self) -> Account:
        """The person the App acts for."""
        if self.caller.person:
            return self.caller.person
        if self.caller.installation:
            raise Refused(403, NOT_ACCESSIBLE)
        raise Refused(401, "Requires authentication")


ApiRoute = Callable[..., Answer]


def api(routes: Routes, method: str, address: str) -> Callable[[ApiRoute], ApiRoute]:
    """Decorates the function that answers calls of an address below the API's root."""

    def register(route: ApiRoute) -> ApiRoute:
        @routes.add(method, ROOT + address)
        def answer(request: Request, **parts: str) -> Answer:
            return _counted(request, route, parts)

        return route

    return register


def refused(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in GitHub's form."""
    body = {"message": message, "documentation_url": "https://docs.github.com/rest"}
    # The one error whose description has no status in its body.
    repeated = {} if status == 422 else {"status": str(status)}
    return json_answer({**body, **repeated}, status, headers)


def page(call: Call, items: Sequence[Any], wrap: Callable[[list[Any]], object]) -> Answer:
    """One page of items, with the addresses of the others in the Link header.

    https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
    """
    size = page_size(call)
    number = _positive(call.request.query.get("page"), 1)
    last = max(1, -(-len(items) // size))
    others: dict[str, int] = {}
    if number > 1:
        others |= {"prev": number - 1, "first": 1}
    if number < last:
        others |= {"next": number + 1, "last": last}
    address = call.world.url + call.request.path
    links = [
        f'<{with_query(address, {**call.request.query, "page": str(other)})}>; rel="{name}"'
        for name, other in others.items()
    ]
    start = (number - 1) * size
    headers = {"Link": ", ".join(links)} if links else {}
    return json_answer(wrap(list(items[start : start + size])), headers=headers)


def page_size(call: Call) -> int:
    """How many items of a list were asked for."""
    return min(_positive(call.request.query.get("per_page"), 30), MOST_PER_PAGE)


def counted_list(name: str, total: int) -> Callable[[list[Any]], Json]:
    """Wraps a page as GitHub wraps lists that say how long they are."""
    return lambda items: {"total_count": total, name: items}


def _counted(request: Request, route: ApiRoute, parts: dict[str, str]) -> Answer:
    """Identify the caller, take the call from its budget, answer."""
    world = request.world
    caller = Caller()
    try:
        caller = identify(world, request.headers.get("Authorization", ""))
        spent = world.budget.of(caller.budget, world.clock())
        if not spent.remaining and not request.path.endswith("/rate_limit"):
            who = caller.budget or "127.0.0.1"
            raise Refused(403, f"API rate limit exceeded for {who}.")
        spent.used += not request.path.endswith("/rate_limit")
        answer = route(Call(request, caller), **parts)
    except Refused as refusal:
        answer = refused(refusal.status, refusal.message, refusal.headers)
    except UnknownName:
        answer = refused(404, NOT_FOUND)
    headers = {
        "X-GitHub-Media-Type": "github.v3; format=json",
        "X-GitHub-Request-Id": uuid.uuid4().hex.upper(),
        **world.budget.of(caller.budget, world.clock()).headers(),
    }
    return Answer(answer.status, answer.body, {**headers, **answer.headers})


def _positive(text: str | None, default: int) -> int:
    number = int(text) if text and text.isascii() and text.isdecimal() else default
    return number or default
