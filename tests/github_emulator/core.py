"""The emulator's middle: where records, git, time and deliveries meet."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import payloads
from .bare import BareRepository
from .budget import Budget
from .delivery_log import DeliveryLog
from .mishaps import Held, Mishap
from .outbox import Outbox
from .records import Account, App, Installation, Repository
from .shapes import Shapes
from .state import State, ask_for_the_usual, load, new_app, save
from .webhooks import COULD_NOT_CONNECT, Deliver, Delivery, Destination, Event, again, make_delivery


class UnknownName(LookupError):
    """The emulator has no account, repository or installation of that name."""


class Core:
    """Records in `folder`/state.json, repositories in `folder`/repositories, and the deliveries.

    `clock` gives the time in seconds since 1970 and may be replaced at any time.
    """

    # Whether a later start goes on with what this one did; otherwise each change costs less.
    keeps_records = True

    def __init__(self, folder: Path, port: int, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.port = port
        self.clock = self._given_clock = clock
        self.lock = threading.RLock()
        self.budget = Budget()
        self._depth = 0
        self._bare: dict[int, BareRepository] = {}
        (folder / "repositories").mkdir(parents=True, exist_ok=True)
        self._file = folder / "state.json"
        self.state = load(self._file) if self._file.exists() else State(new_app(clock()))
        self.outbox = Outbox(self._destination, DeliveryLog(folder / "deliveries.jsonl"))
        if not self._file.exists():
            self.keep()

    @property
    def url(self) -> str:
        """Where the emulator answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def app(self) -> App:
        """The App: credentials, addresses, permissions, events. `keep()` after changing it."""
        return self.state.app

    @property
    def shapes(self) -> Shapes:
        """What makes JSON objects of records."""
        return Shapes(self.url, self.state)

    @property
    def deliver(self) -> Deliver | None:
        """Makes a delivery and returns the status answered. None: nothing is sent."""
        return self.outbox.deliver

    @deliver.setter
    def deliver(self, deliver: Deliver | None) -> None:
        self.outbox.deliver = deliver

    @property
    def deliveries(self) -> list[Delivery]:
        """Every delivery made since the last reset, oldest first; of earlier starts the latest."""
        return list(self.outbox.log.made)

    def wait_for_deliveries(self, seconds: float = 10) -> None:
        """Return once everything that happened is delivered. Raises TimeoutError."""
        self.outbox.wait(seconds)

    def delivery(self, number: int) -> Delivery:
        """The delivery of that number, if GitHub still knows it. Raises UnknownName."""
        known = self.outbox.log.recent(self.clock())
        found = next((made for made in known if made.number == number), None)
        if found is None:
            raise UnknownName(f"There is no delivery {number} of the past three days.")
        return found

    def hold_deliveries(self) -> Held:
        """Keep deliveries back from now on, until what is returned lets them go."""
        return self.outbox.hold()

    def lose_deliveries(self, event: str | None = None, *, times: int | None = None) -> Mishap:
        """Let deliveries (of an event) never be made: GitHub does not list them either."""
        return self.outbox.mishaps.add(Mishap("lost", event, times))

    def fail_deliveries(
        self,
        event: str | None = None,
        *,
        times: int | None = None,
        status: int = COULD_NOT_CONNECT,
    ) -> Mishap:
        """Let deliveries never arrive; GitHub lists them as failed with `status`."""
        return self.outbox.mishaps.add(Mishap("failed", event, times, status))

    def double_deliveries(self, event: str | None = None, *, times: int | None = None) -> Mishap:
        """Let deliveries arrive twice, under one X-GitHub-Delivery."""
        return self.outbox.mishaps.add(Mishap("doubled", event, times))

    def redeliver(self, number: int) -> Delivery:
        """Send a delivery of the past once more, with the same X-GitHub-Delivery."""
        past = self.delivery(number)
        with self.changing():
            fresh = again(past, self.state.next_id(), self.clock())
            self.outbox.put(fresh)
        return fresh

    @contextmanager
    def changing(self) -> Iterator[State]:
        """Records may be read and changed inside; at the end they are written to disk, and what was
        announced meanwhile is delivered."""
        with self.lock:
            self._depth += 1
            try:
                yield self.state
            finally:
                self._depth -= 1
            outermost = not self._depth
            if outermost:
                self.keep()
        if outermost:
            self.outbox.flush()

    def keep(self) -> None:
        """Write to disk what was set on `app`."""
        if self.keeps_records:
            with self.lock:
                save(self.state, self._file)

    def reset(self) -> None:
        """Forget everything but the App's credentials and addresses, and the port."""
        with self.changing():
            self.outbox.forget()
            self.budget = Budget()
            self.clock = self._given_clock
            ask_for_the_usual(self.state.app)
            fresh = State(self.state.app)
            # Numbers go on, so that nothing of the old world is taken for something of the new one.
            fresh.last_id = self.state.last_id
            self.state = fresh
            self.outbox.deliver = self.outbox.post
            self._bare.clear()
            # A client that hangs on may still read there; what it sees no longer matters.
            shutil.rmtree(self.folder / "repositories", ignore_errors=True)
            (self.folder / "repositories").mkdir(exist_ok=True)

    def account_named(self, login: str) -> Account:
        """The person or organization. Raises UnknownName."""
        account = self.state.account(login)
        if account is None:
            raise UnknownName(f"There is no account called {login} in the emulator.")
        return account

    def repository_named(self, full_name: str) -> Repository:
        """The repository of that name now. Raises UnknownName."""
        repository = self.state.repository(full_name)
        if repository is None:
            raise UnknownName(f"There is no repository called {full_name} in the emulator.")
        return repository

    def bare(self, repository: Repository) -> BareRepository:
        """The repository's git side; always the same object, as it carries the lock."""
        with self.lock:
            folder = self.folder / "repositories" / f"{repository.id}.git"
            return self._bare.setdefault(repository.id, BareRepository(folder))

    def announce(
        self,
        name: str,
        payload: dict[str, Any],
        installation: Installation | None = None,
        repository: Repository | None = None,
    ) -> None:
        """Tell the App of something that happened. ValueError for what `payloads` does not list."""
        kind = "-".join(filter(None, [name, payload.get("action")])).replace("_", "-")
        if kind not in payloads.SENT:
            raise ValueError(f"payloads.SENT does not list {kind}: list it, and let it be judged.")
        installation_id = installation.id if installation else None
        event = Event(name, payload, installation_id, repository.id if repository else None)
        with self.changing():
            number = self.state.next_id()
            delivery = make_delivery(event, self._destination(), number, self.clock())
            self.outbox.put(delivery)

    def _destination(self) -> Destination:
        app = self.state.app
        return Destination(app.id, app.webhook_url, app.webhook_secret)
