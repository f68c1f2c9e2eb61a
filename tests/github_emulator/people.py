"""Accounts, and who may do what with a repository."""

from collections.abc import Collection

from .core import Core
from .records import Account, Installation, Permission, Policy, Repository

LEVELS: list[Permission | None] = [None, "read", "write", "admin"]


class People(Core):
    """People and organizations."""

    def add_user(self, login: str, *, name: str = "", email: str | None = None) -> Account:
        """A new person. The e-mail is public; None keeps it secret."""
        return self._add(Account(0, login, "User", name or login, email, self.clock()))

    def add_organization(
        self,
        login: str,
        *,
        owners: Collection[str],
        members: Collection[str] = (),
        name: str = "",
        base_permission: Permission = "write",
    ) -> Account:
        """A new organization of people who exist; `base_permission` is what members may do."""
        account = Account(0, login, "Organization", name or login, None, self.clock())
        account.base_permission = base_permission
        account.members = {
            **{self.account_named(member).id: "member" for member in members},
            **{self.account_named(owner).id: "owner" for owner in owners},
        }
        return self._add(account)

    def set_policy(self, login: str, policy: Policy | None) -> None:
        """Let an organization refuse addresses that are not on its list, or people who did not
        sign in by its SAML; None lifts that. Nobody here ever meets a policy.
        """
        with self.changing():
            self.account_named(login).policy = policy

    def add_collaborator(self, full_name: str, login: str, permission: Permission) -> None:
        """Let somebody read, write or administer one repository."""
        with self.changing():
            person = self.account_named(login)
            self.repository_named(full_name).collaborators[person.id] = permission

    def permission(self, person: Account, repository: Repository) -> Permission | None:
        """What a person may do with a repository; None for nothing."""
        if person.id == repository.owner_id:
            return "admin"
        owner = self.state.accounts[repository.owner_id]
        role = owner.members.get(person.id)
        granted = [
            None if repository.private else "read",
            {"owner": "admin", "member": owner.base_permission}.get(role or ""),
            repository.collaborators.get(person.id),
        ]
        return max(granted, key=LEVELS.index)

    def may_administer(self, person: Account, account: Account) -> bool:
        """Whether a person may install Apps on an account."""
        return person.id == account.id or account.members.get(person.id) == "owner"

    def installations_seen_by(self, person: Account) -> list[Installation]:
        """The installations with something a person may at least read."""
        return [i for i in self.state.installations.values() if self._sees(person, i)]

    def owner_of(self, account: Account) -> Account:
        """Somebody who acts for an account when nobody is named: itself, or its first owner."""
        owners = (key for key, role in account.members.items() if role == "owner")
        return self.state.accounts.get(next(owners, 0), account)

    def _sees(self, person: Account, installation: Installation) -> bool:
        account = self.state.accounts[installation.account_id]
        if person.id == account.id or person.id in account.members:
            return True
        reachable = self.state.repositories_of(installation)
        return any(person.id in repository.collaborators for repository in reachable)

    def _add(self, account: Account) -> Account:
        if self.state.account(account.login):
            raise ValueError(f"There is an account called {account.login} already.")
        with self.changing() as state:
            account.id = state.next_id()
            state.accounts[account.id] = account
        return account
