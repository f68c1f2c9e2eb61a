"""Invitations for GitHub accounts, many at once, and by e-mail."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings

from osmosis_web.mail import MailServer, mail_server
from rollouts_app.models import Invitation, Repository, User, Workspace
from tests.conftest import Browser
from tests.connection import press
from tests.github_emulator import GitHubEmulator
from tests.mailbox import Mailbox, mailbox
from tests.members import INVITE, MEMBERS, opened, roles, shown, signed_in
from tests.onboarding import messages_of
from tests.pages import page_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(ada: User, browser_of: Browser) -> Client:
    return browser_of(ada)


@pytest.fixture
def letters(settings: Settings) -> Iterator[Mailbox]:
    """A server with e-mail."""
    with mailbox() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        settings.EMAIL_USE_TLS = False
        settings.DEFAULT_FROM_EMAIL = "osmosis-web@rollouts.example"
        yield box


def invite(client: Client, logins: str, role: str = "member") -> list[str]:
    return press(client, INVITE, how="logins", logins=logins, role=role)


def found_at(settings: Settings) -> str:
    place = f"{settings.PUBLIC_URL}/invitations"
    return f"Whoever signs in with that account finds the invitation at {place}."


def test_many_logins_are_pasted_at_once(
    client: Client, acme: Workspace, github: GitHubEmulator, settings: Settings
) -> None:
    for login in ("grace", "Katherine"):
        github.add_user(login)
    assert invite(client, "grace, @katherine\nlinus;nobody-at-all acme GRACE ../x") == [
        f"Invited: grace, Katherine. {found_at(settings)}",
        "Members already: linus.",
        "Nobody on GitHub is called nobody-at-all, acme, ../x: not invited.",
    ]
    rows = Invitation.objects.order_by("pk").values_list("github_login", "github_id", "role")
    numbers = [github.account_named(login).id for login in ("grace", "Katherine")]
    assert list(rows) == [("grace", numbers[0], "member"), ("Katherine", numbers[1], "member")]
    assert invite(client, "grace") == ["Invited before, and still waiting: grace."]
    assert Invitation.objects.count() == 2


def test_the_app_asks_where_it_is_installed(
    ada: User, agents: Repository, github: GitHubEmulator
) -> None:
    github.add_user("grace")
    assert len(invite(signed_in(ada), "grace")) == 1
    assert Invitation.objects.get().github_login == "grace"


@pytest.mark.parametrize("logins", ["", " , ;", " ".join(f"x{n}" for n in range(51))])
def test_none_and_too_many_are_refused(logins: str, client: Client, acme: Workspace) -> None:
    page = page_of(client.post(INVITE, {"how": "logins", "logins": logins, "role": "member"}), 422)
    assert page.texts(".//form//*[@role='alert']") == [
        "Enter one GitHub login, or up to 50: one a line or with commas."
    ]
    assert Invitation.objects.count() == 0


def test_without_a_token_nobody_can_be_asked(ada: User, acme: Workspace) -> None:
    answer = signed_in(ada).post(INVITE, {"how": "logins", "logins": "linus", "role": "member"})
    [problem] = page_of(answer, 422).texts(".//form//*[@role='alert']")
    assert problem.startswith("GitHub has to be asked who that is, in your own name")


def test_an_outage_invites_nobody_and_says_so(
    client: Client, acme: Workspace, github: GitHubEmulator
) -> None:
    github.outage("/api/v3/users", status=502)
    answer = client.post(INVITE, {"how": "logins", "logins": "linus", "role": "member"})
    [problem] = page_of(answer, 422).texts(".//form//*[@role='alert']")
    assert problem.startswith("GitHub answered 502")
    assert Invitation.objects.count() == 0


def test_one_for_an_account_is_good_for_it_alone(
    client: Client, acme: Workspace, mallory: User, github: GitHubEmulator
) -> None:
    facts = github.add_user("grace", name="Grace Hopper")
    answer = client.post(INVITE, {"how": "logins", "logins": "grace", "role": "admin"}, follow=True)
    path = urlsplit(page_of(answer).text(".//*[@id='invitation-link']")).path
    stranger = signed_in(mallory)
    page = page_of(stranger.get(path), 403)
    assert page.text(".//main//h1") == "This invitation is for the GitHub account grace."
    assert stranger.post(path).status_code == 403
    number = Invitation.objects.get().pk
    assert stranger.post(f"/invitations/{number}/accept").status_code == 404
    # A login changes, the account stays.
    user = User.objects.create(username="g", github_id=facts.id, github_login="amazing-grace")
    own = signed_in(user)
    assert own.get("/").headers["Location"] == "/invitations"
    waiting = page_of(own.get("/invitations"))
    assert waiting.actions() == [f"/invitations/{number}/accept"]
    assert own.post(waiting.actions()[0]).headers["Location"] == "/onboarding?workspace=acme"
    assert roles(acme)["amazing-grace"] == "admin"
    assert page_of(own.get("/invitations")).actions() == []


def test_who_joins_by_another_way_leaves_no_invitation_behind(
    client: Client, ada: User, acme: Workspace, mallory: User
) -> None:
    invite(client, "mallory")
    link = page_of(client.post(INVITE, {"how": "link", "role": "member"}, follow=True))
    signed_in(mallory).post(urlsplit(link.text(".//*[@id='invitation-link']")).path)
    assert opened(ada).texts(".//*[@aria-labelledby='pending-title']//h3") == [
        "No invitation is waiting."
    ]


def mail(client: Client, email: str, **values: str) -> list[str]:
    answer = client.post(
        INVITE, {"how": "email", "email": email, "role": "member", **values}, follow=True
    )
    return messages_of(page_of(answer))


def test_an_invitation_goes_out_by_mail(
    client: Client, ada: User, acme: Workspace, mallory: User, letters: Mailbox
) -> None:
    assert mail(client, "Grace@Navy.example") == [
        "The invitation was mailed to grace@navy.example."
    ]
    [letter] = letters.letters
    assert (letter["From"], letter["To"], letter["Subject"]) == (
        "osmosis-web@rollouts.example",
        "grace@navy.example",
        "Invitation to acme on Osmosis Web",
    )
    text = letter.get_content()
    assert text.startswith("Ada Lovelace invites you to the workspace acme on Osmosis Web")
    [link] = [line for line in text.splitlines() if line.startswith("http")]
    assert (
        shown(opened(ada), "Pending")[0][0] == "grace@navy.example invited just now by Ada Lovelace"
    )
    signed_in(mallory).post(urlsplit(link).path)
    assert roles(acme)["mallory"] == "member"


def test_the_same_form_sent_twice_is_one_letter(
    client: Client, acme: Workspace, letters: Mailbox
) -> None:
    number = "0b9c8f3a-3a43-4a3e-8d3b-1d9f9a7f2f10"
    for _ in range(2):
        mail(client, "grace@navy.example", request=number)
    again = client.post(INVITE, {"how": "email", "email": "grace@navy.example", "role": "member"})
    assert page_of(again, 422).texts(".//form//*[@role='alert']") == [
        "grace@navy.example has an invitation that is waiting."
    ]
    assert len(letters.letters) == 1
    assert Invitation.objects.count() == 1


def test_resending_mails_the_new_link(client: Client, acme: Workspace, letters: Mailbox) -> None:
    mail(client, "grace@navy.example")
    press(client, f"{MEMBERS}/invitations/{Invitation.objects.get().pk}/resend")
    assert len({letter.get_content() for letter in letters.letters}) == 2


def test_a_mail_server_that_is_down_leaves_the_link(
    client: Client, acme: Workspace, letters: Mailbox
) -> None:
    letters.shutdown()
    letters.server_close()
    answer = client.post(
        INVITE, {"how": "email", "email": "grace@navy.example", "role": "member"}, follow=True
    )
    page = page_of(answer)
    assert messages_of(page) == [
        "The e-mail could not be sent (ConnectionRefusedError): send the link yourself."
    ]
    assert len(page.all(".//*[@id='invitation-link']")) == 1


def test_without_a_mail_server_there_are_only_links(
    client: Client, acme: Workspace, settings: Settings
) -> None:
    assert settings.EMAIL_HOST == ""
    page = page_of(client.get(INVITE))
    ways = [each.get("value") for each in page.all(".//input[@type='radio']")]
    assert ways == ["logins", "link"]
    assert client.post(INVITE, {"how": "email", "email": "a@b.example"}).status_code == 422


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("", MailServer()),
        (
            "smtp://mail.example",
            MailServer("mail.example", 587, starts_tls=True, sender="osmosis-web@rollouts.example"),
        ),
        (
            "smtps://ada:p%40ss@mail.example?from=Rollouts+%3Cr%40x.example%3E",
            MailServer(
                "mail.example", 465, "ada", "p@ss", is_tls=True, sender="Rollouts <r@x.example>"
            ),
        ),
        (
            "smtp://127.0.0.1:25?tls=off",
            MailServer("127.0.0.1", 25, sender="osmosis-web@rollouts.example"),
        ),
    ],
)
def test_it_reads_the_address_of_a_mail_server(url: str, server: MailServer) -> None:
    assert mail_server(url, "https://rollouts.example") == server


@pytest.mark.parametrize("url", ["mail.example", "http://x", "smtp://", "smtp://x:y", "smtp://[x"])
def test_it_refuses_an_address_that_is_none_without_repeating_it(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL must look like") as refusal:
        mail_server(url, "https://rollouts.example")
    assert str(refusal.value).endswith("smtp://user:password@mail.example:587")
