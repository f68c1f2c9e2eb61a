"""How often something is done, counted for all processes in the shared cache."""

import time

from django.core.cache import cache


def note(what: str, seconds: int) -> int:
    """Count one more, and say how many it makes within these seconds, which begin anew for all."""
    name = _name(what, seconds)
    cache.add(name, 0, timeout=2 * seconds)
    try:
        return cache.incr(name)
    except ValueError:
        # Thrown away meanwhile: a cache that is full.
        return 1


def count(what: str, seconds: int) -> int:
    """How many there were, without one more."""
    number: int = cache.get(_name(what, seconds), 0)
    return number


def _name(what: str, seconds: int) -> str:
    return f"rate-{what}-{int(time.time() // seconds)}"
