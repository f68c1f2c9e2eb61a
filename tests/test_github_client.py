"""GitHub by REST: what is asked, and what comes out. Against the emulator, over HTTP."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import jwt
import pytest

from rollouts_app.errors import Denied, Gone, Unavailable
from rollouts_app.github import (
    AppClient,
    AppFacts,
    InstallationClient,
    InstallationFacts,
    InstallationToken,
    RepositoryFacts,
    UserClient,
    UserFacts,
    api_url,
)
from tests.github_emulator import GitHubEmulator

NOT_ALLOWED = ("admin", "maintain", "push", "triage")
A_MINUTE = timedelta(minutes=1)


@pytest.fixture
def app(github: GitHubEmulator) -> AppClient:
    return AppClient(api_url(github.url), github.app.id, github.app.private_key)


@pytest.fixture
def installed(github: GitHubEmulator) -> int:
    """The App on Acme, for one of its two repositories."""
    github.create_repository("acme/agents", files={"a": "b"})
    github.create_repository("acme/other")
    return github.install("acme", repositories=["acme/agents"], by="ada")


@pytest.fixture
def installation(github: GitHubEmulator, app: AppClient, installed: int) -> InstallationClient:
    return InstallationClient(api_url(github.url), app.installation_token(installed).token)


@pytest.fixture
def ada(github: GitHubEmulator) -> UserClient:
    return UserClient(api_url(github.url), github.user_token("ada"))


def test_the_api_has_its_own_address_at_github_com_only() -> None:
    assert api_url("https://github.com") == "https://api.github.com"
    assert api_url("https://github.com/") == "https://api.github.com"
    assert api_url("https://git.acme.example/") == "https://git.acme.example/api/v3"


def test_the_app_knows_itself(app: AppClient, github: GitHubEmulator) -> None:
    assert app.app() == AppFacts(
        id=github.app.id,
        slug=github.app.slug,
        name=github.app.name,
        page=f"{github.url}/apps/{github.app.slug}",
        permissions=github.app.permissions,
        events=tuple(github.app.events),
    )


def test_its_token_keeps_a_distance_from_github_s_clock(
    app: AppClient, github: GitHubEmulator
) -> None:
    before = int(time.time())
    claims = jwt.decode(app._app_token(), options={"verify_signature": False})
    assert claims["iss"] == str(github.app.id)
    assert before - 60 <= claims["iat"] <= int(time.time()) - 60
    assert claims["exp"] - claims["iat"] == 600


def test_github_s_words_about_the_token_are_passed_on(
    app: AppClient, github: GitHubEmulator
) -> None:
    github.clock = lambda: time.time() - 3600
    with pytest.raises(Denied, match="answered 401 to GET /api/v3/app: '"):
        app.app()


def test_it_finds_an_installation(app: AppClient, installed: int, github: GitHubEmulator) -> None:
    expected = InstallationFacts(
        id=installed,
        account_id=github.account_named("acme").id,
        account_login="acme",
        account_type="Organization",
        repository_selection="selected",
        permissions=github.app.permissions,
        events=tuple(github.app.events),
        suspended_at=None,
        created_at=datetime.fromtimestamp(
            int(github.state.installations[installed].created_at), UTC
        ),
        page=f"{github.url}/organizations/acme/settings/installations/{installed}",
    )
    assert app.installation(installed) == expected
    assert list(app.installations()) == [expected]
    assert app.repository_installation("acme/agents") == expected
    assert not expected.is_suspended


def test_it_sees_a_suspension(app: AppClient, installed: int, github: GitHubEmulator) -> None:
    github.suspend(installed)
    facts = app.installation(installed)
    assert facts.is_suspended
    assert facts.suspended_at is not None
    assert abs(facts.suspended_at - datetime.now(UTC)) < A_MINUTE
    with pytest.raises(Denied, match="This installation has been suspended"):
        app.installation_token(installed)


def test_what_was_uninstalled_is_gone(
    app: AppClient, installed: int, github: GitHubEmulator
) -> None:
    github.uninstall(installed)
    with pytest.raises(Gone):
        app.installation(installed)
    with pytest.raises(Gone):
        app.installation_token(installed)
    assert list(app.installations()) == []


def test_a_repository_without_the_app_has_no_installation(app: AppClient, installed: int) -> None:
    with pytest.raises(Gone):
        app.repository_installation("acme/other")


def test_it_gets_a_token(app: AppClient, installed: int, github: GitHubEmulator) -> None:
    token = app.installation_token(installed)
    assert isinstance(token, InstallationToken)
    assert abs(token.expires_at - datetime.now(UTC) - timedelta(hours=1)) < A_MINUTE
    assert token.expires_at.utcoffset() == timedelta(0)
    assert (token.permissions, token.repository_selection) == (github.app.permissions, "selected")
    assert token.token not in repr(token)


@pytest.mark.parametrize("key", ["", "nonsense", "-----BEGIN PRIVATE KEY-----\nx\n-----END\n"])
def test_a_key_that_cannot_be_read_is_named(github: GitHubEmulator, key: str) -> None:
    client = AppClient(api_url(github.url), github.app.id, key)
    with pytest.raises(Denied, match="private key cannot be read"):
        client.app()
    assert github.requests == []


def test_the_key_of_another_app_is_denied(github: GitHubEmulator, app: AppClient) -> None:
    other = AppClient(api_url(github.url), 1, github.app.private_key)
    with pytest.raises(Denied, match="Integration not found"):
        other.app()


def test_an_installation_sees_its_repositories(
    installation: InstallationClient, github: GitHubEmulator
) -> None:
    owner = github.account_named("acme")
    assert list(installation.repositories()) == [
        RepositoryFacts(
            id=github.repository_named("acme/agents").id,
            owner_id=owner.id,
            owner_login="acme",
            name="agents",
            full_name="acme/agents",
            default_branch="main",
            private=True,
            archived=False,
            disabled=False,
            permissions={**dict.fromkeys(NOT_ALLOWED, False), "pull": True},
        )
    ]


def test_a_repository_keeps_its_number_over_a_new_name(
    installation: InstallationClient, github: GitHubEmulator
) -> None:
    before = installation.repository("acme/agents")
    github.rename_repository("acme/agents", "rollouts")
    github.edit_repository("acme/rollouts", default_branch="trunk")
    after = installation.repository("acme/agents")
    assert after == replace(
        before, name="rollouts", full_name="acme/rollouts", default_branch="trunk"
    )
    assert after == installation.repository_by_id(before.id)


def test_what_an_installation_does_not_reach_is_gone(
    installation: InstallationClient, github: GitHubEmulator
) -> None:
    other = github.repository_named("acme/other")
    for ask in (
        lambda: installation.repository("acme/other"),
        lambda: installation.repository("acme/no such ?#/../thing"),
        lambda: installation.repository_by_id(other.id),
        lambda: installation.repository_by_id(0),
        lambda: installation.person("nobody/../ada"),
    ):
        with pytest.raises(Gone):
            ask()


def test_it_finds_a_person(installation: InstallationClient, github: GitHubEmulator) -> None:
    ada = github.account_named("ada")
    facts = installation.person("ada")
    assert (facts.id, facts.login) == (ada.id, "ada")
    assert (facts.name, facts.email) == ("Ada Lovelace", "ada@acme.example")


def test_a_person_knows_who_they_are(ada: UserClient, github: GitHubEmulator) -> None:
    facts = ada.user()
    assert isinstance(facts, UserFacts)
    assert (facts.id, facts.login) == (github.account_named("ada").id, "ada")


def test_a_person_sees_their_installations_and_repositories(
    ada: UserClient, installed: int, github: GitHubEmulator
) -> None:
    assert [facts.id for facts in ada.installations()] == [installed]
    repositories = list(ada.repositories(installed))
    assert [facts.full_name for facts in repositories] == ["acme/agents"]
    assert repositories[0].permissions["admin"] is True


def test_a_stranger_sees_nothing(github: GitHubEmulator, installed: int) -> None:
    mallory = UserClient(api_url(github.url), github.user_token("mallory"))
    assert list(mallory.installations()) == []
    with pytest.raises(Gone):
        list(mallory.repositories(installed))


def test_an_expired_token_is_denied(ada: UserClient, github: GitHubEmulator) -> None:
    github.expire_tokens()
    with pytest.raises(Denied, match="The credentials are wrong, expired or revoked"):
        ada.user()


def test_pages_are_asked_for_as_they_are_read(ada: UserClient, github: GitHubEmulator) -> None:
    names = [f"acme/r{number:03}" for number in range(205)]
    for name in names:
        github.create_repository(name)
    number = github.install("acme")
    asked = len(github.requests)
    repositories = ada.repositories(number)
    assert len(github.requests) == asked
    assert next(repositories).full_name == names[0]
    assert len(github.requests) == asked + 1
    assert [facts.full_name for facts in repositories] == names[1:]
    assert len(github.requests) == asked + 3


def test_a_list_is_whole_or_an_error(ada: UserClient, github: GitHubEmulator) -> None:
    """A part that looks whole would make us forget what is still there."""
    for number in range(101):
        github.create_repository(f"acme/r{number:03}")
    number = github.install("acme")
    second = f"/api/v3/user/installations/{number}/repositories?per_page=100&page=2"
    github.trouble(second, status=502)
    read: list[RepositoryFacts] = []
    with pytest.raises(Unavailable):
        read.extend(ada.repositories(number))
    github.trouble("/api/v3/user/installations", headers={}, status=200, body={"installations": 5})
    with pytest.raises(Unavailable, match="is no list"):
        list(ada.installations())
