"""The first journey, in a real browser: from nothing to a pushed rollout on the page."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.barriers import has_no_barriers
from tests.github_emulator import GitHubEmulator, sample

pytestmark = pytest.mark.django_db(transaction=True)


def sign_in(page: Page, live: str, name: str) -> None:
    page.goto(live)
    has_no_barriers(page)
    page.get_by_role("button", name="Continue with GitHub").first.click()
    page.get_by_role("button", name=f"Continue as {name}").click()


def push_rollout(github: GitHubEmulator, folder: Path, name: str) -> None:
    """What a person does in their clone: a real git push."""
    clone = folder / "agents"
    token = github.user_token("ada")
    url = f"{github.url}/acme/agents.git".replace("://", f"://x-access-token:{token}@")

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=clone, check=True, capture_output=True)

    subprocess.run(["git", "clone", "-q", url, str(clone)], check=True)
    git("switch", "-q", "-c", f"add-{name}")
    (clone / "rollouts" / name).mkdir()
    (clone / "rollouts" / name / "main.py").write_text("print('hello')\n")
    git("add", ".")
    git("-c", "user.name=Ada Lovelace", "-c", "user.email=ada@acme.example", "commit", "-qm", "Add")
    git("push", "-q", "origin", "HEAD")


def test_from_the_landing_page_to_a_pushed_rollout(
    page: Page, live: str, github: GitHubEmulator, tmp_path: Path
) -> None:
    page.set_default_timeout(15_000)
    github.reset()
    sample.seed(github)
    sign_in(page, live, "Ada Lovelace")

    expect(page.get_by_role("heading", name="Set up a workspace")).to_be_visible()
    has_no_barriers(page)
    page.get_by_label("Name").fill("acme")
    page.get_by_role("button", name="Create workspace").click()
    connect(page)
    page.get_by_role("link", name="Open Rollouts").click()

    see_the_rollouts(page)
    keep_picture(page, "rollouts.png")
    switch_branch(page)
    push_what_new_rollout_says(page, github, tmp_path)

    page.get_by_role("link", name="Git Integration").click()
    expect(page.get_by_role("row", name="add-hello")).to_contain_text("Ada Lovelace")
    has_no_barriers(page)


def connect(page: Page) -> None:
    """Choose the repository, and watch the first sync go to its end without a reload."""
    expect(page.get_by_text("Choose the one repository")).to_be_visible()
    has_no_barriers(page)
    page.get_by_label("acme/agents").check()
    page.get_by_role("button", name="Connect repository").click()
    expect(page.get_by_text("Synced 4 branches, 3 rollouts on main")).to_be_visible()
    has_no_barriers(page)


def keep_picture(page: Page, name: str) -> None:
    """The README's picture, written where SCREENSHOTS says."""
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        page.set_viewport_size({"width": 1280, "height": 560})
        page.screenshot(path=Path(folder) / name)


def see_the_rollouts(page: Page) -> None:
    names = ["multiply-harbor-strands", "multiply-local-openai", "multiply-local-strands"]
    for name in names:
        expect(page.get_by_role("link", name=name).first).to_be_visible()
    expect(page.get_by_text("Matches GitHub at")).to_be_visible()
    has_no_barriers(page)


def switch_branch(page: Page) -> None:
    """By keyboard: open the picker, type, Enter; and Back."""
    page.get_by_role("button", name="Branch main").press("Enter")
    page.get_by_role("searchbox", name="Find a branch").fill("rew")
    expect(page.get_by_role("link", name="feature/reward")).to_be_visible()
    has_no_barriers(page)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?branch=feature%2Freward$"))
    expect(page.get_by_text("Changed")).to_have_count(1)
    expect(page.get_by_text("Added")).to_have_count(1)
    has_no_barriers(page)
    page.go_back()
    expect(page.get_by_role("button", name="Branch main")).to_be_visible()
    expect(page.get_by_role("heading", name="Rollouts", exact=True)).to_be_visible()


def push_what_new_rollout_says(page: Page, github: GitHubEmulator, folder: Path) -> None:
    """The dialog by keyboard, the copied command, a real push: the dialog becomes the link."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="New Rollout").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.type("hello")
    expect(dialog.get_by_text("osmosis rollout init hello")).to_be_visible()
    has_no_barriers(page)
    dialog.get_by_role("button", name="Copy").first.press("Enter")
    assert page.evaluate("navigator.clipboard.readText()") == "osmosis rollout init hello"
    push_rollout(github, folder, "hello")
    expect(dialog.get_by_role("link", name="hello")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="New Rollout")).to_be_focused()
