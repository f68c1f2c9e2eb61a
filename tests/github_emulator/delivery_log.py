"""The deliveries made, as the App may list them; the latest of them outlive a restart.

https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries
"""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

from .webhooks import Delivery

MOST_REMEMBERED = 5000
MOST_KEPT = 500
KEPT_SECONDS = 3 * 24 * 3600


class DeliveryLog:
    """All in memory in `made`, oldest first; those that ended in a file, one a line."""

    def __init__(self, file: Path) -> None:
        self.made: list[Delivery] = []
        self._file = file
        self._lines = 0
        if file.exists():
            self.made = _read(file)[-MOST_KEPT:]
            self._rewrite()

    def begin(self, delivery: Delivery) -> None:
        """One is on its way."""
        self.made.append(delivery)
        del self.made[:-MOST_REMEMBERED]

    def end(self, delivery: Delivery) -> None:
        """It was answered, or could not be made."""
        if self._lines >= 2 * MOST_KEPT:
            self._rewrite()
            return
        self._append([delivery], os.O_APPEND)

    def recent(self, now: float) -> list[Delivery]:
        """Those that GitHub still knows, newest first."""
        known = {made.number: made for made in self.made if made.sent_at > now - KEPT_SECONDS}
        return [known[number] for number in sorted(known, reverse=True)]

    def forget(self) -> None:
        """As if none had been made."""
        self.made.clear()
        self._file.unlink(missing_ok=True)
        self._lines = 0

    def _rewrite(self) -> None:
        self._lines = 0
        ended = [made for made in self.made if made.status is not None]
        self._append(ended[-MOST_KEPT:], os.O_TRUNC)

    def _append(self, deliveries: list[Delivery], how: int) -> None:
        """Readable by the owner alone: payloads of private repositories are."""
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | how, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.writelines(json.dumps(_fields(delivery)) + "\n" for delivery in deliveries)
        self._lines += len(deliveries)


def _fields(delivery: Delivery) -> dict[str, Any]:
    return {**dataclasses.asdict(delivery), "body": delivery.body.decode()}


def _read(file: Path) -> list[Delivery]:
    """What was written; the last line may have been cut by the end of the process."""
    found = []
    for line in file.read_text().splitlines():
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        found.append(Delivery(**{**fields, "body": fields["body"].encode()}))
    return found
