"""Switches that make the emulator fail, as GitHub sometimes does."""

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from .web import Answer


@dataclass
class Trouble:
    """One switch. It ends by itself after `times` requests, or by `end()`."""

    where: str | re.Pattern[str]
    method: str | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | bytes | dict[str, object] | None = None
    delay: float = 0
    cut: int | None = None
    times: int | None = None
    met: int = 0

    def end(self) -> None:
        """Switch it off."""
        self.times = 0

    def concerns(self, method: str, target: str) -> bool:
        """Whether a request runs into it: by the start of its address, or a pattern found in it."""
        if self.times == 0 or self.method not in (None, method):
            return False
        if isinstance(self.where, str):
            return target.startswith(self.where)
        return bool(self.where.search(target))

    def answer(self) -> Answer | None:
        """What to send instead of the real answer, if anything."""
        if self.status is None:
            return None
        body = self.body
        kind = "application/json; charset=utf-8"
        if body is None:
            body = {"message": WORDS.get(self.status, "Server Error")}
        if isinstance(body, dict):
            words = {
                "status": str(self.status),
                "documentation_url": "https://docs.github.com/rest",
            }
            body = json.dumps({**words, **body})
        else:
            kind = "text/plain; charset=utf-8"
        content = body if isinstance(body, bytes) else body.encode()
        return Answer(self.status, content, {"Content-Type": kind, **self.headers})


WORDS = {
    401: "Bad credentials",
    403: "Resource not accessible by integration",
    404: "Not Found",
    409: "Git Repository is empty.",
    429: "API rate limit exceeded",
}


class Troubles:
    """All switches; the first that concerns a request is the one it meets."""

    def __init__(self) -> None:
        self._all: list[Trouble] = []
        self._lock = threading.Lock()

    def add(self, trouble: Trouble) -> Trouble:
        """Switch one on."""
        with self._lock:
            self._all.append(trouble)
        return trouble

    def clear(self) -> None:
        """Switch all off."""
        with self._lock:
            self._all.clear()

    def meet(self, method: str, target: str) -> Trouble | None:
        """The trouble a request runs into, counted."""
        with self._lock:
            for trouble in self._all:
                if trouble.concerns(method, target):
                    trouble.met += 1
                    if trouble.times is not None:
                        trouble.times -= 1
                    return trouble
        return None
