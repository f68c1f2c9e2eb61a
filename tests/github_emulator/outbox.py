"""Delivers webhooks, in the order of events, and notes what came back."""

import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import requests

from .delivery_log import DeliveryLog
from .mishaps import Held, Mishaps
from .webhooks import COULD_NOT_CONNECT, TIMED_OUT, Deliver, Delivery, Destination

TIME_LIMIT = 10  # seconds, as at GitHub


class Outbox:
    """Deliveries on their way, and the latest of those made.

    By HTTP they are made one by one on a thread of their own. A `deliver` of a test's own is called
    on the test's thread instead: by what it asked the emulator to do, or while it waits for
    deliveries; its exceptions arrive there.
    """

    def __init__(self, destination: Callable[[], Destination], log: DeliveryLog) -> None:
        self.destination = destination
        self.log = log
        self.mishaps = Mishaps()
        self.deliver: Deliver | None = self.post
        # A certificate that is trusted besides the well-known authorities: its file.
        self.trusted: Path | None = None
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
                session.verify = str(self.trusted) if self.trusted else True
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
        """Let it be sent after everything that already waits, unless a mishap befalls it.

        Without a receiver it is dropped.
        """
        if self.listens:
            for one in self.mishaps.befall(delivery):
                self._enqueue(one)

    def hold(self) -> Held:
        """Keep back what is put from now on."""
        self.mishaps.held = Held(self._send_at_last)
        return self.mishaps.held

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
            self.log.forget()
            self.mishaps.clear()

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
        self.log.begin(delivery)
        try:
            # One that failed on its way has its status already.
            delivery.status = delivery.status or deliver(delivery)
        except Exception:
            delivery.status = 500
            raise
        finally:
            delivery.duration = time.monotonic() - started
            self.log.end(delivery)

    def _enqueue(self, delivery: Delivery) -> None:
        with self._changed:
            self._waiting.append(delivery)
            self._changed.notify_all()

    def _send_at_last(self, delivery: Delivery) -> None:
        self._enqueue(delivery)
        self.flush()
