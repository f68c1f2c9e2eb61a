"""Deliveries that arrive as they do in bad times: late, twice, in another order, or never."""

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from tests.github_emulator import Delivery, GitHubEmulator
from tests.github_emulator.webhooks import COULD_NOT_CONNECT

# In a hundred deliveries. "lost": GitHub believes that it arrived; "failed": it knows better.
FATES = {"on time": 68, "lost": 6, "failed": 6, "doubled": 10, "late": 10}
LATEST_SECONDS = 10.0
HANDS = 8


class Postman:
    """Takes the emulator's deliveries. By one thread; several carry them."""

    def __init__(self, github: GitHubEmulator, seed: int) -> None:
        self.fates: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.accepted: set[str] = set()
        self._github = github
        self._chance = random.Random(seed)  # noqa: S311 - a course of events, no secret
        self._late: list[tuple[float, Delivery]] = []
        self._hands = ThreadPoolExecutor(HANDS)
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        self._github.deliver = self.take
        return self

    def __exit__(self, *_error: object) -> None:
        self._github.deliver = None
        self._hands.shutdown(cancel_futures=True)

    def take(self, delivery: Delivery) -> int:
        """Decide what becomes of it; the status GitHub notes."""
        [fate] = self._chance.choices(list(FATES), list(FATES.values()))
        self.fates[fate] += 1
        if fate == "failed":
            return COULD_NOT_CONNECT
        if fate == "late":
            due = time.monotonic() + self._chance.uniform(0, LATEST_SECONDS)
            self._late.append((due, delivery))
        for _ in range({"lost": 0, "late": 0, "doubled": 2}.get(fate, 1)):
            self._hands.submit(self._carry, delivery)
        return 202

    def bring_what_is_due(self) -> None:
        """Post what was late enough, and what GitHub was asked to deliver again."""
        now = time.monotonic()
        for due, delivery in self._late:
            if due <= now:
                self._hands.submit(self._carry, delivery)
        self._late = [each for each in self._late if each[0] > now]
        self._github.wait_for_deliveries()

    @property
    def is_done(self) -> bool:
        """Whether nothing late is left."""
        return not self._late

    def _carry(self, delivery: Delivery) -> None:
        status = self._github.outbox.post(delivery)
        with self._writing:
            self.statuses[status] += 1
            if status in (200, 202):
                self.accepted.add(delivery.id)
