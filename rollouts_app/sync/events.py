"""GitHub's events → rows that change and syncs asked for. Payloads are hints where to look.

They come late, twice, in any order or not at all: what one says is taken over at once, and GitHub
is asked for the truth of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from rollouts_app.github import read_installation
from rollouts_app.models import Branch, Installation, Repository, SyncRun
from rollouts_app.models.branches import is_nameable
from rollouts_app.models.repositories import RepositoryQuerySet
from rollouts_app.sync import payloads
from rollouts_app.sync.installations import store_installation
from rollouts_app.sync.payloads import Payload
from rollouts_app.sync.tasks import ring

HEADS = "refs/heads/"
TAGS = "Nothing to do: tags are not synced."
UNNAMED = "Nothing to do: the delivery names no branch that can be shown."
UNKNOWN_INSTALLATION = "Nothing to do: the delivery does not say which installation it is about."


@dataclass(frozen=True)
class Outcome:
    """What came of a delivery, in words; the connected repository and the sync it led to."""

    text: str
    repository: Repository | None = None
    run: SyncRun | None = None


Handler = Callable[[Payload], Outcome]


def receive(event: str, payload: Payload) -> Outcome:
    """Take in one genuine delivery, of what JSON and PostgreSQL's text can hold.

    Call it in the transaction that stores the delivery.
    """
    handler = HANDLERS.get(event)
    if handler is None:
        return Outcome("Nothing to do: this kind of event does not concern Git Sync.")
    return handler(payload)


def about_repository(handler: Callable[[Repository, Payload], Outcome]) -> Handler:
    """A handler of events of one repository, found by its number: others are taken note of."""

    @wraps(handler)
    def handle(payload: Payload) -> Outcome:
        number = payloads.number(payloads.part(payload, "repository"), "id")
        connected = Repository.objects.connected().select_related("installation")
        repository = connected.filter(github_id=number).first()
        if repository is None:
            name = payloads.text(payloads.part(payload, "repository"), "full_name")
            return Outcome(
                f"Nothing to do: {name or 'this repository'} is not connected to a workspace."
            )
        _take_over(repository, payload)
        return handler(repository, payload)

    return handle


@about_repository
def on_push(repository: Repository, payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#push"""
    ref = payloads.text(payload, "ref")
    if not ref.startswith(HEADS):
        return Outcome(TAGS, repository)
    name = ref.removeprefix(HEADS)
    if not is_nameable(name):
        return Outcome(UNNAMED, repository)
    commit = payloads.commit(payload, "after")
    if payload.get("deleted") or (commit and not commit.strip("0")):
        return _look_at_all(repository, f"Branch {name} was deleted: checking all branches.")
    if branch := repository.branches.showing(name, commit).first():
        run = SyncRun.objects.note_late_push(branch, payloads.login(payload, "sender"))
        return Outcome(f"Nothing to do: branch {name} shows this commit already.", repository, run)
    return _look_at(
        repository,
        name,
        SyncRun.Trigger.PUSH,
        commit=commit,
        pusher=payloads.login(payload, "sender"),
        replaced=payloads.commit(payload, "before") if payload.get("forced") is True else "",
    )


@about_repository
def on_create(repository: Repository, payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#create

    GitHub announces a new branch twice, by this and by a push, in either order.
    """
    if payload.get("ref_type") != "branch":
        return Outcome(TAGS, repository)
    name = payloads.text(payload, "ref")
    if not is_nameable(name):
        return Outcome(UNNAMED, repository)
    if repository.branches.existing().filter(name=name).exists():
        return Outcome(f"Nothing to do: branch {name} is known already.", repository)
    pusher = payloads.login(payload, "sender")
    return _look_at(repository, name, SyncRun.Trigger.CREATED, pusher=pusher)


@about_repository
def on_delete(repository: Repository, payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#delete"""
    if payload.get("ref_type") != "branch":
        return Outcome(TAGS, repository)
    name = payloads.text(payload, "ref")
    return _look_at_all(repository, f"Branch {name} was deleted: checking all branches.")


@about_repository
def on_repository(repository: Repository, payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#repository"""
    action = payloads.text(payload, "action") or "changed"
    if action == "deleted":
        repository.suspect(Repository.Trouble.DELETED, "GitHub announced that it was deleted.")
        return _look_at_all(repository, "The repository was deleted: checking it.")
    return _look_at_all(repository, f"The repository was {action}: checking it.")


def on_installation(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation"""
    action = payloads.text(payload, "action")
    try:
        facts = read_installation(payload["installation"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return Outcome(UNKNOWN_INSTALLATION)
    installation = store_installation(facts)
    if action == "deleted":
        installation.note_removal()
    else:
        # An App that was uninstalled and comes back has a new number.
        _connected(payloads.parts(payload, "repositories")).update(installation=installation)
    affected = _look_at_each(Repository.objects.connected().of_account(facts.account_id))
    words = action.replace("_", " ") or "changed"
    return Outcome(f"The App's installation on {facts.account_login}: {words}.", affected)


def on_installation_repositories(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation_repositories"""
    added = payloads.parts(payload, "repositories_added")
    removed = payloads.parts(payload, "repositories_removed")
    number = payloads.number(payloads.part(payload, "installation"), "id")
    installation = Installation.objects.filter(github_id=number).first()
    if installation:
        _connected(added).update(installation=installation)
    for repository in _connected(removed).order_by("pk"):
        repository.suspect(
            Repository.Trouble.REMOVED, "GitHub announced that the App may no longer read it."
        )
    affected = _connected([*added, *removed])
    text = (
        f"Repositories the App may read: {len(added)} added, {len(removed)} removed; "
        f"{affected.count()} of them connected."
    )
    return Outcome(text, _look_at_each(affected))


def on_installation_target(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation_target"""
    account = payloads.part(payload, "account")
    login = payloads.text(account, "login") or payloads.text(account, "slug")
    number = payloads.number(account, "id")
    if login:
        Installation.objects.filter(account_id=number).update(
            account_login=login[: payloads.LONGEST_LOGIN]
        )
    affected = _look_at_each(Repository.objects.connected().of_account(number))
    return Outcome(f"The account is now called {login}: checking its repositories.", affected)


def on_ping(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#ping"""
    return Outcome("GitHub tried the webhook: it arrives.")


def on_meta(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#meta"""
    return Outcome(
        "The webhook was deleted at GitHub, so no more deliveries will come. Set it up again in "
        "the App's settings there."
    )


def on_authorization(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#github_app_authorization"""
    login = payloads.login(payload, "sender") or "Somebody"
    return Outcome(f"Nothing to do: {login} withdrew the App's authorization to act for them.")


HANDLERS: dict[str, Handler] = {
    "create": on_create,
    "delete": on_delete,
    "github_app_authorization": on_authorization,
    "installation": on_installation,
    "installation_repositories": on_installation_repositories,
    "installation_target": on_installation_target,
    "meta": on_meta,
    "ping": on_ping,
    "public": on_repository,
    "push": on_push,
    "repository": on_repository,
}


def _take_over(repository: Repository, payload: Payload) -> None:
    """Learn what any event says of its repository. As this one may be late, GitHub is asked."""
    facts = payloads.repository_facts(payload)
    number = payloads.number(payloads.part(payload, "installation"), "id")
    if number not in {0, repository.installation.github_id}:
        facts["installation"] = (
            Installation.objects.filter(github_id=number).first() or repository.installation
        )
    if repository.learn(**facts):
        repository.request_full_check()
        ring(repository.pk)


def _connected(told: list[Payload]) -> RepositoryQuerySet:
    """Those of the repositories told of that are connected."""
    numbers = [payloads.number(facts, "id") for facts in told]
    return Repository.objects.connected().filter(github_id__in=numbers)


def _look_at(repository: Repository, name: str, trigger: str, **hints: str) -> Outcome:
    branch, _ = Branch.objects.get_or_create(repository=repository, name=name)
    run = SyncRun.objects.request(branch, trigger, **hints)
    ring(repository.pk)
    return Outcome(f"Sync of branch {name} asked for.", repository, run)


def _look_at_all(repository: Repository, text: str) -> Outcome:
    repository.request_full_check()
    ring(repository.pk)
    return Outcome(text, repository)


def _look_at_each(repositories: RepositoryQuerySet) -> Repository | None:
    """Have all of them checked. Returns the one, if it is one.

    In one order everywhere: two deliveries that ring for the same ones wait for each other.
    """
    affected = list(repositories.order_by("pk"))
    for repository in affected:
        _look_at_all(repository, "")
    return affected[0] if len(affected) == 1 else None
