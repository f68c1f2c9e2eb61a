"""The Rollouts page with nothing to show: each cause has its own words and way out."""

from urllib.parse import quote

import pytest
from django.conf import settings

from rollouts_app.models import Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from tests.github_emulator import Content, GitHubEmulator, Symlink
from tests.pages import page_of
from tests.rollouts_page import ADDRESS, NO_ROLLOUTS, client_of, names, part_for, reason, seen_by
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db


def test_an_owner_without_repository_is_led_to_git_integration(ada: User, acme: Workspace) -> None:
    page = seen_by(ada)
    assert reason(page) == "The Rollouts page requires a connected workspace repository."
    links = page.links()
    assert links["Open Git Integration"] == "/acme/integrations/git"
    assert links["Onboarding"] == "/onboarding?workspace=acme"
    assert "New Rollout" not in links


def test_a_member_without_repository_is_told_whom_to_ask(linus: User, acme: Workspace) -> None:
    page = seen_by(linus)
    assert page.text(".//*[@class='blankslate']/p") == (
        "Ask an owner or admin to connect one: Ada Lovelace."
    )


def test_the_first_sync_shows_how_far_it_is(agents: Repository, ada: User) -> None:
    assert reason(seen_by(ada)) == "Reading branches…"
    for number in range(3):
        run = push_hint(agents, f"b{number}")
        run.trigger = SyncRun.Trigger.CONNECTED
        run.save(update_fields=["trigger"])
    run.close(SyncRun.State.SUCCESS, "")
    page = seen_by(ada)
    assert reason(page) == "Reading branches: 1 of 3"
    progress = page.one(".//progress")
    assert (progress.get("value"), progress.get("max")) == ("1", "3")
    assert "every 2s" in (page.one(".//*[@id='results']").get("hx-trigger") or "")
    engine.sync(agents.pk)
    done = part_for(ada, "results")
    assert names(done) == ["maths", "search"]
    assert done.one(".//*[@id='results']").get("hx-trigger") == "catalog-synced from:body"


def test_a_first_sync_that_cannot_go_on_says_why(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.suspend(agents.installation.github_id)
    engine.sync(agents.pk)
    page = seen_by(ada)
    assert reason(page) == "main could not be read yet."
    assert page.text(".//*[@class='blankslate']/p") == (
        "The GitHub App is suspended. Git Integration says what to do about it."
    )


def test_a_branch_read_for_the_first_time_says_so(synced: Repository, ada: User) -> None:
    push_hint(synced, "feature/x", "1" * 40)
    page = seen_by(ada, "?branch=feature%2Fx")
    assert reason(page) == "feature/x is being read for the first time."


def test_a_branch_without_the_directory_shows_the_layout(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    commit = github.push(NAME, "main", {**NO_ROLLOUTS, "README.md": "x"})
    check_all(synced)
    page = seen_by(ada)
    assert reason(page) == f"No rollouts/ directory on main at {commit[:7]}."
    assert page.text(".//section//pre[@aria-label]").startswith("rollouts/<name>/")
    links = page.links()
    assert [links[text] for text in ("SDK Overview", "Custom Rollout Guide", "Git Sync")] == [
        "https://docs.osmosis.ai/sdk/overview",
        "https://docs.osmosis.ai/sdk/create-a-rollout",
        "https://docs.osmosis.ai/cli/workspace/git-sync",
    ]
    assert page.text(".//*[@id='list-command']") == "osmosis rollout list --branch main"
    address = f"export OSMOSIS_PLATFORM_URL={settings.PUBLIC_URL}"
    assert page.text(".//*[@id='cli-address']") == address


def test_a_directory_without_directories_says_so(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    files: dict[str, Content] = {"rollouts/.gitkeep": "", "rollouts/link": Symlink("../configs")}
    github.push(NAME, "main", {**NO_ROLLOUTS, **files})
    check_all(synced)
    assert reason(seen_by(ada)) == "rollouts/ on main has no subdirectories."


def test_an_empty_repository_waits_for_its_first_push(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    """I19"""
    synced.branches.all().delete()
    page = seen_by(ada)
    assert reason(page) == "Nothing has been pushed to main yet."


def test_an_unknown_branch_is_answered_with_the_nearest_names(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    for branch in ("feature/reward", "Feature/Reward", "zzz"):
        github.create_branch(NAME, branch, "main")
    check_all(synced)
    page = seen_by(ada, "?branch=feature%2Frewrad", status=404)
    assert reason(page) == "No branch feature/rewrad is known here."
    assert "feature%2Freward" in "".join(page.links().values())
    assert page.texts(".//main//form[@method='post']/button") == ["Check now"]


def test_an_unknown_branch_resolves_once_it_is_pushed(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    seen_by(ada, "?branch=new", status=404)
    github.push(NAME, "new", {"rollouts/new/main.py": "x"}, start="main")
    check_all(synced)
    assert names(part_for(ada, "results", "?branch=new")) == ["maths", "new", "search"]


def test_letter_case_tells_branches_apart(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "Main", {"rollouts/upper/main.py": "x"}, start="main")
    check_all(synced)
    assert names(seen_by(ada, "?branch=Main")) == ["maths", "search", "upper"]
    assert names(seen_by(ada, "?branch=main")) == ["maths", "search"]
    seen_by(ada, "?branch=MAIN", status=404)


@pytest.mark.parametrize("branch", ["feat/a/b/c", "100%2Fdone", "a#b", "a&b=c", "x+y", "ünï/码"])
def test_an_odd_branch_name_comes_back_unharmed(
    synced: Repository, github: GitHubEmulator, ada: User, branch: str
) -> None:
    """B01, B02"""
    commit = github.push(NAME, branch, {"rollouts/odd/main.py": "x"}, start="main")
    check_all(synced)
    page = seen_by(ada, f"?branch={quote(branch, safe='')}")
    assert names(page) == ["maths", "odd", "search"]
    assert page.one(".//form[@role='search']/input[@name='branch']").get("value") == branch
    assert page.text(".//*[@id='branch-button']") == branch
    assert page.all(".//a[@class='sha']")[0].get("title") == commit
    details = page.all(".//td[@class='open']/a")[1].get("href") or ""
    assert page_of(client_of(ada).get(details)).links()[branch] == (
        f"/acme/rollouts?{synced.branches.get(name=branch).query}"
    )


def test_a_nul_in_a_branch_name_is_no_branch(synced: Repository, ada: User) -> None:
    assert reason(seen_by(ada, "?branch=a%00b", status=404)) == (
        "No branch a\ufffdb is known here."
    )


def test_a_deleted_branch_keeps_what_it_showed(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    commit = github.push(NAME, "old", {"rollouts/old/main.py": "x"}, start="main")
    check_all(synced)
    github.delete_branch(NAME, "old")
    check_all(synced)
    page = seen_by(ada, "?branch=old")
    assert page.text(".//*[@id='freshness']") == (
        f"old was deleted on GitHub just now; last synced {commit[:7]}. Go to main"
    )
    assert page.links()["Go to main"] == ADDRESS
    assert names(page) == ["maths", "old", "search"]
    assert page.texts(".//main//form[@method='post']/button") == []
