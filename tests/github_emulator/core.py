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
from .records import Account, App, Installation, Repository
from .shapes import Shapes
from .state import State, ask_for_the_usual, load, new_app, save
from .webhooks import Deliver, Delivery, Destination, Event, Outbox, again, make_delivery


class UnknownName(LookupError):
    """The emulator has no account, repository or installation of that name."""


class Core:
    """Records in `folder`/state.json, repositories in `folder`/repositories, and the deliveries.

    `clock` gives the time in seconds since 1970 and may be replaced at any time.
    """

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
        self.outbox = Outbox(clock=lambda: self.clock(), destination=self._destination)
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
        """Every delivery made since the start or the last reset, oldest first."""
        return list(self.outbox.made)

    def wait_for_deliveries(self, seconds: float = 10) -> None:
        """Return once everything that happened is delivered. Raises TimeoutError."""
        self.outbox.wait(seconds)

    def redeliver(self, number: int) -> Delivery:
        """Send a delivery of the past once more, with the same X-GitHub-Delivery."""
        past = next((d for d in self.outbox.made if d.number == number), None)
        if past is None:
            raise UnknownName(f"There is no delivery {number}.")
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
                save(self.state, self._file)
        if outermost:
            self.outbox.flush()

    def keep(self) -> None:
        """Write to disk what was set on `app`."""
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
