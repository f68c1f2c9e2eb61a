"""Whether the file that a config names as entrypoint is there, in trees that git made."""

import pytest

from rollouts_app.models import Repository, User
from tests.conftest import FILES
from tests.github_emulator import GitHubEmulator
from tests.github_emulator.bare import Symlink
from tests.pages import page_of
from tests.rollouts_page import badges, client_of, names, seen_by
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

CONFIG = FILES["configs/eval/maths.toml"]


@pytest.mark.parametrize(
    ("entrypoint", "badge"),
    [
        ("main.py", "Changed"),
        ("./main.py", "Changed"),
        ("src/deep/run.py", "Changed"),
        ("src//deep/../deep/run.py", "Changed"),
        ("linked/run.py", "Changed"),
        ("link.py", "Changed"),
        ("Main.py", "1 problem"),
        ("src", "1 problem"),
        ("src/deep", "1 problem"),
        ("src/none.py", "1 problem"),
        ("main.py/run.py", "1 problem"),
        (".", "1 problem"),
    ],
)
def test_the_entrypoint_is_looked_for(
    synced: Repository, github: GitHubEmulator, ada: User, entrypoint: str, badge: str
) -> None:
    github.push(
        NAME,
        "dev",
        {
            "rollouts/maths/src/deep/run.py": "",
            "configs/eval/maths.toml": CONFIG.replace('"main.py"', f'"{entrypoint}"'),
            "rollouts/maths/linked": Symlink("../search"),
            "rollouts/maths/link.py": Symlink("main.py"),
        },
        start="main",
    )
    check_all(synced)
    assert badges(seen_by(ada, "?branch=dev")) == {"maths": badge}


def test_it_is_told_with_the_rollout_whose_it_is(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    """In the list, its filter and order, and on the rollout's page with file and line."""
    broken = {"configs/eval/search.toml": CONFIG.replace("maths", "search").replace("main", "run")}
    commit = github.push(NAME, "dev", broken, start="main")
    check_all(synced)
    assert badges(seen_by(ada, "?branch=dev")) == {"search": "1 problem"}
    assert names(seen_by(ada, "?branch=dev&show=problems")) == ["search"]
    assert names(seen_by(ada, "?branch=dev&sort=problems")) == ["search", "maths"]
    page = page_of(client_of(ada).get("/acme/rollouts/search?branch=dev"))
    section = ".//section[@aria-label='Problems']"
    assert page.texts(f"{section}//strong") == [
        "configs/eval/search.toml has an entrypoint that is no file: rollouts/search/run.py.",
        "rollouts/search has no pyproject.toml, so its dependencies are not known.",
    ]
    assert page.all(f"{section}//a")[0].get("href") == (
        f"{github.url}/{NAME}/blob/{commit}/configs/eval/search.toml?plain=1#L3"
    )
