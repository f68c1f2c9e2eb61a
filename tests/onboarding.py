"""What tests of onboarding ask and do."""

from urllib.parse import urlsplit

import requests

from tests.github_emulator import GitHubEmulator
from tests.pages import Page, text_of

HTMX = {"HX-Request": "true"}
AT_ACME = "/onboarding?workspace=acme"
DISMISS = "/acme/setup-steps"
CONNECT = "/acme/integrations/git/repository"


def steps(page: Page) -> list[str]:
    """State and title of each step."""
    return [
        f"{step.get('class')}: {text_of(step.find('h2'))}"  # type: ignore[arg-type]
        for step in page.all(".//ol[@class='steps onboarding']/li")
    ]


def open_step(page: Page) -> str:
    """What the open step says."""
    return page.text(".//li[@class='open']/div")


def at_github(github: GitHubEmulator, login: str, address: str, account: str) -> str:
    """Install the App on an account as somebody would, on GitHub's pages; where that leads."""
    target = github.account_named(account).id
    with requests.Session() as session:
        session.post(f"{github.url}/login", {"user": login}, timeout=10)
        page = Page(session.get(f"{address}&target_id={target}", timeout=10).text)
        [form] = page.all(".//input[@name='target_id']/..")
        fields = {field.get("name"): field.get("value") for field in form.findall("input")}
        answer = session.post(
            github.url + form.get("action", ""),
            {**fields, "selection": "all"},
            allow_redirects=False,
            timeout=10,
        )
    back = urlsplit(answer.headers["Location"])
    return f"{back.path}?{back.query}"


def messages_of(page: Page) -> list[str]:
    return page.texts(".//*[@class='messages stack tight']/div/p")
