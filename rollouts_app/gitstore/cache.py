"""Our side of a cache: its repository is made here, read, and made anew when it is damaged."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from rollouts_app.gitstore.batch import MISSING, Broken, Found, read_objects
from rollouts_app.gitstore.command import Call, Failed, run, stream
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
        """Begin with an empty repository in place of what there is."""
        made = self._folder.path / "git.new"
        kind = ["--bare", "--template=", "--object-format=sha1"]
        call = replace(self._call(["init", "-q", *kind]), repository=made, lock=lock)
        try:
            run(call)
        except Failed as failure:
            raise refusal(failure.stderr, "the cache", datetime.now(UTC)) from None
        self._folder.place(made)

    def read(self, ids: Sequence[str], *, contents: bool = True) -> Iterator[Found]:
        """What is here of each id, in their order. Raises Corrupt when git cannot go on."""
        if not ids or not self._folder.is_made:
            yield from (Found(id, MISSING, 0, None) for id in ids)
            return
        kind_of_batch = "--batch" if contents else "--batch-check"
        call = self._call(["cat-file", kind_of_batch, "--buffer"], "\n".join(ids).encode() + b"\n")
        count = 0
        with contextlib.closing(stream(call)) as chunks:
            try:
                for found in read_objects(chunks, self._limits.object_bytes if contents else None):
                    count += 1
                    yield found
            except (Failed, Broken) as error:
                raise Corrupt(f"The git cache of this repository is damaged: {error}.") from error
        if count < len(ids):
            raise Corrupt("The git cache of this repository is damaged: objects are not told.")

    def missing(self, ids: Sequence[str]) -> list[str]:
        """Those that are not here. Raises Corrupt."""
        found = self.read(ids, contents=False)
        return [object.id for object in found if object.kind == MISSING]

    def tidy(self) -> None:
        """Merge many packs into one; delete a cache that has grown too large."""
        with self.alone() as lock:
            if self._folder.size() > self._limits.cache_bytes:
                self._folder.delete()
            elif self._folder.pack_count() > self._limits.packs:
                self._repack(lock)

    def size(self) -> int:
        """Bytes on the disk."""
        return self._folder.size()

    def delete(self) -> None:
        """Remove all of it."""
        with self._folder.locked(self._limits.lock_seconds):
            self._folder.delete()

    def _repack(self, lock: int) -> None:
        """Merge all packs. They came from a remote that keeps what they lack, which git notes
        beside each; such packs it merges whole, though no ref holds any of their objects."""
        try:
            run(replace(self._call(["repack", "-a", "-d", "-q"]), lock=lock))
        except Failed:
            self.make_anew(lock)

    def _call(self, arguments: Sequence[str], stdin: bytes = b"") -> Call:
        return Call(
            arguments=arguments,
            repository=self._folder.git,
            home=self._folder.home,
            seconds=self._limits.local_seconds,
            most_bytes=self._limits.answer_bytes,
            stdin=stdin,
        )
