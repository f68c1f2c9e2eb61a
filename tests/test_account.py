"""One's own account, and its end."""

from functools import partial
from threading import Barrier

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from rollouts_app import memberships
from rollouts_app.accounts import user_token
from rollouts_app.models import AuditEvent, Membership, User, Workspace
from rollouts_app.refusals import NotPossible
from tests.conftest import Browser
from tests.connection import in_another_thread
from tests.github_emulator import GitHubEmulator
from tests.members import opened, roles, signed_in
from tests.pages import page_of
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db

DELETE = "/account/delete"


def refusal(user: User) -> str:
    return opened(user, DELETE).text(".//main//form//p")


def test_it_shows_where_one_belongs(linus: User, acme: Workspace) -> None:
    page = opened(linus, "/account")
    assert page.facts()["Sign-in"] == "GitHub account linus"
    assert page.links()["acme"] == "/acme/rollouts"
    assert page.links()["Leave… acme"] == "/acme/leave"


def test_an_account_ends_with_all_its_access(
    linus: User, acme: Workspace, browser_of: Browser, github: GitHubEmulator
) -> None:
    client, other = browser_of(linus), signed_in(linus)
    SocialAccount.objects.create(user=linus, provider="github", uid=str(linus.github_id))
    assert page_of(client.post(DELETE, {"typed": "lin"}), 422).text(".//*[@id='typed-error']") == (
        "That is not linus. Nothing was changed."
    )
    assert client.post(DELETE, {"typed": "Linus"}).headers["Location"] == "/"
    for browser in (client, other):
        assert browser.get("/acme/rollouts").headers["Location"].startswith("/accounts/login/")
    assert client.post(DELETE).headers["Location"].startswith("/accounts/login/")
    assert roles(acme) == {"ada": "owner"}
    assert (User.objects.count(), SocialAccount.objects.count()) == (1, 0)
    assert user_token(linus) is None
    events = AuditEvent.objects.order_by("pk")
    assert list(events.values_list("workspace_slug", "actor_name", "deed", "subject")) == [
        ("acme", "Linus T", "left", "acme"),
        ("", "Linus T", "deleted their account", "linus"),
    ]
    # Who comes back is somebody new.
    assert sign_in(Client(), github, "linus") == "/"
    assert roles(acme) == {"ada": "owner"}


def test_the_only_owner_hands_over_first(ada: User, linus: User, acme: Workspace) -> None:
    other = Workspace.objects.create(slug="other")
    Membership.objects.create(workspace=other, user=ada, role="owner")
    words = (
        "You are the only owner of acme, other. Hand over or delete what is yours alone first, "
        "then delete your account."
    )
    assert refusal(ada) == words
    client = signed_in(ada)
    assert client.post(DELETE, {"typed": "ada"}).status_code == 422
    assert User.objects.filter(pk=ada.pk).exists()
    Membership.objects.filter(user=linus).update(role="owner")
    other.delete()
    assert client.post(DELETE, {"typed": "ada"}).headers["Location"] == "/"
    assert roles(acme) == {"linus": "owner"}


def test_the_only_administrator_stays(ada: User, linus: User) -> None:
    User.objects.filter(pk=ada.pk).update(is_administrator=True)
    assert refusal(ada).startswith("You are the only administrator of this server.")
    User.objects.filter(pk=linus.pk).update(is_administrator=True)
    assert signed_in(ada).post(DELETE, {"typed": "ada"}).headers["Location"] == "/"


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_delete_themselves_at_once_leave_one(
    ada: User, linus: User, acme: Workspace
) -> None:
    Membership.objects.update(role="owner")
    start, refusals = Barrier(2), []

    def go(user: User) -> None:
        start.wait(10)
        try:
            memberships.delete_account(user)
        except NotPossible as problem:
            refusals.append(str(problem))

    for thread in [in_another_thread(partial(go, user)) for user in (ada, linus)]:
        thread.join()
    assert list(roles(acme).values()) == ["owner"]
    assert len(refusals) == 1
