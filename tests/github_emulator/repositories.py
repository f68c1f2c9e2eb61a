"""Repositories of the emulator: made, filled, pushed to. Every changed ref is told to the App."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from . import payloads, reading
from .bare import NOTHING, BareRepository, Content, Signature
from .core import UnknownName
from .payloads import Pushed, RefChange
from .people import People
from .records import Account, Installation, Repository
from .shapes import Json

# https://docs.github.com/en/webhooks/webhook-events-and-payloads#push and #create
MOST_BRANCHES_ANNOUNCED = 5000
MOST_TAGS_ANNOUNCED = 3


class Repositories(People):
    """Repositories and their branches."""

    def create_repository(
        self,
        full_name: str,
        *,
        private: bool = True,
        default_branch: str = "main",
        description: str | None = None,
        files: Mapping[str, Content] | None = None,
    ) -> Repository:
        """A new repository of an existing account; without files it is empty, as a fresh one is."""
        if self.state.repository(full_name):
            raise ValueError(f"There is a repository called {full_name} already.")
        owner_login, name = full_name.split("/")
        owner, now = self.account_named(owner_login), self.clock()
        with self.changing() as state:
            repository = Repository(
                state.next_id(), owner.id, name, private, default_branch, now, now, now, description
            )
            state.repositories[repository.id] = repository
            state.forget_name(full_name)
            self.bare(repository).create(default_branch)
            self.tell_repository("created", repository, self.owner_of(owner))
            installation = state.installation_for(repository)
            if installation:
                self.tell_access(installation, self.owner_of(owner), added=[repository])
        if files is not None:
            self.push(full_name, default_branch, files, message="Initial commit")
        return repository

    def push(
        self,
        full_name: str,
        branch: str,
        files: Mapping[str, Content],
        *,
        message: str = "Update files",
        author: str | None = None,
        force: bool = False,
        start: str | None = None,
        when: datetime | None = None,
    ) -> str:
        """Commit files on a branch and tell the App; the new commit's id.

        The files (None deletes one) are put on top of what `start`, a branch or commit, holds; when
        it is not given, on what the branch holds, which is nothing for a new branch. Raises
        GitFailed when the branch would lose commits and `force` is not set.
        """
        repository = self.repository_named(full_name)
        pusher = self._actor(author, repository)
        with self.refs_changing(repository, pusher) as bare:
            parent = (
                self._commit_at(full_name, start) if start else bare.resolve(f"refs/heads/{branch}")
            )
            signature = self.signature(pusher, when)
            return bare.commit(
                branch, files, message=message, author=signature, parent=parent, force=force
            )

    def replace(
        self,
        full_name: str,
        branch: str,
        files: Mapping[str, Content],
        *,
        message: str = "Start over",
        author: str | None = None,
    ) -> str:
        """Force the branch to a commit without parents that holds just these files."""
        repository = self.repository_named(full_name)
        pusher = self._actor(author, repository)
        with self.refs_changing(repository, pusher) as bare:
            signature = self.signature(pusher)
            return bare.commit(
                branch, files, message=message, author=signature, parent=None, force=True
            )

    def create_branch(self, full_name: str, name: str, at: str, *, by: str | None = None) -> str:
        """A new branch at a branch or commit; the id of that commit."""
        return self._point(full_name, f"refs/heads/{name}", at, by)

    def move_branch(self, full_name: str, name: str, at: str, *, by: str | None = None) -> str:
        """Force an existing branch to a branch or commit; the id of that commit."""
        return self._point(full_name, f"refs/heads/{name}", at, by, force=True)

    def create_tag(self, full_name: str, name: str, at: str, *, by: str | None = None) -> str:
        """A new tag at a branch or commit; the id of that commit."""
        return self._point(full_name, f"refs/tags/{name}", at, by)

    def delete_branch(self, full_name: str, name: str, *, by: str | None = None) -> None:
        """Remove a branch."""
        repository = self.repository_named(full_name)
        with self.refs_changing(repository, self._actor(by, repository)) as bare:
            bare.set_ref(f"refs/heads/{name}", None)

    def fast_import(self, full_name: str, stream: bytes, *, by: str | None = None) -> None:
        """Run a `git fast-import` stream, told as one push: the quick way to many branches."""
        repository = self.repository_named(full_name)
        with self.refs_changing(repository, self._actor(by, repository)) as bare:
            bare.fast_import(stream, force=True)

    def heads(self, full_name: str) -> dict[str, str]:
        """Branch → commit, as git says."""
        return self.bare(self.repository_named(full_name)).heads()

    def signature(self, person: Account, when: datetime | None = None) -> Signature:
        """How a person signs a commit, now unless told otherwise."""
        hidden = f"{person.id}+{person.login}@users.noreply.github.com"
        moment = when or datetime.fromtimestamp(self.clock(), UTC)
        return Signature(person.name, person.email or hidden, moment)

    @contextmanager
    def refs_changing(self, repository: Repository, pusher: Account) -> Iterator[BareRepository]:
        """Whatever happens to refs inside is told to the App as a push of `pusher`."""
        bare = self.bare(repository)
        with bare.lock:
            before = bare.refs()
            try:
                yield bare
            finally:
                self._refs_changed(repository, pusher, before, bare.refs())

    def tell_repository(
        self, action: str, repository: Repository, sender: Account, changes: Json | None = None
    ) -> None:
        """Send a `repository` event, if anybody listens."""
        installation = self._listener(repository, "repository")
        if installation:
            rest = payloads.common(self.shapes, repository, sender, installation)
            body = payloads.repository_event(action, rest, changes)
            self.announce("repository", body, installation, repository)

    def tell_access(
        self,
        installation: Installation,
        sender: Account,
        *,
        added: list[Repository] | None = None,
        removed: list[Repository] | None = None,
    ) -> None:
        """Send `installation_repositories`: the App reaches more, or less."""
        for gained, lost in ((added or [], []), ([], removed or [])):
            if gained or lost:
                body = payloads.installation_repositories(
                    self.shapes, installation, sender, gained, lost
                )
                self.announce("installation_repositories", body, installation)

    def _point(
        self, full_name: str, ref: str, at: str, by: str | None, *, force: bool = False
    ) -> str:
        repository = self.repository_named(full_name)
        with self.refs_changing(repository, self._actor(by, repository)) as bare:
            commit = self._commit_at(full_name, at)
            bare.set_ref(ref, commit, force=force)
        return commit

    def _commit_at(self, full_name: str, name: str) -> str:
        commit = self.bare(self.repository_named(full_name)).resolve(name)
        if commit is None:
            raise UnknownName(f"{full_name} has no branch or commit {name}.")
        return commit

    def _actor(self, login: str | None, repository: Repository) -> Account:
        if login is not None:
            return self.account_named(login)
        return self.owner_of(self.state.accounts[repository.owner_id])

    def _refs_changed(
        self,
        repository: Repository,
        pusher: Account,
        before: Mapping[str, str],
        after: Mapping[str, str],
    ) -> None:
        changes = [
            RefChange(ref, before.get(ref, NOTHING), after.get(ref, NOTHING))
            for ref in dict.fromkeys([*before, *after])
            if before.get(ref) != after.get(ref)
        ]
        if not changes:
            return
        with self.changing():
            repository.pushed_at = repository.updated_at = self.clock()
            if not before:
                self._choose_default_branch(repository, after)
        if self.outbox.listens:
            for change in _announced(changes):
                self._announce_change(repository, pusher, change, before)

    def _choose_default_branch(self, repository: Repository, refs: Mapping[str, str]) -> None:
        """The first push to an empty repository decides, unless the default branch is among it."""
        branches = [ref.removeprefix("refs/heads/") for ref in refs if ref.startswith("refs/heads")]
        if branches and repository.default_branch not in branches:
            repository.default_branch = branches[0]
            self.bare(repository).set_head(branches[0])

    def _announce_change(
        self, repository: Repository, pusher: Account, change: RefChange, before: Mapping[str, str]
    ) -> None:
        facts = self._pushed(repository, change, before)
        with self.changing():
            for name in ("create", "delete", "push"):
                installation = self._listener(repository, name)
                if not installation or not _concerns(name, change):
                    continue
                rest = payloads.common(self.shapes, repository, pusher, installation)
                body = {"create": payloads.create, "delete": payloads.delete}.get(name)
                self.announce(
                    name,
                    body(change, rest)
                    if body
                    else payloads.push(self.shapes, change, facts, rest, pusher),
                    installation,
                    repository,
                )

    def _pushed(
        self, repository: Repository, change: RefChange, before: Mapping[str, str]
    ) -> Pushed:
        if change.deleted:
            return Pushed([], None, forced=False, base_ref=None)
        folder = self.bare(repository).folder
        base_ref = next((r for r, at in before.items() if at == change.after), None)
        if change.ref_type == "tag":
            head = reading.with_paths(folder, reading.history(folder, [change.after], 1))[0]
            return Pushed([], head, forced=not change.created, base_ref=base_ref)
        known = set(before.values()) if change.created else {change.before}
        revisions = [change.after, "--not", *known]
        commits = reading.with_paths(
            folder, reading.history(folder, revisions, payloads.MOST_COMMITS)
        )
        tip = commits or reading.with_paths(folder, reading.history(folder, [change.after], 1))
        return Pushed(
            commits=list(reversed(commits)),
            head=tip[0],
            forced=not change.created and not reading.follows(folder, commits, change.before),
            base_ref=base_ref if change.created else None,
        )

    def _listener(self, repository: Repository, event: str) -> Installation | None:
        """The installation that hears of an event: subscribed, permitted and not suspended."""
        installation = self.state.installation_for(repository)
        if not installation or installation.suspended_at or event not in installation.events:
            return None
        needed = "metadata" if event == "repository" else "contents"
        return installation if needed in installation.permissions else None


def _concerns(event: str, change: RefChange) -> bool:
    return {"create": change.created, "delete": change.deleted}.get(event, True)


def _announced(changes: list[RefChange]) -> list[RefChange]:
    """GitHub tells nothing of a push of too many branches, and of too many tags."""
    branches = [change for change in changes if change.ref_type == "branch"]
    tags = [change for change in changes if change.ref_type == "tag"]
    told = branches if len(branches) <= MOST_BRANCHES_ANNOUNCED else []
    return told + (tags if len(tags) <= MOST_TAGS_ANNOUNCED else [])
