"""The demo, started for real: what it prints works, and a killed database costs a second."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from osmosis_web.demo import answers
from osmosis_web.postgres import remove_database
from tests.waiting import wait_until
from tests.workers import ROOT

START_SECONDS = 180


class Demo:
    """A running demo, as somebody at its terminal and in its pages sees it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data of the demo"
        self.output = folder / "output.txt"
        port = next(port for port in range(18000, 19000, 10) if not answers(port))
        self.url = f"http://127.0.0.1:{port}"
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "osmosis_web.demo"),
                    *("--port", str(port), "--data", str(self.data)),
                ],
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(lambda: "Ctrl-C" in self.output.read_text(), START_SECONDS)

    def paste(self) -> str:
        """Run the lines it printed, with nothing in the environment; the branch they pushed."""
        lines = re.search(r"    \( set -e.*", self.output.read_text(), re.DOTALL)
        assert lines
        shell = subprocess.run(
            ["env", "-i", "PATH=/usr/bin:/bin", f"HOME={self.folder}", "sh"],
            input=f"{lines[0]}\n",
            text=True,
            capture_output=True,
        )
        assert shell.returncode == 0, shell.stderr
        clone = shell.stdout.removeprefix("Pushed from ").strip()
        branch = subprocess.run(
            ["git", "-C", clone, "branch", "--show-current"], capture_output=True, text=True
        )
        return branch.stdout.strip()

    def sign_in(self, login: str) -> requests.Session:
        """Press the buttons of a person without JavaScript."""
        browser = requests.Session()
        landing = browser.get(self.url).text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', landing)
        assert token
        asked = browser.post(
            f"{self.url}/accounts/github/login/", data={"csrfmiddlewaretoken": token[1]}
        )
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', asked.text))
        back = browser.post(asked.url.partition("?")[0], data={**fields, "user": login})
        assert back.ok
        return browser

    def stop(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(10)

    def kill_postgres(self) -> None:
        # Resolved, as the database of root may lie elsewhere, behind a link.
        [pidfile] = (self.data / "postgres" / "cluster").resolve().rglob("postmaster.pid")
        subprocess.run(["kill", "-KILL", pidfile.read_text().split()[0]], check=True)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    demo = Demo(tmp_path_factory.mktemp("demo with spaces"))
    yield demo
    demo.stop()
    remove_database(demo.data / "postgres")


def shows(browser: requests.Session, address: str, text: str) -> Callable[[], bool]:
    return lambda: text in browser.get(address).text


def enter(page: Page, demo: Demo, name: str) -> None:
    page.set_default_timeout(20_000)
    page.goto(demo.url)
    page.get_by_role("button", name="Continue with GitHub").first.click()
    page.get_by_role("button", name=f"Continue as {name}").click()


def test_its_first_minute(demo: Demo, page: Page, browser: Browser) -> None:
    """What somebody sees who tries it: from the printed address to their own push, and to a
    newcomer's first sync."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    enter(page, demo, "Ada Lovelace")
    look_around(page)
    branch = push_a_rollout(page, demo)
    look_at_git(page, demo, branch)
    other = browser.new_context()
    try:
        come_as_grace(other.new_page(), demo)
    finally:
        other.close()


def look_around(page: Page) -> None:
    """Three rollouts, the source of one, and another branch by keyboard."""
    titles = page.locator("a.title")
    expect(titles).to_have_count(3)
    expect(page.get_by_text("Matches GitHub at")).to_be_visible()
    titles.first.click()
    expect(page).to_have_url(re.compile(r"/acme/agents/tree/[0-9a-f]{40}/rollouts/multiply-"))
    page.go_back()
    page.get_by_role("button", name="Branch main, default: switch").press("Enter")
    page.keyboard.type("rew")
    expect(page.get_by_role("link", name="feature/reward")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?branch=feature%2Freward$"))
    expect(page.get_by_text("Changed", exact=True)).to_have_count(1)
    expect(page.get_by_text("Added", exact=True)).to_have_count(1)


def push_a_rollout(page: Page, demo: Demo) -> str:
    """New Rollout waits while the printed lines are pasted, and becomes the link."""
    page.get_by_role("link", name="New Rollout").press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.type("hello")
    expect(dialog.get_by_text("osmosis rollout init hello")).to_be_visible()
    dialog.get_by_role("button", name="Copy").first.press("Enter")
    assert page.evaluate("navigator.clipboard.readText()") == "osmosis rollout init hello"
    branch = demo.paste()
    expect(dialog.get_by_role("link", name="hello").first).to_be_visible(timeout=20_000)
    page.keyboard.press("Escape")
    return branch


def look_at_git(page: Page, demo: Demo, branch: str) -> None:
    """The push in the history, and the branch whose config is broken."""
    page.get_by_role("link", name="Git Integration").click()
    row = page.get_by_role("row", name=branch)
    expect(row).to_contain_text("Ada Lovelace")
    expect(row).to_contain_text("3 → 4")
    page.goto(f"{demo.url}/acme/rollouts?branch=fix%2Feval-config")
    page.get_by_role("link", name="1 problem").click()
    expect(page.locator(".notice").first).to_contain_text(
        re.compile(r"configs/eval/multiply-local-openai\.toml:\d+")
    )


def come_as_grace(page: Page, demo: Demo) -> None:
    """Somebody new: a workspace of her own, her repository, and its first sync."""
    enter(page, demo, "Grace Hopper")
    page.get_by_label("Name").fill("starters")
    page.get_by_role("button", name="Create workspace").click()
    page.get_by_label("acme/starter").check()
    page.get_by_role("button", name="Connect repository").click()
    expect(page.get_by_text("Synced 1 branch, 1 rollout on main")).to_be_visible(timeout=20_000)


def test_it_comes_back_when_its_database_is_killed(demo: Demo) -> None:
    browser = demo.sign_in("ada")
    demo.kill_postgres()
    # Database and worker need about a second; machines that do other things, too, a little more.
    time.sleep(4)
    branch = demo.paste()
    address = f"{demo.url}/acme/rollouts?branch={branch}"
    wait_until(shows(browser, address, "Says hello and is graded for friendliness."), seconds=20)


def test_it_ends_with_one_interrupt_and_goes_on_with_the_same_data(tmp_path: Path) -> None:
    first = Demo(tmp_path)
    branch = first.paste()
    began = time.monotonic()
    assert first.stop() == 0
    assert time.monotonic() - began < 5
    assert "Traceback" not in first.output.read_text()
    second = Demo(tmp_path)
    page = second.sign_in("ada").get(f"{second.url}/acme/rollouts?branch={branch}")
    second.stop()
    remove_database(second.data / "postgres")
    assert "Says hello and is graded for friendliness." in page.text
