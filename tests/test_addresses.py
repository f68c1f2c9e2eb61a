"""Addresses of GitHub's pages lead where they say, whatever the names are made of."""

from hashlib import sha256
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts_app import addresses
from tests.github_emulator import GitHubEmulator

REPOSITORY = "https://github.com/acme/agents"
COMMIT = "a1b2c3d4" * 5


def test_they_are_github_s() -> None:
    page = addresses.repository_page("https://github.com/", "acme/agents")
    assert page == REPOSITORY
    assert addresses.tree_page(page, COMMIT) == f"{page}/tree/{COMMIT}"
    assert addresses.tree_page(page, COMMIT, "rollouts/a") == f"{page}/tree/{COMMIT}/rollouts/a"
    assert addresses.blob_page(page, COMMIT, "a/b.py") == f"{page}/blob/{COMMIT}/a/b.py"
    assert addresses.blob_page(page, COMMIT, "R.md", 7) == f"{page}/blob/{COMMIT}/R.md?plain=1#L7"
    assert addresses.commit_page(page, COMMIT) == f"{page}/commit/{COMMIT}"
    mark = sha256(b"rollouts/a#b/main.py").hexdigest()
    diff = addresses.folder_diff(page, "1" * 40, "2" * 40, "rollouts/a#b")
    assert diff == f"{page}/compare/{'1' * 40}..{'2' * 40}#diff-{mark}"
    history = addresses.history_page(page, "1" * 40, "rollouts/a#b")
    assert history == f"{page}/commits/{'1' * 40}/rollouts/a%23b"


def test_an_app_is_installed_elsewhere_on_an_enterprise_server() -> None:
    page = addresses.new_installation_page
    assert page("https://github.com", "osmosis") == (
        "https://github.com/apps/osmosis/installations/new"
    )
    assert page("https://git.acme.example/", "osmosis", "a&b") == (
        "https://git.acme.example/github-apps/osmosis/installations/new?state=a%26b"
    )


def test_an_installation_belongs_to_an_organization_or_a_person() -> None:
    page = addresses.installation_page
    assert page("https://github.com", "acme", "Organization", 7) == (
        "https://github.com/organizations/acme/settings/installations/7"
    )
    assert page("https://github.com", "ada", "User", 7) == (
        "https://github.com/settings/installations/7"
    )


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("rollouts/a b", "rollouts/a%20b"),
        ("50%/#1", "50%25/%231"),
        ("a?b&c=d+e", "a%3Fb%26c%3Dd%2Be"),
        ("ünï/枝", "%C3%BCn%C3%AF/%E6%9E%9D"),
        ("caf\udce9", "caf%E9"),
        ("x;$(y)'\"<z>\\", "x%3B%24%28y%29%27%22%3Cz%3E%5C"),
    ],
)
def test_each_segment_of_a_path_is_encoded_once(path: str, expected: str) -> None:
    """B02"""
    assert addresses.tree_page(REPOSITORY, COMMIT, path) == f"{REPOSITORY}/tree/{COMMIT}/{expected}"


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_any_path_comes_out_as_it_went_in(path: bytes) -> None:
    page = addresses.blob_page(REPOSITORY, COMMIT, path.decode(errors="surrogateescape"), 1)
    parts = urlsplit(page)
    assert (parts.netloc, parts.query, parts.fragment) == ("github.com", "plain=1", "L1")
    assert unquote_to_bytes(parts.path.removeprefix(f"/acme/agents/blob/{COMMIT}/")) == path
    assert page.isascii()


def test_the_emulator_knows_them(github: GitHubEmulator) -> None:
    """The addresses that GitHub's own answers give are the same."""
    number = github.install("acme")
    installation = github.shapes.installation(github.installation(number))
    page = addresses.installation_page(github.url, "acme", "Organization", number)
    assert installation["html_url"] == page
