"""The HTTP server: requests in, answers out, troubles met on the way."""

import logging
import socket
import socketserver
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from . import git_http, pages, rest
from .body import Body, BrokenBody
from .core import UnknownName
from .git_http import GitAccess
from .settings import World
from .trouble import Trouble, Troubles
from .web import Answer, Request, Routes

log = logging.getLogger(__name__)
MOST_SEEN = 20_000


class Seen(NamedTuple):
    """A request that came in; `path` with its query, as sent."""

    method: str
    path: str


class CutShort(Exception):
    """A trouble ends the answer here."""


class Server(ThreadingHTTPServer):
    """Listens on 127.0.0.1. Raises OSError when the port is taken."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, world: World, routes: Routes, troubles: Troubles, access: GitAccess) -> None:
        self.world = world
        self.routes = routes
        self.troubles = troubles
        self.access = access
        self.seen: list[Seen] = []
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", world.port), Handler)

    def note(self, seen: Seen) -> None:
        """Keep a request in mind; the older half goes when there are very many."""
        self.seen.append(seen)
        if len(self.seen) > MOST_SEEN:
            del self.seen[: MOST_SEEN // 2]

    def server_bind(self) -> None:
        """Bind without asking DNS for a name, which the standard library does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember each connection, so that closing the server ends them."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that ended."""
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Stop listening and cut the connections that are kept alive."""
        super().server_close()
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                self._open.discard(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are no news; the rest goes to the log."""
        if not isinstance(sys.exc_info()[1], OSError):
            log.exception("A connection ended with an error.")


class Handler(BaseHTTPRequestHandler):
    """One connection, request after request."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "GitHubEmulator"
    sys_version = ""
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = 120

    def setup(self) -> None:
        """A connection opens."""
        super().setup()
        self.server.world.outbox.serving()

    def serve(self) -> None:
        """Answer one request."""
        target = self.path
        self.server.note(Seen(self.command, target))
        trouble = self.server.troubles.meet(self.command, target)
        self._left = trouble.cut if trouble else None
        try:
            self._answer(target, trouble)
            self.wfile.flush()
        except (CutShort, BrokenBody, ConnectionError):
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve

    def _answer(self, target: str, trouble: Trouble | None) -> None:
        path, _, query = target.partition("?")
        body = Body(self.rfile, self.headers)
        parameters = dict(parse_qsl(query, keep_blank_values=True))
        request = Request(self.server.world, self.command, path, parameters, self.headers)
        if trouble:
            time.sleep(trouble.delay)
        instead = trouble.answer() if trouble else None
        if instead is None and git_http.is_git(path):
            self._git(request, body)
        else:
            request.body = body.read()
            self._send(instead or self._routed(request))

    def _routed(self, request: Request) -> Answer:
        try:
            with request.world.lock:
                answer = self.server.routes.answer(request)
        except UnknownName as missing:
            return pages.nothing_here(request, str(missing))
        except Exception:
            log.exception("%s %s failed.", request.method, request.path)
            return Answer(500, b"The emulator has a defect; its log says which.")
        if answer is None and request.path.startswith(rest.ROOT):
            return rest.refused(404, rest.NOT_FOUND)
        return answer or pages.nothing_here(request, "The emulator has no such page.")

    def _git(self, request: Request, body: Body) -> None:
        visit = git_http.admit(request, self.server.access)
        if isinstance(visit, Answer):
            if not body.skip():
                self.close_connection = True
            self._send(visit)
            return
        visit.run(body, self._begin_chunks, self._write_chunk)
        self._write(b"0\r\n\r\n")

    def _begin_chunks(self, status: int, headers: Mapping[str, str]) -> None:
        self._head(status, {**headers, "Transfer-Encoding": "chunked"})

    def _write_chunk(self, part: bytes) -> None:
        self._write(b"%x\r\n%b\r\n" % (len(part), part))
        self.wfile.flush()

    def _send(self, answer: Answer) -> None:
        self._head(answer.status, {**answer.headers, "Content-Length": str(len(answer.body))})
        if self.command != "HEAD":
            self._write(answer.body)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _write(self, content: bytes) -> None:
        """Write to the client, up to where a trouble cuts the answer."""
        if self._left is not None and len(content) > self._left:
            self.wfile.write(content[: self._left])
            self.wfile.flush()
            raise CutShort
        self.wfile.write(content)
        if self._left is not None:
            self._left -= len(content)

    def handle_expect_100(self) -> bool:
        """Say "go on" at once, although answers are buffered."""
        proceed = super().handle_expect_100()
        self.wfile.flush()
        return proceed

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header, by the emulator's clock."""
        return super().date_time_string(timestamp or self.server.world.clock())

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are kept in `seen`, not printed."""
