"""What a process counts of itself is handed over to the database every few seconds.

There the numbers of all processes on all machines come together, and outlive them. A process that
is killed takes those of its last seconds with it.
"""

import atexit
import logging
from threading import Event, Thread

from django.db import DatabaseError, InterfaceError, connections
from psycopg_pool import PoolTimeout

from rollouts_app import meters
from rollouts_app.models import Tally

log = logging.getLogger(__name__)

PAUSE_SECONDS = 5.0


def hand_over() -> bool:
    """Add what was counted to the database. False where that fails: then it is kept for later."""
    taken = meters.take()
    if not taken:
        return True
    try:
        Tally.objects.all().add(taken)
    except (DatabaseError, InterfaceError, PoolTimeout):
        meters.give_back(taken)
        return False
    return True


def keep_handing_over() -> None:
    """Hand over from now on, from a thread of this process, and once more at its end."""
    ending = Event()

    def repeat() -> None:
        while not ending.wait(PAUSE_SECONDS):
            if not hand_over():
                log.warning("The database does not take our metrics; they are kept for later.")
            connections.close_all()  # the thread's own, which the pool gives to requests meanwhile
        hand_over()
        connections.close_all()

    thread = Thread(target=repeat, name="metrics", daemon=True)
    thread.start()

    def end() -> None:
        ending.set()
        thread.join(PAUSE_SECONDS)

    atexit.register(end)
