"""The App's installations, and what they were granted."""

from collections.abc import Collection, Mapping
from typing import Literal

from . import payloads
from .core import UnknownName
from .records import Account, Installation, Repository, Selection
from .repositories import Repositories

LEVELS = ("read", "write", "admin")


class Installations(Repositories):
    """The App on accounts."""

    def install(
        self,
        login: str,
        *,
        repositories: Collection[str] | Literal["all"] = "all",
        by: str | None = None,
        requester: str | None = None,
    ) -> int:
        """Install the App on an account, for some or all repositories; the installation's id.

        `requester` is who had asked the owners to; else the first whose request it answers.
        """
        account, now = self.account_named(login), self.clock()
        if self.installation_on(account):
            raise ValueError(f"The App is installed on {login} already.")
        chosen = [] if repositories == "all" else [self.repository_named(n) for n in repositories]
        selection: Selection = "all" if repositories == "all" else "selected"
        with self.changing() as state:
            installation = Installation(
                id=state.next_id(),
                account_id=account.id,
                selection=selection,
                repository_ids=[repository.id for repository in chosen],
                permissions=dict(self.app.permissions),
                events=list(self.app.events),
                created_at=now,
                updated_at=now,
            )
            state.installations[installation.id] = installation
            asked = self.account_named(requester) if requester else self._first_to_ask(account)
            asking = state.requests.items()
            state.requests = {n: r for n, r in asking if r.account_id != account.id}
            reached = state.repositories_of(installation)
            self._tell("created", installation, by, reached, requester=asked)
        return installation.id

    def uninstall(self, installation_id: int, *, by: str | None = None) -> None:
        """Remove the App from an account; its tokens die with it."""
        installation = self.installation(installation_id)
        with self.changing() as state:
            self._tell("deleted", installation, by, state.repositories_of(installation))
            del state.installations[installation.id]
            self._drop_tokens(installation.id)

    def suspend(self, installation_id: int, *, by: str | None = None) -> None:
        """Block the App's access until it is unsuspended."""
        installation = self.installation(installation_id)
        with self.changing():
            installation.suspended_at = installation.updated_at = self.clock()
            installation.suspended_by = self._sender(installation, by).id
            self._tell("suspend", installation, by)

    def unsuspend(self, installation_id: int, *, by: str | None = None) -> None:
        """Give the App its access back."""
        installation = self.installation(installation_id)
        with self.changing():
            installation.suspended_at = installation.suspended_by = None
            installation.updated_at = self.clock()
            self._tell("unsuspend", installation, by)

    def edit_app_permissions(self, permissions: Mapping[str, str]) -> None:
        """The App's owner changes what it asks for: installations lose what it no longer asks for
        at once, and get what is new or more when their owners accept it.

        https://docs.github.com/en/apps/maintaining-github-apps/modifying-a-github-app-registration
        """
        with self.changing() as state:
            self.app.permissions = dict(permissions)
            for installation in state.installations.values():
                installation.permissions = {
                    name: min(level, permissions[name], key=LEVELS.index)
                    for name, level in installation.permissions.items()
                    if name in permissions
                }

    def accept_permissions(self, installation_id: int, *, by: str | None = None) -> None:
        """The owner accepts what the App asks for now: `app.permissions` and `app.events`."""
        installation = self.installation(installation_id)
        with self.changing():
            installation.permissions = dict(self.app.permissions)
            installation.events = list(self.app.events)
            installation.updated_at = self.clock()
            self._tell("new_permissions_accepted", installation, by)

    def select_repositories(
        self,
        installation_id: int,
        repositories: Collection[str] | Literal["all"],
        *,
        by: str | None = None,
    ) -> None:
        """Let the App reach exactly these repositories of the account, or all of them."""
        installation = self.installation(installation_id)
        chosen = [] if repositories == "all" else [self.repository_named(n) for n in repositories]
        with self.changing() as state:
            before = state.repositories_of(installation)
            installation.selection = "all" if repositories == "all" else "selected"
            installation.repository_ids = [repository.id for repository in chosen]
            installation.updated_at = self.clock()
            after = state.repositories_of(installation)
            self.tell_access(
                installation,
                self._sender(installation, by),
                added=[repository for repository in after if repository not in before],
                removed=[repository for repository in before if repository not in after],
            )

    def add_repositories(
        self, installation_id: int, repositories: Collection[str], *, by: str | None = None
    ) -> None:
        """Let the App reach more repositories."""
        names = dict.fromkeys([*self._reached(installation_id), *repositories])
        self.select_repositories(installation_id, list(names), by=by)

    def remove_repositories(
        self, installation_id: int, repositories: Collection[str], *, by: str | None = None
    ) -> None:
        """Take repositories out of the App's reach; the selection is by name from then on."""
        left = [name for name in self._reached(installation_id) if name not in repositories]
        self.select_repositories(installation_id, left, by=by)

    def installation(self, installation_id: int) -> Installation:
        """The installation of that id. Raises UnknownName."""
        installation = self.state.installations.get(installation_id)
        if installation is None:
            raise UnknownName(f"There is no installation {installation_id} in the emulator.")
        return installation

    def installation_on(self, account: Account) -> Installation | None:
        """The installation on an account."""
        everywhere = self.state.installations.values()
        return next((i for i in everywhere if i.account_id == account.id), None)

    def _first_to_ask(self, account: Account) -> Account | None:
        asking = (r for r in self.state.requests.values() if r.account_id == account.id)
        first = next(asking, None)
        return self.state.accounts[first.requester_id] if first else None

    def _drop_tokens(self, installation_id: int) -> None:
        tokens = self.state.tokens
        self.state.tokens = {
            value: token
            for value, token in tokens.items()
            if token.kind != "installation" or token.subject != installation_id
        }

    def _reached(self, installation_id: int) -> list[str]:
        installation = self.installation(installation_id)
        return [self.state.full_name(r) for r in self.state.repositories_of(installation)]

    def _sender(self, installation: Installation, login: str | None) -> Account:
        if login is not None:
            return self.account_named(login)
        return self.owner_of(self.state.accounts[installation.account_id])

    def _tell(
        self,
        action: str,
        installation: Installation,
        by: str | None,
        repositories: list[Repository] | None = None,
        requester: Account | None = None,
    ) -> None:
        sender = self._sender(installation, by)
        body = payloads.installation(
            self.shapes, action, installation, sender, repositories, requester
        )
        self.announce("installation", body, installation)
