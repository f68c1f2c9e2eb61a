"""Reading GitHub's payloads. Pure.

GitHub's own example payloads lack fields that its schemas require: whatever is not there, or not of
the kind it should be, reads as nothing.
"""

import re
from typing import Any

Payload = dict[str, Any]

# It becomes part of the address that git is sent to.
FULL_NAME = re.compile(r"[A-Za-z0-9_-][\w.-]{0,99}/[\w.-]{1,100}", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
LONGEST_LOGIN = 255


def text(payload: Payload, key: str) -> str:
    """A text; empty where there is none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def number(payload: Payload, key: str) -> int:
    """A whole number; 0 where there is none."""
    value = payload.get(key)
    return value if isinstance(value, int) else 0


def part(payload: Payload, key: str) -> Payload:
    """An object within the payload; empty where there is none."""
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def parts(payload: Payload, key: str) -> list[Payload]:
    """The objects of a list."""
    value = payload.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def login(payload: Payload, key: str) -> str:
    """The login of the account under `key`, as long as we keep one."""
    return text(part(payload, key), "login")[:LONGEST_LOGIN]


def commit(payload: Payload, key: str) -> str:
    """The commit a push came from or led to; empty where the payload names none."""
    value = text(payload, key)
    return value if COMMIT.fullmatch(value) else ""


def repository_facts(payload: Payload) -> dict[str, Any]:
    """What the payload says of its repository, by the names of our fields."""
    told = part(payload, "repository")
    full_name, default_branch = text(told, "full_name"), text(told, "default_branch")
    flags = {"is_private": told.get("private"), "is_archived": told.get("archived")}
    return {
        **({"full_name": full_name} if FULL_NAME.fullmatch(full_name) else {}),
        **({"default_branch": default_branch} if default_branch else {}),
        **{name: value for name, value in flags.items() if isinstance(value, bool)},
    }
