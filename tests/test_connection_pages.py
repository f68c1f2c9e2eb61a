"""Disconnect, Delete what is kept and Reconnect, as people meet them."""

import threading

import pytest
from django.test import Client

from rollouts_app.models import Repository, User, WebhookDelivery
from rollouts_app.sync.locks import repository_lock
from rollouts_app.sync.upkeep import finish_disconnections
from rollouts_app.templatetags.rollouts import exact
from tests.conftest import Browser
from tests.connection import HOME, address, in_another_thread, press, rows_of
from tests.github_emulator import GitHubEmulator
from tests.history import seen_by
from tests.onboarding import AT_ACME, HTMX
from tests.pages import Page, page_of
from tests.rollouts_page import reason
from tests.syncing import NAME

pytestmark = pytest.mark.django_db


KEPT = "its rollouts and history are kept, and return when it is reactivated"


IN_FORM = HTMX | {"HX-Target": "disconnect-form"}


def kept_words(repository: Repository) -> str:
    repository.refresh_from_db()
    return f"{NAME} is inactive since {exact(repository.disconnected_at)}: {KEPT}."


def choices(page: Page) -> list[tuple[str, bool]]:
    """What the confirmation offers, and what of it is chosen."""
    radios = page.all(".//input[@type='radio']")
    return [(radio.get("value", ""), radio.get("checked") is not None) for radio in radios]


@pytest.fixture
def client(ada: User, browser_of: Browser) -> Client:
    return browser_of(ada)


def test_the_menu_leads_to_what_owners_may_do(client: Client, synced: Repository) -> None:
    menu = page_of(client.get(HOME)).one(".//*[@id='manage-menu']")
    assert [(link.get("id"), link.get("href")) for link in menu.iter("a")] == [
        ("open-on-github", synced.page),
        ("manage-link", synced.installation.page),
        ("choose-another", f"{address(synced, 'disconnect')}?then=choose"),
        ("deactivate", address(synced, "deactivate")),
        ("disconnect", address(synced, "disconnect")),
    ]


def test_the_confirmation_names_what_goes(client: Client, synced: Repository) -> None:
    page = page_of(client.get(address(synced, "disconnect")))
    assert page.text(".//h1") == f"Disconnect {NAME}"
    assert choices(page) == [("keep", True), ("delete", False)]
    assert page.texts(".//fieldset/label") == [
        "Keep its rollouts and history: 2 rollouts on 1 branch, 1 sync. "
        "They are inactive, and return when it is reactivated.",
        "Delete them for good. Connected again, it starts from nothing.",
    ]
    assert page.text(".//button[@class='button danger']") == f"Disconnect {NAME}"
    assert page.actions() == [address(synced, "disconnect")]


def test_before_the_first_sync_there_is_nothing_to_name(client: Client, agents: Repository) -> None:
    page = page_of(client.get(address(agents, "disconnect")))
    assert page.texts(".//fieldset/label")[0].startswith(
        "Keep its rollouts and history: nothing yet."
    )


def test_keeping_hides_it_and_says_so(client: Client, linus: User, synced: Repository) -> None:
    assert press(client, address(synced, "disconnect"), choice="keep") == [
        f"{NAME} was disconnected. "
        "Its rollouts and history are kept, inactive, until it is reactivated."
    ]
    page = page_of(client.get(HOME))
    assert page.text(".//main//h2") == "No repository is connected"
    assert page.texts(".//main//p") == [kept_words(synced), "Connect another repository"]
    assert page.actions() == [address(synced, "reconnect")]
    assert page.texts(".//*[@class='button primary']") == [f"Reactivate {NAME}"]
    assert page.links()[f"Delete what is kept… of {NAME}"] == address(synced, "delete")
    members = seen_by(linus, HOME)
    assert members.texts(".//main//p") == [
        kept_words(synced),
        "Owners and admins manage this connection. "
        "Ask one of them to connect a repository: Ada Lovelace.",
    ]
    assert members.actions() == []
    assert members.all(".//main//a") == []


def test_the_rollouts_page_says_the_same(client: Client, linus: User, synced: Repository) -> None:
    press(client, address(synced, "disconnect"), choice="keep")
    page = page_of(client.get("/acme/rollouts"))
    assert reason(page) == "The Rollouts page requires a connected workspace repository."
    assert page.texts(".//main//p") == [kept_words(synced)]
    assert seen_by(linus, "/acme/rollouts").texts(".//main//p") == [
        kept_words(synced),
        "Ask an owner or admin to connect one: Ada Lovelace.",
    ]


def test_deleting_needs_the_name(client: Client, synced: Repository) -> None:
    path = address(synced, "disconnect")
    for name in ("", "agents", "acme/agent"):
        page = page_of(client.post(path, {"choice": "delete", "name": name}), status=422)
        assert page.text(".//*[@id='disconnect-name-error']") == (
            f"To delete for good, type {NAME} here. Nothing was changed."
        )
        assert choices(page) == [("keep", False), ("delete", True)]
        field = page.one(".//input[@name='name']")
        assert (field.get("value"), field.get("aria-invalid")) == (name, "true")
    assert page_of(client.post(path, {"name": NAME}), status=422).text(
        ".//form[@id='disconnect-form']/p[@role='alert']"
    ) == ("Choose whether what was synced is kept or deleted.")
    assert Repository.objects.connected().get() == synced


def test_deleting_is_complete(client: Client, synced: Repository) -> None:
    """R10: no row is left, and addresses answer 404."""
    run = synced.sync_runs.get()
    path = address(synced, "disconnect")
    assert press(client, path, choice="delete", name=" Acme/Agents ") == [
        f"{NAME} was deleted here, with all that was stored of it."
    ]
    assert rows_of(synced) == 0
    for gone in (
        "/acme/rollouts/maths",
        f"{HOME}/syncs",
        f"{HOME}/syncs/{run.pk}",
        path,
        address(synced, "delete"),
    ):
        assert client.get(gone).status_code == 404
    assert KEPT not in page_of(client.get(HOME)).text()


def test_what_is_kept_can_be_deleted_later(client: Client, synced: Repository) -> None:
    WebhookDelivery.objects.create(delivery_id="1", event="push", repository=synced)
    press(client, address(synced, "disconnect"), choice="keep")
    path = address(synced, "delete")
    page = page_of(client.get(path))
    synced.refresh_from_db()
    assert page.text(".//h1") == f"Delete what is kept of {NAME}"
    assert page.text(".//form[@id='disconnect-form']/p") == (
        f"{NAME} is inactive since {exact(synced.disconnected_at)}. "
        "Stored of it: 2 rollouts on 1 branch, 1 sync, 1 delivery. "
        "All of that is deleted here, for good. On GitHub nothing changes."
    )
    assert choices(page) == []
    page_of(client.post(path, {"name": "agents"}), status=422)
    assert press(client, path, name=NAME) == [
        f"{NAME} was deleted here, with all that was stored of it."
    ]
    assert rows_of(synced) == 0
    assert page_of(client.get(HOME)).links()["Choose a repository"] == "/onboarding?workspace=acme"


def test_it_can_be_deleted_beside_another_connected_one(
    client: Client, synced: Repository, github: GitHubEmulator
) -> None:
    press(client, address(synced, "disconnect"), choice="keep")
    bots = Repository.objects.create(
        workspace=synced.workspace,
        installation=synced.installation,
        github_id=1,
        full_name="acme/bots",
        default_branch="main",
    )
    page = page_of(client.get(HOME))
    assert page.text(".//*[@class='box-body row kept']/p") == (
        kept_words(synced).removesuffix(".") + ", in place of acme/bots."
    )
    assert address(synced, "reconnect") not in page.actions()
    [message] = press(client, address(synced, "reconnect"))
    assert message.endswith("this one has acme/bots. Disconnect that first, in Git Integration.")
    press(client, address(synced, "delete"), name=NAME)
    assert list(Repository.objects.all()) == [bots]


def test_a_deletion_that_waits_for_a_sync_says_so(client: Client, synced: Repository) -> None:
    is_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with repository_lock(synced.pk):
            is_held.set()
            may_end.wait(20)

    syncing = in_another_thread(hold)
    is_held.wait(20)
    path = address(synced, "disconnect")
    try:
        assert press(client, path, choice="delete", name=NAME) == [
            f"{NAME} is out of sight, and a sync of it is still ending. "
            "All that is stored of it is deleted as soon as that has ended."
        ]
    finally:
        may_end.set()
        syncing.join(20)
    assert KEPT not in page_of(client.get(HOME)).text()
    assert client.get(address(synced, "delete")).status_code == 404
    finish_disconnections(0)
    assert rows_of(synced) == 0


def test_choosing_another_leads_from_the_end_of_one_to_the_choice(
    client: Client, synced: Repository, github: GitHubEmulator
) -> None:
    path = f"{address(synced, 'disconnect')}?then=choose"
    page = page_of(client.get(path))
    assert page.text(".//h1") == "Change the repository"
    assert page.actions() == [path]
    answer = client.post(path, {"choice": "keep"})
    assert answer.headers["Location"] == AT_ACME
    assert page_of(client.get(AT_ACME)).texts(".//label") == [f"Private {NAME}"]


def test_it_is_a_dialog_for_htmx(client: Client, synced: Repository) -> None:
    path = address(synced, "disconnect")
    dialog = page_of(client.get(path, headers=HTMX | {"HX-Target": "dialog"}))
    assert dialog.text(".//dialog//h2") == f"Disconnect {NAME}"
    wrong = page_of(client.post(path, {"choice": "delete"}, headers=IN_FORM), status=422)
    assert [child.get("id") for child in wrong.root] == ["disconnect-form"]
    answer = client.post(path, {"choice": "keep"}, headers=IN_FORM)
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (200, HOME)


def test_another_workspaces_repository_is_not_found(
    mallory: User, browser_of: Browser, synced: Repository
) -> None:
    client = browser_of(mallory)
    client.post("/onboarding/workspace", {"slug": "den"})
    path = address(synced, "disconnect").replace("/acme/", "/den/")
    assert client.get(path).status_code == 404
    client.post(path, {"choice": "delete", "name": NAME})
    assert Repository.objects.connected().get() == synced
