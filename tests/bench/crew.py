"""The product, running: its web door and its workers, one of which is killed now and then."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from osmosis_web.server import PROJECT, port_is_free, web_command, worker_command
from tests.settings import LIVE_SERVER
from tests.waiting import wait_until
from tests.workers import worker_environment

START_SECONDS = 30.0
STOP_SECONDS = 25.0


@dataclass
class Worker:
    """One life of a worker; its peak of memory is known when it has ended."""

    process: "subprocess.Popen[bytes]"

    def end(self, how: signal.Signals, seconds: float = STOP_SECONDS) -> int:
        """End it by a signal, by force when it takes too long. Its most memory, in KB."""
        # Popen's own ways of ending and waiting do not tell what was used.
        os.kill(self.process.pid, how)
        deadline = time.monotonic() + seconds
        while (memory := self.memory_if_ended()) is None:
            if time.monotonic() > deadline:
                os.kill(self.process.pid, signal.SIGKILL)
            time.sleep(0.02)
        return memory

    def memory_if_ended(self) -> int | None:
        """Its most memory, in KB; None as long as it lives."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            return None
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return int(usage.ru_maxrss)


class Crew:
    """Processes of their own, as `script/server` and `script/worker` start them."""

    def __init__(self, workers: int, seconds_between_kills: float, interval: int) -> None:
        self.kills = 0
        # How workers ended that nobody had killed: `script/worker` starts them again, and so do we.
        self.exits: list[int] = []
        self.peak_kilobytes = 0
        self._environment = {**worker_environment(), "SYNC_INTERVAL_SECONDS": str(interval)}
        self._pause = seconds_between_kills
        self._count = workers
        self.log = Path(self._environment["DATA_DIR"]) / "crew.log"
        self._workers: list[Worker] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self._clear_up)
            self._start(web_command(LIVE_SERVER), self._environment)
            self._workers += [self._start_worker() for _ in range(self._count)]
            host, _, port = LIVE_SERVER.rpartition(":")
            wait_until(lambda: not port_is_free(host, int(port)), seconds=START_SECONDS)
            self._on_exit = stack.pop_all()
        self._next_kill = time.monotonic() + self._pause
        return self

    def __exit__(self, *_error: object) -> None:
        with self._on_exit:
            self.stop()

    def _clear_up(self) -> None:
        """End what is left, such as the git of a worker that was killed."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if process.returncode is None:
                process.wait()

    def tend(self, *, kill: bool = False) -> None:
        """Start workers in place of those that ended; where it is time, kill the oldest first."""
        for worker in list(self._workers):
            memory = worker.memory_if_ended()
            if memory is not None:
                self.exits.append(worker.process.returncode)
                self._replace(worker, memory)
        if kill and time.monotonic() > self._next_kill:
            self._next_kill = time.monotonic() + self._pause
            self.kills += 1
            self._replace(self._workers[0], self._workers[0].end(signal.SIGKILL))

    def stop(self) -> None:
        """Let the workers end in peace."""
        while self._workers:
            memory = self._workers.pop().end(signal.SIGTERM)
            self.peak_kilobytes = max(self.peak_kilobytes, memory)

    def _replace(self, worker: Worker, memory: int) -> None:
        self.peak_kilobytes = max(self.peak_kilobytes, memory)
        self._workers.remove(worker)
        self._workers.append(self._start_worker())

    def _start_worker(self) -> Worker:
        return Worker(self._start(worker_command(), self._environment))

    def _start(
        self, command: list[str], environment: Mapping[str, str]
    ) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=PROJECT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process
