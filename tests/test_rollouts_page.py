"""The Rollouts page: what a branch holds, or why there is nothing to show."""

from datetime import timedelta
from urllib.parse import quote, unquote, urlsplit

import pytest
from django.test import Client, override_settings
from django.utils.timezone import now

from rollouts_app.models import Repository, SyncRun, User, Workspace
from rollouts_app.sync import engine
from tests.conftest import FILES, counted_queries
from tests.github_emulator import Content, GitHubEmulator, Symlink
from tests.pages import Page, page_of, text_of
from tests.syncing import NAME, check_all, push_hint

pytestmark = pytest.mark.django_db(transaction=True)

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


@pytest.fixture
def synced(agents: Repository) -> Repository:
    """`acme/agents`, its main branch on show."""
    engine.sync(agents.pk)
    agents.refresh_from_db()
    return agents


def test_it_lists_the_rollouts_of_the_default_branch(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    page = seen_by(ada)
    commit = github.heads(NAME)["main"]
    rows = [[text_of(cell) for cell in row] for row in page.all(".//tbody/tr")]
    assert rows == [
        ["maths on GitHub Sums.", "eval", commit[:7], "just now", ""],
        ["search on GitHub Finds things.", "", commit[:7], "just now", ""],
    ]
    assert page.texts(".//thead//th") == [
        *("Name", "Configs", "Last synced commit", "Last synced", "Details")
    ]
    assert page.text(".//title") == "Rollouts on main · acme"


def test_a_name_leads_to_its_source_at_the_synced_commit(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    page = seen_by(ada)
    commit = github.heads(NAME)["main"]
    assert [link.get("href") for link in page.all(".//a[@class='title']")] == [
        f"{github.url}/acme/agents/tree/{commit}/rollouts/{name}" for name in ("maths", "search")
    ]
    sha = page.all(".//a[@class='sha']")[0]
    assert (sha.get("href"), sha.get("title")) == (
        f"{github.url}/acme/agents/commit/{commit}",
        commit,
    )
    assert [link.get("href") for link in page.all(".//td[@class='open']/a")] == [
        "/acme/rollouts/maths?branch=main",
        "/acme/rollouts/search?branch=main",
    ]


def test_its_links_follow_a_renamed_repository(synced: Repository, ada: User) -> None:
    Repository.objects.update(full_name="acme/bots")
    links = [link.get("href", "") for link in seen_by(ada).all(".//a[@class='title']")]
    assert {link.split("/tree/")[0].rpartition("/")[2] for link in links} == {"bots"}


@pytest.mark.parametrize(
    "name", ["a b", "<script>alert(1)</script>", '"><img src=x onerror=x>', "100%#1&?x+y", "ünï 码"]
)
def test_a_hostile_name_is_inert_and_leads_to_its_own_source(
    synced: Repository, github: GitHubEmulator, ada: User, name: str
) -> None:
    name = name.replace("/", "|")
    commit = github.push(NAME, "main", {f"rollouts/{name}/main.py": "x"})
    check_all(synced)
    page = seen_by(ada)
    assert sorted(names(page)) == sorted([name, "maths", "search"])
    assert page.all(".//main//script") == page.all(".//img") == []
    links = {link.get("href") for link in page.all(".//a[@class='title']")}
    assert f"{github.url}/acme/agents/tree/{commit}/rollouts/{quote(name, safe='')}" in links
    details = [link.get("href") or "" for link in page.all(".//td[@class='open']/a")]
    [address] = [each for each in details if unquote(urlsplit(each).path) == f"{ADDRESS}/{name}"]
    assert page_of(client_of(ada).get(address)).text(".//h1") == name


def test_hidden_characters_of_a_name_are_shown(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "main", {"rollouts/ma\u202eths/main.py": "x"})
    check_all(synced)
    assert names(seen_by(ada)) == ["maths", "ma\\u202eths", "search"]


def test_it_marks_what_differs_from_the_default_branch(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    changes: dict[str, Content] = {
        "rollouts/maths/main.py": "print('more maths')\n",
        "rollouts/chess/main.py": "print('chess')\n",
    }
    github.push(NAME, "feature/x", changes, start="main")
    check_all(synced)
    assert badges(seen_by(ada, "?branch=feature%2Fx")) == {"chess": "Added", "maths": "Changed"}
    assert badges(seen_by(ada)) == {}


def test_a_problem_comes_before_a_change(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    broken: dict[str, Content] = {
        "rollouts/maths/pyproject.toml": "[project\n",
        "configs/eval/maths.toml": BROKEN_CONFIG,
    }
    github.push(NAME, "feature/x", broken, start="main")
    check_all(synced)
    assert badges(seen_by(ada, "?branch=feature%2Fx")) == {"maths": "2 problems"}


def test_a_warning_is_called_one(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    github.push(NAME, "main", {"rollouts/search/README.md": b"caf\xe9"})
    check_all(synced)
    assert badges(seen_by(ada)) == {"search": "1 warning"}


def test_one_notice_tells_of_configs_that_belong_to_no_rollout(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    lost: dict[str, Content] = {
        "configs/eval/chess.toml": '[experiment]\nrollout = "chess"\n',
        "configs/training/broken.toml": BROKEN_CONFIG,
    }
    commit = github.push(NAME, "main", lost)
    check_all(synced)
    page = seen_by(ada)
    [notice] = page.all(".//*[@id='results']/*[@class='notice attention messages']")
    assert (
        text_of(notice.findall(".//summary")[0]) == "2 configs belong to no rollout on this branch"
    )
    blob = f"{github.url}/acme/agents/blob/{commit}"
    assert [link.get("href") for link in notice.iter("a")] == [
        f"{blob}/configs/eval/chess.toml",
        f"{blob}/configs/training/broken.toml?plain=1#L1",
    ]
    assert badges(page) == {}


def test_it_searches_names_and_descriptions(synced: Repository, ada: User) -> None:
    assert names(seen_by(ada, "?q=MATH")) == ["maths"]
    assert names(seen_by(ada, "?q=finds")) == ["search"]
    assert seen_by(ada, "?q=finds").one(".//*[@id='q']").get("value") == "finds"


def test_a_search_without_match_can_be_cleared(synced: Repository, ada: User) -> None:
    page = seen_by(ada, "?q=fo%00o<b>")
    assert reason(page) == "No rollout on main matches “fo\ufffdo<b>”."
    assert page.links()["Clear search"] == "/acme/rollouts?branch=main"


def test_it_pages_by_fifty(synced: Repository, github: GitHubEmulator, ada: User) -> None:
    many: dict[str, Content] = {f"rollouts/r{n:02}/main.py": f"{n}" for n in range(60)}
    github.push(NAME, "main", {**NO_ROLLOUTS, **many})
    check_all(synced)
    first, second = seen_by(ada), seen_by(ada, "?page=2")
    assert names(first) == [f"r{n:02}" for n in range(50)]
    assert names(second) == [f"r{n:02}" for n in range(50, 60)]
    assert names(seen_by(ada, "?page=99")) == names(second)
    assert names(seen_by(ada, "?page=x")) == names(first)
    assert first.links()["Next"] == "?page=2"
    assert second.text(".//nav[@class='pager']/span") == "Page 2 of 2"


def test_an_owner_without_repository_is_led_to_git_integration(ada: User, acme: Workspace) -> None:
    page = seen_by(ada)
    assert reason(page) == "The Rollouts page requires a connected workspace repository."
    links = page.links()
    assert links["Open Git Integration"] == "/acme/integrations/git"
    assert links["Onboarding"] == "/onboarding?workspace=acme"
    assert "New Rollout" not in links


def test_a_member_without_repository_is_told_whom_to_ask(linus: User, acme: Workspace) -> None:
    page = seen_by(linus)
    assert page.text(".//*[@class='blankslate']/p") == (
        "Ask an owner or admin to connect one: Ada Lovelace."
    )


def test_the_first_sync_shows_how_far_it_is(agents: Repository, ada: User) -> None:
    assert reason(seen_by(ada)) == "Reading branches…"
    for number in range(3):
        run = push_hint(agents, f"b{number}")
        run.trigger = SyncRun.Trigger.CONNECTED
        run.save(update_fields=["trigger"])
    run.close(SyncRun.State.SUCCESS, "")
    page = seen_by(ada)
    assert reason(page) == "Reading branches: 1 of 3"
    progress = page.one(".//progress")
    assert (progress.get("value"), progress.get("max")) == ("1", "3")
    assert "every 2s" in (page.one(".//*[@id='results']").get("hx-trigger") or "")
    engine.sync(agents.pk)
    done = part_for(ada, "results")
    assert names(done) == ["maths", "search"]
    assert done.one(".//*[@id='results']").get("hx-trigger") == "catalog-synced from:body"


def test_a_first_sync_that_cannot_go_on_says_why(
    agents: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.suspend(agents.installation.github_id)
    engine.sync(agents.pk)
    page = seen_by(ada)
    assert reason(page) == "main could not be read yet."
    assert page.text(".//*[@class='blankslate']/p") == (
        "GitHub refuses the App. Git Integration says what to do about it."
    )


def test_a_branch_read_for_the_first_time_says_so(synced: Repository, ada: User) -> None:
    push_hint(synced, "feature/x", "1" * 40)
    page = seen_by(ada, "?branch=feature%2Fx")
    assert reason(page) == "feature/x is being read for the first time."


def test_a_branch_without_the_directory_shows_the_layout(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    commit = github.push(NAME, "main", {**NO_ROLLOUTS, "README.md": "x"})
    check_all(synced)
    page = seen_by(ada)
    assert reason(page) == f"No rollouts/ directory on main at {commit[:7]}."
    assert page.text(".//section//pre[@aria-label]").startswith("rollouts/<name>/")
    links = page.links()
    assert [links[text] for text in ("SDK Overview", "Custom Rollout Guide", "Git Sync")] == [
        "https://docs.osmosis.ai/sdk/overview",
        "https://docs.osmosis.ai/sdk/create-a-rollout",
        "https://docs.osmosis.ai/cli/workspace/git-sync",
    ]
    assert page.text(".//*[@id='list-command']") == "osmosis rollout list --branch main"


def test_a_directory_without_directories_says_so(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    files: dict[str, Content] = {"rollouts/.gitkeep": "", "rollouts/link": Symlink("../configs")}
    github.push(NAME, "main", {**NO_ROLLOUTS, **files})
    check_all(synced)
    assert reason(seen_by(ada)) == "rollouts/ on main has no subdirectories."


def test_an_empty_repository_waits_for_its_first_push(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    synced.branches.all().delete()
    page = seen_by(ada)
    assert reason(page) == "Nothing has been pushed to main yet."


def test_an_unknown_branch_is_answered_with_the_nearest_names(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    for branch in ("feature/reward", "Feature/Reward", "zzz"):
        github.create_branch(NAME, branch, "main")
    check_all(synced)
    page = seen_by(ada, "?branch=feature%2Frewrad", status=404)
    assert reason(page) == "No branch feature/rewrad is known here."
    assert "feature%2Freward" in "".join(page.links().values())
    assert page.texts(".//main//form[@method='post']/button") == ["Check now"]


def test_an_unknown_branch_resolves_once_it_is_pushed(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    seen_by(ada, "?branch=new", status=404)
    github.push(NAME, "new", {"rollouts/new/main.py": "x"}, start="main")
    check_all(synced)
    assert names(part_for(ada, "results", "?branch=new")) == ["maths", "new", "search"]


def test_letter_case_tells_branches_apart(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    github.push(NAME, "Main", {"rollouts/upper/main.py": "x"}, start="main")
    check_all(synced)
    assert names(seen_by(ada, "?branch=Main")) == ["maths", "search", "upper"]
    assert names(seen_by(ada, "?branch=main")) == ["maths", "search"]
    seen_by(ada, "?branch=MAIN", status=404)


@pytest.mark.parametrize("branch", ["feat/a/b/c", "100%2Fdone", "a#b", "a&b=c", "x+y", "ünï/码"])
def test_an_odd_branch_name_comes_back_unharmed(
    synced: Repository, github: GitHubEmulator, ada: User, branch: str
) -> None:
    commit = github.push(NAME, branch, {"rollouts/odd/main.py": "x"}, start="main")
    check_all(synced)
    page = seen_by(ada, f"?branch={quote(branch, safe='')}")
    assert names(page) == ["maths", "odd", "search"]
    assert page.one(".//form[@role='search']/input[@name='branch']").get("value") == branch
    assert page.text(".//*[@id='branch-button']") == branch
    assert page.all(".//a[@class='sha']")[0].get("title") == commit
    details = page.all(".//td[@class='open']/a")[1].get("href") or ""
    assert page_of(client_of(ada).get(details)).links()[branch] == (
        f"/acme/rollouts?{synced.branches.get(name=branch).query}"
    )


def test_a_nul_in_a_branch_name_is_no_branch(synced: Repository, ada: User) -> None:
    assert reason(seen_by(ada, "?branch=a%00b", status=404)) == (
        "No branch a\ufffdb is known here."
    )


def test_a_deleted_branch_keeps_what_it_showed(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    commit = github.push(NAME, "old", {"rollouts/old/main.py": "x"}, start="main")
    check_all(synced)
    github.delete_branch(NAME, "old")
    check_all(synced)
    page = seen_by(ada, "?branch=old")
    assert page.text(".//*[@id='freshness']") == (
        f"old was deleted on GitHub just now; last synced {commit[:7]}. Go to main"
    )
    assert page.links()["Go to main"] == ADDRESS
    assert names(page) == ["maths", "old", "search"]
    assert page.texts(".//main//form[@method='post']/button") == []


def test_each_place_gets_its_part(synced: Repository, ada: User) -> None:
    whole = seen_by(ada)
    assert len(whole.all(".//header")) == 1
    switched = part_for(ada, "catalog")
    assert [each.tag for each in switched.root] == ["title", "div"]
    assert switched.one("./div").get("id") == "catalog"
    refreshed = part_for(ada, "results")
    assert [each.tag for each in refreshed.root] == ["title", "div"]
    assert refreshed.one("./div").get("id") == "results"
    assert part_for(ada, "anything").one("./div").get("id") == "catalog"


def test_back_gets_the_whole_page_and_nothing_is_kept(synced: Repository, ada: User) -> None:
    restore = {"HX-Request": "true", "HX-History-Restore-Request": "true", "HX-Target": "catalog"}
    response = client_of(ada).get(ADDRESS, headers=restore)
    assert len(page_of(response).all(".//header")) == 1
    assert response["Cache-Control"] == "no-store"
    varying = {name.strip() for name in response["Vary"].split(",")}
    assert varying >= {"HX-Request", "HX-Target", "HX-History-Restore-Request", "HX-Boosted"}


def test_an_expired_session_leads_from_a_part_to_sign_in_and_back(synced: Repository) -> None:
    response = Client().get(
        f"{ADDRESS}?branch=main",
        headers={
            "HX-Request": "true",
            "HX-Target": "results",
            "HX-Current-URL": f"http://testserver{ADDRESS}?branch=main&q=x",
        },
    )
    assert response["HX-Redirect"] == (
        "/accounts/login/?next=%2Facme%2Frollouts%3Fbranch%3Dmain%26q%3Dx"
    )
    assert response.content == b""


@pytest.mark.parametrize("path", ["", "/maths", "?branch=main"])
def test_a_stranger_finds_nothing(synced: Repository, mallory: User, path: str) -> None:
    assert client_of(mallory).get(f"{ADDRESS}{path}").status_code == 404


def test_it_asks_as_few_queries_for_thirty_rollouts_as_for_one(
    synced: Repository, github: GitHubEmulator, ada: User
) -> None:
    one: dict[str, Content] = {**NO_ROLLOUTS, "rollouts/r00/main.py": "0"}
    github.push(NAME, "one", one, start="main")
    many: dict[str, Content] = {f"rollouts/r{n:02}/main.py": f"{n}" for n in range(30)}
    configs: dict[str, Content] = {
        f"configs/eval/r{n:02}.toml": f'[experiment]\nrollout = "r{n:02}"\n' for n in range(30)
    }
    lost: dict[str, Content] = {"configs/eval/lost.toml": BROKEN_CONFIG}
    github.push(NAME, "many", {**NO_ROLLOUTS, **many, **configs, **lost}, start="main")
    check_all(synced)
    counts = {}
    for branch in ("one", "many"):
        for query in ("", "&q=r0"):
            client = client_of(ada)
            client.get(ADDRESS)
            with counted_queries() as queries:
                client.get(f"{ADDRESS}?branch={branch}{query}")
            counts[branch, query] = len(queries)
    assert counts["one", ""] == counts["many", ""] <= 8
    assert counts["one", "&q=r0"] == counts["many", "&q=r0"] <= 8


def test_it_says_when_the_worker_does_not_look(synced: Repository, ada: User) -> None:
    long_ago = now() - timedelta(days=2)
    Repository.objects.update(heads_checked_at=long_ago)
    synced.branches.update(changed_at=long_ago)
    line = seen_by(ada).text(".//*[@id='freshness']")
    assert "the worker of this server does not look." in line


@override_settings(GITHUB_URL="https://git.example")
def test_the_twin_in_the_terminal_is_left_out_where_it_cannot_work(
    synced: Repository, ada: User
) -> None:
    page = seen_by(ada)
    assert page.all(".//*[@id='list-command']") == []
    assert page.texts(".//details[@class='about']//p") == [
        "The osmosis command lists rollouts of repositories on github.com only."
    ]
