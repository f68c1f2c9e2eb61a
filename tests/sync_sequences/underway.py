"""What befalls requests and deliveries on their way."""

import re
from dataclasses import dataclass, replace

from tests.conftest import receive
from tests.sync_sequences.world import World

# Where requests fail: everywhere, by REST or by git.
PLACES: dict[str, str | re.Pattern[str]] = {
    "all": "/",
    "api": "/api/v3/",
    "git": re.compile(r"\.git/"),
}


@dataclass(frozen=True)
class Refuse:
    """The next requests are answered with a status of GitHub's."""

    where: str
    status: int
    times: int

    def run(self, world: World) -> None:
        world.github.trouble(PLACES[self.where], status=self.status, times=self.times)


@dataclass(frozen=True)
class Limit:
    """The next requests are too many."""

    where: str
    kind: str
    times: int

    def run(self, world: World) -> None:
        if self.kind == "primary":
            world.github.limit_primary(PLACES[self.where], times=self.times)
        else:
            world.github.limit_secondary(PLACES[self.where], times=self.times)


@dataclass(frozen=True)
class Cut:
    """The next answers break off."""

    where: str
    after: int
    times: int

    def run(self, world: World) -> None:
        world.github.trouble(PLACES[self.where], cut=self.after, times=self.times)


@dataclass(frozen=True)
class Mend:
    """Requests fail no longer."""

    def run(self, world: World) -> None:
        world.github.troubles.clear()


@dataclass(frozen=True)
class Lose:
    """The next deliveries are never made."""

    times: int

    def run(self, world: World) -> None:
        world.github.lose_deliveries(times=self.times)


@dataclass(frozen=True)
class Fail:
    """The next deliveries do not arrive, and GitHub lists them as failed."""

    times: int

    def run(self, world: World) -> None:
        world.github.fail_deliveries(times=self.times)


@dataclass(frozen=True)
class Double:
    """The next deliveries arrive twice."""

    times: int

    def run(self, world: World) -> None:
        world.github.double_deliveries(times=self.times)


@dataclass(frozen=True)
class Hold:
    """Deliveries are late from now on."""

    def run(self, world: World) -> None:
        world.release()
        world.held = world.github.hold_deliveries()


@dataclass(frozen=True)
class Release:
    """Late deliveries arrive, in any order."""

    seed: int

    def run(self, world: World) -> None:
        world.release(self.seed)


@dataclass(frozen=True)
class ComeAgain:
    """A delivery of the past arrives once more, by its own name or, as if told anew, by another."""

    place: int
    anew: bool

    def run(self, world: World) -> None:
        made = world.github.deliveries
        if not made:
            return
        delivery = made[self.place % len(made)]
        if self.anew:
            name = {"X-GitHub-Delivery": f"again-{world.fresh()}"}
            delivery = replace(delivery, headers={**delivery.headers, **name})
            world.extra.add(name["X-GitHub-Delivery"])
            receive(delivery)
        else:
            world.github.redeliver(delivery.number)
