"""From nothing to a connected repository: start a workspace, install the App, choose."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from shlex import quote
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.utils.timezone import now

from rollouts_app.accounts import user_token
from rollouts_app.addresses import new_installation_page
from rollouts_app.errors import Denied, Gone
from rollouts_app.github import InstallationFacts, RepositoryFacts, UserClient, api_url
from rollouts_app.models import Installation, Membership, Repository, User, Workspace
from rollouts_app.sync.installations import store_installation
from rollouts_app.sync.tasks import ring

log = logging.getLogger(__name__)

# How long someone may take on GitHub's installation page, in seconds.
STATE_SECONDS = 3600
# Repositories listed for one account; a longer list is searched by name.
LISTED_REPOSITORIES = 100

NOT_SHOWN = (
    "GitHub does not show you this repository through the App. "
    "Grant the App access to it on GitHub, then choose it here."
)


class NotPossible(Exception):
    """What was asked for cannot be done. The message is a sentence for the person who asked."""


class SignInAgain(Exception):
    """GitHub has to be asked in the person's own name, and their token has expired."""


@dataclass(frozen=True)
class Account:
    """One installation the person can reach, and the repositories to choose from.

    `taken` are the numbers of those that a workspace has already; with `is_cut` there are more.
    """

    installation: InstallationFacts
    repositories: list[RepositoryFacts]
    taken: frozenset[int] = frozenset()
    is_cut: bool = False
    problem: str = ""

    @property
    def is_choosable(self) -> bool:
        """Whether one of them can be connected."""
        return any(facts.id not in self.taken for facts in self.repositories)


def start_workspace(user: User, slug: str) -> Workspace:
    """Create a workspace that the user owns. The slug must have been validated.

    Raises `NotPossible` when the slug was taken in the meantime.
    """
    try:
        with transaction.atomic():
            workspace = Workspace.objects.create(slug=slug)
            Membership.objects.create(workspace=workspace, user=user, role=Membership.Role.OWNER)
    except IntegrityError as error:
        raise NotPossible(f"The name {slug} is taken. Choose another one.") from error
    return workspace


def installation_address(user: User, workspace: Workspace) -> str:
    """GitHub's page to install the App, with a state that leads back to this workspace once."""
    state = secrets.token_urlsafe(24)
    cache.set(_name_of_state(state), [user.pk, workspace.pk], timeout=STATE_SECONDS)
    return new_installation_page(settings.GITHUB_URL, settings.GITHUB_APP_SLUG, state)


def workspace_of_state(user: User, state: str) -> Workspace | None:
    """The workspace an installation was begun for; the state is used up. None if it is not ours."""
    name = _name_of_state(state)
    kept = cache.get(name)
    if not kept or not cache.delete(name) or kept[0] != user.pk:
        return None
    return Workspace.objects.filter(pk=kept[1], memberships__user=user).first()


def _name_of_state(state: str) -> str:
    """Where a state is kept: by its hash, as what comes in by the address may be any text."""
    return f"install-state-{sha256(state.encode(errors='replace')).hexdigest()}"


def accounts_of(user: User, query: str = "") -> list[Account]:
    """The installations the user's own token lists, each with its repositories named like `query`.

    One account that refuses does not hide the others. Raises `SignInAgain`, `RateLimited` or
    `Unavailable`.
    """
    client = _client_of(user)
    try:
        return [_account(client, installation, query) for installation in client.installations()]
    except Denied as refusal:
        raise SignInAgain from refusal


def connect_repository(
    user: User, workspace: Workspace, installation_id: int, repository_id: int
) -> Repository:
    """Tie a repository to the workspace and ask for the first sync of all its branches.

    Installation and repository count only when the user's own token lists them. Raises
    `NotPossible`, `SignInAgain`, `RateLimited` or `Unavailable`.
    """
    reached = _reached(user, repository_id, installation_id)
    if reached is None:
        log.warning(
            "%s asked for repository %s of installation %s, which GitHub does not show them",
            user,
            repository_id,
            installation_id,
        )
        raise NotPossible(NOT_SHOWN)
    return tie_repository(workspace, store_installation(reached.installation), reached.repository)


def reconnect_repository(user: User, kept: Repository) -> Repository:
    """Connect a kept repository again: its rollouts and history return, all branches are checked.

    By whichever installation lists it to the user's own token now: the App may have been installed
    anew. Raises as `connect_repository` does.
    """
    reached = _reached(user, kept.github_id, kept.installation.github_id, or_another=True)
    if reached is None:
        raise NotPossible(NOT_SHOWN)
    installation = store_installation(reached.installation)
    return tie_repository(kept.workspace, installation, reached.repository)


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


def clone_commands(github_url: str, full_name: str) -> dict[str, str]:
    """The ways to clone, by their names: HTTPS, SSH, GitHub CLI."""
    address = urlsplit(github_url)
    host = address.netloc
    repository = full_name if host == "github.com" else f"{host}/{full_name}"
    return {
        "HTTPS": f"git clone {quote(f'{github_url}/{full_name}.git')}",
        "SSH": f"git clone {quote(f'git@{address.hostname}:{full_name}.git')}",
        "GitHub CLI": f"gh repo clone {quote(repository)}",
    }


def _client_of(user: User) -> UserClient:
    token = user_token(user)
    if token is None:
        raise SignInAgain
    return UserClient(api_url(settings.GITHUB_URL), token)


def _account(client: UserClient, installation: InstallationFacts, query: str) -> Account:
    try:
        listing = client.repositories(installation.id)
        fitting = (facts for facts in listing if query.lower() in facts.full_name.lower())
        found = list(islice(fitting, LISTED_REPOSITORIES + 1))
    except (Denied, Gone) as refusal:
        return Account(installation, [], problem=str(refusal))
    listed = found[:LISTED_REPOSITORIES]
    connected = Repository.objects.connected().filter(github_id__in=[facts.id for facts in listed])
    return Account(
        installation,
        sorted(listed, key=lambda facts: facts.full_name.lower()),
        taken=frozenset(connected.values_list("github_id", flat=True)),
        is_cut=len(found) > LISTED_REPOSITORIES,
    )


@dataclass(frozen=True)
class _Reached:
    """A repository, and the installation through which somebody reaches it."""

    installation: InstallationFacts
    repository: RepositoryFacts


def _reached(
    user: User, repository_id: int, installation_id: int, *, or_another: bool = False
) -> _Reached | None:
    """Find a repository where the user's own token lists it: in this installation, or in any."""
    client = _client_of(user)
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


def _find(listing: Iterator[RepositoryFacts], id: int) -> RepositoryFacts | None:
    return next((facts for facts in listing if facts.id == id), None)
