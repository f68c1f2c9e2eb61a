"""From nothing to a choice of repositories: start a workspace, list, clone."""

from dataclasses import dataclass
from itertools import islice
from shlex import quote
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from rollouts_app import audit
from rollouts_app.connection import client_of
from rollouts_app.errors import Denied, Gone
from rollouts_app.github import InstallationFacts, RepositoryFacts, UserClient
from rollouts_app.models import Membership, Repository, User, Workspace
from rollouts_app.refusals import NotPossible, SignInAgain

# Repositories listed for one account; a longer list is searched by name.
LISTED_REPOSITORIES = 100


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
