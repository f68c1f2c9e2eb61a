"""The process between the users of the embedded PostgreSQL and its server.

It runs in a session of its own, so that no Ctrl-C reaches it, starts PostgreSQL, starts it again
when it dies, and stops it when nobody holds the users' lock any more. What it and PostgreSQL have
to say goes to the log. Run by `postgres.py` as

    python -m osmosis_web.postgres_server.launcher FOLDER PROGRAMS [--throwaway]
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from osmosis_web.locks import is_free, try_lock
from osmosis_web.locks import lock as wait_for_lock
from osmosis_web.postgres_server.cluster import (
    clean_environment,
    postmaster_file,
    server_command,
)
from osmosis_web.postgres_server.places import Places, account, remove

TICK_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
LONGEST_FAREWELL_SECONDS = 3600.0


class Launcher:
    """Keeps one PostgreSQL running for as long as somebody needs it."""

    def __init__(self, places: Places, programs: Path, *, throwaway: bool) -> None:
        self.places = places
        self.who = account()
        self.command = server_command(places, programs, throwaway=throwaway)
        self.server: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Keep PostgreSQL running until nobody needs it. Returns 1 when it never came up."""
        was_ever_ready = False
        pause = TICK_SECONDS
        while True:
            self.server = self._start()
            was_ready = self._watch(self.server)
            if self.server.poll() is None:
                self.stop()
                return 0
            say(f"PostgreSQL ended with {self.server.returncode}.")
            was_ever_ready = was_ever_ready or was_ready
            if not was_ever_ready:
                return 1
            pause = TICK_SECONDS if was_ready else min(pause * 2, LONGEST_PAUSE_SECONDS)
            time.sleep(pause)

    def _watch(self, server: subprocess.Popen[bytes]) -> bool:
        """Wait until the server dies or nobody needs it. Returns whether it was ever ready."""
        was_ready = False
        while server.poll() is None and not self._nobody_needs_it():
            was_ready = was_ready or self._is_ready()
            time.sleep(TICK_SECONDS)
        return was_ready or self._is_ready()  # a killed server leaves its file

    def _start(self) -> subprocess.Popen[bytes]:
        # What a dead server leaves running ends by itself, and lets go of the lock.
        lock = wait_for_lock(self.places.lock("server"), seconds=LONGEST_FAREWELL_SECONDS)
        try:
            # Nobody holds the lock, so this is what a machine that lost its power left behind. Its
            # process number may be anybody's by now, and PostgreSQL would take it for a server.
            (self.places.data / "postmaster.pid").unlink(missing_ok=True)
            return subprocess.Popen(
                self.command,
                cwd="/",
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                user=self.who.user,
                group=self.who.group,
                extra_groups=self.who.groups,
                pass_fds=[lock],
            )
        finally:
            os.close(lock)

    def _is_ready(self) -> bool:
        with suppress(OSError):
            return postmaster_file(self.places)[-1].strip() == "ready"
        return False

    def _nobody_needs_it(self) -> bool:
        """Whether the last user is gone; then nobody can come either until this process ends."""
        mutex = try_lock(self.places.lock("starting"))
        if mutex is None:
            return False
        if is_free(self.places.lock("users")):
            return True  # the mutex stays held
        os.close(mutex)
        return False

    def stop(self) -> None:
        """Stop PostgreSQL: by closing its connections, else at once, else by force."""
        if self.server is None:
            return
        for number, seconds in ((signal.SIGINT, 20), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
            self.server.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                self.server.wait(seconds)
                return


def say(sentence: str) -> None:
    sys.stderr.write(f"launcher: {sentence}\n")


def leave(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


def main(folder: str, programs: str, *options: str) -> int:
    signal.signal(signal.SIGTERM, leave)
    places = Places(Path(folder))
    throwaway = "--throwaway" in options
    launcher = Launcher(places, Path(programs), throwaway=throwaway)
    try:
        return launcher.run()
    finally:
        launcher.stop()
        shutil.rmtree(places.socket_folder, ignore_errors=True)
        if throwaway:
            remove(places)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
