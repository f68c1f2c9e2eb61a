"""/metrics: what all processes of all machines did, in numbers and without names."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.timezone import now
from prometheus_client.parser import text_string_to_metric_families
from pytest_django.fixtures import Settings

from rollouts_app import meters
from rollouts_app.meters import Readings
from rollouts_app.metrics.handing import hand_over
from rollouts_app.models import Repository, SyncRun, Tally, User
from rollouts_app.sync import engine, tasks
from rollouts_app.sync.clients import client_for
from tests.conftest import receive
from tests.github_emulator import GitHubEmulator

pytestmark = pytest.mark.django_db

TOKEN = "a token for Prometheus"
# Everything that a person can have named in the tests' world.
NAMES = re.compile("acme|agents|ada|linus|mallory|maths|search|main|feature")

Samples = dict[str, float]


@pytest.fixture(autouse=True)
def token(settings: Settings) -> Iterator[None]:
    settings.METRICS_TOKEN = TOKEN
    meters.take()  # of other tests
    yield
    meters.take()


def scrape(**headers: str) -> Samples:
    """All samples, each by its name and labels as Prometheus writes them."""
    hand_over()
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}", **headers})
    assert answer.status_code == 200
    text = answer.content.decode()
    return {
        sample.name
        + "".join(f" {name}={value}" for name, value in sorted(sample.labels.items())): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def of(samples: Samples, name: str) -> Samples:
    return {key: value for key, value in samples.items() if key.partition(" ")[0] == name}


@pytest.mark.parametrize("given", [None, "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"])
def test_it_is_shown_to_nobody_without_the_token(given: str | None) -> None:
    answer = Client().get("/metrics", headers={"Authorization": given} if given else {})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_it_answers_prometheus_at_the_machine_s_own_address() -> None:
    assert of(scrape(Host="10.0.0.7:8000"), "osmosis_workers") == {"osmosis_workers": 0}


def test_it_counts_syncs_by_state_with_their_times(synced: Repository) -> None:
    end = now()
    SyncRun.objects.update(
        requested_at=end - timedelta(seconds=9),
        started_at=end - timedelta(seconds=4),
        finished_at=end,
    )
    branch = synced.branches.get()
    SyncRun.objects.request(branch, SyncRun.Trigger.MANUAL)
    samples = scrape()
    assert of(samples, "osmosis_syncs_open") == {"osmosis_syncs_open state=pending": 1}
    assert of(samples, "osmosis_syncs_last_hour") == {"osmosis_syncs_last_hour state=success": 1}
    assert of(samples, "osmosis_sync_seconds_last_hour") == {
        f"osmosis_sync_seconds_last_hour part={part} quantile={quantile}": seconds
        for part, seconds in (("all", 9), ("work", 4))
        for quantile in ("0.5", "0.95", "0.99", "1")
    }
    assert of(samples, "osmosis_repositories") == {"osmosis_repositories trouble=none": 1}


def test_it_leaves_out_what_ended_earlier(synced: Repository) -> None:
    SyncRun.objects.update(finished_at=now() - timedelta(minutes=61))
    assert of(scrape(), "osmosis_syncs_last_hour") == {}


def test_it_tells_how_many_jobs_wait_and_for_how_long(
    agents: Repository, empty_queue: None
) -> None:
    tasks.ring(agents.pk)
    tasks.ring_later(agents.pk, now() + timedelta(hours=1))
    samples = scrape()
    assert of(samples, "osmosis_jobs") == {
        "osmosis_jobs kind=later": 1,
        "osmosis_jobs kind=waiting": 1,
    }
    assert 0 <= samples["osmosis_oldest_job_seconds"] < 5


def test_it_counts_deliveries_by_outcome(agents: Repository, github: GitHubEmulator) -> None:
    github.push("acme/agents", "main", {"a": "b"})
    github.wait_for_deliveries()
    delivery = next(each for each in reversed(github.deliveries) if each.event == "push")
    assert [receive(delivery), receive(delivery)] == [202, 200]
    samples = scrape()
    assert of(samples, "osmosis_deliveries_last_hour") == {
        "osmosis_deliveries_last_hour outcome=sync asked for": 1
    }
    assert of(samples, "osmosis_responses_total") == {
        "osmosis_responses_total page=github-webhook status=200": 1,
        "osmosis_responses_total page=github-webhook status=202": 1,
    }


def test_it_counts_calls_of_github_and_what_is_left_of_the_budget(
    agents: Repository, github: GitHubEmulator
) -> None:
    client = client_for(agents.installation)
    client.repository_by_id(agents.github_id)
    before = scrape()
    client.repository_by_id(agents.github_id)
    after = scrape()
    left = f"osmosis_github_budget_remaining of=installation {agents.installation.github_id}"
    calls = "osmosis_github_calls_total answer=200"
    assert (after[left] - before[left], after[calls] - before[calls]) == (-1, 1)
    assert after[left.replace("remaining", "limit")] == 5000


def test_it_forgets_a_budget_that_has_been_renewed_since(agents: Repository) -> None:
    client_for(agents.installation)
    scrape()
    Tally.objects.update(noted_at=now() - timedelta(minutes=61))
    assert of(scrape(), "osmosis_github_budget_remaining") == {}


def test_it_sorts_page_times_into_classes(client: Client) -> None:
    client.get("/")
    hand_over()
    [(seconds,)] = Tally.objects.filter(name="page_seconds_sum").values_list("value")
    assert of(scrape(), "osmosis_page_seconds_bucket") == {
        f"osmosis_page_seconds_bucket le={end} page=landing": float(seconds <= limit)
        for end, limit in [*((str(end), end) for end in meters.BUCKETS), ("+Inf", seconds)]
    }


def test_it_adds_up_what_several_processes_counted() -> None:
    key = ("github_calls", (("answer", "200"),))
    for amount in (2.0, 3.0):
        Tally.objects.all().add(Readings(sums={key: amount}))
    assert of(scrape(), "osmosis_github_calls_total") == {
        "osmosis_github_calls_total answer=200": 5
    }


def test_it_names_nobody_and_nothing(synced: Repository, ada: User, github: GitHubEmulator) -> None:
    client = Client()
    client.force_login(ada)
    for path in (
        "/acme/rollouts",
        "/acme/rollouts/maths?branch=main",
        "/acme/nowhere",
        "/static/x",
    ):
        client.get(path)
    engine.sync(synced.pk)
    labels = [key.partition(" ")[2] for key in scrape()]
    assert [label for label in labels if NAMES.search(label)] == []
