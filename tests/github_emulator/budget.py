"""How many requests each caller has left this hour.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from dataclasses import dataclass

HOUR = 3600


@dataclass
class Spent:
    """What one caller used of its hour, which ends at `reset` (seconds since 1970)."""

    limit: int
    reset: int
    used: int = 0

    @property
    def remaining(self) -> int:
        """How many requests are left."""
        return max(0, self.limit - self.used)

    def headers(self) -> dict[str, str]:
        """The headers that tell of it."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-reset": str(self.reset),
            "x-ratelimit-resource": "core",
        }


class Budget:
    """Counts by caller. `limit` and `anonymous_limit` may be set low to see a client run dry."""

    def __init__(self) -> None:
        self.limit = 5000
        self.anonymous_limit = 60
        self._spent: dict[str, Spent] = {}

    def of(self, caller: str | None, now: float) -> Spent:
        """The state of a caller's hour (None: nobody signed in), without counting."""
        limit = self.limit if caller else self.anonymous_limit
        spent = self._spent.get(caller or "")
        if spent is None or spent.reset <= now:
            spent = self._spent[caller or ""] = Spent(limit, int(now) + HOUR)
        spent.limit = limit
        return spent
