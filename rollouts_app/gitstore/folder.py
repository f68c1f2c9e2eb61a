"""The folder of one cache: private, locked while something changes, healed after a kill.

lock    held by whoever changes the cache, and by the git that it started, until both have ended;
        its time of change is when the cache was used last
home/   HOME of every git run, always empty
git/    the bare repository
"""

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore.refusals import NO_ROOM, DiskFull, Unusable

PAUSE_SECONDS = 0.02
DOOMED = ".doomed"
OUT_OF_ROOM = {errno.ENOSPC, errno.EDQUOT}


class Folder:
    """Where a cache lies. Knows nothing of git but the names of its files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = path / "home"
        self.git = path / "git"
        self._packs = self.git / "objects" / "pack"

    @property
    def is_made(self) -> bool:
        """Whether there is a repository; a half-made one never gets its name."""
        parts = (self.home, self._packs)
        return (self.git / "HEAD").is_file() and all(part.is_dir() for part in parts)

    @contextlib.contextmanager
    def locked(self, seconds: float) -> Iterator[int]:
        """Hold the folder alone, made if missing; gives the lock's file descriptor.

        A git started with this descriptor keeps the lock even when we get killed. So whoever holds
        it knows that no other git is at work here, and that what a killed one left is litter.
        Raises Unavailable after `seconds`, or when the folder cannot be made.
        """
        deadline = time.monotonic() + seconds
        with disk_troubles(self.path):
            lock = self._acquire(deadline)
        try:
            yield lock
        finally:
            os.close(lock)

    @contextlib.contextmanager
    def locked_if_free(self) -> Iterator[bool]:
        """Hold the folder alone unless it is in use, or gone; gives whether it is held.

        Raises Unavailable when the disk does not let us.
        """
        lock = None
        with disk_troubles(self.path), contextlib.suppress(FileNotFoundError):
            lock = self._lock_once(os.O_RDWR)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                os.close(lock)

    def _acquire(self, deadline: float) -> int:
        while True:
            # Whoever holds the lock may be deleting all of it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                self._make()
                lock = self._lock_once(os.O_RDWR | os.O_CREAT)
                if lock is not None:
                    return lock
            if time.monotonic() > deadline:
                raise Unavailable(
                    "Another process is still working in this repository's git cache. Try again"
                    " later; if this stays, look for a hanging git on the server."
                )
            time.sleep(PAUSE_SECONDS)

    def _make(self) -> None:
        if self.home.is_file():
            self.home.unlink()
        if (self.path / "lock").is_dir():
            shutil.rmtree(self.path / "lock")
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.chmod(0o700)

    def _lock_once(self, flags: int) -> int | None:
        """The lock's file descriptor, or None when somebody else has it."""
        lock = os.open(self.path / "lock", flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._is_current(lock):
                return lock
        except BlockingIOError:
            pass
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
        return None

    def _is_current(self, lock: int) -> bool:
        """Whether this is still the folder's lock: the one who held it may have deleted all."""
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(lock), os.stat(self.path / "lock"))
        return False

    def place(self, made: Path) -> None:
        """Give a repository that is ready its name. Only under the lock, after `retire`."""
        with disk_troubles(self.path):
            made.rename(self.git)

    def sweep(self) -> None:
        """Remove what a killed git leaves. Only under the lock."""
        litter = [*self.git.glob("*.lock"), *self.path.glob("git.*")]
        if self._packs.is_dir():
            names = set(os.listdir(self._packs))
            litter += [self._packs / name for name in names if _is_litter(name, names)]
        with disk_troubles(self.path):
            for path in litter:
                _remove(path)

    def write_shallow(self, commits: Sequence[str]) -> None:
        """Replace git's list of the commits whose parents are not here. Only under the lock.

        Git grows this list with every fetch and sends it whole with the next, for nothing: only
        those commits matter that the host is told we have. Were they not in it, git would go and
        bring all of their history.
        """
        with disk_troubles(self.path):
            if commits:
                (self.git / "shallow").write_text("".join(f"{id}\n" for id in sorted(commits)))
            else:
                (self.git / "shallow").unlink(missing_ok=True)

    def note_use(self) -> None:
        """Remember that the cache is used now. Only under the lock."""
        with disk_troubles(self.path):
            os.utime(self.path / "lock")

    @property
    def used_at(self) -> float:
        """When the cache was used last, in seconds since 1970; 0 when there is none."""
        with contextlib.suppress(FileNotFoundError):
            return (self.path / "lock").stat().st_mtime
        return 0

    def pack_count(self) -> int:
        """How many packs there are; each fetch makes one."""
        return sum(1 for _pack in self._packs.glob("*.pack"))

    def size(self) -> int:
        """Bytes of all files; 0 when there is no cache."""
        total = 0
        for folder, _folders, names in os.walk(self.path):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_size
        return total

    def delete(self) -> None:
        """Remove everything. Only under the lock.

        It loses its name first: those who wait for the lock begin anew.
        """
        with disk_troubles(self.path):
            doomed = self.path.with_name(f"{self.path.name}{DOOMED}")
            _remove(doomed)
            self.path.rename(doomed)
            shutil.rmtree(doomed)

    def retire(self) -> None:
        """Remove the repository; it loses its name first, so that half of it is never used.

        Only under the lock.
        """
        with disk_troubles(self.path):
            doomed = self.path / f"git{DOOMED}"
            _remove(doomed)
            if os.path.lexists(self.git):
                self.git.rename(doomed)
                _remove(doomed)


@contextlib.contextmanager
def disk_troubles(path: Path) -> Iterator[None]:
    """Tell trouble with our own disk as Unusable or DiskFull, with the folder and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in OUT_OF_ROOM:
            raise DiskFull(NO_ROOM) from error
        raise Unusable(
            f"The git cache in {path} cannot be used: {error.strerror}. Correct the rights of that"
            " folder, or set DATA_DIR to one that belongs to this server."
        ) from error


def _is_litter(name: str, names: set[str]) -> bool:
    """Packs being written, and those whose index, which git writes last, never came."""
    if not name.startswith("pack-"):
        return name.startswith(("tmp_", ".tmp-"))
    return not name.endswith(".idx") and f"{name.partition('.')[0]}.idx" not in names


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
