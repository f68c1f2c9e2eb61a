"""Workers that die where they are told to: really, by SIGKILL, in a process of their own.

`python -m tests.mortal_worker` reads numbers, one a line. For each it forks a worker that works off
the queue, and that kills itself at that step of its work: before its so-manieth query of the
database or start of git. It answers with the worker's exit code, which is negative when it was
killed.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import django
from django.db.backends.signals import connection_created
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector

FAULT = 70


class Faults(logging.Handler):
    """Notes whether anything was logged that went wrong and was not expected to."""

    is_met = False

    def emit(self, record: logging.LogRecord) -> None:
        self.is_met = self.is_met or record.exc_info is not None


def work(step: int) -> int:
    """Work off the queue, up to that step; the exit code of an unharmed worker."""
    steps = count()

    def take_a_step() -> None:
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def query(execute: Callable[..., Any], *arguments: Any) -> Any:
        take_a_step()
        return execute(*arguments)

    def start_of_program(event: str, _arguments: object) -> None:
        if event == "subprocess.Popen":
            take_a_step()

    def connected(connection: Any, **_: object) -> None:
        connection.execute_wrappers.append(query)

    connection_created.connect(connected, weak=False)
    sys.addaudithook(start_of_program)
    faults = Faults()
    logging.getLogger().addHandler(faults)
    connector: DjangoConnector = app.connector  # type: ignore[assignment]
    with app.replace_connector(connector.get_worker_connector()) as worker_app:
        worker_app.run_worker(
            wait=False, install_signal_handlers=False, listen_notify=False, delete_jobs="always"
        )
    return FAULT if faults.is_met else 0


def main() -> None:
    django.setup()
    for line in sys.stdin:
        worker = os.fork()
        if not worker:
            os._exit(work(int(line)))
        _, status = os.waitpid(worker, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
