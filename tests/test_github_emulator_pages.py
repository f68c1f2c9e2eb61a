"""The emulator's pages: no link is dead, hostile names are text, and the App can be installed."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, urljoin

import pytest
import requests

from tests.github_emulator import Content, GitHubEmulator, Submodule, Symlink

HOSTILE = "<script>alert(1)</script>\"'&amp;"
BRANCH = "experiment/100%-#1&ünï+x<b>"
FILES: dict[str, Content] = {
    "README.md": HOSTILE,
    "rollouts/maths/main.py": "first\nsecond\nthird\n",
    f"odd/{HOSTILE.replace('/', ':')} ?#%.txt": HOSTILE,
    "link": Symlink("README.md"),
    "module": Submodule("1" * 40),
    "binary.bin": b"\0",
}


class Links(HTMLParser):
    """The links, element names and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src") and value]


@pytest.fixture
def visitor(github: GitHubEmulator) -> Iterator[requests.Session]:
    """Ada's browser."""
    with requests.Session() as session:
        session.post(f"{github.url}/login", {"user": "ada"}, timeout=5)
        yield session


@pytest.fixture
def agents(github: GitHubEmulator) -> str:
    """acme/agents with hostile content on two branches; its name."""
    github.add_user("eve", name=HOSTILE)
    github.create_repository("acme/agents", files=FILES, description=HOSTILE)
    changed = {"rollouts/maths/main.py": "first\n2nd\n", "README.md": None}
    github.push("acme/agents", BRANCH, changed, start="main", message=HOSTILE, author="eve")
    github.create_tag("acme/agents", "v1", "main")
    github.create_repository("acme/empty")
    github.install("acme")
    return "acme/agents"


def encoded(name: str) -> str:
    """A name in an address, its slashes kept."""
    return quote(name, safe="/")


def test_it_has_no_dead_links(
    github: GitHubEmulator, visitor: requests.Session, agents: str
) -> None:
    branch = encoded(BRANCH)
    waiting = ["/", f"/{agents}/compare/main...{branch}", f"/{agents}/commits/{branch}"]
    statuses: dict[str, int] = {}
    while waiting:
        address = urljoin(github.url, waiting.pop()).split("#")[0]
        if address in statuses or not address.startswith(github.url):
            continue
        answer = visitor.get(address, timeout=5)
        statuses[address] = answer.status_code
        if "html" in answer.headers["Content-Type"]:
            page = Links(answer.text)
            assert not page.names & {"script", "b", "i"}, address
            waiting += [urljoin(address, link) for link in page.links]
    assert {address for address, status in statuses.items() if status != 200} == set()
    assert len(statuses) > 40


def test_it_finds_branches_of_any_name(
    github: GitHubEmulator, visitor: requests.Session, agents: str
) -> None:
    path = "rollouts/maths/main.py"
    tip = github.heads(agents)[BRANCH]
    for name in (encoded(BRANCH), quote(BRANCH, safe=""), tip, tip[:7]):
        raw = visitor.get(f"{github.url}/{agents}/raw/{name}/{path}", timeout=5)
        assert raw.text == "first\n2nd\n"
    tagged = visitor.get(f"{github.url}/{agents}/raw/v1/{path}", timeout=5)
    assert tagged.text == "first\nsecond\nthird\n"


def test_it_numbers_the_lines_of_a_file(
    github: GitHubEmulator, visitor: requests.Session, agents: str
) -> None:
    page = visitor.get(f"{github.url}/{agents}/blob/main/rollouts/maths/main.py", timeout=5).text
    assert re.findall(r'<tr id="L(\d+)">.*?<td>(\w+)</td>', page) == [
        ("1", "first"),
        ("2", "second"),
        ("3", "third"),
    ]


def test_it_shows_what_differs(
    github: GitHubEmulator, visitor: requests.Session, agents: str
) -> None:
    changes = re.compile(r'<span class="(plus|minus)">[+-](\w+)</span>')
    commit = visitor.get(f"{github.url}/{agents}/commit/{encoded(BRANCH)}", timeout=5).text
    comparison = f"{github.url}/{agents}/compare/main...{encoded(BRANCH)}"
    compared = visitor.get(comparison, timeout=5).text
    expected = [("minus", "second"), ("minus", "third"), ("plus", "2nd")]
    assert (changes.findall(commit), changes.findall(compared)) == (expected, expected)


def test_it_says_when_there_is_nothing(
    github: GitHubEmulator, visitor: requests.Session, agents: str
) -> None:
    paths = [
        "/acme/none",
        "/acme/agents/tree/none",
        "/acme/agents/tree/main/none",
        "/acme/agents/blob/main/none",
        "/acme/agents/commit/none",
        "/acme/agents/compare/main...none",
        "/nobody",
        "/apps/none",
        "/organizations/acme/settings/installations/1",
        "/api/v3/nothing",
    ]
    statuses = {path: visitor.get(github.url + path, timeout=5).status_code for path in paths}
    assert statuses == dict.fromkeys(paths, 404)


def test_it_leads_on_from_a_former_name(
    github: GitHubEmulator, visitor: requests.Session, agents: str
) -> None:
    github.rename_repository(agents, "bots")
    answer = visitor.get(f"{github.url}/{agents}/tree/main/rollouts", timeout=5)
    assert answer.url == f"{github.url}/acme/bots/tree/main/rollouts"


class Settings:
    """Ada at the installation pages."""

    def __init__(self, github: GitHubEmulator, visitor: requests.Session) -> None:
        self.github, self.visitor = github, visitor
        self.new = f"/apps/{github.app.slug}/installations/new"

    def post(self, path: str, **fields: Any) -> requests.Response:
        return self.visitor.post(self.github.url + path, fields, allow_redirects=False, timeout=5)

    def reached(self, installation: int) -> list[str]:
        world = self.github
        record = world.installation(installation)
        return [world.state.full_name(r) for r in world.state.repositories_of(record)]


@pytest.fixture
def settings(github: GitHubEmulator, visitor: requests.Session) -> Iterator[Settings]:
    """Acme has two repositories and no App yet; the App wants to be told at its setup address."""
    before, github.app.setup_url = github.app.setup_url, "http://127.0.0.1:8000/installed?from=x"
    github.create_repository("acme/agents")
    github.create_repository("acme/starter")
    yield Settings(github, visitor)
    github.app.setup_url = before


def test_it_installs_the_app_and_goes_on_to_it(github: GitHubEmulator, settings: Settings) -> None:
    target = github.account_named("acme").id
    offered = settings.visitor.get(
        f"{github.url}{settings.new}?target_id={target}&state=s", timeout=5
    )
    assert re.findall(r'name="repository" value="(.*?)"', offered.text) == [
        "acme/agents",
        "acme/starter",
    ]
    fields = {"target_id": target, "state": "s", "selection": "selected"}
    assert settings.post(settings.new, **fields).status_code == 422
    went = settings.post(settings.new, **fields, repository="acme/agents").headers["Location"]
    (installation,) = github.state.installations
    there = f"http://127.0.0.1:8000/installed?from=x&installation_id={installation}&setup_action="
    assert went == f"{there}install&state=s"
    assert settings.reached(installation) == ["acme/agents"]
    fields["selection"] = "all"
    assert settings.post(settings.new, **fields).headers["Location"] == f"{there}update&state=s"
    assert settings.reached(installation) == ["acme/agents", "acme/starter"]


def test_it_lets_members_only_ask(github: GitHubEmulator, settings: Settings) -> None:
    settings.post("/login", user="linus")
    fields = {"target_id": github.account_named("acme").id, "selection": "all"}
    went = settings.post(settings.new, **fields).headers["Location"]
    assert went == "http://127.0.0.1:8000/installed?from=x&setup_action=request"
    assert github.state.installations == {}
    page = settings.visitor.get(
        f"{github.url}{settings.new}?target_id={fields['target_id']}", timeout=5
    )
    assert "You have requested this App already." in page.text
    settings.post(f"/apps/{github.app.slug}/installations/cancel", **fields)
    assert github.state.requests == {}


def test_it_lets_owners_answer_what_members_ask(github: GitHubEmulator, settings: Settings) -> None:
    for _ in range(2):
        number = github.request_installation("acme", by="linus")
    settings.post("/login", user="linus")
    folder = "/organizations/acme/settings/installations"
    assert settings.post(f"{folder}/requests/{number}").status_code == 403
    settings.post("/login", user="ada")
    listed = settings.visitor.get(github.url + folder, timeout=5).text
    assert listed.count(f'href="{folder}/requests/{number}"') == 1
    settings.post(f"{folder}/requests/{number}/deny")
    assert settings.post(f"{folder}/requests/{number}").status_code == 404
    number = github.request_installation("acme", by="linus")
    went = settings.post(f"{folder}/requests/{number}", selection="all").headers["Location"]
    [installation] = github.state.installations
    query = f"from=x&installation_id={installation}&setup_action=install"
    assert went == f"http://127.0.0.1:8000/installed?{query}"
    github.wait_for_deliveries()
    [created] = github.deliveries
    assert created.payload["requester"]["login"] == "linus"
    assert github.state.requests == {}


def test_it_lets_owners_change_an_installation(github: GitHubEmulator, settings: Settings) -> None:
    installation = github.install("acme")
    path = f"/organizations/acme/settings/installations/{installation}"
    settings.post(f"{path}/repositories", selection="selected", repository="acme/starter")
    assert settings.reached(installation) == ["acme/starter"]
    settings.post(f"{path}/suspend")
    assert github.installation(installation).suspended_at is not None
    settings.post(f"{path}/unsuspend")
    github.app.permissions["administration"] = "write"
    settings.post(f"{path}/permissions")
    assert github.installation(installation).permissions["administration"] == "write"
    settings.post(f"{path}/uninstall")
    assert github.state.installations == {}
    github.wait_for_deliveries()
    assert [made.action for made in github.deliveries] == [
        "created",
        "removed",
        "suspend",
        "unsuspend",
        "new_permissions_accepted",
        "deleted",
    ]


def test_it_refuses_settings_to_others(github: GitHubEmulator, settings: Settings) -> None:
    path = f"/organizations/acme/settings/installations/{github.install('acme')}"
    settings.post("/login", user="linus")
    assert settings.post(f"{path}/uninstall").status_code == 403
    nobody = requests.get(github.url + path, allow_redirects=False, timeout=5)
    assert nobody.headers["Location"] == f"/login?return_to={quote(path, safe='')}"
    assert len(github.state.installations) == 1


def test_it_returns_only_to_its_own_pages(github: GitHubEmulator, settings: Settings) -> None:
    for elsewhere in ("//evil.example", "https://evil.example", "/\\evil.example"):
        went = settings.post("/login", user="ada", return_to=elsewhere)
        assert went.headers["Location"] == "/"
