"""The delivery log: what GitHub told, what came of it, and the sync it led to."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings

from rollouts_app.models import Membership, Repository, SyncRun, User, WebhookDelivery, Workspace
from rollouts_app.sync import engine
from rollouts_app.templatetags.rollouts import exact
from tests.conftest import FILES, Read, counted_queries, receive
from tests.github_emulator import GitHubEmulator
from tests.history import ADDRESS, SYNCS, cells, seen_by
from tests.pages import page_of
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

LOG = f"{ADDRESS}/deliveries"


def deliver(github: GitHubEmulator) -> None:
    """Hand all deliveries over, in the order in which GitHub made them."""
    github.wait_for_deliveries()
    for delivery in github.deliveries:
        receive(delivery)


def make_deliveries(repository: Repository, count: int, **facts: object) -> None:
    start = WebhookDelivery.objects.count()
    told = {"event": "push", "outcome": "Nothing to do.", "repository": repository, **facts}
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(delivery_id=f"made-{start + number}", **told) for number in range(count)
    )


def test_it_tells_of_a_push_and_leads_to_its_sync(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    github.push(NAME, "feature/x", {"a": "b"}, start="main")
    github.wait_for_deliveries()
    [push] = [each for each in github.deliveries if each.event == "push"]
    receive(push)
    WebhookDelivery.objects.update(took=timedelta(milliseconds=12))
    received = exact(WebhookDelivery.objects.get().received_at)
    [run] = SyncRun.objects.all()
    assert cells(read(LOG)) == [
        [
            f"{received} · just now",
            "push",
            "Sync of branch feature/x asked for.",
            "12 ms",
            "Pending , sync of feature/x",
        ]
    ]
    [link] = read(LOG).all(".//tbody//td[5]/a")
    assert link.get("href") == f"{SYNCS}/{run.pk}"
    detail = read(f"{SYNCS}/{run.pk}")
    assert detail.one(".//a[@id='run-deliveries']").get("href") == f"{LOG}?sync={run.pk}"
    assert detail.texts(".//ul[@class='plain lines']/li") == ["push delivered by GitHub just now"]


def test_it_tells_of_everything_that_concerns_the_repository(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    number = agents.installation.github_id
    github.rename_repository(NAME, "robots")
    github.suspend(number, by="ada")
    github.unsuspend(number, by="ada")
    deliver(github)
    told = [(row[1], row[2]) for row in cells(read(LOG))]
    assert told == [
        ("installation unsuspend", "The App's installation on acme: unsuspend."),
        ("installation suspend", "The App's installation on acme: suspend."),
        ("repository renamed", "The repository was renamed: checking it."),
        ("installation created", "The App's installation on acme: created."),
    ]


def test_it_tells_all_repositories_of_an_account_what_happens_to_the_app_there(
    ada: User, agents: Repository, github: GitHubEmulator
) -> None:
    second = Workspace.objects.create(slug="second")
    Membership.objects.create(workspace=second, user=ada, role="owner")
    Repository.objects.create(
        workspace=second, installation=agents.installation, github_id=5, full_name="acme/second"
    )
    github.suspend(agents.installation.github_id, by="ada")
    github.wait_for_deliveries()
    receive(github.deliveries[-1])
    assert WebhookDelivery.objects.get().repository is None
    for address in (LOG, "/second/integrations/git/deliveries"):
        assert [row[1] for row in cells(seen_by(ada, address))] == ["installation suspend"]


def test_it_still_tells_of_an_installation_that_has_gone(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    github.uninstall(agents.installation.github_id, by="ada")
    github.install("acme", repositories=[NAME], by="ada")
    deliver(github)
    assert [row[1] for row in cells(read(LOG))] == [
        "installation created",
        "installation deleted",
        "installation created",
    ]


def test_it_shows_nothing_about_other_repositories(
    read: Read, agents: Repository, github: GitHubEmulator, mallory: User
) -> None:
    """W19: a push for a repository that is not connected is kept, in nobody's log."""
    github.create_repository("acme/secret", files=FILES)
    github.add_repositories(agents.installation.github_id, ["acme/secret"], by="ada")
    github.push("acme/secret", "main", {"a": "b"})
    github.wait_for_deliveries()
    pushes = [each for each in github.deliveries if each.event == "push"]
    assert [receive(each) for each in pushes] == [202]
    told = WebhookDelivery.objects.get()
    assert told.outcome == "Nothing to do: acme/secret is not connected to a workspace."
    assert (told.repository, told.installation) == (None, None)
    assert read(LOG).all(".//tbody/tr") == []


def test_it_shows_nothing_of_another_workspace(agents: Repository, mallory: User) -> None:
    make_deliveries(agents, 1)
    own = Workspace.objects.create(slug="own")
    Membership.objects.create(workspace=own, user=mallory, role="owner")
    agents.installation.pk = None
    agents.installation.github_id, agents.installation.account_id = 5, 5
    agents.installation.save()
    Repository.objects.create(
        workspace=own, installation=agents.installation, github_id=5, full_name="own/own"
    )
    page = seen_by(mallory, "/own/integrations/git/deliveries")
    assert page.text(".//*[@class='blankslate']/h2") == "No delivery has arrived yet."


def test_it_says_which_was_asked_for_again_and_has_not_come(ada: User, agents: Repository) -> None:
    make_deliveries(agents, 1, is_received=False)
    [row] = cells(seen_by(ada, LOG))
    assert row[0] == "Not yet · asked for again just now"
    assert seen_by(ada).facts()["Last delivery"].startswith("None yet.")


def test_it_is_filtered_by_event_and_by_sync(read: Read, agents: Repository) -> None:
    engine.sync(agents.pk)
    run = SyncRun.objects.get()
    make_deliveries(agents, 60)
    make_deliveries(agents, 2, event="create", run=run)
    make_deliveries(agents, 1, event="repository", action="edited")
    options = read(LOG).all(".//select[@id='event']/option")
    assert [option.get("value") for option in options] == ["", "create", "push", "repository"]
    assert len(cells(read(f"{LOG}?event=push&page=2"))) == 10
    assert read(f"{LOG}?event=push").one(".//a[@rel='next']").get("href") == "?event=push&page=2"
    assert [row[1] for row in cells(read(f"{LOG}?event=repository"))] == ["repository edited"]
    of_run = read(f"{LOG}?sync={run.pk}")
    assert [row[1] for row in cells(of_run)] == ["create", "create"]
    assert of_run.links()["Of one sync of main"] == "?"
    for odd in (f"sync={run.pk + 1}", "sync=x", f"sync={'9' * 5000}", "sync=%00", "sync=²"):
        assert len(cells(read(f"{LOG}?{odd}"))) == 50


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?event=star", "No delivery of the event “star” is known."),
        ("?event=%00", "No delivery of the event “\ufffd” is known."),
    ],
)
def test_it_says_when_a_filter_finds_nothing(
    read: Read, agents: Repository, query: str, sentence: str
) -> None:
    make_deliveries(agents, 1)
    page = read(f"{LOG}{query}")
    assert page.text(".//*[@class='blankslate']/h2") == sentence
    assert page.links()["Show all deliveries"] == LOG


def test_it_says_what_to_check_when_none_has_ever_arrived(
    ada: User, linus: User, agents: Repository, github: GitHubEmulator, settings: Settings
) -> None:
    """W17: the address GitHub must know, and where GitHub shows what it tried."""
    page = seen_by(ada, LOG)
    address = f"{settings.PUBLIC_URL}/webhooks/github"
    assert page.text(".//code[@id='webhook-address']") == address
    link = page.one(".//a[@id='app-deliveries']").get("href")
    assert link == f"{github.url}/settings/apps/{github.app.slug}/advanced"
    assert page.one(".//*[@id='log']").get("hx-trigger", "").startswith("every 15s, ")
    members = seen_by(linus, LOG)
    assert members.all(".//a[@id='app-deliveries']") == []
    make_deliveries(agents, 1)
    assert "every" not in seen_by(ada, LOG).one(".//*[@id='log']").get("hx-trigger", "")


def test_it_is_linked_from_git_integration(ada: User, agents: Repository) -> None:
    for _ in range(2):
        assert seen_by(ada).one(".//a[@id='all-deliveries']").get("href") == LOG
        make_deliveries(agents, 1)


def test_it_asks_the_same_number_of_queries_for_1_and_50_deliveries(
    read: Read, agents: Repository
) -> None:
    engine.sync(agents.pk)
    run = SyncRun.objects.get()
    make_deliveries(agents, 1, run=run)
    read(LOG)
    with counted_queries() as one:
        read(LOG)
    make_deliveries(agents, 49, run=run)
    with counted_queries() as fifty:
        assert len(cells(read(LOG))) == 50
    assert len(fifty) == len(one)


def test_its_form_leaves_no_empty_filter_in_the_address(ada: User, agents: Repository) -> None:
    make_deliveries(agents, 1)
    client = Client()
    client.force_login(ada)
    form = {"HX-Request": "true", "HX-Target": "log", "HX-Trigger": "filters"}
    chosen = client.get(f"{LOG}?event=push", headers=form)
    assert chosen.headers["HX-Replace-Url"] == f"{LOG}?event=push"
    assert client.get(f"{LOG}?event=", headers=form).headers["HX-Replace-Url"] == LOG
    assert [child.get("id") for child in page_of(chosen).root] == ["log"]


def test_what_others_wrote_is_only_ever_text(read: Read, agents: Repository) -> None:
    hostile = "<script>x</script>"
    make_deliveries(agents, 1, event=hostile, action=hostile, outcome=hostile, received_at=now())
    page = read(LOG)
    assert page.one(".//main").findall(".//script") == []
    assert cells(page)[0][1:3] == [f"{hostile} {hostile}", hostile]
