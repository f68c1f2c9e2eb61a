"""A repository is known by its number: names, owners and default branches change around it."""

from collections.abc import Callable

import pytest

from rollouts_app.models import Repository
from rollouts_app.sync import engine
from rollouts_app.sync.manual import retry
from tests.conftest import receive
from tests.github_emulator import GitHubEmulator
from tests.syncing import NAME, check_all, heads_shown, push_hint

pytestmark = pytest.mark.django_db

Change = Callable[[GitHubEmulator], str]


def rename(github: GitHubEmulator) -> str:
    github.rename_repository(NAME, "robots", by="ada")
    return "acme/robots"


def rename_owner(github: GitHubEmulator) -> str:
    github.rename_account("acme", "acme-labs", by="ada")
    return "acme-labs/agents"


def transfer(github: GitHubEmulator) -> str:
    """To an account where the App is installed."""
    github.add_organization("umbrella", owners=["ada"])
    github.install("umbrella", repositories="all", by="ada")
    github.transfer_repository(NAME, "umbrella", by="ada")
    return "umbrella/agents"


def transfer_public(github: GitHubEmulator) -> str:
    github.make_public(NAME, by="ada")
    return transfer(github)


CHANGES = [rename, rename_owner, transfer, transfer_public]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_told", [True, False], ids=["told", "not told"])
def test_the_connection_follows(
    agents: Repository, github: GitHubEmulator, change: Change, is_told: object
) -> None:
    """R02, R05: with the webhook and without."""
    engine.sync(agents.pk)
    github.deliver = receive if is_told else None
    name = change(github)
    github.wait_for_deliveries()
    commit = github.push(name, "main", {"moved": "1"})
    check_all(agents)
    assert (agents.full_name, agents.trouble) == (name, "")
    assert agents.installation.account_login == name.partition("/")[0]
    assert heads_shown(agents) == {"main": commit}


def test_a_push_under_the_new_name_is_enough(agents: Repository, github: GitHubEmulator) -> None:
    """R01: the event of the renaming itself was lost."""
    engine.sync(agents.pk)
    github.deliver = None
    name = rename(github)
    github.deliver = receive
    commit = github.push(name, "main", {"moved": "1"})
    engine.sync(agents.pk)
    agents.refresh_from_db()
    assert (agents.full_name, heads_shown(agents)) == (name, {"main": commit})


def test_it_is_not_fooled_by_another_repository_under_its_old_name(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    shown = heads_shown(agents)
    github.deliver = None
    rename(github)
    github.create_repository(NAME, files={"rollouts/other/main.py": "1"})
    github.add_repositories(agents.installation.github_id, [NAME], by="ada")
    check_all(agents)
    assert (agents.full_name, heads_shown(agents)) == ("acme/robots", shown)


def test_it_says_that_a_repository_was_deleted_though_its_name_is_used_again(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    shown = heads_shown(agents)
    github.deliver = receive
    github.delete_repository(NAME, by="ada")
    github.create_repository(NAME, files={"rollouts/other/main.py": "1"})
    github.add_repositories(agents.installation.github_id, [NAME], by="ada")
    github.wait_for_deliveries()
    check_all(agents)
    assert (agents.trouble, heads_shown(agents)) == ("deleted", shown)
    reason = agents.trouble_reason
    github.outage()
    check_all(agents)
    assert agents.trouble == "deleted"
    github.troubles.clear()
    check_all(agents)
    assert (agents.trouble, agents.trouble_reason) == ("deleted", reason)


@pytest.mark.parametrize("publish", [True, False], ids=["public", "private"])
def test_it_waits_for_the_app_on_the_new_owner(
    agents: Repository, github: GitHubEmulator, publish: object
) -> None:
    """R05: moved to an account without the App; the data stays, and all goes on once it is there.

    What GitHub shows of a private repository does not tell a move from a deletion.
    """
    engine.sync(agents.pk)
    shown = heads_shown(agents)
    github.deliver = None
    if publish:
        github.make_public(NAME, by="ada")
    github.add_organization("umbrella", owners=["ada"])
    github.transfer_repository(NAME, "umbrella", by="ada")
    check_all(agents)
    assert (agents.trouble, heads_shown(agents)) == ("moved" if publish else "gone", shown)
    github.deliver = receive
    github.install("umbrella", repositories=["umbrella/agents"], by="ada")
    commit = github.push("umbrella/agents", "main", {"moved": "1"})
    github.wait_for_deliveries()
    check_all(agents)
    assert (agents.full_name, agents.trouble) == ("umbrella/agents", "")
    assert heads_shown(agents) == {"main": commit}


def test_it_learns_of_another_default_branch_without_being_told(
    agents: Repository, github: GitHubEmulator
) -> None:
    """R06"""
    engine.sync(agents.pk)
    github.deliver = None
    github.create_branch(NAME, "trunk", "main")
    github.edit_repository(NAME, default_branch="trunk", by="ada")
    check_all(agents)
    assert agents.default_branch == "trunk"


def test_it_learns_who_may_see_it_and_whether_it_is_archived(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.deliver = None
    github.make_public(NAME, by="ada")
    github.archive(NAME, by="ada")
    check_all(agents)
    assert (agents.is_private, agents.is_archived) == (False, True)
    github.deliver = receive
    github.unarchive(NAME, by="ada")
    github.make_private(NAME, by="ada")
    github.wait_for_deliveries()
    agents.refresh_from_db()
    assert (agents.is_private, agents.is_archived) == (True, False)


def test_it_finds_the_app_installed_anew_without_being_told(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    github.deliver = None
    github.uninstall(agents.installation.github_id, by="ada")
    check_all(agents)
    assert agents.installation.removed_at is not None
    number = github.install("acme", repositories="all", by="ada")
    commit = github.push(NAME, "main", {"again": "1"})
    check_all(agents)
    assert (agents.installation.github_id, agents.trouble) == (number, "")
    assert (agents.is_blocked, heads_shown(agents)) == (False, {"main": commit})


@pytest.mark.parametrize("branch", ["main", "feature/x"], ids=["known", "new"])
def test_a_retry_is_not_fooled_by_another_repository_under_its_old_name(
    synced: Repository, github: GitHubEmulator, branch: str
) -> None:
    """It looks at one branch only; one that the other has not is no reason to bury all of ours."""
    github.deliver = None
    github.create_branch(NAME, "feature/x", "main")
    rename(github)
    github.create_repository(NAME, files={"rollouts/other/main.py": "1"})
    github.add_repositories(synced.installation.github_id, [NAME], by="ada")
    run = push_hint(synced, branch)
    run.close("failed", "No.")
    retry(run, "ada")
    engine.sync(synced.pk)
    synced.refresh_from_db()
    ours = github.heads("acme/robots")
    assert synced.full_name == "acme/robots"
    assert heads_shown(synced) == {name: ours[name] for name in {"main", branch}}


@pytest.mark.parametrize("publish", [True, False], ids=["public", "private"])
def test_it_is_not_adopted_by_a_stranger_who_can_read_it(
    synced: Repository, github: GitHubEmulator, publish: object
) -> None:
    """What is public can be read by all installations, and belongs to one."""
    github.deliver = None
    if publish:
        github.make_public(NAME, by="ada")
    github.add_organization("umbrella", owners=["ada"])
    github.install("umbrella", repositories="all", by="ada")
    github.uninstall(synced.installation.github_id, by="ada")
    check_all(synced)
    assert synced.installation.account_login == "acme"
    assert (synced.trouble, synced.installation.removed_at is None) == ("gone", False)


def test_it_is_found_on_its_new_owner_though_the_app_was_suspended_on_the_old(
    synced: Repository, github: GitHubEmulator
) -> None:
    github.deliver = None
    github.suspend(synced.installation.github_id, by="ada")
    name = transfer(github)
    check_all(synced)
    assert (synced.full_name, synced.trouble) == (name, "")
    assert heads_shown(synced) == github.heads(name)
