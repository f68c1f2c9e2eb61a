"""Reading many objects at once: what `git cat-file --batch` and `--batch-check` write. Pure."""

from collections.abc import Iterator
from hashlib import sha1
from typing import NamedTuple

LONGEST_LINE = 1_000  # bytes
MISSING = "missing"


class Broken(Exception):
    """The stream ended within an object, is not what git writes, or holds another object."""


class Found(NamedTuple):
    """An object that was asked for.

    `kind` is git's word (blob, tree, commit, tag) or MISSING; `size` in bytes. `content` is None
    where it was not asked for, does not exist or is larger than allowed.
    """

    id: str
    kind: str
    size: int
    content: bytes | None


def read_objects(chunks: Iterator[bytes], most_bytes: int | None) -> Iterator[Found]:
    """The objects in a stream of `--batch`; with `most_bytes` None, in one of `--batch-check`.

    Contents are what their ids say: git itself takes the word of a pack's index for it.
    """
    source = _Source(chunks)
    while line := source.line():
        id, kind, size = _header(line)
        content = None
        if most_bytes is not None and kind != MISSING:
            content = _content(source, id, kind, size, most_bytes)
        yield Found(id, kind, size, content)


def _content(source: "_Source", id: str, kind: str, size: int, most_bytes: int) -> bytes | None:
    """What follows a header; one too large to be held is only checked.

    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects#_object_storage
    """
    digest = sha1(b"%b %d\0" % (kind.encode(), size), usedforsecurity=False)
    kept = []
    for piece in source.pieces(size):
        digest.update(piece)
        if size <= most_bytes:
            kept.append(piece)
    if source.line() != b"\n" or digest.hexdigest() != id:
        raise Broken(f"the object {id} is another one")
    return b"".join(kept) if size <= most_bytes else None


def _header(line: bytes) -> tuple[str, str, int]:
    words = line.decode(errors="replace").split()
    if len(words) == 2 and words[1] == MISSING:
        return words[0], MISSING, 0
    if len(words) == 3 and words[2].isdecimal():
        return words[0], words[1], int(words[2])
    raise Broken(f"not a line of git cat-file: {line[:100]!r}")


class _Source:
    """A stream of chunks, read by lines and sizes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = b""
        self._at = 0

    def line(self) -> bytes:
        """The next line with its end; empty when the stream is over."""
        while (end := self._buffer.find(b"\n", self._at)) < 0:
            if len(self._buffer) - self._at > LONGEST_LINE:
                raise Broken("a line without an end")
            if not self._more():
                if self._at < len(self._buffer):
                    raise Broken("the stream ended within a line")
                return b""
        line = self._buffer[self._at : end + 1]
        self._at = end + 1
        return line

    def pieces(self, size: int) -> Iterator[bytes]:
        """The next `size` bytes, as they come."""
        missing = size
        while missing > 0:
            if self._at == len(self._buffer) and not self._more():
                raise Broken("the stream ended within an object")
            piece = self._buffer[self._at : self._at + missing]
            self._at += len(piece)
            missing -= len(piece)
            yield piece

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._buffer = self._buffer[self._at :] + chunk
        self._at = 0
        return bool(chunk)
