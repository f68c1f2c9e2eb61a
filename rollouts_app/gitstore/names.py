"""Object ids and branch names, as git writes them. Pure."""

import re
from collections.abc import Iterable

OBJECT_ID = re.compile(r"[0-9a-f]{40}")
HEADS = "refs/heads/"


def distinct_ids(ids: Iterable[str]) -> list[str]:
    """Each id once, in order. ValueError for anything that is none: ids become lines for git."""
    distinct = list(dict.fromkeys(ids))
    for id in distinct:
        if not OBJECT_ID.fullmatch(id):
            raise ValueError(f"{id!r} is no object id")
    return distinct


def read_heads(listing: bytes) -> dict[str, str]:
    """The lines of `git ls-remote`, `<id> tab refs/heads/<name>`."""
    heads = {}
    for line in listing.splitlines():
        id, _, ref = line.decode(errors="surrogateescape").partition("\t")
        if ref.startswith(HEADS) and OBJECT_ID.fullmatch(id):
            heads[ref.removeprefix(HEADS)] = id
    return heads
