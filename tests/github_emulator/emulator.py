"""A small GitHub on loopback, shaped as GitHub Enterprise."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from . import (
    manifest,
    oauth,
    pages_changes,
    pages_install,
    pages_installations,
    pages_people,
    pages_requests,
    pages_source,
    rest_app,
    rest_facts,
    rest_generate,
    rest_git,
    rest_hook,
)
from .git_http import GitAccess
from .server import Seen, Server
from .switches import Switches
from .web import Routes


class GitHubEmulator(Switches):
    """The whole of it: pages and OAuth at the root, API below /api/v3, git at /OWNER/NAME.git.

    State, repositories and the App's credentials live in `folder`, and a later start goes on with
    them. A port of 0 takes a free one at the first start and keeps it. With `anonymous_git` anybody
    may clone and push without credentials, as `default_pusher` (else: an owner of the repository).
    """

    def __init__(
        self,
        folder: Path,
        port: int = 0,
        *,
        anonymous_git: bool = False,
        default_pusher: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(folder, port, clock)
        self._access = GitAccess(anonymous_git, default_pusher)
        self._server: Server | None = None

    def start(self) -> None:
        """Answer requests, on threads of its own. Raises OSError when the port is taken."""
        self._server = Server(self, ROUTES, self.troubles, self._access)
        self.port = self._server.server_port
        threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="github", daemon=True
        ).start()
        self.outbox.start()

    def stop(self) -> None:
        """Answer no more; connections are closed, deliveries that wait are kept."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
            self.outbox.stop()

    def __enter__(self) -> "GitHubEmulator":
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def reset(self) -> None:
        """Forget everything but the port and the App's credentials and addresses."""
        super().reset()
        self.requests.clear()

    @property
    def requests(self) -> list[Seen]:
        """Requests that came in since the start or the last reset: (method, path with query)."""
        return self._server.seen if self._server else []


ROUTES = Routes()
for routes in (
    rest_app.ROUTES,
    rest_hook.ROUTES,
    rest_facts.ROUTES,
    rest_generate.ROUTES,
    rest_git.ROUTES,
    oauth.ROUTES,
    manifest.ROUTES,
    pages_people.ROUTES,
    pages_install.ROUTES,
    pages_requests.ROUTES,
    pages_installations.ROUTES,
    pages_source.ROUTES,
    pages_changes.ROUTES,
    pages_people.PROFILES,
):
    ROUTES.include(routes)
