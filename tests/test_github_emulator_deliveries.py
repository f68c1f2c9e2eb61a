"""How the emulator's webhooks travel."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.github_emulator import Delivery, GitHubEmulator
from tests.github_emulator.webhooks import signature


class Receiver(ThreadingHTTPServer):
    """An App's webhook door: keeps what arrives, answers `status`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Door)
        self.status = 202
        self.arrived: list[tuple[dict[str, str], bytes]] = []


class Door(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.arrived.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests read `arrived`."""


@pytest.fixture
def receiver(github: GitHubEmulator) -> Iterator[Receiver]:
    """A door that deliveries reach by HTTP."""
    before = github.app.webhook_url
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        github.app.webhook_url = f"http://127.0.0.1:{server.server_port}/webhooks/github"
        github.deliver = github.outbox.post
        yield server
        server.shutdown()
    github.app.webhook_url = before


@pytest.fixture
def installation(github: GitHubEmulator) -> int:
    """The App on Acme for acme/agents; the delivery that tells of it is number one."""
    github.create_repository("acme/agents", files={"README.md": "Agents\n", "old.txt": "old\n"})
    return github.install("acme", repositories=["acme/agents"], by="ada")


def test_it_signs_as_githubs_own_example() -> None:
    assert signature("It's a Secret to Everybody", b"Hello, World!") == (
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    )


def test_it_delivers_in_order_and_signed(
    github: GitHubEmulator, receiver: Receiver, installation: int
) -> None:
    for number in range(5):
        github.push("acme/agents", "main", {"n": str(number)}, message=f"Push {number}")
    github.wait_for_deliveries()
    made = github.deliveries
    assert [delivery.payload.get("head_commit", {}).get("message") for delivery in made] == [
        None,
        *(f"Push {number}" for number in range(5)),
    ]
    assert [body for _, body in receiver.arrived] == [delivery.body for delivery in made]
    headers, body = receiver.arrived[-1]
    ours = {name: headers[name] for name in made[-1].headers}
    assert ours == {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/e4028f5",
        "X-GitHub-Delivery": made[-1].id,
        "X-GitHub-Event": "push",
        "X-GitHub-Hook-ID": str(github.app.id),
        "X-GitHub-Hook-Installation-Target-ID": str(github.app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": signature(github.app.webhook_secret, body),
    }
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made[-1].id)


def test_it_notes_what_was_answered(
    github: GitHubEmulator, receiver: Receiver, installation: int
) -> None:
    github.wait_for_deliveries()
    receiver.status = 500
    github.push("acme/agents", "main", {"a": "a"})
    github.wait_for_deliveries()
    receiver.shutdown()
    receiver.server_close()
    github.push("acme/agents", "main", {"a": "b"})
    github.wait_for_deliveries()
    assert [delivery.status for delivery in github.deliveries] == [202, 500, 502]


def test_it_redelivers_under_the_same_id(
    github: GitHubEmulator, receiver: Receiver, installation: int
) -> None:
    github.wait_for_deliveries()
    (first,) = github.deliveries
    again = github.redeliver(first.number)
    github.wait_for_deliveries()
    assert (again.id, again.redelivery, again.status) == (first.id, True, 202)
    assert again.number != first.number
    assert receiver.arrived[0][1] == receiver.arrived[1][1]


def test_it_calls_a_tests_deliver_on_the_tests_thread(
    github: GitHubEmulator, installation: int
) -> None:
    threads: list[threading.Thread] = []

    def deliver(delivery: Delivery) -> int:
        threads.append(threading.current_thread())
        return 200

    github.deliver = deliver
    github.push("acme/agents", "main", {"a": "a"})
    assert threads == [threading.current_thread()]


def test_it_hands_a_delivers_error_to_the_test(github: GitHubEmulator, installation: int) -> None:
    def deliver(delivery: Delivery) -> int:
        raise ValueError("The view crashed.")

    github.deliver = deliver
    with pytest.raises(ValueError, match=r"The view crashed\."):
        github.push("acme/agents", "main", {"a": "a"})
    assert github.deliveries[-1].status == 500


def test_it_sends_nothing_when_told_so(github: GitHubEmulator, installation: int) -> None:
    github.deliver = None
    github.push("acme/agents", "main", {"a": "a"})
    assert len(github.deliveries) == 1
