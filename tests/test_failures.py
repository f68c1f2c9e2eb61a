"""Error pages: what happened, why, and what to do next."""

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings

from rollouts_app.models import User, Workspace
from tests.pages import page_of

pytestmark = pytest.mark.django_db


def signed_in(user: User, **options: bool) -> Client:
    client = Client(**options)  # type: ignore[arg-type]
    client.force_login(user)
    return client


def test_403_gives_the_reason(linus: User, acme: Workspace) -> None:
    page = page_of(signed_in(linus).post("/acme/integrations/git/installation"), status=403)
    assert page.text(".//h1") == "Your role does not allow this"
    assert page.text(".//main//p") == "Owners and admins manage this connection."


def test_404_is_the_same_for_what_is_not_there_and_what_is_not_yours(
    ada: User, mallory: User, acme: Workspace
) -> None:
    client = signed_in(mallory)
    answers = [
        page_of(client.get(address), status=404).text(".//main")
        for address in ("/acme/rollouts", "/nowhere/rollouts", "/acme", "/a/b/c/d", "/acme/x")
    ]
    assert set(answers) == {answers[0]}
    assert answers[0].startswith("There is no such page Either the address is wrong, or what it")


def test_404_needs_nobody_to_be_signed_in(client: Client) -> None:
    assert page_of(client.get("/no/such/page"), status=404).text(".//h1") == "There is no such page"


@pytest.mark.parametrize(
    ("origin", "sentence"),
    [
        (
            "https://rollouts.example",
            "It came from https://rollouts.example, but this server is set up as {public}. "
            "Open {public} and try again there.",
        ),
        ("null", "Your browser does not say which site the form came from, so the server "),
        ("", "The page you sent it from is older than your sign-in, or your browser refuses "),
    ],
)
def test_a_form_that_cannot_be_trusted_is_refused_with_the_reason(
    client: Client, settings: Settings, origin: str, sentence: str
) -> None:
    browser = Client(enforce_csrf_checks=True)
    headers = {"Origin": origin} if origin else {}
    page = page_of(browser.post("/theme", {"theme": "dark"}, headers=headers), status=403)
    public = settings.PUBLIC_URL
    assert page.text(".//h1") == "This form could not be trusted"
    assert page.texts(".//main//p")[0].startswith(sentence.format(public=public))


def test_an_origin_with_markup_is_text() -> None:
    browser = Client(enforce_csrf_checks=True)
    answer = browser.post("/theme", headers={"Origin": "https://<script>x</script>"})
    assert page_of(answer, status=403).all(".//main//script") == []


def test_500_needs_neither_database_nor_request(ada: User) -> None:
    client = signed_in(ada, raise_request_exception=False)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE rollouts_app_membership RENAME TO gone")
    page = page_of(client.get("/onboarding"), status=500)
    assert page.text(".//h1") == "Something went wrong here"
    assert page.all(".//*[@id='user-menu']") == []


def test_400_names_the_address_that_is_served(client: Client, settings: Settings) -> None:
    answer = client.get("/", headers={"Host": "other.example"})
    page = page_of(answer, status=400)
    assert page.text(".//h1") == "This server did not understand the request"
    public = settings.PUBLIC_URL
    assert page.texts(".//main//p")[0].startswith(f"It answers at {public} only.")


@pytest.mark.parametrize("address", ["/theme", "/onboarding/workspace"])
def test_405_is_for_addresses_that_only_take_forms(ada: User, address: str) -> None:
    answer = signed_in(ada).get(address)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
