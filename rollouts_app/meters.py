"""What this process counts, until it is handed over to the database. For any thread.

Knows no tables, so that everything may count. Labels are words of ours and numbers, never the names
of people, workspaces, repositories or branches: metrics are read by more people than pages are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

# Upper ends of the classes that durations fall into, in seconds.
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ENDLESS = "+Inf"

Labels = tuple[tuple[str, str], ...]
Key = tuple[str, Labels]


@dataclass
class Readings:
    """Sums to be added to those of others, and values that replace older ones."""

    sums: dict[Key, float] = field(default_factory=dict)
    latest: dict[Key, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sums or self.latest)

    def add(self, key: Key, amount: float) -> None:
        """Add to a sum."""
        self.sums[key] = self.sums.get(key, 0.0) + amount


_lock = Lock()
_readings = Readings()


def count(name: str, amount: float = 1, **labels: str) -> None:
    """Something happened, so many times."""
    with _lock:
        _readings.add(_key(name, labels), amount)


def took(name: str, seconds: float, **labels: str) -> None:
    """Something took this long: counted in one class of durations, and in their sum."""
    end = next((str(limit) for limit in BUCKETS if seconds <= limit), ENDLESS)
    with _lock:
        _readings.add(_key(f"{name}_bucket", {**labels, "le": end}), 1)
        _readings.add(_key(f"{name}_sum", labels), seconds)


def note(name: str, value: float, **labels: str) -> None:
    """Something stands at this value now."""
    with _lock:
        _readings.latest[_key(name, labels)] = value


def take() -> Readings:
    """What was counted since the last time; from here on it is the caller's to keep."""
    global _readings
    with _lock:
        taken, _readings = _readings, Readings()
    return taken


def give_back(taken: Readings) -> None:
    """Keep what could not be handed over, for the next time."""
    with _lock:
        for key, amount in taken.sums.items():
            _readings.add(key, amount)
        _readings.latest = taken.latest | _readings.latest


def _key(name: str, labels: Mapping[str, str]) -> Key:
    return name, tuple(sorted(labels.items()))
