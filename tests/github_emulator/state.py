"""Everything the emulator knows besides repository content, kept as one JSON file."""

import dataclasses
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from .records import Account, App, Grant, Installation, InstallationRequest, Repository, Token

TABLES: dict[str, type[Any]] = {
    "accounts": Account,
    "repositories": Repository,
    "installations": Installation,
    "requests": InstallationRequest,
    "tokens": Token,
    "grants": Grant,
}
KEYS = {"tokens": "value", "grants": "code"}


class State:
    """The tables, by id (tokens by value, grants by code). Whoever uses them holds the lock."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.accounts: dict[int, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self.requests: dict[int, InstallationRequest] = {}
        self.tokens: dict[str, Token] = {}
        self.grants: dict[str, Grant] = {}
        self.last_id = 1000

    def next_id(self) -> int:
        """A number no record of this emulator had before."""
        self.last_id += 1
        return self.last_id

    def account(self, login: str) -> Account | None:
        """The account of a login; case does not matter, as at GitHub."""
        return next((a for a in self.accounts.values() if a.login.lower() == login.lower()), None)

    def full_name(self, repository: Repository) -> str:
        """OWNER/NAME as of now."""
        return f"{self.accounts[repository.owner_id].login}/{repository.name}"

    def repository(self, full_name: str) -> Repository | None:
        """The repository called so now; case does not matter."""
        named = (r for r in self.repositories.values() if self._is_called(r, full_name))
        return next(named, None)

    def repository_once(self, full_name: str) -> Repository | None:
        """The repository that was called so before a rename or transfer."""
        wanted = full_name.lower()
        formers = (r for r in self.repositories.values() if wanted in r.former_names)
        return next(formers, None)

    def forget_name(self, full_name: str) -> None:
        """Let a name lead nowhere any more: somebody else has it now."""
        for repository in self.repositories.values():
            former = repository.former_names
            repository.former_names = [name for name in former if name != full_name.lower()]

    def repositories_of(self, installation: Installation) -> list[Repository]:
        """What an installation gives access to, by id."""
        owned = (r for r in self.repositories.values() if r.owner_id == installation.account_id)
        if installation.selection == "all":
            return list(owned)
        return [r for r in owned if r.id in installation.repository_ids]

    def installation_for(self, repository: Repository) -> Installation | None:
        """The installation that reaches a repository."""
        reaching = (i for i in self.installations.values() if repository in self.repositories_of(i))
        return next(reaching, None)

    def _is_called(self, repository: Repository, full_name: str) -> bool:
        return self.full_name(repository).lower() == full_name.lower()


def new_app(now: float) -> App:
    """An App with credentials of its own."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    app = App(
        id=100000 + secrets.randbelow(900000),
        slug="osmosis-web",
        name="Osmosis Web",
        client_id=f"Iv23li{secrets.token_hex(7)}",
        client_secret=secrets.token_hex(20),
        private_key=pem.decode(),
        webhook_secret=secrets.token_hex(20),
        created_at=now,
    )
    ask_for_the_usual(app)
    return app


def ask_for_the_usual(app: App) -> None:
    """Let the App ask for what it is registered with: reading code, and hearing of pushes."""
    app.permissions = {"contents": "read", "metadata": "read"}
    app.events = ["push", "create", "delete", "repository"]


def save(state: State, path: Path) -> None:
    """Write all of it, atomically and readable by the owner alone: it holds secrets."""
    tables = {name: [dataclasses.asdict(r) for r in _records(state, name)] for name in TABLES}
    whole = {"app": dataclasses.asdict(state.app), "last_id": state.last_id, **tables}
    fresh = path.with_suffix(".new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(whole, file)
    fresh.replace(path)


def load(path: Path) -> State:
    """Read back what `save` wrote."""
    whole = json.loads(path.read_text())
    state = State(App(**whole["app"]))
    state.last_id = whole["last_id"]
    for name, kind in TABLES.items():
        table = getattr(state, name)
        for fields in whole.get(name, []):
            record = kind(**{key: _with_numbers(value) for key, value in fields.items()})
            table[getattr(record, KEYS.get(name, "id"))] = record
    return state


def _records(state: State, table: str) -> Iterator[Any]:
    yield from getattr(state, table).values()


def _with_numbers(value: Any) -> Any:
    """JSON has only words for keys; people are keyed by number."""
    if isinstance(value, dict):
        return {int(key) if key.isdecimal() else key: entry for key, entry in value.items()}
    return value
