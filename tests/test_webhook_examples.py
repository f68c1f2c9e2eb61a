"""GitHub's own example payloads at the webhook's door: each is understood, none does harm."""

import json
import random
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from rollouts_app.models import Installation, Repository, SyncRun, WebhookDelivery, Workspace
from tests.github_emulator import GitHubEmulator
from tests.github_emulator.webhooks import signature
from tests.github_schemas.examples import DERIVED, OFFICIAL, Example
from tests.github_schemas.judge import faults_of_payload
from tests.settings import EMULATOR
from tests.syncing import NAME, check_all, heads_shown

EVERY = [*OFFICIAL.values(), *DERIVED.values()]
# They end the App's access, or say that the repository is somewhere else now.
FATAL = {"deleted", "suspend", "transferred", "renamed"}


def post(example: Example, guid: str = "") -> int:
    """Deliver it with a genuine signature; the status answered."""
    body = json.dumps(example.payload).encode()
    headers = {
        "X-GitHub-Event": example.event,
        "X-GitHub-Delivery": guid or str(uuid4()),
        "X-Hub-Signature-256": signature(EMULATOR.app.webhook_secret, body),
    }
    answer = Client().post(
        "/webhooks/github", body, content_type="application/json", headers=headers
    )
    return answer.status_code


def branches_to_look_at(example: Example) -> list[str]:
    """The branch whose new head a payload tells of, if it does."""
    told = example.payload
    if example.event == "push" and told["ref"].startswith("refs/heads/") and not told["deleted"]:
        return [told["ref"].removeprefix("refs/heads/")]
    if example.event == "create" and told["ref_type"] == "branch":
        return [told["ref"]]
    return []


@pytest.fixture
def connected(db: None) -> Repository:
    """A repository connected to a workspace; its host is never asked."""
    installation = Installation.objects.create(
        github_id=7, account_id=8, account_login="acme", account_type="Organization"
    )
    return Repository.objects.create(
        workspace=Workspace.objects.create(slug="acme"),
        installation=installation,
        github_id=9,
        full_name=NAME,
        default_branch="main",
    )


@pytest.mark.parametrize("example", DERIVED.values(), ids=DERIVED.keys())
def test_a_derived_payload_is_one_that_github_could_send(example: Example) -> None:
    assert faults_of_payload(example.event, example.payload, closed=False) == []


@pytest.mark.parametrize("example", EVERY, ids=lambda example: example.name)
def test_it_takes_it_once_and_says_what_came_of_it(db: None, example: Example) -> None:
    guid = str(uuid4())
    assert [post(example, guid), post(example, guid)] == [202, 200]
    delivery = WebhookDelivery.objects.get()
    assert (delivery.delivery_id, delivery.event) == (guid, example.event)
    assert delivery.action == example.action
    assert delivery.outcome.strip().endswith(".")
    assert SyncRun.objects.count() == 0


@pytest.mark.parametrize("example", EVERY, ids=lambda example: example.name)
def test_it_takes_it_about_a_connected_repository(connected: Repository, example: Example) -> None:
    ours = example.about(connected.github_id, connected.installation.github_id)
    assert post(ours) == 202
    assert WebhookDelivery.objects.get().outcome.strip().endswith(".")
    repository = Repository.objects.select_related("installation").get()
    assert (repository.github_id, repository.installation.github_id) == (9, 7)
    installation = repository.installation
    told = example.action if example.event == "installation" else ""
    assert (installation.removed_at is not None) == (told == "deleted")
    assert (installation.suspended_at is not None) == (told == "suspend")
    runs = SyncRun.objects.values_list("branch__name", "state")
    assert list(runs) == [(name, "pending") for name in branches_to_look_at(example)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(3))
def test_all_of_them_in_any_order_leave_what_github_has(
    agents: Repository, github: GitHubEmulator, empty_queue: Any, seed: int
) -> None:
    check_all(agents)
    survivable = [example for example in EVERY if example.action not in FATAL]
    random.Random(seed).shuffle(survivable)  # noqa: S311 - an order, no secret
    number, installation = agents.github_id, agents.installation.github_id
    statuses = {post(each.about(number, installation, NAME)) for each in survivable}
    check_all(agents)
    assert statuses == {202}
    assert heads_shown(agents) == github.heads(NAME)
    assert SyncRun.objects.open().count() == 0
