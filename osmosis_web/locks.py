"""File locks (flock): held as long as a descriptor of their file is open in any process.

The kernel lets go of them when their last holder ends, however it ends, and a child that inherits
the descriptor goes on holding the lock. That is all we know about who is there; no process number
is ever trusted.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """A descriptor that holds the lock of this file, or None when another process has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def lock(path: Path, *, shared: bool = False, seconds: float) -> int:
    """As `try_lock`, waiting for it. Raises TimeoutError after so many seconds."""
    deadline = time.monotonic() + seconds
    while (descriptor := try_lock(path, shared=shared)) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"Another process holds {path} for more than {seconds:.0f} s.")
        time.sleep(0.02)
    return descriptor


@contextmanager
def locked(path: Path, *, seconds: float) -> Iterator[int]:
    """Hold the lock of this file for the length of a block. Raises TimeoutError."""
    descriptor = lock(path, seconds=seconds)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_free(path: Path) -> bool:
    """Whether nobody holds the lock of this file, shared or not."""
    descriptor = try_lock(path)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True
