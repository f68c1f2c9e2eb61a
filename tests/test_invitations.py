"""Invitations: made, sent again, revoked, accepted; and each way in which one is no good."""

import uuid
from datetime import timedelta
from functools import partial

import pytest
from django.test import Client
from django.utils.timezone import now

from rollouts_app import invitations as flow
from rollouts_app.models import AuditEvent, Invitation, User, Workspace
from rollouts_app.refusals import NotPossible
from rollouts_app.templatetags.rollouts import ago
from tests.connection import in_another_thread, press
from tests.github_emulator import GitHubEmulator
from tests.members import MEMBERS, make_link, opened, roles, shown, signed_in
from tests.pages import page_of
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db

SETUP = "/onboarding?workspace=acme"


@pytest.fixture
def client(ada: User) -> Client:
    return signed_in(ada)


def says(client: Client, path: str, status: int = 200) -> str:
    """The heading of what a link leads to."""
    return page_of(client.get(path), status).text(".//main//h1")


def deed(name: str) -> str:
    return f"{MEMBERS}/invitations/{Invitation.objects.get().pk}/{name}"


def test_a_link_lets_one_person_in(
    client: Client, ada: User, acme: Workspace, mallory: User, github: GitHubEmulator
) -> None:
    path = make_link(client, "admin")
    waiting = Invitation.objects.get()
    assert shown(opened(ada), "Pending") == [
        ["whoever has the link invited just now by Ada Lovelace", "Admin", ago(waiting.expires_at)]
    ]
    assert waiting.expires_at - waiting.created_at == pytest.approx(
        timedelta(days=7), abs=timedelta(seconds=1)
    )
    guest = signed_in(mallory)
    assert says(guest, path) == "Join acme"
    assert guest.post(path).headers["Location"] == SETUP
    assert roles(acme) == {"ada": "owner", "linus": "member", "mallory": "admin"}
    assert opened(ada).texts(".//*[@aria-labelledby='pending-title']//h3") == [
        "No invitation is waiting."
    ]
    joined = AuditEvent.objects.get(deed="joined")
    assert (joined.actor_name, joined.subject, joined.details) == (
        "Mallory",
        "acme",
        {"role": "admin"},
    )


def test_sending_the_acceptance_twice_is_once(
    client: Client, acme: Workspace, mallory: User
) -> None:
    path = make_link(client)
    guest = signed_in(mallory)
    for _ in range(2):
        assert guest.post(path).headers["Location"] == SETUP
    assert acme.memberships.count() == 3
    assert AuditEvent.objects.filter(deed="joined").count() == 1
    assert says(guest, path) == "You belong to acme already"


def test_only_the_hash_of_a_token_is_stored(client: Client, acme: Workspace) -> None:
    token = make_link(client).rpartition("/")[2]
    [row] = Invitation.objects.values()
    assert token not in str(row)
    assert Invitation.objects.with_token(token).get().pk == row["id"]


def test_the_link_is_shown_to_its_maker_alone(
    client: Client, acme: Workspace, ada: User, linus: User
) -> None:
    make_link(client)
    address = f"{MEMBERS}?issued={Invitation.objects.get().pk}"
    acme.memberships.filter(user=linus).update(role="owner")
    assert len(opened(ada, address).all(".//*[@id='invitation-link']")) == 1
    assert opened(linus, address).all(".//*[@id='invitation-link']") == []


def test_it_leads_to_the_sign_in_and_back(
    client: Client, acme: Workspace, github: GitHubEmulator
) -> None:
    github.add_user("grace", name="Grace Hopper")
    path = make_link(client)
    guest = Client()
    page = page_of(guest.get(path))
    assert page.text(".//main//h1") == "Join acme"
    assert page.one(".//main//input[@name='next']").get("value") == path
    assert guest.post(path).headers["Location"] == f"/accounts/login/?next={path}"
    assert sign_in(guest, github, "grace", f"?next={path}") == path
    assert guest.post(path).headers["Location"] == SETUP
    assert roles(acme)["grace"] == "member"


@pytest.mark.parametrize(
    ("changes", "heading"),
    [
        ({"expires_at": now() - timedelta(seconds=1)}, "This invitation has expired."),
        ({"revoked_at": now()}, "This invitation was revoked."),
        ({"accepted_at": now()}, "This invitation was used already."),
    ],
)
def test_one_that_is_no_good_says_why(
    changes: dict[str, object], heading: str, client: Client, acme: Workspace, mallory: User
) -> None:
    path = make_link(client)
    Invitation.objects.update(**changes)
    guest = signed_in(mallory)
    assert says(guest, path, 410) == heading
    assert says(Client(), path, 410) == heading
    assert page_of(guest.post(path), 410).text(".//main//h1") == heading
    assert "mallory" not in roles(acme)


def test_an_unknown_link_says_what_may_have_happened(mallory: User) -> None:
    for client, onward in ((Client(), "Sign in"), (signed_in(mallory), "Go to the start page")):
        page = page_of(client.get("/invitations/x%00y%ff"), 404)
        assert page.text(".//main//h1") == "This invitation link leads nowhere"
        assert page.texts(".//main//a") == [onward]


def test_resending_ends_the_link_before(client: Client, acme: Workspace, mallory: User) -> None:
    old = make_link(client)
    Invitation.objects.update(expires_at=now() - timedelta(days=1))
    page = page_of(client.post(deed("resend"), follow=True))
    new = page.text(".//*[@id='invitation-link']")
    assert says(Client(), old, 404) == "This invitation link leads nowhere"
    assert says(Client(), new) == "Join acme"


def test_a_revoked_one_lets_nobody_in(client: Client, acme: Workspace, mallory: User) -> None:
    path = make_link(client)
    address = deed("revoke")
    assert press(client, address) == [
        "The invitation for whoever has the link was revoked: its link lets nobody in now."
    ]
    assert press(client, address) == [
        "That invitation was accepted or revoked in the meantime. Nothing was changed."
    ]
    assert says(signed_in(mallory), path, 410) == "This invitation was revoked."
    assert AuditEvent.objects.filter(deed="revoked the invitation of").count() == 1


def test_the_same_form_sent_twice_makes_one_link(client: Client, acme: Workspace) -> None:
    request = str(uuid.uuid4())
    assert make_link(client, request=request) == make_link(client, request=request)
    assert Invitation.objects.count() == 1
    assert AuditEvent.objects.filter(deed="invited").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_people_with_one_link_are_not_both_let_in(
    ada: User, acme: Workspace, mallory: User, github: GitHubEmulator
) -> None:
    grace = User.objects.create(username="grace", github_login="grace")
    invitation = flow.invite(ada, acme, "member", None)
    refusals = []

    def go(user: User) -> None:
        try:
            flow.accept(user, invitation)
        except NotPossible as refusal:
            refusals.append(str(refusal))

    for thread in [in_another_thread(partial(go, user)) for user in (mallory, grace)]:
        thread.join()
    assert refusals == ["This invitation was used already."]
    assert acme.memberships.count() == 3


def test_a_deleted_account_leaves_its_invitations(
    client: Client, ada: User, acme: Workspace
) -> None:
    path = make_link(client)
    ada.delete()
    assert page_of(Client().get(path)).text(".//main//p").startswith("You are invited to the")
