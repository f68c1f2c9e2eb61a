"""The choice of a repository: every account, every page, and what is typed."""

from dataclasses import replace

import pytest

from rollouts_app import choosing
from rollouts_app.models import Repository, User, Workspace
from tests.conftest import Browser, receive
from tests.github_emulator import GitHubEmulator
from tests.onboarding import AT_ACME, CONNECT
from tests.pages import page_of

pytestmark = pytest.mark.django_db

SAID = ".//fieldset/p[@class='box-body muted']"
NOTES = ".//fieldset/p[@class='box-body small']"
GRANT = "Not listed? Grant the App access in acme"


def test_an_installation_that_nobody_told_us_of_is_offered(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I09: installed at GitHub, unknown here: the page offers to link it, and does."""
    github.create_repository("acme/agents")
    github.install("acme", by="ada")
    client = browser_of(ada)
    git = page_of(client.get("/acme/integrations/git"))
    assert git.texts(".//a[@class='button primary']") == ["Choose a repository"]
    assert git.links()["Choose a repository"] == AT_ACME
    assert "The GitHub App is installed on acme." in git.text(".//*[@class='blankslate']")
    page = page_of(client.get(AT_ACME))
    assert page.text(".//li[@class='open']/div/p").startswith("The App is installed on acme.")
    [choice] = page.all(".//input[@type='radio']")
    client.post(CONNECT, {"choice": choice.get("value")})
    assert Repository.objects.get().full_name == "acme/agents"


def test_a_repository_that_is_granted_later_is_listed(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I10: added after the App was installed, without any push."""
    github.create_repository("acme/agents")
    github.create_repository("acme/later")
    number = github.install("acme", repositories=["acme/agents"], by="ada")
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert page.texts(".//label") == ["Private acme/agents"]
    assert page.links()[GRANT] == (
        f"{github.url}/organizations/acme/settings/installations/{number}"
    )
    github.add_repositories(number, ["acme/later"], by="ada")
    github.wait_for_deliveries()
    assert receive(github.deliveries[-1]) == 202
    listed = page_of(client.get(page.links()["Refresh the list"])).texts(".//label")
    assert listed == ["Private acme/agents", "Private acme/later"]


def test_an_account_that_refuses_gives_its_reason_and_hides_no_other(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I15: one account's rule does not hide the others, and the way out is named."""
    github.create_repository("acme/agents")
    github.create_repository("ada/own")
    number = github.install("acme", by="ada")
    github.install("ada", by="ada")
    github.trouble(
        f"/api/v3/user/installations/{number}/repositories",
        status=403,
        body={
            "message": "Although you appear to have the correct authorization credentials, the "
            "`acme` organization has an IP allow list enabled."
        },
    )
    page = page_of(browser_of(ada).get(AT_ACME))
    assert page.texts(".//label") == ["Private ada/own"]
    [said] = page.texts(SAID)
    assert said.startswith(
        "A rule of acme keeps this server or you out: an IP allow list that lacks this server's "
        "address, or single sign-on. GitHub answered 403 to GET"
    )


def test_an_empty_account_does_not_look_like_all_there_is(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    """I16: two installations, the first empty: a hint, and a switch between the accounts."""
    github.create_repository("ada/own")
    empty, full = (github.install(login, by="ada") for login in ("acme", "ada"))
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    nothing = "The App may read no repository here that you can see."
    assert page.texts(SAID) == [f"{nothing} Other accounts have some."]
    switch = {text: page.links()[text] for text in ("All accounts", "acme", "ada")}
    assert list(switch.values()) == [AT_ACME, *(f"{AT_ACME}&account={n}" for n in (empty, full))]
    page = page_of(client.get(switch["ada"]))
    assert (page.texts(".//label"), page.texts(".//legend")) == (
        ["Private ada/own"],
        ["Repositories of ada"],
    )
    page = page_of(client.get(switch["acme"]))
    assert page.texts(SAID) == [f"{nothing} Other accounts may have some."]
    assert page.text(".//nav[@aria-label='Accounts']/a[@aria-current]") == "acme"
    for nonsense in ("0", "x", "9" * 40):
        page = page_of(client.get(f"{AT_ACME}&account={nonsense}"))
        assert page.texts(".//label") == ["Private ada/own"]


@pytest.fixture
def many(github: GitHubEmulator, acme: Workspace) -> int:
    """Acme has 250 repositories, more than two pages of GitHub's; the App reads all of them."""
    number = github.install("acme", by="ada")
    github.create_repository("acme/agents", private=False)
    first = github.repository_named("acme/agents")
    # Facts alone: 250 real repositories take seconds to make, and none of them is read.
    with github.changing() as state:
        for each in range(250):
            record = replace(first, id=state.next_id(), name=f"agents-{each:03}")
            state.repositories[record.id] = record
    return number


def test_it_finds_any_of_very_many(
    ada: User, browser_of: Browser, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I17: search covers all pages on the server, and says when it stopped before the end."""
    client = browser_of(ada)
    page = page_of(client.get(AT_ACME))
    assert len(page.texts(".//label")) == 100
    assert page.texts(NOTES) == [f"There are more than 100: find yours by its name. {GRANT}"]
    assert page_of(client.get(f"{AT_ACME}&q= NTS-249 ")).texts(".//label") == ["acme/agents-249"]
    monkeypatch.setattr(choosing, "SEARCHED_REPOSITORIES", 200)
    page = page_of(client.get(f"{AT_ACME}&q=nts-249"))
    assert page.texts(".//label") == []
    assert page.texts(NOTES) == [
        "acme has more repositories than can be searched here. If yours is missing, type its full "
        f"name: acme/… {GRANT}"
    ]
    page = page_of(client.get(f"{AT_ACME}&q=ACME/agents-249"))
    assert page.texts(".//label") == ["acme/agents-249"]
    [choice] = page.all(".//input[@type='radio']")
    client.post(CONNECT, {"choice": choice.get("value")})
    assert Repository.objects.get().full_name == "acme/agents-249"


@pytest.mark.parametrize("typed", ["acme/secret", "acme/none", "ada/open", "<b>", "acme/../x"])
def test_what_is_typed_counts_only_if_the_app_may_read_it(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator, typed: str
) -> None:
    """I17: a full name is found only through the App; otherwise there is the link to grant it."""
    github.create_repository("acme/agents")
    github.create_repository("acme/secret")
    github.create_repository("ada/open", private=False)
    github.install("acme", repositories=["acme/agents"], by="ada")
    page = page_of(browser_of(ada).get(AT_ACME, {"q": typed}))
    assert page.texts(".//label") == []
    assert page.texts(SAID) == [
        f"No repository here is named like “{typed}”, as far as both you and the App may read."
    ]
    assert GRANT in page.links()
    assert page.one(".//input[@type='search']").get("value") == typed


def test_a_full_name_costs_few_requests(
    ada: User, browser_of: Browser, acme: Workspace, github: GitHubEmulator
) -> None:
    github.create_repository("acme/agents")
    for login in ("acme", "ada"):
        github.install(login, by="ada")
    client = browser_of(ada)
    before = len(github.requests)
    assert page_of(client.get(f"{AT_ACME}&q=acme/agents")).texts(".//label") == [
        "Private acme/agents"
    ]
    assert len(github.requests) - before == 3
