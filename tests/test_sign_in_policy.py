"""Who may come in: the administrators' choice, and what it never keeps out."""

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from pytest_django import Settings

from rollouts_app.models import (
    AuditEvent,
    Installation,
    Invitation,
    Membership,
    Repository,
    ServerSettings,
    User,
    Workspace,
)
from rollouts_app.models.invitations import new_invitation
from tests.github_emulator import GitHubEmulator
from tests.members import signed_in
from tests.pages import page_of
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db

REFUSED = "403"


def known(*users: User) -> None:
    """Let them be people who have signed in before."""
    for user in users:
        SocialAccount.objects.create(user=user, provider="github", uid=str(user.github_id))


@pytest.fixture(autouse=True)
def strict(settings: Settings) -> None:
    settings.SIGN_IN = "invited"


def choose(**choices: object) -> None:
    ServerSettings.objects.update_or_create(pk=1, defaults=choices)


def invitation(workspace: Workspace, user: User, **facts: object) -> str:
    """The link's path."""
    made, token = new_invitation(workspace, user, Membership.Role.MEMBER, None)
    for name, value in facts.items():
        setattr(made, name, value)
    made.save()
    return f"/invitations/{token}"


def test_a_stranger_is_told_and_noted(client: Client, github: GitHubEmulator) -> None:
    assert sign_in(client, github, "mallory") == REFUSED
    assert not User.objects.exists()
    [event] = AuditEvent.objects.all()
    assert (event.deed, event.subject, event.details) == (
        AuditEvent.Deed.WAS_REFUSED,
        "sign-in of mallory",
        {"why": "not invited"},
    )
    assert client.get("/account").status_code == 302


def test_members_and_administrators_come_in(
    acme: Workspace, ada: User, mallory: User, github: GitHubEmulator
) -> None:
    known(ada, mallory)
    assert sign_in(Client(), github, "ada") == "/"
    assert sign_in(Client(), github, "mallory") == REFUSED
    mallory.is_administrator = True
    mallory.save()
    assert sign_in(Client(), github, "mallory") == "/"


def test_who_is_removed_does_not_come_back(
    acme: Workspace, linus: User, github: GitHubEmulator
) -> None:
    known(linus)
    assert sign_in(Client(), github, "linus") == "/"
    acme.memberships.filter(user__github_login="linus").delete()
    assert sign_in(Client(), github, "linus") == REFUSED


def test_who_is_invited_by_login_comes_in(
    acme: Workspace, ada: User, github: GitHubEmulator
) -> None:
    invitation(acme, ada, github_id=github.account_named("mallory").id, github_login="mallory")
    assert sign_in(Client(), github, "mallory") == "/"


def test_who_brings_a_link_comes_in(acme: Workspace, ada: User, github: GitHubEmulator) -> None:
    link = invitation(acme, ada)
    assert sign_in(Client(), github, "mallory") == REFUSED
    assert sign_in(Client(), github, "mallory", f"?next={link}x") == REFUSED
    assert sign_in(Client(), github, "mallory", f"?next={link}") == link
    Invitation.objects.update(expires_at="2020-01-01T00:00:00Z")
    User.objects.filter(github_login="mallory").delete()
    assert sign_in(Client(), github, "mallory", f"?next={link}") == REFUSED


def test_a_link_for_somebody_else_lets_nobody_in(
    acme: Workspace, ada: User, github: GitHubEmulator
) -> None:
    link = invitation(acme, ada, github_id=1, github_login="grace")
    assert sign_in(Client(), github, "mallory", f"?next={link}") == REFUSED


def test_organizations_are_named(installation: Installation, github: GitHubEmulator) -> None:
    grace = github.add_user("grace")
    with github.changing():
        github.account_named("acme").members[grace.id] = "member"
    assert sign_in(Client(), github, "grace") == REFUSED
    choose(organizations=["ACME"])
    assert sign_in(Client(), github, "grace") == "/"
    assert sign_in(Client(), github, "mallory") == REFUSED


def test_an_outage_lets_nobody_new_in(installation: Installation, github: GitHubEmulator) -> None:
    choose(organizations=["acme"])
    github.trouble("/api/v3/user/installations", status=502, body={})
    assert sign_in(Client(), github, "ada") == REFUSED


def test_readers_of_an_open_workspace_come_in(agents: Repository, github: GitHubEmulator) -> None:
    grace = github.add_user("grace")
    with github.changing():
        github.account_named("acme").members[grace.id] = "member"
    agents.workspace.is_open_to_readers = True
    agents.workspace.save()
    assert sign_in(Client(), github, "grace") == "/"
    assert sign_in(Client(), github, "mallory") == REFUSED


def test_the_page_outweighs_the_environment(github: GitHubEmulator, settings: Settings) -> None:
    settings.SIGN_IN = "everybody"
    choose(sign_in="invited")
    assert sign_in(Client(), github, "mallory") == REFUSED
    choose(sign_in="everybody")
    assert sign_in(Client(), github, "mallory") == "/"


def test_administrators_alone_may_create_workspaces(ada: User, linus: User) -> None:
    choose(workspace_creators="administrators")
    client = signed_in(linus)
    page = page_of(client.get("/onboarding"))
    assert "Administrators of this server create workspaces." in page.text(".//main")
    assert client.post("/onboarding/workspace", {"slug": "mine"}).status_code == 403
    linus.is_administrator = True
    linus.save()
    assert client.post("/onboarding/workspace", {"slug": "mine"}).status_code == 302
