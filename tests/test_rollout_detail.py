"""One rollout on a branch: what it says of itself, its configs, and what is wrong with it."""

import pytest

from rollouts_app.models import Repository, User
from tests.conftest import FILES, counted_queries
from tests.github_emulator import Content, GitHubEmulator
from tests.pages import Page, page_of, text_of
from tests.rollouts_page import client_of
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

ADDRESS = "/acme/rollouts/maths"


def seen_by(user: User, address: str = ADDRESS, status: int = 200) -> Page:
    return page_of(client_of(user).get(address), status)


def test_it_says_what_the_rollout_is(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    page = seen_by(ada)
    commit = github.heads(NAME)["main"]
    version = synced.rollouts.get(name="maths").versions.get()
    assert page.text(".//title") == "maths on main · acme"
    assert page.text(".//h1") == "maths"
    assert page.text(".//p[@class='lead']") == "Sums."
    assert page.text(".//*[@id='freshness']").startswith(f"Matches GitHub at {commit[:7]}")
    assert page.facts(".//aside/div/dl") == {
        "Branch": "main",
        "Last synced commit": commit[:7],
        "Last synced": "just now",
        "First seen": "just now",
        "Tree": version.tree_id[:7],
    }
    source = f"{github.url}/acme/agents/tree/{commit}/rollouts/maths"
    assert page.links()[f"Open source at {commit[:7]}"] == source


def test_it_lists_the_configs_that_name_it(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    training = '[experiment]\nrollout = "maths"\nmodel_path = 7\ndataset = "more"\n'
    commit = github.push(NAME, "main", {"configs/training/hard.toml": training})
    check_all(synced)
    page = seen_by(ada)
    rows = [[text_of(cell) for cell in row] for row in page.all(".//tbody/tr")]
    assert rows == [
        ["eval", "configs/eval/maths.toml on GitHub", "openai/gpt-5-mini", "sums"],
        ["training", "configs/training/hard.toml on GitHub", "", "more"],
    ]
    assert page.all(".//td[@class='file']/a")[1].get("href") == (
        f"{github.url}/acme/agents/blob/{commit}/configs/training/hard.toml"
    )


def test_it_says_when_no_config_names_it(synced: Repository, ada: User) -> None:
    page = seen_by(ada, "/acme/rollouts/search")
    assert page.text(".//p[@class='box-body muted']") == (
        "No config under configs/eval/ or configs/training/ names search."
        ' To run it, push a config with rollout = "search" in [experiment].'
    )


def test_it_renders_the_readme(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    readme = (
        "# Maths\n\n<script>alert(1)</script>\n\n<a href='javascript:alert(1)'>x</a>"
        " [m](main.py) ![i](i.png)\n"
    )
    commit = github.push(NAME, "main", {"rollouts/maths/README.md": readme})
    check_all(synced)
    page = seen_by(ada)
    [shown] = page.all(".//*[@class='markdown']")
    assert text_of(shown.findall("h3")[0]) == "Maths"
    folder = f"{github.url}/acme/agents/blob/{commit}/rollouts/maths"
    links = {text_of(link): link.get("href") for link in shown.iter("a")}
    assert links == {"x": None, "m": f"{folder}/main.py", "i": f"{folder}/i.png"}
    assert [*shown.iter("script"), *shown.iter("img")] == []


def test_it_shows_other_readmes_as_text(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "main", {"rollouts/maths/README.rst": "Maths\n=====\n<b>x</b>\n"})
    check_all(synced)
    assert seen_by(ada).one(".//pre[@class='readme']").text == "Maths\n=====\n<b>x</b>\n"


def test_it_says_what_the_project_and_the_directory_hold(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    project = (
        '[project]\nname = "maths"\nversion = "0.2.0"\nrequires-python = ">=3.12"\n'
        'license = "MIT"\ndependencies = ["httpx", "osmosis-ai"]\n'
    )
    commit = github.push(
        NAME,
        "main",
        {"rollouts/maths/pyproject.toml": project, "rollouts/maths/data/x.csv": "1"},
    )
    check_all(synced)
    page = seen_by(ada)
    assert page.facts(".//dl[@id='project']") == {
        "Version": "0.2.0",
        "Python": ">=3.12",
        "License": "MIT",
        "Dependencies": "httpx osmosis-ai",
    }
    root = f"{github.url}/acme/agents"
    links = page.links()
    assert links["data/"] == f"{root}/tree/{commit}/rollouts/maths/data"
    assert links["main.py"] == f"{root}/blob/{commit}/rollouts/maths/main.py"


def test_it_shows_parameters_beside_the_defaults(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    config = FILES["configs/eval/maths.toml"] + "[evaluation]\nn = 4\nbatch_size = 1\n"
    github.push(NAME, "main", {"configs/eval/maths.toml": config})
    check_all(synced)
    page = seen_by(ada)
    assert page.text(".//details[@class='parameters']/summary") == "2 parameters"
    assert page.facts(".//details[@class='parameters']/dl") == {
        "evaluation.n": "4 instead of 1",
        "evaluation.batch_size": "1 as by default",
    }


def test_it_says_where_else_it_is(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    github.create_branch(NAME, "same", "main")
    github.push(NAME, "other", {"rollouts/maths/main.py": "2"}, start="main")
    check_all(synced)
    page = seen_by(ada)
    lines = page.all(".//section[@aria-labelledby='elsewhere-title']//li")
    said = [text_of(line) for line in lines]
    assert sorted(said) == ["other differs", "same the same"]
    assert page.links()["other"] == "/acme/rollouts/maths?branch=other"


def test_it_says_when_there_is_no_readme(synced: Repository, ada: User) -> None:
    assert "This rollout has no README." in seen_by(ada).texts(".//main//p")


def test_it_links_each_problem_to_its_line_at_the_commit(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    broken: dict[str, Content] = {
        "rollouts/maths/pyproject.toml": '[project]\nname = "maths"\ndescription = 7\n',
        "configs/eval/maths.toml": "[experiment]\n\nrollout\n",
    }
    commit = github.push(NAME, "fix", broken, start="main")
    check_all(synced)
    page = seen_by(ada, f"{ADDRESS}?branch=fix")
    blob = f"{github.url}/acme/agents/blob/{commit}"
    places = {
        text_of(link): link.get("href")
        for link in page.all(".//section[@aria-label='Problems']//a")
    }
    assert places == {
        "rollouts/maths/pyproject.toml:3 on GitHub": (
            f"{blob}/rollouts/maths/pyproject.toml?plain=1#L3"
        ),
        "configs/eval/maths.toml:3 on GitHub": f"{blob}/configs/eval/maths.toml?plain=1#L3",
    }
    assert page.text(".//h1") == "maths Changed"


def test_a_rollout_of_another_branch_is_found_there(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "feature/chess", {"rollouts/chess/main.py": "x"}, start="main")
    check_all(synced)
    page = seen_by(ada, "/acme/rollouts/chess", status=404)
    assert page.text(".//main//h2") == "No rollout of this name on main."
    assert page.links()["feature/chess"] == "/acme/rollouts/chess?branch=feature%2Fchess"


@pytest.mark.parametrize("address", ["/acme/rollouts/nowhere", f"{ADDRESS}?branch=nowhere"])
def test_what_is_not_there_is_not_found(synced: Repository, ada: User, address: str) -> None:
    assert seen_by(ada, address, status=404).text(".//main//h2").startswith("No rollout of this")


@pytest.mark.parametrize("name", ["new", "compare", "a b", "100%", "x#y", "ünï"])
def test_any_directory_name_has_its_page(
    synced: Repository, github: GitHubEmulator, ada: User, name: str
) -> None:
    github.push(NAME, "main", {f"rollouts/{name}/main.py": "x"})
    check_all(synced)
    listed = seen_by(ada, "/acme/rollouts")
    [address] = [
        link.get("href") or ""
        for link in listed.all(".//td[@class='open']/a")
        if link.get("aria-label") == f"Details of {name}"
    ]
    assert seen_by(ada, address).text(".//h1") == name


def test_its_part_is_fetched_when_a_sync_brings_news(synced: Repository, ada: User) -> None:
    headers = {"HX-Request": "true", "HX-Target": "rollout"}
    response = client_of(ada).get(ADDRESS, headers=headers)
    [part] = page_of(response).root
    assert (part.get("id"), part.get("hx-trigger")) == ("rollout", "catalog-synced from:body")
    assert response["Cache-Control"] == "no-store"


def test_it_asks_nine_queries_at_most(synced: Repository, ada: User) -> None:
    client = client_of(ada)
    client.get(ADDRESS)
    with counted_queries() as queries:
        client.get(ADDRESS)
    assert len(queries) <= 9


def test_without_a_repository_there_is_none(ada: User, acme: object) -> None:
    assert client_of(ada).get(ADDRESS).status_code == 404
