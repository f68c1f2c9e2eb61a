"""The ways in which GitHub fails, by name.

https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from .rest import ROOT
from .settings import World
from .trouble import Trouble, Troubles

PRIMARY_LIMIT = "API rate limit exceeded for installation ID 1."
SECONDARY_LIMIT = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
LIMITS_PAGE = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
OUTAGE_PAGE = b"<!DOCTYPE html><title>Unicorn! \xc2\xb7 GitHub</title><p>No server is available."
Where = str | re.Pattern[str]


class Switches(World):
    """What a test may switch on; each gives the Trouble, which ends by `end()`."""

    def __init__(self, folder: Path, port: int, clock: Callable[[], float]) -> None:
        super().__init__(folder, port, clock)
        self.troubles = Troubles()

    def reset(self) -> None:
        """Forget everything but the port and the App's credentials and addresses."""
        super().reset()
        self.troubles.clear()

    def trouble(
        self,
        where: Where,
        *,
        method: str | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | bytes | dict[str, object] | None = None,
        delay: float = 0,
        cut: int | None = None,
        times: int | None = None,
    ) -> Trouble:
        """Let requests fail, `times` times or until `end()` of what is returned.

        `where` is how their address starts, or a pattern to find in it; git's addresses count too.
        They get `status` with `headers` and `body` (default: GitHub's words for it) instead of the
        real answer, after `delay` seconds, and the answer breaks off after `cut` bytes of its body.
        """
        return self.troubles.add(
            Trouble(where, method, status, headers or {}, body, delay, cut, times)
        )

    def limit_primary(
        self,
        where: Where = ROOT,
        *,
        seconds: int = 1200,
        status: int = 403,
        times: int | None = None,
    ) -> Trouble:
        """The hour's budget is used up, and begins anew in so many seconds; also with status 429.

        To see a client really run dry, set `budget.limit`.
        """
        headers = {
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": "0",
            "x-ratelimit-used": "5000",
            "x-ratelimit-reset": str(int(self.clock()) + seconds),
            "x-ratelimit-resource": "core",
        }
        body: dict[str, object] = {"message": PRIMARY_LIMIT, "documentation_url": LIMITS_PAGE}
        return self.trouble(where, status=status, headers=headers, body=body, times=times)

    def limit_secondary(
        self,
        where: Where = ROOT,
        *,
        retry_after: int | None = 60,
        status: int = 403,
        times: int | None = None,
    ) -> Trouble:
        """Too much at once, though there is budget left; GitHub need not say how long to wait."""
        headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4711"}
        if retry_after is not None:
            headers["retry-after"] = str(retry_after)
        page = f"{LIMITS_PAGE}#about-secondary-rate-limits"
        body: dict[str, object] = {"message": SECONDARY_LIMIT, "documentation_url": page}
        return self.trouble(where, status=status, headers=headers, body=body, times=times)

    def outage(self, where: Where = "/", *, status: int = 503, times: int | None = None) -> Trouble:
        """GitHub is down: a page for people, whoever asks."""
        headers = {"Content-Type": "text/html; charset=utf-8"}
        return self.trouble(where, status=status, headers=headers, body=OUTAGE_PAGE, times=times)
