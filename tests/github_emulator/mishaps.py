"""What happens to deliveries on their way: lost, failed, doubled, late and in another order.

https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

import dataclasses
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .webhooks import COULD_NOT_CONNECT, Delivery

Kind = Literal["lost", "failed", "doubled"]


@dataclass
class Mishap:
    """One switch. It ends by itself after `times` deliveries, or by `end()`."""

    kind: Kind
    event: str | None = None
    times: int | None = None
    status: int = COULD_NOT_CONNECT
    met: int = 0

    def end(self) -> None:
        """Switch it off."""
        self.times = 0

    def concerns(self, delivery: Delivery) -> bool:
        """Whether a delivery runs into it."""
        return self.times != 0 and self.event in (None, delivery.event)

    def befall(self, delivery: Delivery) -> list[Delivery]:
        """What becomes of the delivery."""
        self.met += 1
        if self.times is not None:
            self.times -= 1
        if self.kind == "lost":
            return []
        if self.kind == "failed":
            delivery.status = self.status
            return [delivery]
        return [delivery, dataclasses.replace(delivery)]


class Held:
    """Deliveries that wait until they are let go, in an order of the test's choosing."""

    def __init__(self, send: Callable[[Delivery], None]) -> None:
        self.deliveries: list[Delivery] = []
        self._send = send
        self._ended = False

    def take(self, delivery: Delivery) -> bool:
        """Keep one back; False when none is kept back any more."""
        if not self._ended:
            self.deliveries.append(delivery)
        return not self._ended

    def release(self, *, seed: int | None = None) -> None:
        """Send all, as they came or shuffled by the seed, and keep none back any more."""
        self._ended = True
        waiting, self.deliveries = self.deliveries, []
        if seed is not None:
            random.Random(seed).shuffle(waiting)  # noqa: S311 - an order, no secret
        for delivery in waiting:
            self._send(delivery)

    def release_one(self, place: int = 0) -> Delivery:
        """Send the one at that place, and go on keeping back."""
        delivery = self.deliveries.pop(place)
        self._send(delivery)
        return delivery

    def lose(self, event: str | None = None) -> int:
        """Never send those of the event, or any; how many there were."""
        before = len(self.deliveries)
        self.deliveries = [d for d in self.deliveries if event not in (None, d.event)]
        return before - len(self.deliveries)

    def double(self) -> None:
        """Send each twice, under one X-GitHub-Delivery."""
        self.deliveries = [
            twin for each in self.deliveries for twin in (each, dataclasses.replace(each))
        ]


class Mishaps:
    """All switches; the first that concerns a delivery is the one it meets."""

    def __init__(self) -> None:
        self.held: Held | None = None
        self._all: list[Mishap] = []
        self._lock = threading.Lock()

    def add(self, mishap: Mishap) -> Mishap:
        """Switch one on."""
        with self._lock:
            self._all.append(mishap)
        return mishap

    def clear(self) -> None:
        """Switch all off; what is held is never sent."""
        with self._lock:
            self._all.clear()
            self.held = None

    def befall(self, delivery: Delivery) -> list[Delivery]:
        """What is to be sent in place of the delivery now."""
        with self._lock:
            for mishap in self._all:
                if mishap.concerns(delivery):
                    return [one for one in mishap.befall(delivery) if not self._keeps(one)]
            return [] if self._keeps(delivery) else [delivery]

    def _keeps(self, delivery: Delivery) -> bool:
        return self.held is not None and self.held.take(delivery)
