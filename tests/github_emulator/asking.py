"""Those who may not install the App ask the owners of an organization to.

https://docs.github.com/en/apps/using-github-apps/requesting-a-github-app-from-your-organization-owner
"""

from collections.abc import Collection
from typing import Literal

from .installations import Installations
from .records import Account, InstallationRequest


class Asking(Installations):
    """Requests for the App, until an owner answers them."""

    def request_installation(self, login: str, *, by: str) -> int:
        """Ask the owners of an organization for the App; the request's id. Once a person."""
        account, person = self.account_named(login), self.account_named(by)
        existing = self.request_of(person, account)
        if existing:
            return existing.id
        with self.changing() as state:
            asked = InstallationRequest(state.next_id(), account.id, person.id, self.clock())
            state.requests[asked.id] = asked
        return asked.id

    def approve_request(
        self,
        number: int,
        *,
        repositories: Collection[str] | Literal["all"] = "all",
        by: str | None = None,
    ) -> int:
        """An owner installs what was asked for; the installation's id. Who asked is told of."""
        with self.changing() as state:
            asked = state.requests[number]
            return self.install(
                state.accounts[asked.account_id].login,
                repositories=repositories,
                by=by,
                requester=state.accounts[asked.requester_id].login,
            )

    def drop_request(self, number: int) -> None:
        """An owner refuses, or who asked takes it back: nobody is told by webhook."""
        with self.changing() as state:
            del state.requests[number]

    def request_of(self, person: Account, account: Account) -> InstallationRequest | None:
        """What somebody asked of an organization and still waits for."""
        waiting = (r for r in self.requests_to(account) if r.requester_id == person.id)
        return next(waiting, None)

    def requests_to(self, account: Account) -> list[InstallationRequest]:
        """What waits for the owners of an account."""
        return [r for r in self.state.requests.values() if r.account_id == account.id]
