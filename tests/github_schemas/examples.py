"""Example payloads: GitHub's own, and those they lack, derived from them.

GitHub's examples have neither a branch deleted nor a forced push, and no `installation_target`.
"""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NONE = "0" * 40
ELSEWHERE = "9049f1265b7d61be4a8904a9a27120d2064dab3b"
BRANCH = "feature/x"


@dataclass(frozen=True)
class Example:
    """One payload; `name` tells where it is from."""

    name: str
    event: str
    payload: Any

    @property
    def action(self) -> str:
        """What happened, for events that tell of different things; else empty."""
        return str(self.payload.get("action", ""))

    def changed(self, name: str, **fields: Any) -> "Example":
        """A copy with other values of the payload's own fields."""
        return Example(name, self.event, {**copy.deepcopy(self.payload), **fields})

    def about(self, repository: int, installation: int, full_name: str = "") -> "Example":
        """A copy in which these are the repositories and installations told of."""
        payload = copy.deepcopy(self.payload)
        for facts in _repositories(payload):
            facts["id"] = repository
            if full_name:
                facts["full_name"] = full_name
        if "installation" in payload:
            payload["installation"]["id"] = installation
        return Example(self.name, self.event, payload)


def _repositories(payload: Any) -> Iterator[Any]:
    if payload.get("repository"):
        yield payload["repository"]
    for key in ("repositories", "repositories_added", "repositories_removed"):
        yield from payload.get(key, [])


def _official() -> Iterator[Example]:
    for entry in json.loads((HERE / "examples.json").read_text()):
        name = f"{entry['edition']} {entry['event']} {entry['number']}"
        yield Example(name, entry["event"], entry["payload"])


def _derived() -> Iterator[Example]:
    tag_deleted, branch_made = OFFICIAL["api.github.com push 3"], OFFICIAL["api.github.com push 4"]
    for example in (
        tag_deleted.changed("branch deleted", ref=f"refs/heads/{BRANCH}"),
        branch_made.changed(
            "branch created on an old commit", commits=[], base_ref="refs/heads/main"
        ),
        branch_made.changed(
            "forced push", created=False, forced=True, before=ELSEWHERE, commits=[]
        ),
        branch_made.changed("plain push", created=False, before=ELSEWHERE),
    ):
        example.payload["repository"]["has_discussions"] = False
        yield example
    for event, number in (("create", 3), ("delete", 2)):
        tag = OFFICIAL[f"api.github.com {event} {number}"]
        yield tag.changed(f"{event} of a branch", ref=BRANCH, ref_type="branch")
    sender = branch_made.payload["sender"]
    renamed = {
        "action": "renamed",
        "account": sender,
        "changes": {"login": {"from": "codertocat"}},
        "installation": branch_made.payload["installation"],
        "sender": sender,
        "target_type": "User",
    }
    yield Example("installation_target renamed", "installation_target", renamed)


OFFICIAL = {example.name: example for example in _official()}
DERIVED = {example.name: example for example in _derived()}
