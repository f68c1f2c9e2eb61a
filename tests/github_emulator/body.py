"""The body of a request as it comes in: counted or chunked, read once, never more than there is."""

from collections.abc import Iterator
from email.message import Message
from io import BufferedIOBase

PART = 65536
MOST_SKIPPED = 1 << 20


class BrokenBody(Exception):
    """The body ended early or is not framed as HTTP wants it: the connection is of no more use."""


class Body:
    """Iterating gives the parts as they arrive, and leaves the connection at the next request."""

    def __init__(self, stream: BufferedIOBase, headers: Message) -> None:
        self.chunked = "chunked" in headers.get("Transfer-Encoding", "").lower()
        length = headers.get("Content-Length", "0")
        if not length.isascii() or not length.isdecimal():
            raise BrokenBody(f"Content-Length is {length!r}.")
        self.length = None if self.chunked else int(length)
        self._stream = stream
        self._parts = self._read_chunks() if self.chunked else self._read_counted(int(length))

    def __iter__(self) -> Iterator[bytes]:
        return self._parts

    def read(self) -> bytes:
        """All that is left."""
        return b"".join(self._parts)

    def skip(self) -> bool:
        """Read past what is left; False when that is too much: close the connection then."""
        skipped = 0
        for part in self._parts:
            skipped += len(part)
            if skipped > MOST_SKIPPED:
                return False
        return True

    def _read_counted(self, length: int) -> Iterator[bytes]:
        while length:
            part = self._stream.read(min(length, PART))
            if not part:
                raise BrokenBody("The body is shorter than its Content-Length.")
            length -= len(part)
            yield part

    def _read_chunks(self) -> Iterator[bytes]:
        while size := self._chunk_size():
            yield from self._read_counted(size)
            self._stream.readline()
        while self._stream.readline().strip():
            pass

    def _chunk_size(self) -> int:
        line = self._stream.readline(200).split(b";")[0].strip()
        try:
            return int(line, 16)
        except ValueError:
            raise BrokenBody(f"A chunk's size is {line!r}.") from None
