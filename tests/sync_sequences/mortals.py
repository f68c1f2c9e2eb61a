"""Workers that are killed at a step of their work."""

import subprocess
import sys

from tests.workers import ROOT, worker_environment


class Mortals:
    """The process that forks them, started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def work_until(self, step: int) -> int:
        """Work off the queue and die at that step; the exit code, 0 when it ended before."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.mortal_worker"],
                cwd=ROOT,
                env=worker_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{step}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()
