"""GitHub's door: genuine deliveries leave rows, once; everything else leaves nothing."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from rollouts_app.models import Branch, Installation, Repository, SyncRun, WebhookDelivery
from rollouts_app.sync import engine, events
from tests.conftest import FILES, receive
from tests.github_emulator import Delivery, GitHubEmulator
from tests.github_emulator.webhooks import signature
from tests.settings import EMULATOR

NAME = "acme/agents"


def sent(github: GitHubEmulator, event: str) -> Delivery:
    """The newest delivery of that kind."""
    github.wait_for_deliveries()
    return [delivery for delivery in github.deliveries if delivery.event == event][-1]


def signed(event: str, payload: dict[str, Any], **headers: str) -> Any:
    """Post a body of our own with a genuine signature."""
    body = json.dumps(payload).encode()
    return Client().post(
        "/webhooks/github",
        body,
        content_type="application/json",
        headers={
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": str(uuid4()),
            "X-Hub-Signature-256": signature(EMULATOR.app.webhook_secret, body),
            **headers,
        },
    )


def test_it_turns_a_push_into_a_run_and_a_ring(
    agents: Repository, github: GitHubEmulator, empty_queue: None
) -> None:
    commit = github.push(NAME, "feature/x", {"a": "b"}, start="main", author="ada")
    assert receive(sent(github, "push")) == 202
    [run] = SyncRun.objects.all()
    assert (run.branch.name, run.commit, run.state) == ("feature/x", commit, "pending")
    assert (run.trigger, run.pusher) == ("push", "ada")
    delivery = WebhookDelivery.objects.get()
    assert (delivery.event, delivery.repository) == ("push", agents)
    assert delivery.outcome == "Sync of branch feature/x asked for."
    assert ProcrastinateJob.objects.filter(args={"repository_id": agents.pk}).count() == 1


def test_it_answers_a_repeated_delivery_without_effect(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.push(NAME, "main", {"a": "b"})
    delivery = sent(github, "push")
    assert [receive(delivery), receive(delivery)] == [202, 200]
    assert (SyncRun.objects.count(), WebhookDelivery.objects.count()) == (1, 1)


@pytest.mark.parametrize("forged", ["", "sha256=", "sha256=" + "0" * 64, "sha1=x", "ü"])
def test_it_refuses_what_is_not_genuine(db: None, forged: str) -> None:
    response = signed("push", {"ref": "refs/heads/main"}, **{"X-Hub-Signature-256": forged})
    assert response.status_code == 401
    assert WebhookDelivery.objects.count() == 0


def test_it_refuses_a_delivery_without_signature(db: None) -> None:
    response = Client().post("/webhooks/github", b"{}", content_type="application/json")
    assert response.status_code == 401


def test_it_refuses_everything_without_a_secret(db: None, settings: Any) -> None:
    settings.GITHUB_APP_WEBHOOK_SECRET = ""
    assert signed("ping", {}).status_code == 401


def test_it_signs_for_the_body_as_sent(agents: Repository, github: GitHubEmulator) -> None:
    github.push(NAME, "main", {"a": "b"})
    delivery = sent(github, "push")
    response = Client().post(
        "/webhooks/github",
        delivery.body + b" ",
        content_type="application/json",
        headers=delivery.headers,
    )
    assert response.status_code == 401


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff"], ids=repr)
def test_it_says_what_is_wrong_with_a_signed_body(db: None, body: bytes) -> None:
    response = Client().post(
        "/webhooks/github",
        body,
        content_type="application/json",
        headers={
            "X-Hub-Signature-256": signature(EMULATOR.app.webhook_secret, body),
            "X-GitHub-Delivery": "1",
        },
    )
    assert (response.status_code, WebhookDelivery.objects.count()) == (400, 0)


@pytest.mark.parametrize("event", ["star", "no_such_event"])
def test_it_takes_note_of_events_that_do_not_concern_it(db: None, event: str) -> None:
    assert signed(event, {"zen": "…"}).status_code == 202
    assert WebhookDelivery.objects.get().outcome == (
        "Nothing to do: this kind of event does not concern Git Sync."
    )


def test_it_takes_note_of_repositories_that_are_not_connected(
    github: GitHubEmulator, db: None
) -> None:
    github.create_repository("acme/other", files=FILES)
    github.install("acme", repositories=["acme/other"], by="ada")
    github.push("acme/other", "main", {"a": "b"})
    assert receive(sent(github, "push")) == 202
    assert WebhookDelivery.objects.get().outcome == (
        "Nothing to do: acme/other is not connected to a workspace."
    )
    assert SyncRun.objects.count() == 0


def test_it_leaves_tags_alone(agents: Repository) -> None:
    payload = {"ref": "refs/tags/v1", "after": "1" * 40, "repository": {"id": agents.github_id}}
    assert signed("push", payload).status_code == 202
    assert WebhookDelivery.objects.get().outcome == "Nothing to do: tags are not synced."
    assert SyncRun.objects.count() == 0


def test_it_looks_at_all_branches_after_a_deletion(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.create_branch(NAME, "feature/x", "main")
    engine.sync(agents.pk)
    github.delete_branch(NAME, "feature/x")
    assert receive(sent(github, "push")) == 202
    assert SyncRun.objects.open().count() == 0
    engine.sync(agents.pk)
    assert agents.branches.get(name="feature/x").deleted_at is not None


def test_it_makes_one_run_of_a_new_branch_announced_twice(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.create_branch(NAME, "feature/x", "main")
    for event in ("create", "push"):
        receive(sent(github, event))
    [run] = SyncRun.objects.all()
    assert (run.branch.name, run.state) == ("feature/x", "pending")


def test_it_makes_one_run_of_a_new_branch_though_each_event_found_a_worker(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    github.create_branch(NAME, "feature/x", "main")
    github.wait_for_deliveries()
    create, push = sent(github, "create"), sent(github, "push")
    receive(create)
    engine.sync(agents.pk)
    assert receive(push) == 202
    assert WebhookDelivery.objects.latest("pk").outcome == (
        "Nothing to do: branch feature/x shows this commit already."
    )
    # Had the push come while the worker was at it, it would have left a run of its own.
    branch = agents.branches.get(name="feature/x")
    run = SyncRun.objects.request(branch, SyncRun.Trigger.PUSH, commit=branch.commit)
    run.deliveries.create(delivery_id="1", event="push")
    engine.sync(agents.pk)
    [run] = branch.sync_runs.all()
    assert (run.trigger, run.state) == ("branch created", "success")
    assert list(run.deliveries.order_by("pk").values_list("event", flat=True)) == [
        *("create", "push", "push")
    ]


def test_it_keeps_one_waiting_run_and_the_history_of_the_others(
    agents: Repository, github: GitHubEmulator
) -> None:
    for number in range(3):
        github.push(NAME, "main", {"number": str(number)})
        receive(sent(github, "push"))
    states = SyncRun.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["superseded", "superseded", "pending"]


def test_it_follows_a_new_name_and_default_branch(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.create_branch(NAME, "trunk", "main")
    github.rename_repository(NAME, "robots")
    receive(sent(github, "repository"))
    github.edit_repository("acme/robots", default_branch="trunk")
    receive(sent(github, "repository"))
    agents.refresh_from_db()
    assert (agents.full_name, agents.default_branch) == ("acme/robots", "trunk")


def test_it_follows_suspension_and_removal(agents: Repository, github: GitHubEmulator) -> None:
    number = agents.installation.github_id
    github.suspend(number)
    receive(sent(github, "installation"))
    assert Installation.objects.get().suspended_at is not None
    github.unsuspend(number)
    receive(sent(github, "installation"))
    assert Installation.objects.get().suspended_at is None
    github.uninstall(number)
    receive(sent(github, "installation"))
    assert Installation.objects.get().removed_at is not None


def test_it_takes_a_delivery_again_when_handling_it_failed(
    agents: Repository, github: GitHubEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    github.push(NAME, "main", {"a": "b"})
    delivery = sent(github, "push")
    monkeypatch.setitem(events.HANDLERS, "push", lambda payload: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        receive(delivery)
    assert WebhookDelivery.objects.count() == 0
    monkeypatch.undo()
    assert receive(delivery) == 202


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"ref": None, "repository": {"id": 1}},
        {"repository": None},
        {"repository": {"id": "x"}},
        {"installation": None},
        {"installation": {"id": "x"}},
        {"repository": []},
    ],
    ids=repr,
)
@pytest.mark.parametrize("event", sorted(events.HANDLERS))
def test_it_survives_genuine_deliveries_with_missing_fields(
    db: None, event: str, payload: dict[str, Any]
) -> None:
    assert signed(event, payload).status_code == 202
    assert WebhookDelivery.objects.get().outcome != ""


HOSTILE = ["a\0b", "\ud800", "x" * 5000, 2**70, -1, True, {}, [], "", "../../x?y#z", 1.5]


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda value: ascii(value)[:12])
@pytest.mark.parametrize("event", sorted(events.HANDLERS))
def test_it_survives_genuine_deliveries_with_odd_values(
    agents: Repository, event: str, hostile: Any
) -> None:
    payload = {
        "action": hostile,
        "ref": f"refs/heads/{hostile}" if event == "push" else hostile,
        "ref_type": "branch",
        "after": hostile,
        "sender": {"login": hostile},
        "repository": {
            "id": agents.github_id,
            "full_name": hostile,
            "default_branch": hostile,
        },
        "repositories_added": [{"id": hostile}],
        "installation": {"id": hostile, "account": {"id": 1, "login": hostile}},
    }
    assert signed(event, payload).status_code == 202
    assert Repository.objects.get().full_name == NAME
    assert not SyncRun.objects.exclude(commit="").exists()


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000], ids=["list", "object"])
def test_it_refuses_a_body_nested_without_end(db: None, body: bytes) -> None:
    signed_for = signature(EMULATOR.app.webhook_secret, body)
    headers = {"X-GitHub-Delivery": "1", "X-Hub-Signature-256": signed_for}
    response = Client().post(
        "/webhooks/github", body, content_type="application/json", headers=headers
    )
    assert (response.status_code, WebhookDelivery.objects.count()) == (400, 0)


def test_it_takes_only_posts(db: None) -> None:
    assert Client().get("/webhooks/github").status_code == 405
    assert Branch.objects.count() == 0
