"""What our side does: workers, some of which die, the timer, people who press buttons; and time."""

import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from django.db import connection, connections

from rollouts_app.models import SyncRun
from rollouts_app.sync import manual, tasks, upkeep
from tests.github_emulator.trouble import Trouble
from tests.github_emulator.web import Answer
from tests.sync_sequences.world import Step, World
from tests.workers import work_off

SECONDS = 60


@dataclass(frozen=True)
class Work:
    """A worker works off what waits."""

    def run(self, world: World) -> None:
        with world.watched():
            work_off()


@dataclass(frozen=True)
class StartWorker:
    """A worker starts, which asks for deliveries that were lost, and works off what waits."""

    def run(self, world: World) -> None:
        upkeep.begin()
        Work().run(world)
        # Until now it was GitHub's own threads that were asked to deliver again.
        world.github.wait_for_deliveries()


@dataclass(frozen=True)
class Die:
    """A worker works off what waits, a full check among it, and is killed at that step of it."""

    which: str
    at: int

    def run(self, world: World) -> None:
        world.row(self.which).request_full_check()
        tasks.ring(world.rows[self.which])
        code = world.mortals.work_until(self.at)
        assert code in (0, -signal.SIGKILL)
        world.has_lost_workers |= code != 0


@dataclass(frozen=True)
class Timer:
    def run(self, world: World) -> None:
        tasks.check_heads(0)


@dataclass(frozen=True)
class PressSyncNow:
    which: str

    def run(self, world: World) -> None:
        manual.check_now(world.row(self.which))


@dataclass(frozen=True)
class Retry:
    """Somebody has a run of the past done again."""

    place: int

    def run(self, world: World) -> None:
        runs = SyncRun.objects.order_by("pk")
        if count := runs.count():
            manual.retry(runs[self.place % count], "ada")


@dataclass(frozen=True)
class Cancel:
    """Somebody cancels the run that waits longest."""

    def run(self, world: World) -> None:
        if run := SyncRun.objects.open().order_by("pk").first():
            world.has_cancelled |= run.cancel("ada")


@dataclass(frozen=True)
class Wait:
    minutes: float

    def run(self, world: World) -> None:
        world.let_time_pass(self.minutes)


@dataclass(frozen=True)
class Sync:
    """One sync, past the queue."""

    which: str

    def run(self, world: World) -> None:
        tasks.sync_repository(world.rows[self.which])


@dataclass(frozen=True)
class SyncTwice:
    """Two syncs begin at the same moment."""

    which: str

    def run(self, world: World) -> None:
        barrier = threading.Barrier(2)

        def sync() -> None:
            barrier.wait(SECONDS)
            tasks.sync_repository(world.rows[self.which])

        with ThreadPoolExecutor(2) as threads:
            for one in [threads.submit(apart, sync) for _ in range(2)]:
                one.result(SECONDS)


@dataclass(frozen=True)
class SyncDuring:
    """One sync of all branches; before GitHub answers that request, something else happens."""

    which: str
    request: int
    what: Step

    def run(self, world: World) -> None:
        meanwhile = Meanwhile(
            "/", times=1, happens=lambda: self.what.run(world), spared=self.request
        )
        world.github.troubles.add(meanwhile)
        world.row(self.which).request_full_check()
        with world.surviving():
            tasks.sync_repository(world.rows[self.which])
        meanwhile.end()
        if meanwhile.failure:
            raise meanwhile.failure


@dataclass(frozen=True)
class RestartDatabase:
    """Every session of ours is ended by the database, that of a sync too."""

    def run(self, world: World) -> None:
        world.lost_its_database = world.has_lost_workers = True
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@dataclass
class Meanwhile(Trouble):
    """A trouble that lets the answer be, after something else has happened on another thread."""

    happens: Callable[[], object] = field(default=lambda: None)
    spared: int = 0
    failure: BaseException | None = None

    def concerns(self, method: str, target: str) -> bool:
        """Whether this is the request: the others are let pass."""
        is_one = super().concerns(method, target)
        self.spared -= is_one
        return is_one and self.spared < 0

    def answer(self) -> Answer | None:
        """Let it happen."""
        with ThreadPoolExecutor(1) as thread:
            self.failure = thread.submit(apart, self.happens).exception(SECONDS)
        return super().answer()


def apart(work: Callable[[], object]) -> None:
    """Do it on this thread, whose connections are given back."""
    try:
        work()
    finally:
        connections.close_all()
