"""From nothing to a connected repository: what is believed of whom."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import DataError, IntegrityError, connections

from rollouts_app import choosing, connection, installing, onboarding
from rollouts_app.accounts import keep_user_token
from rollouts_app.connection import tie_repository
from rollouts_app.installing import Return, StateFault
from rollouts_app.models import Installation, Membership, Repository, User, Workspace
from rollouts_app.refusals import NotPossible, SignInAgain
from rollouts_app.sync.clients import client_for
from tests.github_emulator import GitHubEmulator

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(github: GitHubEmulator, ada: User, linus: User, mallory: User) -> None:
    """Everybody's token is at hand, as it is for an hour after signing in."""
    for user in (ada, linus, mallory):
        keep_user_token(user.github_id or 0, github.user_token(user.github_login))


def numbers(github: GitHubEmulator, full_name: str, installation: Installation) -> tuple[int, int]:
    return installation.github_id, github.repository_named(full_name).id


def test_it_starts_a_workspace_with_an_owner(ada: User) -> None:
    workspace = onboarding.start_workspace(ada, "acme")
    membership = Membership.objects.get()
    assert (membership.workspace, membership.user, membership.role) == (workspace, ada, "owner")


def test_it_says_when_a_name_is_taken(acme: Workspace, mallory: User) -> None:
    with pytest.raises(NotPossible, match="The name acme is taken"):
        onboarding.start_workspace(mallory, "acme")


@pytest.mark.parametrize("slug", ["", "-", "A", "a_b", "a/b", "-a", "a-", "a" * 65, "ü", "a\n"])
def test_the_database_refuses_slugs_that_are_no_address(db: None, slug: str) -> None:
    with pytest.raises((IntegrityError, DataError)):
        Workspace.objects.create(slug=slug)


@pytest.mark.usefixtures("signed_in")
def test_it_lists_what_the_persons_own_token_sees(
    github: GitHubEmulator, ada: User, mallory: User, installation: Installation
) -> None:
    [account] = choosing.accounts_of(ada)
    assert account.installation.id == installation.github_id
    assert [facts.full_name for facts in account.repositories] == ["acme/agents"]
    assert choosing.accounts_of(mallory) == []


@pytest.mark.usefixtures("signed_in")
def test_it_connects_and_asks_for_the_first_sync(
    github: GitHubEmulator, ada: User, acme: Workspace, installation: Installation
) -> None:
    chosen = numbers(github, "acme/agents", installation)
    repository = connection.connect_repository(ada, acme, *chosen)
    repository.refresh_from_db()
    assert (repository.full_name, repository.default_branch) == ("acme/agents", "main")
    assert repository.full_check_requested_at is not None


@pytest.mark.usefixtures("signed_in")
def test_it_refuses_an_installation_that_is_not_the_persons(
    github: GitHubEmulator, mallory: User, installation: Installation
) -> None:
    den = onboarding.start_workspace(mallory, "den")
    with pytest.raises(NotPossible, match="GitHub does not show you this repository"):
        connection.connect_repository(mallory, den, *numbers(github, "acme/agents", installation))
    assert Repository.objects.count() == 0


@pytest.mark.usefixtures("signed_in")
def test_it_refuses_a_repository_outside_the_installation(
    github: GitHubEmulator, ada: User, acme: Workspace, installation: Installation
) -> None:
    github.create_repository("acme/secret")
    with pytest.raises(NotPossible):
        connection.connect_repository(ada, acme, *numbers(github, "acme/secret", installation))
    assert Repository.objects.count() == 0


@pytest.mark.usefixtures("signed_in", "agents")
def test_it_connects_a_repository_once(
    github: GitHubEmulator, ada: User, installation: Installation
) -> None:
    other = onboarding.start_workspace(ada, "other")
    with pytest.raises(NotPossible, match="a repository belongs to one workspace"):
        connection.connect_repository(ada, other, *numbers(github, "acme/agents", installation))


def test_a_repository_chosen_again_follows_what_github_says(
    github: GitHubEmulator, agents: Repository
) -> None:
    facts = client_for(agents.installation).repository("acme/agents")
    renamed = replace(facts, full_name="acme/renamed", default_branch="trunk", private=False)
    assert tie_repository(agents.workspace, agents.installation, renamed).pk == agents.pk
    agents.refresh_from_db()
    told = (agents.full_name, agents.default_branch, agents.is_private)
    assert told == ("acme/renamed", "trunk", False)


@pytest.mark.django_db(transaction=True)
def test_the_same_choice_twice_at_once_connects_it_once(
    github: GitHubEmulator, acme: Workspace, installation: Installation
) -> None:
    facts = client_for(installation).repository("acme/agents")
    barrier = threading.Barrier(4)

    def choose(_number: int) -> int:
        barrier.wait(10)
        try:
            return tie_repository(acme, installation, facts).pk
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as people:
        chosen = list(people.map(choose, range(4)))
    assert chosen == [Repository.objects.get().pk] * 4


@pytest.mark.parametrize("state", ["\0", "x" * 5000, "a b", "\ud800"], ids=ascii)
def test_a_state_that_is_none_leads_nowhere(ada: User, state: str) -> None:
    assert installing.return_by_state(ada, state) == Return(None, StateFault.UNKNOWN)


def test_a_state_outlives_a_busy_hour(ada: User, acme: Workspace) -> None:
    state = installing.installation_address(ada, acme).partition("state=")[2]
    for number in range(400):
        keep_user_token(number, "token")
    assert installing.return_by_state(ada, state) == Return(acme)


def test_it_asks_to_sign_in_again_without_a_token(ada: User) -> None:
    with pytest.raises(SignInAgain):
        choosing.accounts_of(ada)


@pytest.mark.usefixtures("signed_in")
def test_it_asks_to_sign_in_again_with_a_token_github_refuses(
    github: GitHubEmulator, ada: User
) -> None:
    github.expire_tokens()
    with pytest.raises(SignInAgain):
        choosing.accounts_of(ada)


def test_a_state_leads_back_once_and_only_its_owner(
    ada: User, linus: User, acme: Workspace
) -> None:
    """I08: a replayed state is named as used, and binds nothing again."""
    state = installing.installation_address(ada, acme).partition("state=")[2]
    assert installing.return_by_state(linus, state) == Return(None, StateFault.UNKNOWN)
    assert installing.return_by_state(ada, state) == Return(acme)
    assert installing.return_by_state(ada, state) == Return(acme, StateFault.USED)
    assert installing.return_by_state(ada, "forged") == Return(None, StateFault.UNKNOWN)


def test_an_expired_state_is_named_so(
    ada: User, acme: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I08: expired is told apart from used, and the workspace to begin again in is known."""
    monkeypatch.setattr(installing, "STATE_SECONDS", -1)
    state = installing.installation_address(ada, acme).partition("state=")[2]
    assert installing.return_by_state(ada, state) == Return(acme, StateFault.EXPIRED)


def test_a_state_is_worth_nothing_to_who_has_left(ada: User, acme: Workspace) -> None:
    state = installing.installation_address(ada, acme).partition("state=")[2]
    Membership.objects.filter(user=ada).delete()
    assert installing.return_by_state(ada, state) == Return(None, StateFault.UNKNOWN)


def test_it_names_three_ways_to_clone() -> None:
    assert onboarding.clone_commands("https://github.com", "acme/agents") == {
        "HTTPS": "git clone https://github.com/acme/agents.git",
        "SSH": "git clone git@github.com:acme/agents.git",
        "GitHub CLI": "gh repo clone acme/agents",
    }
    assert onboarding.clone_commands("https://git.example", "acme/agents") == {
        "HTTPS": "git clone https://git.example/acme/agents.git",
        "SSH": "git clone git@git.example:acme/agents.git",
        "GitHub CLI": "gh repo clone git.example/acme/agents",
    }
