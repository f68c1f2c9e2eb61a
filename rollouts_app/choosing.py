"""Which repositories somebody may connect: as GitHub lists them now, account by account."""

import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from rollouts_app.connection import client_of
from rollouts_app.errors import Cause, Denied, GitHubError, Gone
from rollouts_app.github import InstallationFacts, RepositoryFacts, UserClient
from rollouts_app.models import Repository, User
from rollouts_app.refusals import SignInAgain
from rollouts_app.sync.clients import app_client

# Repositories listed for one account; a longer list is searched by name.
LISTED_REPOSITORIES = 100
# Repositories of one account that a search looks at: more would keep the page waiting.
SEARCHED_REPOSITORIES = 2000
FULL_NAME = re.compile(r"(?P<owner>[\w.-]{1,100})/(?P<name>[\w.-]{1,100})", re.ASCII)


@dataclass(frozen=True)
class Account:
    """One installation the person can reach, and the repositories to choose from.

    `taken` are the numbers of those that a workspace has already; with `is_cut` there are more than
    are listed, with `is_vast` more than were searched. `is_listed` is False for an account that
    was left out, as another one was asked for.
    """

    installation: InstallationFacts
    repositories: list[RepositoryFacts]
    taken: frozenset[int] = frozenset()
    is_cut: bool = False
    is_vast: bool = False
    is_listed: bool = True
    problem: str = ""

    @property
    def login(self) -> str:
        return self.installation.account_login

    @property
    def is_choosable(self) -> bool:
        """Whether one of them can be connected."""
        return any(facts.id not in self.taken for facts in self.repositories)


def accounts_of(user: User, query: str = "", only: int = 0) -> list[Account]:
    """The installations the user's own token lists, each with its repositories named like `query`.

    With `only`, the number of an installation, the others come without theirs. A full name is asked
    for by itself: it is found however many there are. One account that refuses does not hide the
    others. Raises `SignInAgain`, `RateLimited` or `Unavailable`.
    """
    client = client_of(user)
    try:
        installed = list(client.installations())
    except Denied as refusal:
        raise SignInAgain from refusal
    is_one = any(installation.id == only for installation in installed)
    return [
        Account(installation, [], is_listed=False)
        if is_one and installation.id != only
        else _account(client, installation, query)
        for installation in installed
    ]


def _account(client: UserClient, installation: InstallationFacts, query: str) -> Account:
    try:
        named = FULL_NAME.fullmatch(query)
        if named:
            return _named(client, installation, named)
        return _listed(client, installation, query)
    except (Denied, Gone) as refusal:
        return Account(installation, [], problem=_why(installation, refusal))


def _listed(client: UserClient, installation: InstallationFacts, query: str) -> Account:
    """The first of those with the words in their names, of all pages up to the bound."""
    looked_at = 0
    found: list[RepositoryFacts] = []
    for facts in islice(client.repositories(installation.id), SEARCHED_REPOSITORIES):
        looked_at += 1
        if query.lower() in facts.full_name.lower():
            found.append(facts)
        if len(found) > LISTED_REPOSITORIES:
            break
    listed = found[:LISTED_REPOSITORIES]
    return Account(
        installation,
        sorted(listed, key=lambda facts: facts.full_name.lower()),
        taken=_taken(listed),
        is_cut=len(found) > LISTED_REPOSITORIES,
        is_vast=looked_at == SEARCHED_REPOSITORIES,
    )


def _named(client: UserClient, installation: InstallationFacts, named: re.Match[str]) -> Account:
    """The one of that full name, if it is the account's and the App may read it."""
    if named["owner"].lower() != installation.account_login.lower():
        return Account(installation, [])
    with suppress(Gone):
        facts = client.repository(named[0])
        reached = app_client().repository_installation(facts.full_name)
        if reached.id == installation.id:
            return Account(installation, [facts], taken=_taken([facts]))
    return Account(installation, [])


def _taken(listed: list[RepositoryFacts]) -> frozenset[int]:
    connected = Repository.objects.connected().filter(github_id__in=[facts.id for facts in listed])
    return frozenset(connected.values_list("github_id", flat=True))


def _why(installation: InstallationFacts, refusal: GitHubError) -> str:
    """Why an account cannot be listed, and who can change that."""
    if isinstance(refusal, Denied) and refusal.cause == Cause.POLICY:
        return (
            f"A rule of {installation.account_login} keeps this server or you out: an IP allow "
            f"list that lacks this server's address, or single sign-on. {refusal}"
        )
    return str(refusal)
