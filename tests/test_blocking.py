"""What blocks a sync, as GitHub tells it: each kind has a name of its own, and a way out."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils.timezone import now

from rollouts_app.connection import tie_repository
from rollouts_app.models import (
    Installation,
    Membership,
    Repository,
    User,
    WebhookDelivery,
    Workspace,
)
from rollouts_app.sync import engine, reconcile
from rollouts_app.sync.clients import app_client, client_for
from rollouts_app.sync.installations import store_installation
from tests.conftest import receive
from tests.github_emulator import Delivery, GitHubEmulator
from tests.github_emulator.webhooks import signature
from tests.settings import EMULATOR
from tests.syncing import NAME, check_all, heads_shown, push_hint

pytestmark = pytest.mark.django_db

Act = Callable[[GitHubEmulator, Repository], object]


def suspend(github: GitHubEmulator, repository: Repository) -> None:
    github.suspend(repository.installation.github_id, by="ada")


def unsuspend(github: GitHubEmulator, repository: Repository) -> None:
    github.unsuspend(repository.installation.github_id, by="ada")


def uninstall(github: GitHubEmulator, repository: Repository) -> None:
    github.uninstall(repository.installation.github_id, by="ada")


def install(github: GitHubEmulator, _repository: Repository) -> None:
    github.install("acme", repositories=[NAME], by="ada")


def remove(github: GitHubEmulator, repository: Repository) -> None:
    github.remove_repositories(repository.installation.github_id, [NAME], by="ada")


def add(github: GitHubEmulator, repository: Repository) -> None:
    github.add_repositories(repository.installation.github_id, [NAME], by="ada")


def take_permission(github: GitHubEmulator, repository: Repository) -> None:
    github.installation(repository.installation.github_id).permissions.pop("contents")
    github.expire_tokens()


def accept_permission(github: GitHubEmulator, repository: Repository) -> None:
    github.accept_permissions(repository.installation.github_id, by="ada")


def keep_out_by_policy(github: GitHubEmulator, _repository: Repository) -> None:
    words = (
        "Although you appear to have the correct authorization credentials, the `acme` "
        "organization has an IP allow list enabled, and your IP address is not permitted to "
        "access this resource."
    )
    github.trouble("/api/v3/repositories", status=403, body={"message": words})
    github.trouble(f"/{NAME}.git", status=403, body=words)


def let_in(github: GitHubEmulator, _repository: Repository) -> None:
    github.troubles.clear()


def refuse_the_app(github: GitHubEmulator, _repository: Repository) -> None:
    words = "A JSON web token could not be decoded"
    github.trouble("/api/v3/app", status=401, body={"message": words})
    github.expire_tokens()


WAYS: dict[str, tuple[Act, Act, dict[str, tuple[str, bool]]]] = {
    # What is done, what undoes it; the trouble and whether the installation is usable, by whether
    # GitHub's webhook came.
    "suspended": (suspend, unsuspend, {"told": ("denied", False), "not told": ("denied", False)}),
    "uninstalled": (uninstall, install, {"told": ("gone", False), "not told": ("gone", False)}),
    "removed": (remove, add, {"told": ("removed", True), "not told": ("gone", True)}),
    "permission": (
        take_permission,
        accept_permission,
        {"told": ("permission", True), "not told": ("permission", True)},
    ),
    "policy": (
        keep_out_by_policy,
        let_in,
        {"told": ("policy", True), "not told": ("policy", True)},
    ),
    "app": (refuse_the_app, let_in, {"told": ("app", True), "not told": ("app", True)}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("told", ["told", "not told"])
def test_it_knows_what_blocks_it_and_goes_on_when_that_ends(
    agents: Repository, github: GitHubEmulator, way: str, told: str
) -> None:
    """I11, I14, I15: with GitHub's webhooks and without."""
    block, end, expected = WAYS[way]
    engine.sync(agents.pk)
    shown = heads_shown(agents)
    github.deliver = receive if told == "told" else None
    block(github, agents)
    github.wait_for_deliveries()
    run = push_hint(agents, "main", "1" * 40)
    check_all(agents)
    run.refresh_from_db()
    assert (agents.trouble, agents.installation.is_usable) == expected[told]
    assert (agents.is_blocked, run.state, heads_shown(agents)) == (True, "failed", shown)
    end(github, agents)
    github.wait_for_deliveries()
    commit = github.push(NAME, "main", {"after": "1"})
    github.wait_for_deliveries()
    check_all(agents)
    assert (agents.trouble, agents.is_blocked) == ("", False)
    assert heads_shown(agents) == {"main": commit}
    assert not agents.sync_runs.open().exists()


# Minutes until the next look, by how long it has lasted: an interval at first, six hours at most.
BOUNDS = [(3.5, 6.5), (44, 76), (269, 451), (269, 451)]


def test_it_looks_ever_more_rarely_at_what_stays_blocked(
    agents: Repository, github: GitHubEmulator
) -> None:
    """W23"""
    engine.sync(agents.pk)
    remove(github, agents)
    waits = []
    for lasted in (0, 3600, 10 * 3600, 1000 * 3600):
        Repository.objects.update(trouble_since=None)
        check_all(agents)
        assert agents.trouble_since
        Repository.objects.update(trouble_since=agents.trouble_since - timedelta(seconds=lasted))
        check_all(agents)
        assert agents.retry_at
        waits.append((agents.retry_at - now()) / timedelta(minutes=1))
    assert [bounds[0] <= wait <= bounds[1] for wait, bounds in zip(waits, BOUNDS, strict=True)] == [
        True
    ] * 4
    assert heads_shown(agents) == github.heads(NAME)


@pytest.fixture
def other(ada: User, github: GitHubEmulator) -> Repository:
    """A repository of another account, connected to another workspace."""
    github.add_organization("umbrella", owners=["ada"])
    github.create_repository("umbrella/tools", files={"rollouts/tool/main.py": "1"})
    number = github.install("umbrella", repositories="all", by="ada")
    installation = store_installation(app_client().installation(number))
    workspace = Workspace.objects.create(slug="umbrella")
    Membership.objects.create(workspace=workspace, user=ada, role="owner")
    return tie_repository(
        workspace, installation, client_for(installation).repository("umbrella/tools")
    )


def test_one_bad_installation_never_hurts_another(
    agents: Repository, other: Repository, github: GitHubEmulator
) -> None:
    """I15"""
    suspend(github, agents)
    agents.request_full_check()
    other.request_full_check()
    for pk in sorted(reconcile.repositories_due()):
        engine.sync(pk)
    agents.refresh_from_db()
    other.refresh_from_db()
    assert (agents.trouble, other.trouble) == ("denied", "")
    assert heads_shown(other) == github.heads("umbrella/tools")


def told(github: GitHubEmulator, **changes: object) -> Delivery:
    """An installation event whose installation has other values, with a right signature."""
    delivery = next(made for made in github.deliveries if made.event == "installation")
    payload = json.loads(delivery.body)
    payload["installation"] |= changes
    body = json.dumps({**payload, "action": "deleted", "repositories": []}).encode()
    genuine = {"X-Hub-Signature-256": signature(EMULATOR.app.webhook_secret, body)}
    return replace(delivery, body=body, headers=delivery.headers | genuine)


def test_the_end_of_an_account_leaves_its_name(synced: Repository, github: GitHubEmulator) -> None:
    """GitHub tells of an installation on an account that was deleted without the account."""
    assert receive(told(github, account=None)) == 202
    check_all(synced)
    installation = synced.installation
    assert (installation.account_login, installation.is_usable) == ("acme", True)
    assert WebhookDelivery.objects.get().repository == synced
    assert WebhookDelivery.objects.get().outcome == "The App's installation on acme: deleted."


LONG = "x" * 300
ODD = [
    {"account": {"id": 7, "login": LONG, "type": LONG}},
    {"suspended_at": 10**18},
    {"suspended_at": "9999-12-31T23:59:59-14:00"},
]


@pytest.mark.parametrize("changes", ODD, ids=["long", "number", "text"])
def test_it_survives_odd_installations(
    installation: Installation, github: GitHubEmulator, changes: dict[str, object]
) -> None:
    assert receive(told(github, **changes)) == 202


def test_a_refusal_amid_the_search_for_its_cause_is_one_like_others(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.uninstall(agents.installation.github_id, by="ada")
    github.trouble("/api/v3/app/installations?", status=404)
    run = push_hint(agents, "main", "1" * 40)
    engine.sync(agents.pk)
    run.refresh_from_db()
    agents.refresh_from_db()
    assert (agents.trouble, run.state) == ("gone", "failed")


def test_a_public_repository_off_the_apps_list_is_no_green_line(
    agents: Repository, github: GitHubEmulator
) -> None:
    """Everybody can read it, but GitHub no longer announces its pushes."""
    github.make_public(NAME, by="ada")
    check_all(agents)
    assert (agents.trouble, agents.is_private) == ("", False)
    remove(github, agents)
    check_all(agents)
    assert (agents.trouble, agents.is_blocked) == ("removed", True)
    add(github, agents)
    check_all(agents)
    assert agents.trouble == ""
