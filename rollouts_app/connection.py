"""Tying a repository to a workspace; taking it off, kept for a return or deleted for good."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.timezone import now

from rollouts_app import audit
from rollouts_app.accounts import user_token
from rollouts_app.errors import Denied, Gone
from rollouts_app.github import InstallationFacts, RepositoryFacts, UserClient, api_url
from rollouts_app.models import Installation, Repository, User, Workspace
from rollouts_app.refusals import NotPossible, SignInAgain
from rollouts_app.sync import removal
from rollouts_app.sync.installations import store_installation
from rollouts_app.sync.tasks import ring

NOT_SHOWN = (
    "GitHub does not show you this repository through the App. "
    "Grant the App access to it on GitHub, then choose it here."
)


@dataclass(frozen=True)
class Holdings:
    """How much is stored of a repository: what a deletion takes."""

    rollouts: int
    branches: int
    syncs: int
    deliveries: int

    @property
    def is_nothing(self) -> bool:
        return not (self.rollouts or self.branches or self.syncs or self.deliveries)


def holdings_of(repository: Repository) -> Holdings:
    """Count what is stored of the repository. Four queries."""
    return Holdings(
        rollouts=repository.rollouts.count(),
        branches=repository.branches.exclude(commit="").count(),
        syncs=repository.sync_runs.count(),
        deliveries=repository.deliveries.count(),
    )


def disconnect(user: User, repository: Repository) -> None:
    """Take the repository off its workspace; what was synced is kept, out of sight.

    A sync that is running ends by itself, and none begins after it. Twice is once.
    """
    with transaction.atomic():
        if _take_off(repository):
            _note(user, repository, audit.Deed.DISCONNECTED, kept=True)
    removal.finish(repository.pk)


def disconnect_and_delete(user: User, repository: Repository) -> None:
    """Take the repository off its workspace, and all that is stored of it out of the database.

    It is out of sight at once. While a sync of it is running its rows only carry the mark, and go
    when that has ended, without anybody doing anything. Twice is once.
    """
    with transaction.atomic():
        if _take_off(repository, deletion_requested_at=Now()):
            gone = asdict(holdings_of(repository))
            _note(user, repository, audit.Deed.DISCONNECTED, kept=False, **gone)
    removal.finish(repository.pk)


def delete_kept(user: User, repository: Repository) -> None:
    """Delete what is kept of a repository, as `disconnect_and_delete` does.

    Nothing happens when it was connected again in the meantime.
    """
    kept = Repository.objects.kept().filter(pk=repository.pk)
    with transaction.atomic():
        if kept.order_by().update(deletion_requested_at=Now()):
            gone = asdict(holdings_of(repository))
            _note(user, repository, audit.Deed.DELETED_CONTENTS, **gone)
    removal.finish(repository.pk)


def _take_off(repository: Repository, **marks: Any) -> bool:
    """Whether it was connected until now."""
    connected = Repository.objects.connected().filter(pk=repository.pk)
    return bool(
        connected.update(
            disconnected_at=Now(), full_check_requested_at=None, full_check_by_hand=False, **marks
        )
    )


def _note(user: User, repository: Repository, deed: audit.Deed, **details: Any) -> None:
    audit.record(user, deed, repository.full_name, workspace=repository.workspace, **details)


def connect_repository(
    user: User, workspace: Workspace, installation_id: int, repository_id: int
) -> Repository:
    """Tie a repository to the workspace and ask for the first sync of all its branches.

    Installation and repository count only when the user's own token lists them. Raises
    `NotPossible`, `SignInAgain`, `RateLimited` or `Unavailable`.
    """
    reached = _reached(user, repository_id, installation_id)
    if reached is None:
        asked = f"repository {repository_id} of installation {installation_id}"
        audit.record(user, audit.Deed.WAS_REFUSED, asked, workspace=workspace, why=NOT_SHOWN)
        raise NotPossible(NOT_SHOWN)
    return _tie_for(user, workspace, reached)


def is_listed(user: User, installation_id: int, repository_id: int) -> bool:
    """Whether GitHub lists the repository to the user through the installation. Raises as
    `connect_repository` does.
    """
    return _reached(user, repository_id, installation_id) is not None


def reconnect_repository(user: User, kept: Repository) -> Repository:
    """Connect a kept repository again: its rollouts and history return, all branches are checked.

    By whichever installation lists it to the user's own token now: the App may have been installed
    anew. Raises as `connect_repository` does.
    """
    reached = _reached(user, kept.github_id, kept.installation.github_id, or_another=True)
    if reached is None:
        raise NotPossible(NOT_SHOWN)
    return _tie_for(user, kept.workspace, reached)


def tie_repository(
    workspace: Workspace, installation: Installation, facts: RepositoryFacts
) -> Repository:
    """Make a repository that GitHub told of the workspace's own, and ask for a full check.

    What is kept of it from before returns. One that is connected stays so, by this installation
    from now on. Raises `NotPossible` when the workspace has another one, the repository is another
    workspace's, or it is still being deleted.
    """
    told = {
        "installation": installation,
        "full_name": facts.full_name,
        "default_branch": facts.default_branch or "main",
        "is_private": facts.private,
    }
    own = Repository.objects.filter(workspace=workspace, github_id=facts.id)
    try:
        with transaction.atomic():
            is_known = own.connected().update(**told) or own.kept().update(**told, **_afresh())
            if not is_known:
                Repository.objects.create(workspace=workspace, github_id=facts.id, **told)
    except IntegrityError as error:
        # Two of the same choice at once make one row: whoever comes second finds the other's.
        if not own.connected().exists():
            raise NotPossible(_why_not(workspace, facts)) from error
    return _asked_for_sync(own.get())


def _afresh() -> dict[str, Any]:
    """What a kept repository forgets when it returns, so that all its branches are looked at."""
    return {
        "disconnected_at": None,
        "connected_at": now(),
        "heads_checked_at": None,
        "heads_digest": "",
        **Repository.NO_TROUBLE,
    }


def _why_not(workspace: Workspace, facts: RepositoryFacts) -> str:
    """Why a repository cannot be connected to a workspace, and what to do."""
    start = f"{facts.full_name} cannot be connected here: "
    other = workspace.repositories.connected().first()
    if other:
        return (
            f"{start}a workspace has one repository, and this one has {other.full_name}. "
            "Disconnect that first, in Git Integration."
        )
    own = workspace.repositories.filter(github_id=facts.id)
    if own.filter(deletion_requested_at__isnull=False).exists():
        return (
            f"{start}what was stored of it is still being deleted. Try again in a minute, "
            "when the sync that is running has ended."
        )
    return (
        f"{start}a repository belongs to one workspace, and it has another one. "
        "Its owners can disconnect it there."
    )


def _asked_for_sync(repository: Repository) -> Repository:
    with transaction.atomic():
        repository.request_full_check()
        ring(repository.pk)
    return repository


def client_of(user: User) -> UserClient:
    """GitHub in the person's own name. Raises `SignInAgain` when their token has expired."""
    token = user_token(user)
    if token is None:
        raise SignInAgain
    return UserClient(api_url(settings.GITHUB_URL), token)


@dataclass(frozen=True)
class _Reached:
    """A repository, and the installation through which somebody reaches it."""

    installation: InstallationFacts
    repository: RepositoryFacts


def _reached(
    user: User, repository_id: int, installation_id: int, *, or_another: bool = False
) -> _Reached | None:
    """Find a repository where the user's own token lists it: in this installation, or in any."""
    client = client_of(user)
    try:
        listed = sorted(client.installations(), key=lambda facts: facts.id != installation_id)
    except Denied as refusal:
        raise SignInAgain from refusal
    for installation in listed:
        if installation.id != installation_id and not or_another:
            break
        # One account that refuses does not hide the others.
        with suppress(Denied, Gone):
            facts = _find(client.repositories(installation.id), repository_id)
            if facts:
                return _Reached(installation, facts)
    return None


def _tie_for(user: User, workspace: Workspace, reached: _Reached) -> Repository:
    """Tie what somebody reaches to the workspace, and write down who did it, both or neither."""
    installation = store_installation(reached.installation)
    told: dict[str, Any] = {"installation": str(installation)}
    with transaction.atomic():
        before = workspace.repositories.filter(github_id=reached.repository.id).first()
        repository = tie_repository(workspace, installation, reached.repository)
        if before is None or before.disconnected_at:
            told["returned"] = before is not None
            audit.record(
                user, audit.Deed.CONNECTED, repository.full_name, workspace=workspace, **told
            )
    return repository


def _find(listing: Iterator[RepositoryFacts], id: int) -> RepositoryFacts | None:
    return next((facts for facts in listing if facts.id == id), None)
