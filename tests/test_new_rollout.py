"""New Rollout: the commands, the check of the name, and the wait for the push."""

import os
import subprocess
from pathlib import Path

import pytest
from django.test import Client, override_settings
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from rollouts_app.commands import clone_commands, list_command, quoted
from rollouts_app.models import Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from tests.github_emulator import Content, GitHubEmulator
from tests.pages import Page, page_of
from tests.sign_in import enter
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "/acme/new-rollout"
HOSTILE = "x;$(touch${IFS}pwned)`touch${IFS}pwned`'\"&|>pwned\u202e%s\u200b!"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def seen_by(user: User, query: str = "", status: int = 200) -> Page:
    return page_of(client_of(user).get(f"{ADDRESS}{query}"), status)


def part_for(user: User, target: str, query: str = "", status: int = 200) -> Page:
    headers = {"HX-Request": "true", "HX-Target": target}
    return page_of(client_of(user).get(f"{ADDRESS}{query}", headers=headers), status)


def commands(page: Page) -> dict[str, str]:
    return {code.get("id", ""): code.text or "" for code in page.all(".//pre/code")}


@pytest.fixture
def synced(agents: Repository) -> Repository:
    engine.sync(agents.pk)
    agents.refresh_from_db()
    return agents


def test_it_is_useful_without_typing(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    page = seen_by(ada)
    assert commands(page) == {
        "init-command": "osmosis rollout init <name>",
        "publish-commands": (
            'git add rollouts configs\ngit commit -m "Add rollout <name>"\ngit push -u origin HEAD'
        ),
        "clone-commands": f"git clone {github.url}/acme/agents.git\ncd agents",
        "install-command": "pip install osmosis-ai",
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


def paste(text: str, folder: Path) -> list[list[str]]:
    """Run pasted lines in `sh`; what the `osmosis` and `git` there were called with.

    Both write down their arguments instead of doing anything.
    """
    tools = folder / "bin"
    tools.mkdir()
    record = folder / "calls"
    for tool in ("osmosis", "git"):
        program = tools / tool
        program.write_text(f"#!/bin/sh\nprintf '%s\\0' {tool} \"$@\" END >> '{record}'\n")
        program.chmod(0o755)
    work = folder / "work"
    (work / "agents").mkdir(parents=True)
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    subprocess.run(["sh", "-e", "-c", text], cwd=work, env=environment, check=True)
    assert sorted(path.name for path in folder.rglob("*")) == sorted(
        ["bin", "osmosis", "git", "calls", "work", "agents"]
    )
    words = record.read_text().split("\0")[:-1]
    calls: list[list[str]] = [[]]
    for word in words:
        if word == "END":
            calls.append([])
        else:
            calls[-1].append(word)
    return calls[:-1]


def test_pasting_the_commands_of_a_hostile_branch_runs_nothing_else(
    synced: Repository, ada: User, tmp_path: Path
) -> None:
    synced.branches.create(name=HOSTILE)
    page = page_of(client_of(ada).get(ADDRESS, {"branch": HOSTILE, "name": "hello"}))
    shown = commands(page)
    shown.pop("install-command")
    text = "\n".join(shown.values())
    assert paste(text, tmp_path) == [
        ["osmosis", "rollout", "init", "hello"],
        ["git", "add", "rollouts", "configs"],
        ["git", "commit", "-m", "Add rollout hello"],
        ["git", "push", "-u", "origin", "HEAD"],
        ["git", "clone", f"{synced.page}.git"],
        ["osmosis", "rollout", "list", "--branch", HOSTILE],
    ]


def test_what_is_copied_hides_nothing() -> None:
    assert quoted("ma\u202ein%\\'\"") == r'''"$(printf 'ma\342\200\256in%%\134\047"')"'''.replace(
        "%%", r"\045"
    )


@pytest.mark.parametrize("name", ["a\u202e$(b)", "a\u200b`c`", "a\u200b\"'\\%d", "-x", "a b", "ü"])
def test_a_quoted_name_arrives_as_it_is(name: str, tmp_path: Path) -> None:
    [[_, _, _, *branch]] = paste(list_command(name, "https://github.com"), tmp_path)
    assert branch == (["--branch=-x"] if name == "-x" else ["--branch", name])


def test_it_clones_what_has_an_odd_address() -> None:
    assert clone_commands("https://git.example/a/b;c") == (
        "git clone 'https://git.example/a/b;c.git'\ncd 'b;c'"
    )


@pytest.fixture
def dialog(synced: Repository, ada: User, live: str, page: BrowserPage) -> BrowserPage:
    """A browser with New Rollout open."""
    enter(page, live, ada)
    page.goto(f"{live}/acme/rollouts")
    page.get_by_role("link", name="New Rollout").click()
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_focused()
    return page


def test_copying_fills_the_clipboard_and_begins_the_wait(dialog: BrowserPage) -> None:
    dialog.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog.get_by_role("button", name="Copy").first.click()
    expect(dialog.get_by_text("Copied. Replace <name> before running.")).to_be_visible()
    assert dialog.evaluate("navigator.clipboard.readText()") == "osmosis rollout init <name>"
    expect(dialog.get_by_text("Waiting for the push.")).to_be_visible()


def test_copying_works_without_a_clipboard_object(dialog: BrowserPage) -> None:
    dialog.context.grant_permissions(["clipboard-read"])
    dialog.evaluate("window.kept = navigator.clipboard")
    dialog.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    dialog.get_by_role("button", name="Copy").nth(1).click()
    expect(dialog.locator("#publish-commands-status")).to_have_text(
        "Copied. Replace <name> before running."
    )
    assert dialog.evaluate("window.kept.readText()") == (
        'git add rollouts configs\ngit commit -m "Add rollout <name>"\ngit push -u origin HEAD'
    )


def test_where_copying_is_refused_the_text_is_selected(dialog: BrowserPage) -> None:
    dialog.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    dialog.evaluate("document.execCommand = () => false")
    dialog.get_by_role("button", name="Copy").first.click()
    expect(dialog.locator("#init-command-status")).to_have_text(
        "This browser refuses to copy. The text is selected: press Ctrl+C or ⌘C."
    )
    assert dialog.evaluate("getSelection().toString()") == "osmosis rollout init <name>"


def test_a_push_turns_the_dialog_into_the_link(dialog: BrowserPage, github: GitHubEmulator) -> None:
    dialog.keyboard.type("Hello")
    expect(dialog.get_by_role("alert")).to_contain_text("A name starts with a–z")
    dialog.get_by_label("Name").fill("hello")
    expect(dialog.get_by_text("Waiting for the push of hello.")).to_be_visible()
    files: dict[str, Content] = {"rollouts/hello/main.py": "x"}
    github.push(NAME, "main", files)
    link = dialog.get_by_role("link", name="Open hello")
    expect(link).to_be_visible(timeout=15_000)
    dialog.keyboard.press("Escape")
    expect(dialog.get_by_role("link", name="hello on GitHub")).to_be_visible()
