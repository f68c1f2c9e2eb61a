"""Reading the repository on GitHub: what members need it for, and who may join by it."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client

from rollouts_app.models import AuditEvent, Membership, Repository, User, Workspace
from tests.conftest import counted_queries
from tests.connection import press
from tests.github_emulator import GitHubEmulator
from tests.members import MEMBERS, opened, roles, shown, signed_in
from tests.onboarding import HTMX
from tests.pages import page_of
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

ROLLOUTS, ACCESS = "/acme/rollouts", "/acme/settings/access"
ASKED = "/api/v3/repos/acme/agents/collaborators/linus/permission"


@pytest.fixture
def member(linus: User, synced: Repository) -> Client:
    """Linus, of whom GitHub has not been asked yet."""
    acme = synced.workspace
    acme.memberships.filter(user=linus).update(may_read=None, asked_about=None, ask_again_at=None)
    return signed_in(linus)


def asked(github: GitHubEmulator) -> int:
    """How often GitHub was asked about Linus."""
    return [seen.path for seen in github.requests].count(ASKED)


def lose_access(github: GitHubEmulator) -> None:
    with github.changing():
        del github.account_named("acme").members[github.account_named("linus").id]


def let_pass(**time: int) -> None:
    """Time passes for what GitHub said."""
    Membership.objects.update(ask_again_at=F("ask_again_at") - timedelta(**time))


def heading(client: Client, status: int) -> str:
    return page_of(client.get(ROLLOUTS), status).text(".//main//h1")


def test_it_asks_once_in_a_quarter_of_an_hour(member: Client, github: GitHubEmulator) -> None:
    for _ in range(3):
        assert member.get(ROLLOUTS).status_code == 200
    assert asked(github) == 1
    let_pass(minutes=14)
    member.get(ROLLOUTS)
    assert asked(github) == 1
    let_pass(minutes=2)
    member.get(ROLLOUTS)
    assert asked(github) == 2


def test_a_kept_answer_costs_no_query(
    member: Client, synced: Repository, github: GitHubEmulator
) -> None:
    member.get(ROLLOUTS)
    with counted_queries() as private:
        member.get(ROLLOUTS)
    Workspace.objects.update(needs_read_access=False)
    with counted_queries() as unneeded:
        member.get(ROLLOUTS)
    assert len(private) == len(unneeded)


def test_access_taken_on_github_ends_here_on_parts_too(
    member: Client, ada: User, github: GitHubEmulator
) -> None:
    member.get(ROLLOUTS)
    lose_access(github)
    assert member.get(ROLLOUTS).status_code == 200
    let_pass(minutes=16)
    assert heading(member, 403) == "GitHub does not let linus read the repository of this workspace"
    for address in (ROLLOUTS, "/acme/sync-status", "/acme/integrations/git", "/acme/branches"):
        assert member.get(address, headers=HTMX).status_code == 403
    assert member.post("/acme/integrations/git/sync-now").status_code == 403
    # The workspace is still theirs, and everybody sees why they see nothing.
    assert member.get(MEMBERS).status_code == 200
    assert member.get("/acme/leave").status_code == 200
    assert shown(opened(ada), "Members")[1][1] == "Member No access on GitHub"


def test_access_given_on_github_counts_within_a_minute(
    member: Client, github: GitHubEmulator
) -> None:
    lose_access(github)
    assert member.get(ROLLOUTS).status_code == 403
    github.add_collaborator("acme/agents", "linus", "read")
    assert member.get(ROLLOUTS).status_code == 403
    let_pass(seconds=61)
    assert member.get(ROLLOUTS).status_code == 200


@pytest.mark.parametrize("status", [403, 429, 500, 502, 401])
def test_an_outage_removes_nobody(status: int, member: Client, github: GitHubEmulator) -> None:
    member.get(ROLLOUTS)
    lose_access(github)
    let_pass(minutes=16)
    outage = github.outage("/api/v3/repos", status=status)
    assert member.get(ROLLOUTS).status_code == 200
    assert asked(github) == 2
    member.get(ROLLOUTS)
    assert asked(github) == 2
    outage.end()
    let_pass(minutes=61)
    assert member.get(ROLLOUTS).status_code == 403


def test_a_limit_is_waited_for(member: Client, github: GitHubEmulator) -> None:
    member.get(ROLLOUTS)
    let_pass(minutes=16)
    github.limit_primary()
    assert member.get(ROLLOUTS).status_code == 200
    let_pass(minutes=5)
    assert member.get(ROLLOUTS).status_code == 200
    assert asked(github) == 2


def test_a_repository_that_is_gone_says_nothing_of_people(
    member: Client, github: GitHubEmulator
) -> None:
    member.get(ROLLOUTS)
    github.delete_repository(NAME)
    let_pass(minutes=16)
    assert member.get(ROLLOUTS).status_code == 200


def test_who_was_never_known_waits_for_an_answer(
    member: Client, ada: User, github: GitHubEmulator
) -> None:
    Membership.objects.update(asked_about=None)
    github.outage("/api/v3/repos")
    assert (
        heading(member, 403)
        == "GitHub could not be asked whether you may read the repository of this workspace"
    )
    # Owners look after the connection.
    assert signed_in(ada).get("/acme/integrations/git").status_code == 200


def test_a_login_that_is_somebody_elses_now_is_not_taken_for_them(
    member: Client, linus: User, github: GitHubEmulator
) -> None:
    github.rename_account("linus", "torvalds")
    github.add_user("linus")
    assert member.get(ROLLOUTS).status_code == 200
    lose = github.account_named("torvalds").id
    with github.changing():
        del github.account_named("acme").members[lose]
    github.add_collaborator("acme/agents", "linus", "admin")
    let_pass(minutes=16)
    assert member.get(ROLLOUTS).status_code == 403


def test_another_repository_is_asked_about_anew(
    member: Client, synced: Repository, github: GitHubEmulator
) -> None:
    member.get(ROLLOUTS)
    lose_access(github)
    Membership.objects.update(asked_about=synced.pk + 1)
    assert member.get(ROLLOUTS).status_code == 403


def test_a_public_repository_needs_nothing(
    member: Client, synced: Repository, github: GitHubEmulator
) -> None:
    Repository.objects.update(is_private=False)
    lose_access(github)
    assert member.get(ROLLOUTS).status_code == 200
    assert asked(github) == 0


def test_an_owner_switches_it_off(
    member: Client, ada: User, synced: Repository, github: GitHubEmulator
) -> None:
    lose_access(github)
    assert member.get(ROLLOUTS).status_code == 403
    assert press(signed_in(ada), ACCESS) == ["The access rules were saved."]
    assert member.get(ROLLOUTS).status_code == 200
    [event] = AuditEvent.objects.filter(deed="changed settings")
    assert event.details == {"needs_read_access": "True → False"}


def test_readers_join_where_an_owner_lets_them(
    ada: User, mallory: User, synced: Repository, github: GitHubEmulator
) -> None:
    guest, acme = signed_in(mallory), synced.workspace
    github.add_collaborator("acme/agents", "mallory", "read")
    door = f"/join/{acme.pk}"
    refusal = ["GitHub does not let you read a repository whose workspace is open."]
    assert page_of(guest.get("/invitations")).actions() == []
    assert press(guest, door) == refusal
    press(signed_in(ada), ACCESS, needs_read_access="on", is_open_to_readers="on")
    assert page_of(guest.get("/invitations")).actions() == [door]
    for _ in range(2):
        assert guest.post(door).headers["Location"] == "/onboarding?workspace=acme"
    assert roles(acme)["mallory"] == "member"
    [event] = AuditEvent.objects.filter(deed="joined")
    assert event.details == {"role": "member", "reads": NAME}
    assert page_of(guest.get("/invitations")).actions() == []


def test_who_may_not_read_learns_nothing_of_an_open_workspace(
    mallory: User, synced: Repository, github: GitHubEmulator
) -> None:
    Workspace.objects.update(is_open_to_readers=True)
    guest = signed_in(mallory)
    assert "acme" not in page_of(guest.get("/invitations")).text(".//main")
    assert guest.post(f"/join/{synced.workspace_id}").headers["Location"] == "/invitations"
    github.outage("/api/v3/repos")
    assert page_of(guest.get("/invitations")).actions() == []
    assert "mallory" not in roles(synced.workspace)
