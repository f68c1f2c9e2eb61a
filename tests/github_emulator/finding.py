"""A repository that an API call names: found, moved, or not for the caller to know of."""

from collections.abc import Mapping
from dataclasses import dataclass

from .credentials import NOT_ACCESSIBLE, Refused, mind_policy, permission_of
from .records import Permission, Repository
from .rest import NOT_FOUND, ROOT, Call
from .web import Answer, json_answer, with_query


@dataclass(frozen=True)
class Found:
    """A repository, and what the caller may do with it."""

    record: Repository
    permission: Permission


def find(call: Call, names: Mapping[str, str], rest: str = "") -> Found | Answer:
    """The repository of an owner and name, or of a number; of a former name, the answer that leads
    to where it is now.

    `rest` is what follows the repository in the address. Raises Refused.
    """
    state = call.world.state
    if "number" in names:
        return _seen(call, state.repositories.get(number_of(names["number"])))
    full_name = f"{names['owner']}/{names['name']}"
    record = state.repository(full_name)
    if record:
        return _seen(call, record)
    return moved(call, _seen(call, state.repository_once(full_name)).record, rest)


def number_of(text: str) -> int:
    """A number of an address; 0, which nothing has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() else 0


def moved(call: Call, record: Repository, rest: str = "") -> Answer:
    """https://docs.github.com/en/rest/using-the-rest-api
    /best-practices-for-using-the-rest-api#follow-redirects
    """
    address = with_query(
        f"{call.world.url}{ROOT}/repositories/{record.id}{rest}", call.request.query
    )
    body = {
        "message": "Moved Permanently",
        "url": address,
        "documentation_url": "https://docs.github.com/rest/guides/"
        "best-practices-for-using-the-rest-api#follow-redirects",
    }
    return json_answer(body, 301, {"Location": address})


def mind_contents(call: Call, found: Found) -> None:
    """Refuse an App that may not read code, unless it is public."""
    token = call.caller.token
    permitted = not token or token.kind == "user" or "contents" in token.permissions
    if found.record.private and not permitted:
        raise Refused(403, NOT_ACCESSIBLE)


def _seen(call: Call, record: Repository | None) -> Found:
    permission = permission_of(call.world, call.caller, record) if record else None
    if record is None or permission is None:
        raise Refused(404, NOT_FOUND)
    if call.caller.person:
        mind_policy(call.world, call.world.state.accounts[record.owner_id], by_person=True)
    return Found(record, permission)
