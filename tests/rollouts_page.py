"""The Rollouts page as a test reads it."""

from django.test import Client

from rollouts_app.models import User
from tests.conftest import FILES
from tests.pages import Page, page_of, text_of

ADDRESS = "/acme/rollouts"
NO_ROLLOUTS = dict.fromkeys(path for path in FILES if path.startswith("rollouts/"))
BROKEN_CONFIG = "[experiment\nrollout = 1\n"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def seen_by(user: User, query: str = "", status: int = 200) -> Page:
    return page_of(client_of(user).get(f"{ADDRESS}{query}"), status)


def part_for(user: User, target: str, query: str = "") -> Page:
    headers = {"HX-Request": "true", "HX-Target": target}
    return page_of(client_of(user).get(f"{ADDRESS}{query}", headers=headers))


def names(page: Page) -> list[str]:
    return [text.removesuffix(" on GitHub") for text in page.texts(".//a[@class='title']")]


def badges(page: Page) -> dict[str, str]:
    """Name → badge, of the rows that carry one."""
    rows = [row for row in page.all(".//tbody/tr") if row.find("./td[@class='name']") is not None]
    found = {}
    for row in rows:
        marks = [each for each in row.findall("./td[1]/*") if "label" in each.get("class", "")]
        if marks:
            [mark] = marks
            [name] = [text_of(title) for title in row.findall("./td[1]/a[@class='title']")]
            found[name.removesuffix(" on GitHub")] = text_of(mark)
    return found


def reason(page: Page) -> str:
    """The headline of an empty list."""
    return page.text(".//*[@class='blankslate']/h2")
