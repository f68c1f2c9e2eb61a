"""New Rollout: the commands, the check of the name, and the wait for the push."""

import pytest
from django.conf import settings
from django.test import override_settings

from rollouts_app.models import Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from tests.github_emulator import GitHubEmulator
from tests.new_rollout_page import ADDRESS, commands, part_for, seen_by
from tests.pages import Page
from tests.rollouts_page import client_of
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db


def test_it_is_useful_without_typing(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    page = seen_by(ada)
    assert commands(page) == {
        "init-command": "osmosis rollout init <name>",
        "publish-commands": (
            'git add rollouts configs\ngit commit -m "Add rollout <name>"\ngit push -u origin HEAD'
        ),
        "clone-commands": f"git clone {github.url}/acme/agents.git\ncd agents",
        "install-command": "pip install osmosis-ai",
        "sign-in-commands": (
            f"export OSMOSIS_PLATFORM_URL={settings.PUBLIC_URL}\nosmosis auth login"
        ),
        "list-command-here": "osmosis rollout list --branch main",
    }
    said = {
        each.get("data-copy"): each.get("data-copied") for each in page.all(".//button[@data-copy]")
    }
    assert said == {
        "init-command": "Copied. Replace <name> before running.",
        "publish-commands": "Copied. Replace <name> before running.",
        "clone-commands": "Copied.",
        "install-command": "Copied.",
        "sign-in-commands": "Copied.",
        "list-command-here": "Copied.",
    }
    assert page.text(".//*[@id='arrival']") == "It appears here after the branch syncs."


def test_a_name_is_written_into_the_commands(synced: Repository, ada: User) -> None:
    page = part_for(ada, "new-rollout-steps", "?name=my-rollout-2")
    assert commands(page) == {
        "init-command": "osmosis rollout init my-rollout-2",
        "publish-commands": (
            'git add rollouts configs\ngit commit -m "Add rollout my-rollout-2"\n'
            "git push -u origin HEAD"
        ),
    }
    assert {each.get("data-copied") for each in page.all(".//button")} == {"Copied."}


@pytest.mark.parametrize("name", ["Hello", "1st", "-a", "a_b", "a b", "ä", "a;ls", "a\u202eb"])
def test_a_name_that_the_command_refuses_is_refused(
    synced: Repository, ada: User, name: str
) -> None:
    page = part_for(ada, "new-rollout-steps", f"?name={name}", status=422)
    assert page.text(".//*[@role='alert']") == (
        "A name starts with a–z; then come a–z, 0–9 and dashes, and nothing else."
    )
    assert commands(page)["init-command"] == "osmosis rollout init <name>"


@pytest.mark.parametrize("name", ["a", "a-", "a--b", "z9", "a" * 300])
def test_a_name_that_the_command_takes_is_taken(synced: Repository, ada: User, name: str) -> None:
    page = part_for(ada, "new-rollout-steps", f"?name={name}")
    assert commands(page)["init-command"] == f"osmosis rollout init {name}"


def test_the_reserved_name_is_refused(synced: Repository, ada: User) -> None:
    page = part_for(ada, "new-rollout-steps", "?name=default", status=422)
    assert page.text(".//*[@role='alert']") == "“default” is reserved. Choose another name."


def test_a_name_must_be_new_on_its_branch(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "other", {"rollouts/chess/main.py": "x"}, start="main")
    check_all(synced)
    clash = part_for(ada, "new-rollout-steps", "?branch=other&name=chess", status=422)
    assert clash.text(".//*[@role='alert']") == (
        "other has a rollout named chess. Choose another name."
    )
    assert (
        part_for(ada, "new-rollout-steps", "?branch=main&name=chess").all(".//*[@role='alert']")
        == []
    )


def test_without_script_the_form_writes_the_commands(synced: Repository, ada: User) -> None:
    page = seen_by(ada, "?branch=main&name=Bad", status=422)
    assert len(page.all(".//header")) == 1
    field = page.one(".//*[@id='rollout-name']")
    assert (field.get("value"), field.get("aria-describedby")) == (
        "Bad",
        "rollout-name-help rollout-name-error",
    )
    assert len(page.all(".//*[@id='rollout-name-error']")) == 1


def test_a_damaged_address_is_said_to_be_one(synced: Repository, ada: User) -> None:
    page = seen_by(ada, "?since=x", status=422)
    assert page.text(".//*[@id='rollout-name-error']") == (
        "The address of this page is damaged. Open New Rollout anew."
    )


def test_the_dialog_and_the_page_are_the_same(synced: Repository, ada: User) -> None:
    [dialog] = part_for(ada, "dialog").root
    assert (dialog.tag, dialog.get("aria-labelledby")) == ("dialog", "dialog-title")
    assert commands(part_for(ada, "dialog")) == commands(seen_by(ada))


def test_without_a_repository_it_leads_to_git_integration(ada: User, acme: Workspace) -> None:
    assert seen_by(ada).links()["Open Git Integration"] == "/acme/integrations/git"
    assert part_for(ada, "dialog").links()["Open Git Integration"] == "/acme/integrations/git"


@override_settings(GITHUB_URL="https://git.example")
def test_it_says_why_the_list_command_is_left_out(synced: Repository, ada: User) -> None:
    page = seen_by(ada)
    assert "list-command-here" not in commands(page)
    assert "The osmosis command lists rollouts of repositories on github.com only." in (
        page.texts(".//p")
    )


def newest_run(repository: Repository) -> int:
    return repository.sync_runs.order_by("-pk")[0].pk


def wait(user: User, since: int, name: str = "hello") -> Page:
    return part_for(user, "arrival", f"?branch=main&since={since}&name={name}")


def test_it_waits_for_the_push_and_becomes_the_link(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    since = newest_run(synced)
    page = wait(ada, since)
    assert page.text() == ("Waiting for the push of hello. It appears here after the branch syncs.")
    assert page.one("./div").get("hx-trigger") == "every 2s, tab-shown from:body"
    commit = github.push(NAME, "a/b", {"rollouts/hello/main.py": "x"}, start="main")
    push_hint(synced, "a/b", commit)
    assert wait(ada, since).text() == f"a/b was pushed at {commit[:7]}. Syncing…"
    engine.sync(synced.pk)
    page = wait(ada, since)
    assert page.text(".//p") == f"hello is synced on a/b at {commit[:7]}."
    assert page.links()["Open hello"] == "/acme/rollouts/hello?branch=a%2Fb"
    assert page.one("./div").get("hx-trigger") is None


def test_the_list_behind_the_dialog_learns_of_it(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    since = newest_run(synced)
    github.push(NAME, "main", {"rollouts/hello/main.py": "x"})
    check_all(synced)
    answer = client_of(ada).get(
        f"{ADDRESS}?since={since}&name=other",
        headers={"HX-Request": "true", "HX-Target": "arrival"},
    )
    assert answer.get("HX-Trigger") is None
    answer = client_of(ada).get(
        f"{ADDRESS}?since={since}", headers={"HX-Request": "true", "HX-Target": "arrival"}
    )
    assert answer["HX-Trigger"] == '{"catalog-synced": {}}'


def test_without_a_name_any_new_rollout_is_the_one(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    since = newest_run(synced)
    assert (
        wait(ada, since, "").text()
        == "Waiting for the push. It appears here after the branch syncs."
    )
    github.push(NAME, "main", {"rollouts/maths/main.py": "changed"})
    check_all(synced)
    assert "brought no new rollout" in wait(ada, since, "").text()
    github.push(NAME, "topic", {"rollouts/hello/main.py": "x"}, start="main")
    check_all(synced)
    assert wait(ada, since, "").links()["Open hello"] == "/acme/rollouts/hello?branch=topic"


def test_it_says_when_the_push_came_without_the_folder(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    since = newest_run(synced)
    commit = github.push(NAME, "topic", {"README.md": "x"}, start="main")
    push_hint(synced, "topic", commit)
    engine.sync(synced.pk)
    page = wait(ada, since)
    assert page.text() == (
        f"topic was pushed at {commit[:7]}, but has no rollouts/hello/ that is new. "
        "Check that the commit holds rollouts/hello/, then push again. Still waiting."
    )
    assert page.one("./div").get("hx-trigger") == "every 2s, tab-shown from:body"


def test_it_says_when_the_push_could_not_be_synced(synced: Repository, ada: User) -> None:
    since = newest_run(synced)
    push_hint(synced, "topic", "1" * 40).close(SyncRun.State.FAILED, "It could not be read.")
    assert wait(ada, since).text() == (
        "topic was pushed, but could not be synced: It could not be read. Open Git Integration"
    )


def test_it_says_where_the_name_is_already(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "topic", {"rollouts/hello/main.py": "x"}, start="main")
    check_all(synced)
    page = wait(ada, newest_run(synced))
    assert page.texts(".//p")[0] == "topic has a rollout named hello already."
    assert page.links()["Open hello"] == "/acme/rollouts/hello?branch=topic"
    assert page.one("./div").get("hx-trigger") == "every 2s, tab-shown from:body"


def test_a_stranger_finds_nothing(synced: Repository, mallory: User) -> None:
    assert client_of(mallory).get(ADDRESS).status_code == 404
