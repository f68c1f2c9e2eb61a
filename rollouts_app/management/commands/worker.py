"""`manage.py worker`: works off the queue until told to stop, or until it would be deaf."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Iterable
from typing import Any, NoReturn

from django.core.management.base import BaseCommand
from django.db import DatabaseError, connections
from procrastinate import App
from procrastinate.connector import Notify
from procrastinate.contrib.django import app
from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import DeleteJobCondition, Status
from procrastinate.psycopg_connector import PsycopgConnector

from rollouts_app.metrics.handing import keep_handing_over
from rollouts_app.sync import caches, upkeep
from rollouts_app.tracing import traced_job

log = logging.getLogger(__name__)

# Repositories synced at the same time by one worker.
CONCURRENCY = 4
# A worker without a heartbeat for this long is taken for dead, and its jobs are done again.
HEARTBEAT_SECONDS = 2.0
DEAD_AFTER_SECONDS = 8.0
# How soon jobs are found that were not announced: those whose time came, or whose lock got free.
POLLING_SECONDS = 1.0
# What a job may take to end when the worker is told to stop.
STOP_SECONDS = 20.0


class WatchedConnector(PsycopgConnector):
    """A connection that notices when it no longer hears of new jobs.

    After a restart of the database the listener does not come back by itself: the worker would go
    on, but see new jobs seconds late.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.is_deaf = asyncio.Event()

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        try:
            await super().listen_notify(on_notification, channels)
        except Exception:
            self.is_deaf.set()
            raise

    async def _loop_notify(self, *args: Any, **kwargs: Any) -> None:
        await super()._loop_notify(*args, **kwargs)
        self.is_deaf.set()


class Command(BaseCommand):
    help = "Syncs repositories. Start as many as you like, on as many machines as you like."

    def handle(self, *args: Any, **options: Any) -> None:
        upkeep.begin()
        keep_handing_over()
        connector = WatchedConnector(kwargs=connector_params())
        with app.replace_connector(connector) as worker_app:
            asyncio.run(work(worker_app, connector))


async def work(worker_app: App, connector: WatchedConnector) -> None:
    """Run until a signal comes. Ends the whole process when the database is lost."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    async with worker_app.open_async():
        worker = asyncio.create_task(
            worker_app.run_worker_async(
                concurrency=CONCURRENCY,
                fetch_job_polling_interval=POLLING_SECONDS,
                delete_jobs=DeleteJobCondition.ALWAYS,
                install_signal_handlers=False,
                task_middleware=[traced_job],
                shutdown_graceful_timeout=STOP_SECONDS,
                stalled_worker_timeout=DEAD_AFTER_SECONDS,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
            )
        )
        others = [
            told.wait(),
            connector.is_deaf.wait(),
            rescue_jobs(worker_app),
            keep_tidy(),
        ]
        companions = [asyncio.create_task(other) for other in others]
        await asyncio.wait([worker, *companions], return_when=asyncio.FIRST_COMPLETED)
        if not told.is_set():
            give_up()
        for task in (*companions, worker):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectorException):
            await worker


def give_up() -> NoReturn:
    """Exit at once, to be started anew. Nothing waits for jobs that run: they have lost the
    database, too, and what a killed worker leaves is taken up by the next one."""
    log.error("The worker lost its database connection.")
    os._exit(1)


async def rescue_jobs(worker_app: App) -> None:
    """Put back, again and again, the jobs of workers that died; ends when the database is lost."""
    while True:
        await put_back_jobs_of_the_dead(worker_app)
        await asyncio.sleep(HEARTBEAT_SECONDS)


async def keep_tidy() -> NoReturn:
    """Keep this machine's caches within bounds, whether it has jobs or not: what was disconnected
    or deleted elsewhere leaves this disk, too."""
    while True:
        await asyncio.sleep(caches.PAUSE_SECONDS)
        await asyncio.to_thread(tidy_caches)


def tidy_caches() -> None:
    """Once, in a thread of its own; whatever goes wrong is for the next time."""
    try:
        caches.tidy()
    except (OSError, DatabaseError):
        log.exception("The git caches could not be tidied up")
    finally:
        connections.close_all()


async def put_back_jobs_of_the_dead(worker_app: App) -> None:
    """Let the jobs that workers left behind be done again. Raises ConnectorException."""
    manager = worker_app.job_manager
    for job in await manager.get_stalled_jobs(seconds_since_heartbeat=DEAD_AFTER_SECONDS):
        # Another worker may be quicker: then the job is no longer one to be put back.
        with contextlib.suppress(ConnectorException):
            try:
                await manager.retry_job(job)
            except UniqueViolation:
                # Another ring waits already, and the queueing lock allows one: that one will do.
                await manager.finish_job(job, status=Status.FAILED, delete_job=True)
