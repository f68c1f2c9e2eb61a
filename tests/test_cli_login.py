"""Signing the command line in and out: RFC 8628, with the statuses that it goes by."""

import logging
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now

from osmosis_web import settings as own_settings
from rollouts_app import device_login, tracing
from rollouts_app.device_login import MOST_REQUESTS
from rollouts_app.models import CliToken, DeviceGrant, User, Workspace
from rollouts_app.models.tokens import PREFIX
from tests.audit import written
from tests.cli_api import Cli, key_behind, make_token

pytestmark = pytest.mark.django_db

Grant = dict[str, str]


@pytest.fixture
def ask() -> Callable[..., Grant]:
    """A device begins to sign in: what it is answered."""

    def of(name: str = "laptop") -> Grant:
        status, body = Cli(git=None).post("device/authorize", {"deviceName": name})
        assert status == 200
        answer: Grant = body
        return answer

    return of


def poll(grant: Grant) -> tuple[int, str]:
    status, body = Cli(git=None).post("device/token", {"device_code": grant["device_code"]})
    return status, body.get("error", "")


def decide(user: User, grant: Grant, *, is_approved: bool = True) -> None:
    found = device_login.find(user, grant["user_code"])
    assert found is not None
    device_login.decide(user, found, is_approved=is_approved)


def wait(seconds: float) -> None:
    """As if so much time had passed since the device's last look."""
    for grant in DeviceGrant.objects.exclude(polled_at=None):
        assert grant.polled_at is not None
        grant.polled_at -= timedelta(seconds=seconds)
        grant.save()


def test_it_hands_out_codes(db: None, ask: Callable[..., Grant]) -> None:
    grant = ask()
    code = grant["user_code"]
    assert (len(code), code[4]) == (9, "-")
    assert grant == {
        "device_code": grant["device_code"],
        "user_code": code,
        "verification_uri": f"{own_settings.PUBLIC_URL}/device",
        "verification_uri_complete": f"{own_settings.PUBLIC_URL}/device?code={code}",
        "expires_in": 900,
        "interval": 3,
    }
    kept = DeviceGrant.objects.get()
    assert (kept.device_name, kept.program, kept.address) == (
        *("laptop", "osmosis-cli/0.3.8", "127.0.0.1"),
    )
    assert grant["device_code"] not in str(DeviceGrant.objects.values().get())


def test_a_device_that_is_let_in_gets_its_token_once(ada: User, ask: Callable[..., Grant]) -> None:
    grant = ask()
    assert poll(grant) == (400, "authorization_pending")
    decide(ada, grant)
    status, body = Cli(git=None).post("device/token", {"device_code": grant["device_code"]})
    key = CliToken.objects.get()
    assert status == 200
    assert body == {
        "token": body["token"],
        "token_id": key.public_id,
        "expires_at": key.expires_at.isoformat(),
        "user": {
            "id": str(ada.pk),
            "email": f"{ada.github_id}+ada@users.noreply.github.com",
            "name": "Ada Lovelace",
        },
    }
    assert body["token"].startswith(PREFIX)
    assert body["token"] not in str(CliToken.objects.values().get())
    assert (key.user, key.workspace, key.name) == (ada, None, "laptop")
    assert timedelta(days=89) < key.expires_at - now() < timedelta(days=91)
    assert poll(grant) == (400, "invalid_grant")
    assert written() == [("", "Ada Lovelace", "created the API key", "laptop")]


def test_a_device_that_is_denied_gets_none(ada: User, ask: Callable[..., Grant]) -> None:
    grant = ask()
    decide(ada, grant, is_approved=False)
    assert poll(grant) == (400, "access_denied")
    assert poll(grant) == (400, "access_denied")
    assert not CliToken.objects.exists()


def test_a_code_expires_also_once_it_was_approved(ada: User, ask: Callable[..., Grant]) -> None:
    grant = ask()
    decide(ada, grant)
    DeviceGrant.objects.update(expires_at=now())
    assert poll(grant) == (400, "expired_token")


def test_it_knows_no_other_codes(db: None) -> None:
    for code in ("nonsense", "\0", "\ud800"):
        assert poll({"device_code": code}) == (400, "invalid_grant")
    wrong: tuple[object, ...] = (
        {},
        {"device_code": 7},
        {"device_code": ""},
        [],
        b"{",
        b"",
        b"[" * 100_000,
    )
    for body in wrong:
        status, answer = Cli(git=None).post("device/token", body)
        assert (status, answer["code"] in {"VALIDATION", "BODY_INVALID"}) == (400, True)


def test_a_device_in_a_hurry_is_slowed_down(ada: User, ask: Callable[..., Grant]) -> None:
    grant = ask()
    assert poll(grant) == (400, "authorization_pending")
    assert poll(grant) == (400, "slow_down")
    wait(3)
    # Three seconds more are five too few by now.
    assert poll(grant) == (400, "slow_down")
    wait(13)
    assert poll(grant) == (400, "authorization_pending")
    for _ in range(9):
        poll(grant)
    assert DeviceGrant.objects.get().interval == 30
    decide(ada, grant)
    # Who was let in need not wait.
    assert poll(grant) == (200, "")


def test_a_name_may_be_anything(db: None) -> None:
    for name in ("", "x" * 1000, "a\0b", "\ud800", "  two\nlines "):
        assert Cli(git=None).post("device/authorize", {"deviceName": name})[0] == 200
    assert Cli(git=None).post("device/authorize", {"deviceName": 7})[0] == 400
    kept = list(DeviceGrant.objects.order_by("pk").values_list("device_name", flat=True))
    assert (kept[0], len(kept[1]), kept[4]) == ("Unnamed device", 255, "two lines")


def test_an_address_begins_no_more_than_people_do(db: None) -> None:
    for _ in range(MOST_REQUESTS):
        assert Cli(git=None).post("device/authorize", {})[0] == 200
    status, body = Cli(git=None).post("device/authorize", {})
    assert (status, body["code"]) == (429, "RATE_LIMITED")
    assert (
        body["error"]
        == body["message"]
        == ("Too many sign-ins were begun from your address. Wait five minutes.")
    )


def test_requests_that_are_long_over_go(db: None, ask: Callable[..., Grant]) -> None:
    ask()
    DeviceGrant.objects.update(expires_at=now() - timedelta(days=2))
    ask()
    assert DeviceGrant.objects.count() == 1


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "AUTH_HEADER_MISSING"),
        ("", "AUTH_HEADER_MISSING"),
        ("Basic YTpi", "TOKEN_INVALID"),
        ("Bearer", "TOKEN_INVALID"),
        ("Bearer osmw_unknown", "TOKEN_INVALID"),
        ("Bearer a b", "TOKEN_INVALID"),
        ("Bearer \u00e9", "TOKEN_INVALID"),
    ],
)
def test_it_says_what_is_wrong_with_a_token(db: None, header: str | None, code: str) -> None:
    cli = Cli(**({} if header is None else {"Authorization": header}))
    for path in ("verify", "workspaces", "quickstart", "rollouts"):
        assert cli.refusal(path) == (401, code)
    assert cli.answered["WWW-Authenticate"] == "Bearer"


def test_a_token_ends(ada: User) -> None:
    assert Cli(make_token(ada, days=0)).refusal("verify") == (401, "TOKEN_EXPIRED")
    token = make_token(ada)
    ada.is_active = False
    ada.save()
    assert Cli(token).refusal("verify") == (401, "TOKEN_REVOKED")


def test_signing_out_ends_the_token(ada: User) -> None:
    token = make_token(ada)
    path = f"tokens/{key_behind(token).public_id}"
    assert Cli(token).call("DELETE", path) == (
        200,
        {"revoked": True, "token_id": key_behind(token).public_id},
    )
    assert Cli(token).refusal(path, "DELETE") == (401, "TOKEN_REVOKED")
    assert Cli(token).refusal("verify") == (401, "TOKEN_REVOKED")
    assert written() == [("", "Ada Lovelace", "revoked the API key", "laptop")]


def test_a_sign_in_ends_the_persons_other_tokens_and_a_key_only_itself(
    ada: User, linus: User, acme: Workspace
) -> None:
    login, key, other = make_token(ada), make_token(ada, acme), make_token(linus)
    paths = {token: f"tokens/{key_behind(token).public_id}" for token in (login, key, other)}
    assert Cli(key).refusal(paths[login], "DELETE") == (404, "NOT_FOUND")
    assert Cli(login).refusal(paths[other], "DELETE") == (404, "NOT_FOUND")
    assert Cli(login).refusal("tokens/nonsense", "DELETE") == (404, "NOT_FOUND")
    assert Cli(login).call("DELETE", paths[key])[0] == 200
    assert Cli(key).refusal("verify") == (401, "TOKEN_REVOKED")
    assert Cli(other).get("verify")[0] == 200


def test_a_key_ends_itself(ada: User, acme: Workspace) -> None:
    token = make_token(ada, acme)
    assert Cli(token).call("DELETE", f"tokens/{key_behind(token).public_id}")[0] == 200
    assert written() == [("acme", "Ada Lovelace", "revoked the API key", "laptop")]


def test_no_token_gets_into_the_log(
    ada: User, ask: Callable[..., Grant], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    grant = ask()
    decide(ada, grant)
    _, body = Cli(git=None).post("device/token", {"device_code": grant["device_code"]})
    Cli(body["token"], git=None).get("verify")
    assert body["token"] not in caplog.text
    assert grant["device_code"] not in caplog.text


class Ids(logging.Handler):
    """Which ids each line of the log carries."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, object]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(dict(tracing.ids()))


def test_the_callers_version_is_in_the_log(ada: User) -> None:
    token, lines, log = make_token(ada), Ids(), logging.getLogger("rollouts_app.requests")
    log.addHandler(lines)
    try:
        Cli(token, git=None).get("verify")
        Cli(token, git=None, **{"X-Osmosis-CLI-Version": "0.3.8 and more"}).get("verify")
    finally:
        log.removeHandler(lines)
    known, unknown = lines.found
    assert (known["cli"], known["user"], known["key"]) == (
        *("0.3.8", ada.pk, key_behind(token).public_id),
    )
    assert "cli" not in unknown


def test_a_browsers_session_is_nobody_here(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    assert client.get("/api/cli/workspaces").status_code == 401
