"""Whether GitHub's deliveries reach us, as managers are told on Git Integration."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.utils.timezone import now

from rollouts_app.models import Repository, User, WebhookDelivery
from rollouts_app.sync import hearing
from rollouts_app.sync.pruning import prune_deliveries
from tests.conftest import receive
from tests.github_emulator import Delivery, GitHubEmulator
from tests.github_emulator.webhooks import signature
from tests.pages import page_of
from tests.rollouts_page import client_of
from tests.settings import EMULATOR
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

ADDRESS = "/acme/integrations/git"
REFUSED = "GitHub's deliveries are refused: their signature is wrong ({} so far)."
SILENT = "No delivery from GitHub has come yet."


@pytest.fixture(autouse=True)
def nothing_refused() -> None:
    cache.clear()


def hints(user: User) -> list[str]:
    return page_of(client_of(user).get(ADDRESS)).texts(".//*[@data-hint]//strong")


def forged(github: GitHubEmulator, **headers: str) -> Delivery:
    """A push, signed with another secret."""
    github.push(NAME, "main", {"a": "b"})
    github.wait_for_deliveries()
    delivery = github.deliveries[-1]
    delivery.headers |= {"X-Hub-Signature-256": "sha256=" + "0" * 64, **headers}
    return delivery


def as_form(delivery: Delivery) -> int:
    """Hand a delivery over as GitHub does where the content type is "form"."""
    body = urlencode({"payload": delivery.body.decode()}).encode()
    form = "application/x-www-form-urlencoded"
    genuine = signature(EMULATOR.app.webhook_secret, body)
    headers = {**delivery.headers, "Content-Type": form, "X-Hub-Signature-256": genuine}
    answer = Client().post("/webhooks/github", body, form, headers=headers)
    assert b"choose application/json as the content type" in answer.content
    return answer.status_code


def test_managers_hear_of_deliveries_that_are_forms(
    ada: User, agents: Repository, github: GitHubEmulator
) -> None:
    github.push(NAME, "main", {"c": "d"})
    github.wait_for_deliveries()
    assert as_form(github.deliveries[-1]) == 415
    assert hints(ada) == ["GitHub's deliveries come as forms, and this server reads JSON."]
    assert WebhookDelivery.objects.count() == 0
    assert receive(github.deliveries[-1]) == 202
    assert hints(ada) == []


def test_managers_hear_of_a_wrong_webhook_secret(
    ada: User, linus: User, agents: Repository, github: GitHubEmulator
) -> None:
    """W18"""
    for _ in range(2):
        assert receive(forged(github)) == 401
    assert hints(ada) == [REFUSED.format(2)]
    assert hints(linus) == []
    assert agents.sync_runs.count() == 0
    github.push(NAME, "main", {"c": "d"})
    github.wait_for_deliveries()
    assert receive(github.deliveries[-1]) == 202
    assert hints(ada) == []
    receive(forged(github))
    assert hints(ada) == [REFUSED.format(1)]


def test_strangers_at_the_door_are_no_wrong_secret(
    ada: User, agents: Repository, github: GitHubEmulator
) -> None:
    assert (
        Client().post("/webhooks/github", b"{}", content_type="application/json").status_code == 401
    )
    other = {"X-GitHub-Hook-Installation-Target-ID": "7"}
    assert receive(forged(github, **other)) == 401
    assert hints(ada) == []


def test_managers_hear_of_silence(
    ada: User, linus: User, agents: Repository, github: GitHubEmulator
) -> None:
    """W17"""
    assert hints(ada) == []
    Repository.objects.update(connected_at=now() - timedelta(minutes=11))
    assert (hints(ada), hints(linus)) == ([SILENT], [])
    page = page_of(client_of(ada).get(ADDRESS))
    assert f"{settings.PUBLIC_URL}/webhooks/github" in page.text(".//*[@data-hint]")
    assert page.links()["Open the App on GitHub"] == f"{github.url}/github-apps/{github.app.slug}"
    github.push(NAME, "main", {"a": "b"})
    github.wait_for_deliveries()
    receive(github.deliveries[-1])
    assert hints(ada) == []


def test_a_delivery_that_was_only_asked_for_breaks_no_silence(
    ada: User, agents: Repository
) -> None:
    Repository.objects.update(connected_at=now() - timedelta(minutes=11))
    agents.deliveries.create(delivery_id="1", event="push", is_received=False)
    agents.refresh_from_db()
    assert hearing.has_heard_nothing(agents)


def test_a_repository_nobody_pushes_to_has_not_been_silent(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    """Its last delivery is kept, however old."""
    for number in range(2):
        github.push(NAME, "main", {"a": str(number)})
        github.wait_for_deliveries()
        receive(github.deliveries[-1])
        past = now() - timedelta(days=101 - number)
        WebhookDelivery.objects.filter(received_at__gt=past).update(received_at=past)
    Repository.objects.update(connected_at=now() - timedelta(days=200))
    prune_deliveries()
    assert WebhookDelivery.objects.count() == 1
    assert hints(ada) == []
