"""GitHub's events → rows that change and syncs asked for. Payloads are hints where to look."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from rollouts_app.github import read_installation
from rollouts_app.models import Branch, Installation, Repository, SyncRun
from rollouts_app.models.branches import is_nameable
from rollouts_app.sync.installations import store_installation
from rollouts_app.sync.tasks import ring

Payload = dict[str, Any]
HEADS = "refs/heads/"
UNNAMED = "Nothing to do: the delivery names no branch that can be shown."
# It becomes part of the address that git is sent to.
FULL_NAME = re.compile(r"[A-Za-z0-9_-][\w.-]{0,99}/[\w.-]{1,100}", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
LONGEST_LOGIN = 255


@dataclass(frozen=True)
class Outcome:
    """What came of a delivery, in words; the connected repository and the sync it led to."""

    text: str
    repository: Repository | None = None
    run: SyncRun | None = None


def receive(event: str, payload: Payload) -> Outcome:
    """Take in one genuine delivery, of what JSON and PostgreSQL's text can hold.

    Call it in the transaction that stores the delivery.
    """
    handler = HANDLERS.get(event)
    if handler is None:
        return Outcome("Nothing to do: this kind of event does not concern Git Sync.")
    return handler(payload)


def on_push(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#push"""
    repository = _connected(payload)
    if repository is None:
        return _not_connected(payload)
    ref = _text(payload, "ref")
    if not ref.startswith(HEADS):
        return Outcome("Nothing to do: tags are not synced.", repository)
    name = ref.removeprefix(HEADS)
    if not is_nameable(name):
        return Outcome(UNNAMED, repository)
    commit = _commit(payload, "after")
    if payload.get("deleted") or (commit and not commit.strip("0")):
        return _look_at_all(repository, f"Branch {name} was deleted: checking all branches.")
    if repository.branches.showing(name, commit).exists():
        return Outcome(f"Nothing to do: branch {name} shows this commit already.", repository)
    replaced = _commit(payload, "before") if payload.get("forced") is True else ""
    return _look_at(
        repository, name, SyncRun.Trigger.PUSH, commit, _pusher(payload), replaced=replaced
    )


def on_create(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#create

    GitHub announces a new branch twice, by this and by a push, in either order.
    """
    repository = _connected(payload)
    if repository is None:
        return _not_connected(payload)
    name = _text(payload, "ref")
    if payload.get("ref_type") != "branch":
        return Outcome("Nothing to do: tags are not synced.", repository)
    if not is_nameable(name):
        return Outcome(UNNAMED, repository)
    if repository.branches.existing().filter(name=name).exists():
        return Outcome(f"Nothing to do: branch {name} is known already.", repository)
    return _look_at(repository, name, SyncRun.Trigger.CREATED, "", _pusher(payload))


def on_delete(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#delete"""
    repository = _connected(payload)
    if repository is None:
        return _not_connected(payload)
    if payload.get("ref_type") != "branch":
        return Outcome("Nothing to do: tags are not synced.", repository)
    name = _text(payload, "ref")
    return _look_at_all(repository, f"Branch {name} was deleted: checking all branches.")


def on_repository(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#repository"""
    repository = _connected(payload)
    if repository is None:
        return _not_connected(payload)
    facts = _object(payload, "repository")
    default_branch = _text(facts, "default_branch") or repository.default_branch
    Repository.objects.filter(pk=repository.pk).update(
        default_branch=default_branch, is_private=facts.get("private") is not False
    )
    return _look_at_all(
        repository, f"Repository {payload.get('action')}: name and default branch are up to date."
    )


def on_installation(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation"""
    action = payload.get("action")
    try:
        facts = read_installation(payload["installation"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return Outcome("Nothing to do: the delivery does not say which installation it is about.")
    if action == "deleted":
        Installation.objects.filter(github_id=facts.id).update(removed_at=Now())
        return Outcome(f"The App was uninstalled from {facts.account_login}.")
    installation = store_installation(facts)
    # An App that was uninstalled and comes back has a new number.
    ours = [_number(repository, "id") for repository in _list(payload, "repositories")]
    Repository.objects.connected().filter(github_id__in=ours).update(installation=installation)
    for repository in installation.repositories.order_by("pk"):
        _look_at_all(repository, "")
    return Outcome(f"Installation on {installation.account_login}: {action}.")


def on_installation_repositories(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation_repositories"""
    changed = [*_list(payload, "repositories_added"), *_list(payload, "repositories_removed")]
    ids = [_number(facts, "id") for facts in changed]
    # In one order everywhere: two deliveries that ring for the same ones wait for each other.
    affected = list(Repository.objects.connected().filter(github_id__in=ids).order_by("pk"))
    for repository in affected:
        _look_at_all(repository, "")
    text = (
        f"{len(changed)} repositories {payload.get('action')}; {len(affected)} of them connected."
    )
    return Outcome(text, affected[0] if len(affected) == 1 else None)


HANDLERS: dict[str, Callable[[Payload], Outcome]] = {
    "create": on_create,
    "delete": on_delete,
    "installation": on_installation,
    "installation_repositories": on_installation_repositories,
    "push": on_push,
    "repository": on_repository,
}


def _connected(payload: Payload) -> Repository | None:
    """The connected repository the payload names by number; its name is brought up to date."""
    facts = _object(payload, "repository")
    repository = Repository.objects.connected().filter(github_id=_number(facts, "id")).first()
    full_name = _text(facts, "full_name")
    if repository and FULL_NAME.fullmatch(full_name) and repository.full_name != full_name:
        repository.full_name = full_name
        repository.save(update_fields=["full_name"])
    return repository


def _not_connected(payload: Payload) -> Outcome:
    name = _text(_object(payload, "repository"), "full_name") or "this repository"
    return Outcome(f"Nothing to do: {name} is not connected to a workspace.")


def _look_at(
    repository: Repository, name: str, trigger: str, commit: str, pusher: str, replaced: str = ""
) -> Outcome:
    branch, _ = Branch.objects.get_or_create(repository=repository, name=name)
    run = SyncRun.objects.request(branch, trigger, commit=commit, pusher=pusher, replaced=replaced)
    ring(repository.pk)
    return Outcome(f"Sync of branch {name} asked for.", repository, run)


def _look_at_all(repository: Repository, text: str) -> Outcome:
    repository.request_full_check()
    ring(repository.pk)
    return Outcome(text, repository)


# GitHub's own example payloads lack fields that its schemas require: whatever is not there, or not
# of the kind it should be, reads as nothing.


def _text(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _number(payload: Payload, key: str) -> int:
    value = payload.get(key)
    return value if isinstance(value, int) else 0


def _object(payload: Payload, key: str) -> Payload:
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def _list(payload: Payload, key: str) -> list[Payload]:
    value = payload.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _pusher(payload: Payload) -> str:
    return _text(_object(payload, "sender"), "login")[:LONGEST_LOGIN]


def _commit(payload: Payload, key: str) -> str:
    """The commit a push came from or led to; empty where the payload names none."""
    commit = _text(payload, key)
    return commit if COMMIT.fullmatch(commit) else ""
