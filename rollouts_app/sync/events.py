"""GitHub's events → rows that change and syncs asked for. Payloads are hints where to look.

They come late, twice, in any order or not at all: what one says is taken over at once, and GitHub
is asked for the truth of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from rollouts_app.github import read_installation
from rollouts_app.models import Branch, Installation, InstallationRequest, Repository, SyncRun
from rollouts_app.models.branches import is_nameable
from rollouts_app.models.repositories import RepositoryQuerySet
from rollouts_app.sync import payloads
from rollouts_app.sync.installations import installation_told_of, store_installation
from rollouts_app.sync.payloads import Payload
from rollouts_app.sync.tasks import ring

HEADS = "refs/heads/"
TAGS = "Nothing to do: tags are not synced."
UNNAMED = "Nothing to do: the delivery names no branch that can be shown."
UNKNOWN_INSTALLATION = "Nothing to do: the delivery does not say which installation it is about."


@dataclass(frozen=True)
class Outcome:
    """What came of a delivery, in words; the connected repository and the sync it led to.

    `installation` is that of a delivery about the App on an account, which concerns all that is
    connected there.
    """

    text: str
    repository: Repository | None = None
    run: SyncRun | None = None
    installation: Installation | None = None


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
        has_news = _take_over(repository, payload)
        outcome = handler(repository, payload)
        if has_news:
            # Last: whoever rings waits for who rang before, and must hold nothing that one needs.
            ring(repository.pk)
        return outcome

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
    pusher = payloads.login(payload, "sender")
    if run := repository.sync_runs.note_late_push(name, commit, pusher):
        return Outcome("Nothing to do: the timer had found this commit.", repository, run)
    if repository.branches.showing(name, commit).exists():
        run = repository.sync_runs.filter(branch__name=name, commit=commit).last()
        return Outcome(f"Nothing to do: branch {name} shows this commit already.", repository, run)
    return _look_at(
        repository,
        name,
        SyncRun.Trigger.PUSH,
        commit=commit,
        pusher=pusher,
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
    branch = f"Branch {name}" if name else "A branch"
    return _look_at_all(repository, f"{branch} was deleted: checking all branches.")


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
        return Outcome(UNKNOWN_INSTALLATION, installation=installation_told_of(payload))
    installation = store_installation(facts)
    # Whoever asked the owners for it goes on by themselves: their way back had no installation.
    asked = payloads.number(payloads.part(payload, "requester"), "id")
    if action == "created":
        answered = InstallationRequest.objects.answered_by(installation.account_id, asked)
        answered.settle(installation.account_login)
    told = _connected(payloads.parts(payload, "repositories"))
    affected = _hold(told | Repository.objects.connected().of_account(installation.account_id))
    if action == "deleted":
        installation.note_removal()
    else:
        # An App that was uninstalled and comes back has a new number.
        told.update(installation=installation)
    words = action.replace("_", " ") or "changed"
    text = f"The App's installation on {installation.account_login}: {words}."
    return Outcome(text, _look_at_each(affected), installation=installation)


def on_installation_repositories(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation_repositories"""
    added = payloads.parts(payload, "repositories_added")
    removed = payloads.parts(payload, "repositories_removed")
    affected = _hold(_connected([*added, *removed]))
    installation = installation_told_of(payload)
    if installation:
        _connected(added).update(installation=installation)
    for repository in _connected(removed).order_by("pk"):
        repository.suspect(
            Repository.Trouble.REMOVED, "GitHub announced that the App may no longer read it."
        )
    text = (
        f"Repositories the App may read: {len(added)} added, {len(removed)} removed; "
        f"{len(affected)} of them connected."
    )
    return Outcome(text, _look_at_each(affected), installation=installation)


def on_installation_target(payload: Payload) -> Outcome:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation_target"""
    account = payloads.part(payload, "account")
    login = payloads.text(account, "login") or payloads.text(account, "slug")
    number = payloads.number(account, "id")
    if login:
        Installation.objects.filter(account_id=number).update(
            account_login=login[: payloads.LONGEST_LOGIN]
        )
    affected = _hold(Repository.objects.connected().of_account(number))
    change = f"is now called {login}" if login else "was renamed"
    text = f"The account {change}: checking its repositories."
    return Outcome(text, _look_at_each(affected), installation=installation_told_of(payload))


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


def _take_over(repository: Repository, payload: Payload) -> bool:
    """Learn what any event says of its repository; whether that is news.

    As the event may be late, GitHub is asked then.
    """
    facts = payloads.repository_facts(payload)
    number = payloads.number(payloads.part(payload, "installation"), "id")
    if number != repository.installation.github_id:
        facts["installation"] = installation_told_of(payload) or repository.installation
    has_news = repository.learn(**facts)
    if has_news:
        repository.request_full_check()
    return has_news


def _connected(told: list[Payload]) -> RepositoryQuerySet:
    """Those of the repositories told of that are connected."""
    numbers = [payloads.number(facts, "id") for facts in told]
    return Repository.objects.connected().filter(github_id__in=numbers)


def _hold(repositories: RepositoryQuerySet) -> list[Repository]:
    """The rows, for us alone until the delivery is stored.

    In one order everywhere: two deliveries about the same ones wait for each other.
    """
    return list(repositories.select_for_update(of=("self",), no_key=True).order_by("pk"))


def _look_at(repository: Repository, name: str, trigger: str, **hints: str) -> Outcome:
    branch, _ = Branch.objects.get_or_create(repository=repository, name=name)
    run = SyncRun.objects.request(branch, trigger, **hints)
    ring(repository.pk)
    return Outcome(f"Sync of branch {name} asked for.", repository, run)


def _look_at_all(repository: Repository, text: str) -> Outcome:
    repository.request_full_check()
    ring(repository.pk)
    return Outcome(text, repository)


def _look_at_each(repositories: list[Repository]) -> Repository | None:
    """Have all of them checked, in their order. Returns the one, if it is one."""
    for repository in repositories:
        _look_at_all(repository, "")
    return repositories[0] if len(repositories) == 1 else None
