"""The server's page: policy, administrators, the App's secrets; and the way in without GitHub."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings

from rollouts_app import github_app, vault
from rollouts_app.models import AuditEvent, GitHubApp, Repository, ServerSettings, User
from rollouts_app.sync.clients import app_client
from tests.conftest import receive
from tests.first_run import store_app, without_app
from tests.github_emulator import GitHubEmulator
from tests.members import signed_in
from tests.pages import page_of
from tests.sign_in import sign_in
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

POLICY = {"sign_in": "invited", "organizations": "acme, Tools", "workspace_creators": "everybody"}


@pytest.fixture
def admin(ada: User) -> Client:
    ada.is_administrator = True
    ada.save()
    return signed_in(ada)


@pytest.fixture
def made_here(
    github: GitHubEmulator, settings: Settings, agents: Repository
) -> Iterator[GitHubApp]:
    """The App as the first run would have stored it."""
    with without_app(github, settings):
        yield store_app(github)


def new_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(pem, form, serialization.NoEncryption()).decode()


def delivered(github: GitHubEmulator) -> int:
    github.push(NAME, "main", {"a": str(len(github.deliveries))})
    github.wait_for_deliveries()
    return receive(github.deliveries[-1])


def renew(client: Client, kind: str, secret: str) -> str:
    """What the page says."""
    answer = client.post("/server/secret", {"kind": kind, "secret": secret}, follow=True)
    page = page_of(answer, answer.status_code)
    return page.text(".//main")


def test_it_is_for_administrators(linus: User, client: Client) -> None:
    for path in ("/server", "/server/secret", "/server/administrators"):
        assert signed_in(linus).post(path).status_code == 404
    assert client.get("/server").status_code == 302


def test_it_keeps_the_policy(admin: Client) -> None:
    assert admin.post("/server", POLICY).status_code == 302
    row = ServerSettings.current()
    assert (row.sign_in, row.organizations) == ("invited", ["acme", "Tools"])
    [event] = AuditEvent.objects.filter(deed=AuditEvent.Deed.CHANGED_SERVER)
    assert event.details == {
        "sign_in": "everybody → invited",
        "organizations": " → acme, Tools",
    }
    assert "acme, Tools" in admin.get("/server").content.decode()


@pytest.mark.parametrize(
    "wrong", [{"sign_in": "x"}, {"organizations": "a b/c"}, {"workspace_creators": ""}]
)
def test_it_refuses_what_is_no_policy(admin: Client, wrong: dict[str, str]) -> None:
    assert admin.post("/server", {**POLICY, **wrong}).status_code == 422
    assert not ServerSettings.objects.exclude(sign_in="").exists()


def test_administrators_are_named_and_taken_off(admin: Client, ada: User, linus: User) -> None:
    unknown = page_of(admin.post("/server/administrators", {"login": "nobody"}), 422)
    assert "Nobody called nobody has signed in here yet." in unknown.text(".//main")
    assert admin.post("/server/administrators", {"login": "Linus"}).status_code == 302
    assert set(User.objects.administrators()) == {ada, linus}
    answer = admin.post("/server/administrators/remove", {"login": "ada"})
    assert answer.headers["Location"] == "/"
    assert admin.get("/server").status_code == 404
    last = signed_in(linus).post("/server/administrators/remove", {"login": "linus"}, follow=True)
    assert "linus is the only administrator." in page_of(last).text(".//main")
    assert set(User.objects.administrators()) == {linus}


def test_the_terminal_names_administrators(linus: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("administrators", "--add", "linus")
    assert capsys.readouterr().out == "linus  Linus T\n"
    with pytest.raises(CommandError, match="linus is the only administrator"):
        call_command("administrators", "--remove", "linus")


def test_the_environments_secrets_are_not_renewed_here(admin: Client) -> None:
    assert "come from this server's environment" in renew(admin, "webhook_secret", "new")


def test_a_private_key_counts_once_github_accepts_it(
    admin: Client, made_here: GitHubApp, github: GitHubEmulator
) -> None:
    key = new_key()
    assert "This is no RSA private key" in renew(admin, "private_key", "x")
    assert "GitHub does not accept this key" in renew(admin, "private_key", key)
    assert app_client().app().slug == github.app.slug
    github.app.private_key = key
    assert "The new private key is in use." in renew(admin, "private_key", key)
    assert app_client().app().slug == github.app.slug
    [event] = AuditEvent.objects.filter(deed=AuditEvent.Deed.ROTATED)
    assert event.subject == "private key"


def test_a_client_secret_counts_once_github_accepts_it(
    admin: Client, made_here: GitHubApp, github: GitHubEmulator
) -> None:
    assert "GitHub does not accept this client secret" in renew(admin, "client_secret", "wrong")
    github.add_user("grace")
    assert sign_in(Client(), github, "grace") == "/"
    github.app.client_secret = "new"
    assert "The new client secret is in use." in renew(admin, "client_secret", "new")
    assert sign_in(Client(), github, "grace") == "/"


def test_both_webhook_secrets_count_for_a_day(
    admin: Client, made_here: GitHubApp, github: GitHubEmulator
) -> None:
    assert delivered(github) == 202
    assert "For a day the old one counts as well." in renew(admin, "webhook_secret", "new")
    assert delivered(github) == 202
    github.app.webhook_secret = "new"
    assert delivered(github) == 202
    github.app.webhook_secret = vault.decrypt(made_here.webhook_secret) or ""
    GitHubApp.objects.update(former_webhook_secret_until=now() - timedelta(seconds=1))
    assert delivered(github) == 401


def test_the_environments_former_secret_counts(
    agents: Repository, github: GitHubEmulator, settings: Settings
) -> None:
    settings.GITHUB_APP_FORMER_WEBHOOK_SECRET = github.app.webhook_secret
    settings.GITHUB_APP_WEBHOOK_SECRET = "new"
    assert delivered(github) == 202


def test_no_secret_is_shown(admin: Client, made_here: GitHubApp) -> None:
    page = admin.get("/server").content.decode()
    app = github_app.credentials()
    assert not [secret for secret in app.secrets if secret in page]
    assert not [secret for secret in app.secrets if secret in repr(app)]


def login_link(login: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The path of the link."""
    call_command("login_link", login)
    return "/login/" + capsys.readouterr().out.strip().rpartition("/")[2]


def test_a_link_lets_an_administrator_in_once(
    admin: Client, ada: User, capsys: pytest.CaptureFixture[str]
) -> None:
    link, client = login_link("ada", capsys), Client()
    assert page_of(client.get(link)).text(".//h1") == "Sign in as an administrator"
    assert client.post(link).headers["Location"] == "/"
    assert client.get("/server").status_code == 200
    assert page_of(Client().post(link), 410).text(".//h1") == "This link is no good any more"
    event = AuditEvent.objects.get(deed=AuditEvent.Deed.SIGNED_IN)
    assert (event.actor, event.details) == (ada, {"by": "a link of the server's terminal"})


def test_a_link_ends(admin: Client, ada: User, capsys: pytest.CaptureFixture[str]) -> None:
    link = login_link("ada", capsys)
    User.objects.update(is_administrator=False)
    assert Client().post(link).status_code == 410
    User.objects.update(is_administrator=True)
    cache.clear()
    assert Client().post(link).status_code == 410


def test_links_are_for_administrators(linus: User) -> None:
    with pytest.raises(CommandError, match="linus is no administrator"):
        call_command("login_link", "linus")
    with pytest.raises(CommandError, match="Nobody called x has signed in"):
        call_command("login_link", "x")
