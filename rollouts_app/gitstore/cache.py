"""Our side of a cache: its repository is made here, read, and made anew when it is damaged."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rollouts_app.gitstore.batch import MISSING, Broken, Found, read_objects
from rollouts_app.gitstore.command import Call, Failed, TimeIsUp, run, stream
from rollouts_app.gitstore.folder import Folder
from rollouts_app.gitstore.limits import Limits
from rollouts_app.gitstore.refusals import Corrupt, refusal


class Cache:
    """The objects of one repository on this disk.

    Nothing here talks with the host: git is allowed no protocol, and what is missing is missing,
    since git is not told about a remote that promised it.
    """

    def __init__(self, folder: Folder, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits

    @contextlib.contextmanager
    def alone(self) -> Iterator[int]:
        """Change the cache, made if there is none; gives the lock for the git that is started."""
        with self._folder.locked(self._limits.lock_seconds) as lock:
            self._folder.sweep()
            if not self._folder.is_made:
                self.make_anew(lock)
            yield lock

    def make_anew(self, lock: int) -> None:
        """Begin with an empty repository in place of what there is.

        That goes first: it is of no use, and the disk may be full.
        """
        self._folder.retire()
        made = self._folder.path / "git.new"
        kind = ["--bare", "--template=", "--object-format=sha1"]
        call = replace(self._call(["init", "-q", *kind]), repository=made, lock=lock)
        try:
            run(call)
        except Failed as failure:
            raise refusal(failure.stderr, "the cache", datetime.now(UTC)) from None
        self._folder.place(made)

    def read(self, ids: Sequence[str], most_bytes: int | None) -> Iterator[Found]:
        """What is here of each id, in their order; of larger ones no content, with None of none.

        Raises Corrupt when git cannot go on, or has another object in place of one asked for.
        """
        if not ids or not self._folder.is_made:
            yield from (Found(id, MISSING, 0, None) for id in ids)
            return
        kind_of_batch = "--batch-check" if most_bytes is None else "--batch"
        call = self._call(["cat-file", kind_of_batch, "--buffer"], "\n".join(ids).encode() + b"\n")
        count = 0
        with contextlib.closing(stream(call)) as chunks:
            try:
                for found in read_objects(chunks, most_bytes):
                    count += 1
                    yield found
            except (Failed, Broken) as error:
                raise Corrupt(f"The git cache of this repository is damaged: {error}.") from error
        if count < len(ids):
            raise Corrupt("The git cache of this repository is damaged: objects are not told.")

    def tidy(self) -> None:
        """Merge many packs into one; delete a cache that has grown too large, or cannot be merged.

        Raises Unavailable where the disk does not even let us delete.
        """
        with self.alone() as lock:
            is_large = self._folder.size() > self._limits.cache_bytes
            has_many = self._folder.pack_count() > self._limits.packs
            if is_large or (has_many and not self._repack(lock)):
                self._folder.delete()

    def size(self) -> int:
        """Bytes on the disk."""
        return self._folder.size()

    def delete(self) -> None:
        """Remove all of it."""
        with self._folder.locked(self._limits.lock_seconds):
            self._folder.delete()

    def note_use(self) -> None:
        """Remember that the cache is used now."""
        with self._folder.locked(self._limits.lock_seconds):
            self._folder.note_use()

    def _repack(self, lock: int) -> bool:
        """Merge all packs; False when that failed, for want of room for instance.

        They came from a remote that keeps what they lack, which git notes beside each; such packs
        it merges whole, though no ref holds any of their objects.
        """
        try:
            run(replace(self._call(["repack", "-a", "-d", "-q"]), lock=lock))
        except (Failed, TimeIsUp):
            return False
        return True

    def _call(self, arguments: Sequence[str], stdin: bytes = b"") -> Call:
        return Call(
            arguments=arguments,
            repository=self._folder.git,
            home=self._folder.home,
            seconds=self._limits.local_seconds,
            most_bytes=self._limits.answer_bytes,
            stdin=stdin,
        )
