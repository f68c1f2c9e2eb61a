"""What owners do to repositories and accounts: rename, transfer, delete, change settings."""

import shutil

from . import payloads
from .records import Account, Repository
from .shapes import Json
from .tokens import Tokens


class World(Tokens):
    """All of the emulator but its door."""

    def edit_repository(
        self,
        full_name: str,
        *,
        default_branch: str | None = None,
        description: str | None = None,
        by: str | None = None,
    ) -> None:
        """Change the default branch or the description; the branch need not exist."""
        repository, sender = self._repository_and_sender(full_name, by)
        changes: Json = {}
        with self.changing():
            if default_branch is not None:
                changes["default_branch"] = {"from": repository.default_branch}
                repository.default_branch = default_branch
                self.bare(repository).set_head(default_branch)
            if description is not None:
                changes["description"] = {"from": repository.description}
                repository.description = description
            self._updated("edited", repository, sender, changes)

    def make_private(self, full_name: str, *, by: str | None = None) -> None:
        """Hide a repository."""
        repository, sender = self._repository_and_sender(full_name, by)
        with self.changing():
            repository.private = True
            self._updated("privatized", repository, sender)

    def make_public(self, full_name: str, *, by: str | None = None) -> None:
        """Show a repository to everybody."""
        repository, sender = self._repository_and_sender(full_name, by)
        with self.changing():
            repository.private = False
            self._updated("publicized", repository, sender)

    def archive(self, full_name: str, *, by: str | None = None) -> None:
        """Make a repository read-only."""
        repository, sender = self._repository_and_sender(full_name, by)
        with self.changing():
            repository.archived = True
            self._updated("archived", repository, sender)

    def unarchive(self, full_name: str, *, by: str | None = None) -> None:
        """Let a repository be pushed to again."""
        repository, sender = self._repository_and_sender(full_name, by)
        with self.changing():
            repository.archived = False
            self._updated("unarchived", repository, sender)

    def rename_repository(self, full_name: str, name: str, *, by: str | None = None) -> None:
        """Give a repository another name; the old one redirects."""
        repository, sender = self._repository_and_sender(full_name, by)
        with self.changing():
            changes = {"repository": {"name": {"from": repository.name}}}
            self._take_name(repository, owner_id=repository.owner_id, name=name)
            self._updated("renamed", repository, sender, changes)

    def transfer_repository(self, full_name: str, to: str, *, by: str | None = None) -> None:
        """Give a repository to another account; only that account's installation hears of it.

        The installation it leaves behind is told that it lost the repository.
        """
        repository, sender = self._repository_and_sender(full_name, by)
        with self.changing() as state:
            former = state.accounts[repository.owner_id]
            self._leave_installation(repository, sender)
            owner_id = self.account_named(to).id
            self._take_name(repository, owner_id=owner_id, name=repository.name)
            if former.type == "Organization":
                origin = {"organization": self.shapes.organization(former)}
            else:
                origin = {"user": self.shapes.account(former)}
            self._updated("transferred", repository, sender, {"owner": {"from": origin}})

    def delete_repository(self, full_name: str, *, by: str | None = None) -> None:
        """Remove a repository with all its content."""
        repository, sender = self._repository_and_sender(full_name, by)
        bare = self.bare(repository)
        with bare.lock, self.changing() as state:
            self._updated("deleted", repository, sender)
            self._leave_installation(repository, sender)
            del state.repositories[repository.id]
            shutil.rmtree(bare.folder)

    def rename_account(self, login: str, to: str, *, by: str | None = None) -> None:
        """Give a person or organization another login; old repository names redirect."""
        account = self.account_named(login)
        sender = self.account_named(by) if by else self.owner_of(account)
        with self.changing() as state:
            for repository in state.repositories.values():
                if repository.owner_id == account.id:
                    self._remember_name(repository)
            account.login = to
            installation = self.installation_on(account)
            if installation:
                body = payloads.installation_target(
                    self.shapes, installation, account, login, sender
                )
                self.announce("installation_target", body, installation)

    def ping(self) -> None:
        """Send what GitHub sends when the App's webhook address is set."""
        app = self.app
        body = payloads.ping(app, self.clock())
        self.announce("ping", body)

    def tell_webhook_deleted(self, *, by: str) -> None:
        """Send what GitHub sends, to the old address, when the App's webhook is deleted."""
        sender = self.account_named(by)
        body = payloads.meta_deleted(self.app, self.clock(), sender, self.shapes)
        self.announce("meta", body)

    def _repository_and_sender(self, full_name: str, by: str | None) -> tuple[Repository, Account]:
        repository = self.repository_named(full_name)
        owner = self.state.accounts[repository.owner_id]
        return repository, self.account_named(by) if by else self.owner_of(owner)

    def _updated(
        self, action: str, repository: Repository, sender: Account, changes: Json | None = None
    ) -> None:
        repository.updated_at = self.clock()
        self.tell_repository(action, repository, sender, changes)

    def _take_name(self, repository: Repository, *, owner_id: int, name: str) -> None:
        """Give the repository a name that is free; the old one leads to it from now on."""
        full_name = f"{self.state.accounts[owner_id].login}/{name}"
        if self.state.repository(full_name) not in (None, repository):
            raise ValueError(f"There is a repository called {full_name} already.")
        self._remember_name(repository)
        repository.owner_id, repository.name = owner_id, name
        self.state.forget_name(full_name)

    def _remember_name(self, repository: Repository) -> None:
        repository.former_names.append(self.state.full_name(repository).lower())

    def _leave_installation(self, repository: Repository, sender: Account) -> None:
        installation = self.state.installation_for(repository)
        if installation is None:
            return
        if repository.id in installation.repository_ids:
            installation.repository_ids.remove(repository.id)
        self.tell_access(installation, sender, removed=[repository])
