"""API keys: those of a workspace, and one's own."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils.timezone import now

from rollouts_app.models import CliToken, Repository, User, Workspace
from rollouts_app.models.tokens import PREFIX
from rollouts_app.views.browsers import browser_named
from tests.audit import written
from tests.cli_api import Cli, key_behind, make_token
from tests.conftest import Browser, counted_queries
from tests.history import cells
from tests.pages import page_of

pytestmark = pytest.mark.django_db

KEYS = "/acme/api-keys"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def make(client: Client, name: str = "CI", days: int = 30, number: str = "") -> str:
    """Where the form leads."""
    values = {"name": name, "days": days, "request": number or str(uuid4())}
    answer = client.post(f"{KEYS}/new", values, headers={"User-Agent": FIREFOX})
    assert answer.status_code == 302
    return str(answer.headers["Location"])


def test_a_new_key_is_shown_once_with_the_lines_to_copy(
    synced: Repository, ada: User, browser_of: Browser
) -> None:
    client = browser_of(ada)
    address = make(client)
    key = CliToken.objects.get()
    assert address == f"{KEYS}?made={key.public_id}"
    page = page_of(client.get(address))
    token = page.text(".//*[@id='key-token']")
    assert token.startswith(PREFIX)
    server = re.findall(r"OSMOSIS_PLATFORM_URL=(\S+)", page.text(".//*[@id='key-lines']"))[0]
    assert page.one(".//*[@id='key-lines']").text == (
        f"export OSMOSIS_PLATFORM_URL={server}\n"
        f"export OSMOSIS_TOKEN={token}\n"
        f"export OSMOSIS_TOKEN_PLATFORM_URL={server}"
    )
    assert token not in client.get(address).content.decode()
    assert token not in str(CliToken.objects.values().get())
    assert len(Cli(token).get("rollouts")[1]["rollouts"]) == 2
    assert key.device == "Firefox on Linux"
    assert timedelta(days=29) < key.expires_at - now() < timedelta(days=31)
    assert written() == [("acme", "Ada Lovelace", "created the API key", "CI")]


def test_nobody_else_reads_a_new_key(
    acme: Workspace, ada: User, linus: User, browser_of: Browser
) -> None:
    address = make(browser_of(linus))
    assert "Copy CI now" not in browser_of(ada).get(address).content.decode()
    assert "Copy CI now" in browser_of(linus).get(address).content.decode()


def test_the_same_form_twice_is_one_key(acme: Workspace, ada: User, browser_of: Browser) -> None:
    client, number = browser_of(ada), str(uuid4())
    assert make(client, number=number) == make(client, number=number)
    assert CliToken.objects.count() == len(written()) == 1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": "", "days": "30"}, "Give it a name, by which you know later what uses it."),
        ({"name": "CI", "days": "9999"}, "Choose one of the times listed."),
        ({"name": "x" * 101, "days": "30"}, "at most 100 characters"),
        ({"name": "a\0b", "days": "30"}, "Null characters are not allowed."),
    ],
)
def test_the_form_says_what_is_wrong(
    values: dict[str, str], words: str, acme: Workspace, ada: User, browser_of: Browser
) -> None:
    page = page_of(browser_of(ada).post(f"{KEYS}/new", values), 422)
    assert words in page.text()
    assert not CliToken.objects.exists()


def test_owners_see_all_keys_and_members_theirs(
    acme: Workspace, ada: User, linus: User, browser_of: Browser
) -> None:
    for user in (ada, linus):
        make(browser_of(user), f"CI of {user.github_login}")
    hints = dict(CliToken.objects.values_list("name", "hint"))
    of_linus = f"CI of linus {hints['CI of linus']}… made just now"
    device = "in Firefox on Linux"
    assert [row[0] for row in cells(page_of(browser_of(ada).get(KEYS)))] == [
        f"{of_linus} by Linus T, {device}",
        f"CI of ada {hints['CI of ada']}… made just now by Ada Lovelace, {device}",
    ]
    [row] = cells(page_of(browser_of(linus).get(KEYS)))
    day = CliToken.objects.get(name="CI of linus").expires_at
    assert row[:4] == [
        *(f"{of_linus} for acme, {device}", "Read", f"until {day:%-d %b %Y}", "Never used"),
    ]


def test_a_key_is_revoked_by_whoever_made_it_and_those_who_manage(
    acme: Workspace, ada: User, linus: User, mallory: User, browser_of: Browser
) -> None:
    tokens = {
        name: make_token(user, acme) for name, user in (("a", ada), ("l", linus), ("m", linus))
    }
    paths = {name: f"{KEYS}/{key_behind(token).public_id}/revoke" for name, token in tokens.items()}
    assert browser_of(linus).post(paths["a"]).status_code == 403
    assert browser_of(mallory).post(paths["a"]).status_code == 404
    question = page_of(browser_of(linus).get(paths["l"]))
    assert question.text(".//h1") == "Revoke laptop"
    for user, name in ((linus, "l"), (ada, "m"), (ada, "m")):
        assert browser_of(user).post(paths[name]).headers["Location"] == KEYS
    assert [Cli(tokens[name], git=None).get("verify")[0] for name in "alm"] == [200, 401, 401]
    assert [line[1:3] for line in written() if "revoked" in line[2]] == [
        ("Linus T", "revoked the API key"),
        ("Ada Lovelace", "revoked the API key"),
    ]


def test_one_sees_and_signs_out_what_is_ones_own(
    acme: Workspace, ada: User, linus: User, browser_of: Browser
) -> None:
    login, key, other = make_token(ada), make_token(ada, acme), make_token(linus)
    client = browser_of(ada)
    page = page_of(client.get("/account/keys"))
    hints = [key_behind(token).hint for token in (login, key)]
    assert page.texts(".//td[@class='who']") == [
        f"laptop {hints[0]}… made just now",
        f"laptop {hints[1]}… made just now for acme",
    ]
    assert client.get(f"/account/keys/{key_behind(other).public_id}/revoke").status_code == 404
    for token in (login, key):
        path = f"/account/keys/{key_behind(token).public_id}/revoke"
        assert client.post(path).headers["Location"] == "/account/keys"
        assert Cli(token, git=None).refusal("verify") == (401, "TOKEN_REVOKED")
    page = page_of(client.get("/account/keys"))
    assert page.texts(".//h3") == ["No device is signed in.", "You have no API keys."]
    assert cells(page) == []


def test_expired_keys_say_so(acme: Workspace, ada: User, browser_of: Browser) -> None:
    make_token(ada, acme, days=-1)
    [row] = cells(page_of(browser_of(ada).get(KEYS)))
    assert row[2] == "Expired"


def test_it_asks_the_same_number_of_queries_for_1_and_20_keys(
    acme: Workspace, ada: User, linus: User, browser_of: Browser
) -> None:
    client = browser_of(ada)
    make_token(linus, acme)
    client.get(KEYS)
    with counted_queries() as few:
        client.get(KEYS)
    for _ in range(19):
        make_token(linus, acme)
    with counted_queries() as many:
        client.get(KEYS)
    assert len(few) == len(many)


def test_the_pages_the_command_line_links_to(
    synced: Repository, linus: User, browser_of: Browser
) -> None:
    client = browser_of(linus)
    page = page_of(client.get("/acme/benchmarks"))
    assert page.text(".//h1") == "Benchmarks are not part of this server"
    for address in (KEYS, "/acme/integrations/git", "/device"):
        assert client.get(address).status_code == 200
    menu = page.links()
    assert menu["Devices and API keys"] == "/account/keys"
    assert page_of(client.get("/acme/settings")).links()["API keys: for CI and scripts"] == KEYS


def test_it_names_browsers() -> None:
    named = {
        FIREFOX: "Firefox on Linux",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/18.0 Safari/605.1.15": "Safari on macOS",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0": "Edge on Windows",
        "curl/8": "A browser",
    }
    assert {agent: browser_named(agent) for agent in named} == named
