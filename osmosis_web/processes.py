"""Run a few programs together: start them, start again what dies, stop them all.

    with Supervisor() as supervisor:
        supervisor.finish(Program("migrations", [...]))         # a step, waited for
        supervisor.start(Program("web", [...]))
        supervisor.wait_until(answers, seconds=30, waiting_for="web")
        supervisor.watch()                                      # until SIGINT, SIGTERM or SIGHUP

Each program leads a session of its own: Ctrl-C in a terminal reaches the supervisor alone, which
tells the programs to stop, the last started first. Descriptors that may be inherited are.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from types import FrameType, TracebackType
from typing import Self

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# A program that stayed up this long has started well; when it dies it is back at once.
SETTLED_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 15.0

# Deaths in a row, none of them after a settled life, after which a program cannot start.
TRIES = 4

C_LIBRARY = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
LOG_LINES_SHOWN = 12


class CannotStart(Exception):
    """A program ended instead of running. The message is a sentence, and what its log ends with."""


class Stopped(Exception):
    """Somebody asked us to stop. Raised by what waits: `finish`, `wait_until` and `watch`."""


@dataclass(frozen=True)
class Program:
    """What to run. Output goes to the end of `log`, or where ours goes when there is none."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None


@dataclass
class _Life:
    """One program over its lives."""

    program: Program
    process: subprocess.Popen[bytes]
    started_at: float
    has_settled: bool = False
    short_lives: int = 0
    starts_again_at: float | None = None

    def is_dead(self) -> bool:
        return self.starts_again_at is not None or self.process.returncode is not None

    def died(self, now: float) -> None:
        """Decide when the next life begins. Raises CannotStart when there is no point in one."""
        if now - self.started_at >= SETTLED_SECONDS:
            self.has_settled, self.short_lives = True, 0
        self.short_lives += 1
        if self.short_lives >= TRIES and not self.has_settled:
            raise CannotStart(_obituary(self.program, self.process.returncode))
        # The first death is forgiven without a pause: a worker ends when the database restarted.
        pause = FIRST_PAUSE_SECONDS * 2 ** (self.short_lives - 2) if self.short_lives > 1 else 0.0
        self.starts_again_at = now + min(pause, LONGEST_PAUSE_SECONDS)


class Supervisor:
    """Holds the programs it has started; leaving its block ends them all."""

    def __init__(
        self, *, stop_seconds: float = 5.0, stop_signal: signal.Signals = signal.SIGTERM
    ) -> None:
        """Programs are told to end by `stop_signal`, and killed after `stop_seconds`."""
        self._stop_seconds = stop_seconds
        self._stop_signal = stop_signal
        self._lives: list[_Life] = []
        self._deaths: SimpleQueue[_Life | None] = SimpleQueue()  # None: we are asked to stop
        self._is_hasty = False
        self._on_exit = ExitStack()

    def __enter__(self) -> Self:
        for number in STOP_SIGNALS:
            if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup: we are to outlive the terminal
            before = signal.signal(number, self._asked_to_stop)
            self._on_exit.callback(signal.signal, number, before)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._on_exit:
            self._is_hasty = False
            self._end(*reversed(self._lives))

    def start(self, program: Program) -> None:
        """Start a program that is to run as long as we do."""
        life = _Life(program, _run(program), time.monotonic())
        self._lives.append(life)
        self._listen(life)

    def finish(self, program: Program) -> None:
        """Run a program to its end. Raises CannotStart when it fails, or another one ends."""
        self.start(program)
        life = self._lives[-1]
        try:
            self._expect(self._next_death(None), only=life)
        finally:
            self._end(life)
            self._lives.remove(life)

    def wait_until(
        self, condition: Callable[[], bool], *, seconds: float, waiting_for: str
    ) -> None:
        """Wait for something the program of this name is to do.

        Raises CannotStart when the time is up, or any program ends meanwhile.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            self._expect(self._next_death(0.1))
            if time.monotonic() > deadline:
                life = next(life for life in self._lives if life.program.name == waiting_for)
                raise CannotStart(
                    f"{waiting_for} is not ready after {seconds:g} s."
                    + _end_of_log(life.program.log)
                )

    def _expect(self, dead: _Life | None, *, only: _Life | None = None) -> None:
        """Take a death for a failure, unless it is the good end of the only one expected to end."""
        if dead is not None and (dead is not only or dead.process.returncode != 0):
            raise CannotStart(_obituary(dead.program, dead.process.returncode))

    def watch(self) -> None:
        """Start again what dies, until we are asked to stop.

        Raises Stopped in the end, or CannotStart when a program never stays up.
        """
        while True:
            waiting = [life.starts_again_at for life in self._lives if life.starts_again_at]
            now = time.monotonic()
            dead = self._next_death(max(0.0, min(waiting) - now) if waiting else None)
            if dead is not None:
                dead.died(time.monotonic())
            for life in self._lives:
                if life.starts_again_at is not None and life.starts_again_at <= time.monotonic():
                    self._start_again(life)

    def _start_again(self, life: _Life) -> None:
        life.process = _run(life.program)
        life.started_at, life.starts_again_at = time.monotonic(), None
        self._listen(life)

    def _listen(self, life: _Life) -> None:
        def wait(process: subprocess.Popen[bytes]) -> None:
            process.wait()
            self._deaths.put(life)

        Thread(target=wait, args=[life.process], daemon=True).start()

    def _next_death(self, seconds: float | None) -> _Life | None:
        """Wait for the next death, at most so long. Raises Stopped when we are asked to stop."""
        try:
            dead = self._deaths.get(timeout=seconds)
        except Empty:
            return None
        if dead is None:
            raise Stopped
        _kill_group(dead.process)  # what it has left running
        return dead

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        # Only noted here, and acted upon where we wait, so that no program is lost half started.
        self._is_hasty = True
        self._deaths.put(None)

    def _end(self, *lives: _Life) -> None:
        """End programs: politely, and by force when they take too long or we are asked again."""
        running = [life.process for life in lives if not life.is_dead()]
        for process in running:
            process.send_signal(self._stop_signal)
        deadline = time.monotonic() + self._stop_seconds
        for process in running:
            while process.poll() is None and time.monotonic() < deadline and not self._is_hasty:
                time.sleep(0.02)
            _kill_group(process)
            process.wait()


def _run(program: Program) -> subprocess.Popen[bytes]:
    with ExitStack() as open_files:
        log = None
        if program.log is not None:
            log = open_files.enter_context(program.log.open("ab"))
        return subprocess.Popen(
            program.command,
            env={**os.environ, **program.environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            close_fds=False,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )


def _end_with_parent() -> None:
    """Have this program told to end when we are killed, where the system knows how (Linux).

    https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html
    """
    if sys.platform == "linux":
        C_LIBRARY.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _obituary(program: Program, code: int) -> str:
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return f"{program.name} {how}." + _end_of_log(program.log)


def _end_of_log(log: Path | None) -> str:
    if log is None or not log.exists():
        return ""
    lines = log.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
    return "".join(f"\n    {line}" for line in lines) + f"\n  All of it is in {log}"
