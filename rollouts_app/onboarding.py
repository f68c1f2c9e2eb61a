"""From nothing to a choice of repositories: start a workspace, install the App, list."""

import secrets
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from itertools import islice
from shlex import quote
from time import time
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction

from rollouts_app import audit, github_app
from rollouts_app.addresses import new_installation_page
from rollouts_app.connection import client_of
from rollouts_app.errors import Denied, Gone
from rollouts_app.github import InstallationFacts, RepositoryFacts, UserClient
from rollouts_app.models import Membership, Repository, User, Workspace
from rollouts_app.refusals import NotPossible, SignInAgain

# How long someone may take on GitHub's installation page, in seconds.
STATE_SECONDS = 3600
# How long a state is told apart from one that never was: used or expired, in seconds.
REMEMBERED_SECONDS = 24 * 3600
# Repositories listed for one account; a longer list is searched by name.
LISTED_REPOSITORIES = 100


class StateFault(Enum):
    """Why a way back from GitHub does not count, as a sentence begins."""

    UNKNOWN = "This way back from GitHub was not begun by you on this server, or long ago"
    USED = "This way back from GitHub was used already"
    EXPIRED = "This way back from GitHub has expired: it is good for one hour"


@dataclass(frozen=True)
class Return:
    """Somebody back from GitHub: the workspace they began in, and what is wrong with it."""

    workspace: Workspace | None
    fault: StateFault | None = None


@dataclass(frozen=True)
class _KeptState:
    """Who began an installation, for which workspace, and until when it counts (Unix seconds)."""

    user: int
    workspace: int
    expires_at: float


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
            audit.record(user, audit.Deed.CREATED_WORKSPACE, slug, workspace=workspace)
    except IntegrityError as error:
        raise NotPossible(f"The name {slug} is taken. Choose another one.") from error
    return workspace


def installation_address(user: User, workspace: Workspace) -> str:
    """GitHub's page to install the App, with a state that leads back to this workspace once."""
    state = secrets.token_urlsafe(24)
    kept = _KeptState(user.pk, workspace.pk, time() + STATE_SECONDS)
    cache.set(_name_of_state(state), kept, timeout=REMEMBERED_SECONDS)
    return new_installation_page(settings.GITHUB_URL, github_app.credentials().slug, state)


def return_by_state(user: User, state: str) -> Return:
    """Where a way back from GitHub leads; a good state is used up.

    The workspace is named also when the state is used or expired, so that it can be begun again,
    but only to the person who began there.
    """
    name = _name_of_state(state)
    kept: _KeptState | None = cache.get(name)
    if kept is None or kept.user != user.pk:
        return Return(None, StateFault.UNKNOWN)
    workspace = Workspace.objects.filter(pk=kept.workspace, memberships__user=user).first()
    if workspace is None:
        return Return(None, StateFault.UNKNOWN)
    if kept.expires_at < time():
        return Return(workspace, StateFault.EXPIRED)
    # Adding is atomic: of two returns at once, one is the first.
    if not cache.add(f"{name}-used", user.pk, timeout=REMEMBERED_SECONDS):
        return Return(workspace, StateFault.USED)
    return Return(workspace)


def _name_of_state(state: str) -> str:
    """Where a state is kept: by its hash, as what comes in by the address may be any text."""
    return f"install-state-{sha256(state.encode(errors='replace')).hexdigest()}"


def accounts_of(user: User, query: str = "") -> list[Account]:
    """The installations the user's own token lists, each with its repositories named like `query`.

    One account that refuses does not hide the others. Raises `SignInAgain`, `RateLimited` or
    `Unavailable`.
    """
    client = client_of(user)
    try:
        return [_account(client, installation, query) for installation in client.installations()]
    except Denied as refusal:
        raise SignInAgain from refusal


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
