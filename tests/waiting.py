"""Waiting for what other processes do."""

import time
from collections.abc import Callable


def wait_until(is_so: Callable[[], object], seconds: float = 20) -> float:
    """Wait until something is so; how many seconds it took. Raises TimeoutError."""
    start = time.monotonic()
    while not is_so():
        if time.monotonic() > start + seconds:
            raise TimeoutError(f"{is_so} did not come true within {seconds} s")
        time.sleep(0.02)
    return time.monotonic() - start
