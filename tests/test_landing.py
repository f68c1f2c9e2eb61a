"""The frame: landing page, the way in and out, switcher, user menu and theme."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from rollouts_app.models import Membership, Repository, User, Workspace
from tests.conftest import counted_queries
from tests.github_emulator import GitHubEmulator
from tests.pages import Page, page_of
from tests.sign_in import address_at_github, sign_in

pytestmark = pytest.mark.django_db

SIGN_IN = "/accounts/github/login/"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def join(user: User, *slugs: str) -> None:
    for slug in slugs:
        workspace = Workspace.objects.create(slug=slug)
        Membership.objects.create(workspace=workspace, user=user, role="owner")


def switcher(page: Page) -> list[tuple[str, str]]:
    """Name and address of each line of the workspace switcher."""
    links = page.one(".//*[@id='workspace-menu']").iter("a")
    return [("".join(link.itertext()).strip(), link.get("href", "")) for link in links]


def test_it_welcomes_the_signed_out(client: Client) -> None:
    page = page_of(client.get("/"))
    assert page.text(".//h1") == "Is what you pushed what the platform will run?"
    assert page.actions() == [SIGN_IN]
    assert page.text(".//footer/span[2]") == "Not affiliated with Osmosis AI or GitHub."
    assert page.all(".//*[@id='user-menu']") == []


def test_it_leads_newcomers_to_onboarding(ada: User) -> None:
    assert signed_in(ada).get("/").headers["Location"] == "/onboarding"


def test_it_leads_to_the_workspace_opened_last(ada: User) -> None:
    join(ada, "one", "two")
    client = signed_in(ada)
    assert client.get("/").headers["Location"] == "/one/rollouts"
    client.get("/two/integrations/git")
    assert client.get("/").headers["Location"] == "/two/rollouts"
    Membership.objects.filter(workspace__slug="two").delete()
    assert client.get("/").headers["Location"] == "/one/rollouts"


def test_a_workspaces_bare_address_leads_to_its_rollouts(ada: User) -> None:
    join(ada, "one")
    assert signed_in(ada).get("/one").headers["Location"] == "/one/rollouts"


def test_it_says_that_the_process_answers(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_the_switcher_lists_the_persons_workspaces(ada: User, acme: Workspace) -> None:
    join(ada, "zebra", "ants")
    join(User.objects.create(username="else"), "foreign")
    page = page_of(signed_in(ada).get("/acme/integrations/git"))
    assert switcher(page) == [
        ("acme", "/acme/rollouts"),
        ("ants", "/ants/rollouts"),
        ("zebra", "/zebra/rollouts"),
        ("New workspace", "/onboarding?workspace="),
    ]
    [current] = page.all(".//*[@id='workspace-menu']/a[@aria-current]")
    assert current.get("href") == "/acme/rollouts"


def test_more_workspaces_cost_no_more_queries(ada: User, acme: Workspace) -> None:
    client = signed_in(ada)
    client.get("/acme/integrations/git")
    with counted_queries() as one:
        client.get("/acme/integrations/git")
    join(ada, *(f"w{number}" for number in range(5)))
    with counted_queries() as six:
        client.get("/acme/integrations/git")
    assert len(six) == len(one)


def test_it_shows_how_far_the_setup_is_until_it_is_done(ada: User, agents: Repository) -> None:
    join(ada, "bare")
    client = signed_in(ada)
    here = page_of(client.get("/bare/integrations/git")).links()
    assert here["Setup 1/4"] == "/onboarding?workspace=bare"
    there = page_of(client.get("/acme/integrations/git")).links()
    assert there["Setup 2/4"] == "/onboarding?workspace=acme"
    Repository.objects.update(heads_checked_at=agents.connected_at)
    assert "Setup 3/4" in page_of(client.get("/acme/integrations/git")).links()
    ada.memberships.update(setup_done=["clone"])
    done = page_of(client.get("/acme/integrations/git")).links()
    assert [name for name in done if name.startswith("Setup ")] == []


def test_the_user_menu_says_who_is_signed_in(ada: User, acme: Workspace) -> None:
    page = page_of(signed_in(ada).get("/acme/integrations/git?x=1"))
    assert page.text(".//*[@id='user-menu']/h2[1]") == "Signed in as Ada Lovelace (ada)"
    assert page.text(".//*[@popovertarget='user-menu']") == "AL"
    forms = page.all(".//*[@id='user-menu']/form")
    assert [form.get("action") for form in forms] == ["/theme", "/accounts/logout/"]
    assert forms[0].find("input[@name='next']").get("value") == "/acme/integrations/git?x=1"  # type: ignore[union-attr]


def test_the_account_page_says_how_one_signs_in(ada: User) -> None:
    page = page_of(signed_in(ada).get("/account"))
    assert page.facts()["Sign-in"] == "GitHub account ada"
    assert page.actions() == []


@pytest.mark.parametrize(("theme", "attribute"), [("dark", "dark"), ("light", "light")])
def test_the_theme_is_in_the_first_byte(client: Client, theme: str, attribute: str) -> None:
    """U15"""
    assert page_of(client.get("/")).one("html").get("data-theme") is None
    answer = client.post("/theme", {"theme": theme, "next": "/accounts/login/?next=/acme"})
    assert answer.headers["Location"] == "/accounts/login/?next=/acme"
    assert page_of(client.get("/")).one("html").get("data-theme") == attribute
    client.post("/theme", {"theme": "system"})
    assert page_of(client.get("/")).one("html").get("data-theme") is None


@pytest.mark.parametrize(
    "elsewhere",
    ["//evil.example", "https:evil.example", "https://evil.example/", "javascript:1", "theme", ""],
)
def test_choosing_a_theme_leads_to_no_other_site(client: Client, elsewhere: str) -> None:
    answer = client.post("/theme", {"theme": "dark", "next": elsewhere})
    assert answer.headers["Location"] == "/"


def test_it_knows_no_other_theme(client: Client) -> None:
    answer = client.post("/theme", {"theme": '"><script>'})
    assert "theme" not in answer.cookies


def test_the_login_page_keeps_where_one_wanted_to_go(client: Client) -> None:
    page = page_of(client.get("/accounts/login/?next=/acme/rollouts%3Fbranch%3Dfeature%252Fx"))
    assert page.text(".//h1") == "Sign in to Osmosis Web"
    assert page.actions() == [SIGN_IN]
    assert page.one(".//main//input[@name='next']").get("value") == (
        "/acme/rollouts?branch=feature%2Fx"
    )


def test_the_way_to_github_is_a_post(client: Client) -> None:
    page = page_of(client.get(SIGN_IN))
    assert page.text(".//h1") == "Continue to GitHub"
    assert page.text(".//main//button") == "Continue with GitHub"


def test_signing_out_ends_the_session_and_lands_at_the_start(ada: User) -> None:
    client = signed_in(ada)
    page = page_of(client.get("/accounts/logout/"))
    assert page.actions() == ["/accounts/logout/"]
    assert client.get("/").headers["Location"] == "/onboarding"
    assert client.post("/accounts/logout/").headers["Location"] == "/"
    assert page_of(client.get("/")).actions() == [SIGN_IN]


def test_a_cancelled_sign_in_says_so_and_offers_another_try(
    client: Client, github: GitHubEmulator
) -> None:
    state = parse_qs(urlsplit(address_at_github(client)).query)["state"][0]
    denied = {"error": "access_denied", "state": state}
    page = page_of(client.get("/accounts/github/login/callback/", denied, follow=True))
    assert page.text(".//h1") == "You cancelled signing in"
    assert page.actions() == [SIGN_IN]


def test_a_failed_sign_in_says_so_and_offers_another_try(
    client: Client, github: GitHubEmulator
) -> None:
    github.trouble("/login/oauth/access_token", status=503)
    assert sign_in(client, github, "ada") == "401"
    page = page_of(client.get("/accounts/github/login/callback/?code=x&state=forged"), status=401)
    assert page.text(".//h1") == "Signing in with GitHub did not work"
    assert page.actions() == [SIGN_IN]


def test_an_account_that_was_switched_off_is_told_so(
    client: Client, github: GitHubEmulator
) -> None:
    sign_in(client, github, "ada")
    User.objects.update(is_active=False)
    assert sign_in(Client(), github, "ada") == "/accounts/inactive/"
    page = page_of(client.get("/accounts/inactive/"))
    assert page.text(".//h1") == "This account is switched off"


def test_two_people_with_one_address_are_two_accounts(
    client: Client, github: GitHubEmulator
) -> None:
    github.add_user("twin", email="ada@acme.example")
    assert sign_in(client, github, "ada") == "/"
    assert sign_in(Client(), github, "twin") == "/"
    assert set(User.objects.values_list("github_login", flat=True)) == {"ada", "twin"}
