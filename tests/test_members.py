"""Members: the list, roles, hand over, remove, leave; never without an owner."""

import threading
from functools import partial

import pytest
from django.test import Client

from rollouts_app import memberships
from rollouts_app.models import AuditEvent, Membership, Repository, User, Workspace
from rollouts_app.refusals import NotAllowed, NotPossible
from tests.connection import in_another_thread, press
from tests.github_emulator import GitHubEmulator
from tests.members import MEMBERS, Role, deed, join, menu_of, opened, roles, shown, signed_in
from tests.onboarding import HTMX

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(ada: User) -> Client:
    return signed_in(ada)


@pytest.fixture
def member(acme: Workspace, linus: User) -> Membership:
    return acme.memberships.get(user=linus)


@pytest.fixture
def grace(acme: Workspace, github: GitHubEmulator) -> Membership:
    return join(acme, github, "grace", Role.ADMIN)


def written(workspace: Workspace) -> list[tuple[str, str, str]]:
    events = AuditEvent.objects.filter(workspace=workspace).order_by("pk")
    return list(events.values_list("actor_name", "deed", "subject"))


def test_it_lists_owners_first_with_role_and_time(
    ada: User, linus: User, acme: Workspace, grace: Membership
) -> None:
    assert shown(opened(ada), "Members") == [
        ["AL Ada Lovelace you ada", "Owner", "just now"],
        ["G grace", "Admin", "just now"],
        ["LT Linus T linus", "Member", "just now"],
    ]
    assert shown(opened(linus), "Members")[2] == ["LT Linus T you linus", "Member", "just now"]


def test_it_offers_each_what_they_may_do(
    ada: User, linus: User, acme: Workspace, member: Membership, grace: Membership
) -> None:
    owner = acme.memberships.get(user=ada)
    make_owner = ["Make owner…", "Hand over ownership…", "Remove…"]
    assert menu_of(opened(ada), member) == ["Make admin", *make_owner]
    assert menu_of(opened(ada), grace) == ["Make member", *make_owner]
    assert menu_of(opened(ada), owner) == []
    as_admin = opened(grace.user)
    assert menu_of(as_admin, member) == ["Make admin", "Remove…"]
    assert menu_of(as_admin, owner) == []
    as_member = opened(linus)
    assert menu_of(as_member, grace) == []
    assert as_member.all(".//*[@id='invite']") == []
    assert as_member.texts(".//*[@id='leave']") == ["Leave…"]


def test_a_role_changes_and_is_written_down(
    client: Client, acme: Workspace, member: Membership
) -> None:
    assert press(client, deed(member, "role"), role="admin") == ["Linus T is an admin now."]
    assert roles(acme) == {"ada": "owner", "linus": "admin"}
    assert press(client, deed(member, "role"), role="admin") == ["Linus T is an admin now."]
    assert written(acme) == [("Ada Lovelace", "changed the role of", "Linus T")]
    event = AuditEvent.objects.get(deed="changed the role of")
    assert event.details == {"before": "member", "after": "admin"}


@pytest.mark.parametrize("role", ["", "owner", "king"])
def test_a_role_that_is_not_offered_changes_nothing(
    role: str, client: Client, acme: Workspace, member: Membership
) -> None:
    assert press(client, deed(member, "role"), role=role) == [
        "Choose one of the roles listed. Nothing was changed."
    ]
    assert roles(acme) == {"ada": "owner", "linus": "member"}


def test_an_owner_is_made_after_a_question(
    client: Client, acme: Workspace, member: Membership
) -> None:
    page = client.get(deed(member, "owner"))
    assert "change all roles, yours included" in page.content.decode()
    assert roles(acme)["linus"] == "member"
    assert press(client, deed(member, "owner")) == ["Linus T is an owner now."]
    assert roles(acme) == {"ada": "owner", "linus": "owner"}


def test_a_workspace_is_handed_over(client: Client, acme: Workspace, member: Membership) -> None:
    assert press(client, deed(member, "hand-over")) == [
        "Linus T is an owner now, and you are an admin."
    ]
    assert roles(acme) == {"ada": "admin", "linus": "owner"}
    again = client.post(deed(member, "hand-over"))
    assert again.status_code == 403
    assert roles(acme) == {"ada": "admin", "linus": "owner"}
    assert [done for _, done, _ in written(acme)] == [
        *("changed the role of", "changed the role of"),
        "was refused",
    ]


def test_access_ends_at_once_on_pages_and_parts(
    client: Client, linus: User, synced: Repository, member: Membership
) -> None:
    gone = signed_in(linus)
    assert gone.get("/acme/rollouts").status_code == 200
    assert press(client, deed(member, "remove")) == [
        "Linus T was removed and has no access any more."
    ]
    for address in ("/acme/rollouts", "/acme/sync-status", "/acme/integrations/git", MEMBERS):
        assert gone.get(address).status_code == 404
        assert gone.get(address, headers=HTMX).status_code == 404
    assert gone.post("/acme/integrations/git/sync-now").status_code == 404
    assert written(synced.workspace) == [("Ada Lovelace", "removed", "Linus T")]


def test_removing_twice_is_once(client: Client, acme: Workspace, member: Membership) -> None:
    address = deed(member, "remove")
    press(client, address)
    assert press(client, address) == [
        "That person does not belong to this workspace any more. Nothing was changed."
    ]
    assert client.get(address).status_code == 404
    assert len(written(acme)) == 1


def test_a_member_leaves(acme: Workspace, linus: User) -> None:
    client = signed_in(linus)
    client.get("/acme/members")
    answer = client.post("/acme/leave")
    assert answer.headers["Location"] == "/"
    assert client.get("/").headers["Location"] == "/onboarding"
    assert client.post("/acme/leave").status_code == 404
    assert roles(acme) == {"ada": "owner"}
    assert written(acme) == [("Linus T", "left", "acme")]


def test_the_last_owner_does_not_leave(client: Client, acme: Workspace, grace: Membership) -> None:
    words = "acme would be left without an owner. Hand it over to somebody first, or delete it."
    assert words in client.get("/acme/leave").content.decode()
    assert press(client, "/acme/leave") == [words]
    assert roles(acme)["ada"] == "owner"


def test_an_owner_leaves_when_there_is_another(
    client: Client, acme: Workspace, member: Membership
) -> None:
    press(client, deed(member, "owner"))
    assert client.post("/acme/leave").headers["Location"] == "/"
    assert roles(acme) == {"linus": "owner"}


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_leave_one(
    ada: User, linus: User, acme: Workspace, member: Membership
) -> None:
    Membership.objects.filter(pk=member.pk).update(role=Role.OWNER)
    start = threading.Barrier(2)
    refusals = []

    def go(user: User) -> None:
        start.wait(10)
        try:
            memberships.leave(user, acme)
        except NotPossible as refusal:
            refusals.append(str(refusal))

    for thread in [in_another_thread(partial(go, user)) for user in (ada, linus)]:
        thread.join()
    assert list(roles(acme).values()) == ["owner"]
    assert len(refusals) == 1


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_remove_each_other_leave_one(
    ada: User, linus: User, acme: Workspace, member: Membership
) -> None:
    Membership.objects.filter(pk=member.pk).update(role=Role.OWNER)
    own = acme.memberships.get(user=ada)
    start = threading.Barrier(2)
    refusals = []

    def go(user: User, other: Membership) -> None:
        start.wait(10)
        try:
            memberships.remove(user, acme, other.pk)
        except NotAllowed as refusal:
            refusals.append(str(refusal))

    pairs = ((ada, member), (linus, own))
    for thread in [in_another_thread(partial(go, *pair)) for pair in pairs]:
        thread.join()
    assert list(roles(acme).values()) == ["owner"]
    assert refusals == ["You do not belong to acme any more."]
