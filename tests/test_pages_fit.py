"""The pages about rollouts, on a phone and on a wide screen, in light and dark: no barriers."""

import pytest
from playwright.sync_api import Page

from rollouts_app.models import Repository, User
from tests.barriers import has_no_barriers
from tests.conftest import FILES
from tests.github_emulator import GitHubEmulator
from tests.sign_in import enter
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db(transaction=True)

README = "# Maths\n\nAdds. [More](docs/more.md)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx\n```\n"
ADDRESSES = (
    "/acme/rollouts?branch=dev",
    "/acme/rollouts/maths?branch=dev",
    "/acme/compare?branch=dev",
    "/acme/branches",
    "/acme/new-rollout",
)


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_have_no_barriers_and_fit(
    width: int, synced: Repository, github: GitHubEmulator, ada: User, live: str, page: Page
) -> None:
    files = {
        "rollouts/maths/README.md": README,
        f"rollouts/{'long-name-' * 12}x/main.py": "1",
        "rollouts/search/README.md": None,
        "configs/eval/maths.toml": FILES["configs/eval/maths.toml"] + "x = 1\n",
        "configs/eval/lost.toml": FILES["configs/eval/maths.toml"].replace("maths", "lost"),
    }
    github.push(NAME, "dev", files, start="main", author="ada")
    check_all(synced)
    page.set_viewport_size({"width": width, "height": 900})
    enter(page, live, ada)
    for address in ADDRESSES:
        page.goto(f"{live}{address}")
        has_no_barriers(page)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert (address, wide) == (address, width)
