"""`osmosis rollout list`, as the server sees it."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from rollouts_app.models import Branch, Repository, Rollout, User, Workspace
from rollouts_app.sync import engine
from tests.cli_api import Cli, make_token
from tests.conftest import counted_queries
from tests.github_emulator import GitHubEmulator
from tests.syncing import check_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def cli(ada: User) -> Cli:
    return Cli(make_token(ada))


def names(answer: tuple[int, dict[str, list[dict[str, str]]]]) -> list[str]:
    status, body = answer
    assert status == 200
    return [row["name"] for row in body["rollouts"]]


def test_it_tells_all_that_both_versions_read(synced: Repository, cli: Cli) -> None:
    status, body = cli.get("rollouts?limit=50&offset=0")
    branch = synced.branches.get(name="main")
    maths = Rollout.objects.get(name="maths")
    assert status == 200
    assert body["rollouts"][0] == {
        "id": f"rol_{maths.pk}",
        "name": "maths",
        "description": "Sums.",
        "is_active": True,
        "repo_full_name": "acme/agents",
        "last_synced_commit_sha": branch.commit,
        "last_synced_at": branch.changed_at and branch.changed_at.isoformat(),
        "created_at": maths.first_seen_at.isoformat(),
    }
    assert {name: value for name, value in body.items() if name != "rollouts"} == {
        "total_count": 2,
        "has_more": False,
        "next_offset": None,
        "branch": "main",
        "last_synced_commit_sha": branch.commit,
    }


def test_it_lists_the_branch_that_is_asked_for(
    synced: Repository, github: GitHubEmulator, cli: Cli
) -> None:
    github.push("acme/agents", "feature/x", {"rollouts/extra/main.py": "1\n"})
    check_all(synced)
    assert names(cli.get("rollouts?branch=feature%2Fx")) == ["extra"]
    assert names(cli.get("rollouts?branch=")) == ["maths", "search"]


def test_pages_are_stable_and_end(synced: Repository, github: GitHubEmulator, cli: Cli) -> None:
    files = {f"rollouts/r{number:03}/main.py": f"{number}\n" for number in range(118)}
    github.push("acme/agents", "main", files)
    check_all(synced)
    found: list[str] = []
    offset: int | None = 0
    offsets = []
    while offset is not None:
        status, body = cli.get(f"rollouts?limit=50&offset={offset}")
        assert (status, body["total_count"], len(body["rollouts"]) <= 50) == (200, 120, True)
        found += [row["name"] for row in body["rollouts"]]
        assert body["has_more"] == (body["next_offset"] is not None)
        offsets.append(offset)
        offset = body["next_offset"]
    assert offsets == [0, 50, 100]
    assert found == sorted(found)
    assert len(set(found)) == 120
    status, body = cli.get("rollouts?offset=120")
    assert (status, body["rollouts"], body["next_offset"]) == (200, [], None)


@pytest.mark.parametrize(
    "query", ["limit=51", "limit=0", "limit=-1", "limit=x", "limit=", "offset=-1", "offset=1e3"]
)
def test_it_refuses_pages_there_cannot_be(query: str, synced: Repository, cli: Cli) -> None:
    assert cli.refusal(f"rollouts?{query}") == (400, "VALIDATION")


def test_a_typo_is_told_from_an_empty_branch(
    synced: Repository, github: GitHubEmulator, cli: Cli
) -> None:
    github.push("acme/agents", "feature/x", {"rollouts/extra/main.py": "1\n"})
    check_all(synced)
    status, body = cli.get("rollouts?branch=feature%2Fy")
    assert (status, body["code"]) == (404, "BRANCH_NOT_FOUND")
    assert body["message"] == (
        "No branch “feature/y” is known here. Did you mean “feature/x”? "
        "If you have just pushed it, it is here once it has been synced."
    )
    status, body = cli.get("rollouts?branch=zzz%1b[31m%00")
    assert (status, "\x1b" in body["message"], "mean" in body["message"]) == (404, False, False)


def test_a_branch_without_rollouts_is_an_empty_list(
    synced: Repository, github: GitHubEmulator, cli: Cli
) -> None:
    github.push("acme/agents", "empty", {"README.md": "Nothing yet.\n"})
    check_all(synced)
    assert names(cli.get("rollouts?branch=empty")) == []


def test_before_the_first_sync_nothing_is_listed(agents: Repository, cli: Cli) -> None:
    status, body = cli.get("rollouts")
    assert (status, body["rollouts"], body["total_count"], body["branch"]) == (200, [], 0, "main")
    Branch.objects.create(repository=agents, name="announced")
    assert names(cli.get("rollouts?branch=announced")) == []


def test_a_deleted_branch_says_what_became_of_it(
    synced: Repository, github: GitHubEmulator, cli: Cli
) -> None:
    github.push("acme/agents", "old", {"rollouts/extra/main.py": "1\n"})
    check_all(synced)
    commit = synced.branches.get(name="old").commit
    github.delete_branch("acme/agents", "old")
    check_all(synced)
    status, body = cli.get("rollouts?branch=old")
    assert (status, body["code"]) == (404, "BRANCH_NOT_FOUND")
    assert body["message"] == f"The branch “old” was deleted on GitHub; last synced {commit[:7]}."


def test_what_could_not_be_read_again_is_still_listed(
    synced: Repository, github: GitHubEmulator, cli: Cli
) -> None:
    synced.note_trouble(Repository.Trouble.UNAVAILABLE, "GitHub is down.", retry_at=now())
    assert names(cli.get("rollouts")) == ["maths", "search"]


def test_it_asks_the_same_number_of_queries_for_1_and_50_rollouts(
    synced: Repository, github: GitHubEmulator, cli: Cli
) -> None:
    cli.get("rollouts")
    with counted_queries() as few:
        cli.get("rollouts?limit=1")
    github.push("acme/agents", "main", {f"rollouts/r{n}/main.py": f"{n}\n" for n in range(60)})
    engine.sync(synced.pk)
    check_all(synced)
    with counted_queries() as many:
        assert len(names(cli.get("rollouts"))) == 50
    assert len(few) == len(many) == 4


def test_members_whom_github_keeps_out_see_nothing(
    synced: Repository, acme: Workspace, linus: User
) -> None:
    cli = Cli(make_token(linus))
    assert names(cli.get("rollouts")) == ["maths", "search"]
    acme.memberships.filter(user=linus).update(
        may_read=False, ask_again_at=now() + timedelta(minutes=15)
    )
    assert cli.refusal("rollouts") == (403, "GIT_SCOPE_HEADER_ACCESS_DENIED")
    assert cli.get("verify")[1]["workspace"] is None
    assert cli.get("workspaces")[1]["workspaces"][0]["connected_repo"] is None
