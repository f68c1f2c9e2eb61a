"""A client that is not ours, PyGithub, reads the emulator as it reads GitHub."""

from collections.abc import Iterator

import pytest
from github import (
    Auth,
    BadCredentialsException,
    Github,
    GithubException,
    GithubIntegration,
    RateLimitExceededException,
    UnknownObjectException,
)

from tests.github_emulator import GitHubEmulator

AGENTS = "acme/agents"


@pytest.fixture
def installation(github: GitHubEmulator) -> int:
    """The App on Acme for acme/agents alone."""
    github.create_repository(AGENTS, files={"README.md": "Agents\n"}, description="Ours")
    github.create_repository("acme/secret")
    return github.install("acme", repositories=[AGENTS])


@pytest.fixture
def app(github: GitHubEmulator, installation: int) -> Iterator[GithubIntegration]:
    """PyGithub as the App."""
    auth = Auth.AppAuth(github.app.id, github.app.private_key)
    with GithubIntegration(
        auth=auth,
        base_url=f"{github.url}/api/v3",
        retry=None,
        seconds_between_requests=0,
    ) as app:
        yield app


@pytest.fixture
def client(app: GithubIntegration, installation: int) -> Github:
    """PyGithub as the installation; it asks for tokens itself."""
    return app.get_github_for_installation(installation)


def test_it_knows_the_app_and_where_it_is(
    github: GitHubEmulator, app: GithubIntegration, installation: int
) -> None:
    assert app.get_app().slug == github.app.slug
    (only,) = app.get_installations()
    assert (only.id, only.target_type) == (installation, "Organization")
    assert app.get_repo_installation("acme", "agents").id == installation
    with pytest.raises(UnknownObjectException):
        app.get_repo_installation("acme", "secret")


def test_it_lists_what_the_installation_reaches(app: GithubIntegration) -> None:
    (installation,) = app.get_installations()
    assert [repository.full_name for repository in installation.get_repos()] == [AGENTS]


def test_it_reads_a_repository(github: GitHubEmulator, client: Github) -> None:
    for number in range(3):
        github.create_branch(AGENTS, f"feature/{number}", "main")
    tip = github.push(AGENTS, "main", {"a": "a"}, message="Two", author="ada")
    repository = client.get_repo(AGENTS)
    facts = (repository.default_branch, repository.private, repository.description)
    assert facts == ("main", True, "Ours")
    branches = {branch.name: branch.commit.sha for branch in repository.get_branches()}
    assert branches == github.heads(AGENTS)
    commit = repository.get_commit("main")
    assert (commit.sha, commit.commit.message, commit.author.login) == (tip, "Two", "ada")
    assert [each.sha for each in repository.get_commits()] == [tip, commit.parents[0].sha]


def test_it_follows_a_rename(github: GitHubEmulator, client: Github) -> None:
    number = client.get_repo(AGENTS).id
    github.rename_repository(AGENTS, "bots")
    moved = client.get_repo(AGENTS)
    assert (moved.id, moved.full_name) == (number, "acme/bots")
    assert [branch.name for branch in moved.get_branches()] == ["main"]


def test_it_pages(github: GitHubEmulator, app: GithubIntegration, installation: int) -> None:
    github.select_repositories(installation, "all")
    for number in range(3):
        github.create_repository(f"acme/r{number}")
    client = app.get_github_for_installation(installation)
    client.per_page = 2
    branches = [github.create_branch(AGENTS, f"b{number}", "main") for number in range(4)]
    assert client.get_repo(AGENTS).get_branches().totalCount == len(branches) + 1


def test_it_understands_refusals(github: GitHubEmulator, client: Github, installation: int) -> None:
    with pytest.raises(UnknownObjectException):
        client.get_repo("acme/secret")
    github.limit_secondary(times=1)
    with pytest.raises(RateLimitExceededException):
        client.get_repo(AGENTS)
    github.limit_primary(times=1)
    with pytest.raises(RateLimitExceededException):
        client.get_repo(AGENTS)
    github.create_repository("acme/fresh")
    github.add_repositories(installation, ["acme/fresh"])
    with pytest.raises(GithubException) as empty:
        list(client.get_repo("acme/fresh").get_commits())
    assert empty.value.status == 409
    github.expire_tokens()
    with pytest.raises(BadCredentialsException):
        client.get_repo(AGENTS)
