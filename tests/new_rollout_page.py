"""New Rollout as a test reads it."""

from rollouts_app.models import User
from tests.pages import Page, page_of
from tests.rollouts_page import client_of

ADDRESS = "/acme/new-rollout"
HOSTILE = "x;$(touch${IFS}pwned)`touch${IFS}pwned`'\"&|>pwned\u202e%s\u200b!"


def seen_by(user: User, query: str = "", status: int = 200) -> Page:
    return page_of(client_of(user).get(f"{ADDRESS}{query}"), status)


def part_for(user: User, target: str, query: str = "", status: int = 200) -> Page:
    headers = {"HX-Request": "true", "HX-Target": target}
    return page_of(client_of(user).get(f"{ADDRESS}{query}", headers=headers), status)


def commands(page: Page) -> dict[str, str]:
    """What can be copied, by its id."""
    return {code.get("id", ""): code.text or "" for code in page.all(".//pre/code")}
