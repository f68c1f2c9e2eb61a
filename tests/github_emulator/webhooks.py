"""Signs and delivers webhooks, in the order of events, and remembers what came back.

https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers
"""

import dataclasses
import hashlib
import hmac
import json
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests

TIME_LIMIT = 10  # seconds, as at GitHub
COULD_NOT_CONNECT = 502
TIMED_OUT = 504
MOST_REMEMBERED = 5000


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


class Outbox:
    """Deliveries on their way, and the latest of those made.

    By HTTP they are made one by one on a thread of their own. A `deliver` of a test's own is called
    on the test's thread instead: by what it asked the emulator to do, or while it waits for
    deliveries; its exceptions arrive there.
    """

    def __init__(self, clock: Callable[[], float], destination: Callable[[], Destination]) -> None:
        self.clock = clock
        self.destination = destination
        self.deliver: Deliver | None = self.post
        self.made: list[Delivery] = []
        self._waiting: deque[Delivery] = deque()
        self._in_flight = 0
        self._changed = threading.Condition()
        self._sending = threading.RLock()
        self._serving = threading.local()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def post(self, delivery: Delivery) -> int:
        """POST to the App's webhook address; the status answered, or what GitHub notes instead."""
        address = self.destination().url
        if address is None:
            return COULD_NOT_CONNECT
        try:
            with requests.Session() as session:
                session.trust_env = False
                answer = session.post(
                    address,
                    data=delivery.body,
                    headers={**delivery.headers, "Connection": "close"},
                    timeout=TIME_LIMIT,
                    allow_redirects=False,
                )
        except requests.Timeout:
            return TIMED_OUT
        except requests.RequestException:
            return COULD_NOT_CONNECT
        return answer.status_code

    def start(self) -> None:
        """Begin to deliver by HTTP; what waits already goes first."""
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the delivery under way and keep the rest waiting."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def serving(self) -> None:
        """Called by each thread that answers requests: a test's `deliver` is never called on it."""
        self._serving.here = True

    @property
    def listens(self) -> bool:
        """Whether anything would be sent."""
        return self.deliver is not None and not (self._by_http and self.destination().url is None)

    def put(self, delivery: Delivery) -> None:
        """Let it be sent after everything that already waits. Without a receiver it is dropped."""
        if not self.listens:
            return
        with self._changed:
            self._waiting.append(delivery)
            self._changed.notify_all()

    def flush(self) -> None:
        """Call a test's own `deliver` for all that waits, unless this thread answers requests."""
        if not self._by_http and not getattr(self._serving, "here", False):
            self._send_waiting()

    def wait(self, seconds: float) -> None:
        """Return when everything is sent. Raises TimeoutError."""
        self.flush()
        with self._changed:
            if not self._changed.wait_for(self._is_empty, seconds):
                left = len(self._waiting) + self._in_flight
                raise TimeoutError(f"{left} deliveries are still on their way after {seconds} s.")

    def forget(self) -> None:
        """Drop what waits and what was made."""
        with self._changed:
            self._waiting.clear()
            self.made.clear()

    @property
    def _by_http(self) -> bool:
        return self.deliver == self.post

    def _is_empty(self) -> bool:
        return not self._waiting and not self._in_flight

    def _has_work(self) -> bool:
        return self._stopped or (bool(self._waiting) and self._by_http)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work)
            if self._stopped:
                return
            self._send_one()

    def _send_waiting(self) -> None:
        while self._send_one():
            pass

    def _send_one(self) -> bool:
        """Send the oldest; False when none waits."""
        with self._sending:
            with self._changed:
                if not self._waiting:
                    return False
                delivery = self._waiting.popleft()
                self._in_flight += 1
            try:
                self._send(delivery)
            finally:
                with self._changed:
                    self._in_flight -= 1
                    self._changed.notify_all()
        return True

    def _send(self, delivery: Delivery) -> None:
        deliver = self.deliver
        if deliver is None:
            return
        started = time.monotonic()
        self.made.append(delivery)
        del self.made[:-MOST_REMEMBERED]
        try:
            delivery.status = deliver(delivery)
        except Exception:
            delivery.status = 500
            raise
        finally:
            delivery.duration = time.monotonic() - started
