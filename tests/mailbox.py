"""A small mail server on loopback that takes whatever is handed in: RFC 5321, as far as needed."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class _Session(socketserver.StreamRequestHandler):
    """One conversation: everything is welcome."""

    def handle(self) -> None:
        self._say("220 mailbox")
        while line := self.rfile.readline().strip().upper():
            if line == b"DATA":
                self._say("354 go on")
                self._keep()
            elif line == b"QUIT":
                self._say("221 bye")
                break
            self._say("250 ok")

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())

    def _keep(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b"."))
        letter = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.server.letters.append(letter)  # type: ignore[attr-defined]


class Mailbox(socketserver.ThreadingTCPServer):
    """The server, and the letters it was given."""

    daemon_threads = True

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []
        super().__init__(("127.0.0.1", 0), _Session)

    @property
    def port(self) -> int:
        port: int = self.server_address[1]
        return port


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    with Mailbox() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()
