"""Webhooks: the requests that tell the App of events, signed.

https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

import dataclasses
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

COULD_NOT_CONNECT = 502
TIMED_OUT = 504


@dataclass
class Delivery:
    """One request to the App. `id` is the X-GitHub-Delivery, `number` the id REST uses."""

    id: str
    number: int
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    headers: dict[str, str]
    body: bytes
    sent_at: float
    status: int | None = None
    duration: float = 0.0
    redelivery: bool = False

    @property
    def payload(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Destination:
    """Where an App's deliveries go, and as whose."""

    app_id: int
    url: str | None
    secret: str


@dataclass(frozen=True)
class Event:
    """Something to tell the App."""

    name: str
    payload: dict[str, Any]
    installation_id: int | None = None
    repository_id: int | None = None


Deliver = Callable[[Delivery], int]


def signature(secret: str, body: bytes) -> str:
    """The value of X-Hub-Signature-256."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def make_delivery(event: Event, to: Destination, number: int, now: float) -> Delivery:
    """The request that tells of an event."""
    body = json.dumps(event.payload, separators=(",", ":")).encode()
    guid = str(uuid.uuid4())
    headers = {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/e4028f5",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event.name,
        "X-GitHub-Hook-ID": str(to.app_id),
        "X-GitHub-Hook-Installation-Target-ID": str(to.app_id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": signature(to.secret, body),
    }
    action = event.payload.get("action")
    ids = (event.installation_id, event.repository_id)
    return Delivery(guid, number, event.name, action, *ids, headers, body, now)


def again(delivery: Delivery, number: int, now: float) -> Delivery:
    """A manual redelivery: everything as before, the X-GitHub-Delivery too."""
    return dataclasses.replace(
        delivery, number=number, sent_at=now, status=None, duration=0.0, redelivery=True
    )
