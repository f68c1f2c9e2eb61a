"""Load: what the command line's `rollout list` takes, as a multiple of a hello view's time.

Both are asked in turn of the same server on loopback, by the same person: 50 rollouts with a token,
and with a session a view that has one query of its own.
"""

import json
import statistics
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from socketserver import ThreadingMixIn
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.test import Client, override_settings

from rollouts_app.models import Membership, User, Workspace
from tests.cli_api import GIT, make_rollouts, make_token

HELLO, LIST = "/api/hello", "/api/cli/rollouts?limit=50&offset=0"


def describe(parser: ArgumentParser) -> None:
    """The options."""
    parser.description = __doc__
    parser.add_argument("--requests", type=int, default=300, help="of each address")
    parser.add_argument("--most", type=float, default=3.0, help="times as long as the hello view")


def run(options: Namespace) -> int:
    """Print JSON; 1 when the list takes longer than it may."""
    call_command("migrate", verbosity=0)
    person, token = _member_of_fifty()
    headers = {
        HELLO: {"Cookie": _session_of(person)},
        LIST: {"Authorization": f"Bearer {token}", "X-Osmosis-Git": GIT},
    }
    with override_settings(ROOT_URLCONF="tests.bench.hello"), _server() as port:
        times: dict[str, list[float]] = {HELLO: [], LIST: []}
        for _ in range(options.requests + 1):
            for path, taken in times.items():
                taken.append(_took(port, path, headers[path]))
    # The first of each is warming up.
    hello, listed = (statistics.median(taken[1:]) * 1000 for taken in times.values())
    ratio = listed / hello
    figures = {
        "hello_ms": round(hello, 2),
        "rollout_list_ms": round(listed, 2),
        "ratio": round(ratio, 2),
        "most": options.most,
        "requests": options.requests,
    }
    sys.stdout.write(f"{json.dumps(figures)}\n")
    return int(ratio > options.most)


def _member_of_fifty() -> tuple[User, str]:
    """Somebody whose workspace has 50 rollouts on its main branch, and a token of theirs."""
    person = User.objects.create(username="ada", github_login="ada", github_id=1)
    acme = Workspace.objects.create(slug="acme")
    Membership.objects.create(workspace=acme, user=person, role="owner")
    make_rollouts(acme, 50)
    return person, make_token(person)


def _session_of(person: User) -> str:
    """The cookie of a browser in which somebody is signed in."""
    client = Client()
    client.force_login(person)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def _took(port: int, path: str, headers: dict[str, str]) -> float:
    """Seconds until the whole answer is here."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    begun = time.perf_counter()
    connection.request("GET", path, headers={**headers, "Host": settings.PUBLIC_URL[7:]})
    answer = connection.getresponse()
    answer.read()
    taken = time.perf_counter() - begun
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{path} answered {answer.status}.")
    return taken


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Thousands of lines would hide the one that counts."""


@contextmanager
def _server() -> Iterator[int]:
    with _Server(("127.0.0.1", 0), _Silent) as server:
        server.set_app(get_wsgi_application())
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()
