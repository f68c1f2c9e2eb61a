"""The one verb: whatever happened, the catalogs equal GitHub's heads afterwards."""

import subprocess
from datetime import timedelta
from hashlib import sha512

import pytest
from django.db import connection
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from rollouts_app.models import Branch, Catalog, Repository, RolloutVersion
from rollouts_app.models.changes import changes_between
from rollouts_app.sync import engine
from tests.conftest import FILES
from tests.github_emulator import Content, GitHubEmulator, Submodule, Symlink
from tests.syncing import NAME, check_all, heads_shown, names_on, push_hint

pytestmark = pytest.mark.django_db


def test_it_shows_the_rollouts_of_every_branch(agents: Repository, github: GitHubEmulator) -> None:
    github.push(NAME, "feature/reward", {"rollouts/chess/main.py": "…"}, start="main")
    engine.sync(agents.pk)
    assert names_on(agents, "main") == ["maths", "search"]
    assert names_on(agents, "feature/reward") == ["chess", "maths", "search"]
    assert heads_shown(agents) == github.heads(NAME)


def test_it_reads_descriptions(agents: Repository) -> None:
    engine.sync(agents.pk)
    found = RolloutVersion.objects.on(agents.branches.get(name="main"))
    assert dict(found.values_list("rollout__name", "description")) == {
        "maths": "Sums.",
        "search": "Finds things.",
    }


def test_it_ends_each_run_with_what_happened(agents: Repository) -> None:
    engine.sync(agents.pk)
    [run] = agents.sync_runs.all()
    assert (run.state, run.trigger, run.subject) == ("success", "connected", run.subject)
    after = run.catalog_after
    assert (run.catalog_before, after and after.rollout_count) == (None, 2)
    assert run.commit == agents.branches.get(name="main").commit


def test_it_compares_a_new_branch_with_the_default_branch(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.push(NAME, "feature/x", {"rollouts/chess/main.py": "…"}, start="main")
    engine.sync(agents.pk)
    first = agents.sync_runs.get(branch__name="main")
    new = agents.sync_runs.get(branch__name="feature/x")
    assert first.catalog_before is None
    assert new.catalog_before == first.catalog_after
    changes = changes_between(new.catalog_before_id, new.catalog_after_id)
    assert [(change.name, change.kind) for change in changes] == [("chess", "added")]


def test_it_takes_only_directories_for_rollouts(agents: Repository, github: GitHubEmulator) -> None:
    odd: dict[str, Content] = {
        "rollouts/.gitkeep": "",
        "rollouts/notes.md": "x",
        "rollouts/link": Symlink("maths"),
        "rollouts/module": Submodule("1" * 40),
    }
    github.push(NAME, "main", odd)
    check_all(agents)
    assert names_on(agents, "main") == ["maths", "search"]


def test_it_writes_nothing_twice(agents: Repository, github: GitHubEmulator) -> None:
    for number in range(5):
        github.create_branch(NAME, f"copy-{number}", "main")
    check_all(agents)
    assert (Catalog.objects.count(), RolloutVersion.objects.count()) == (1, 2)
    assert agents.branches.count() == 6


def test_it_asks_only_for_the_branches_of_waiting_runs(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    checked_at = Repository.objects.get().heads_checked_at
    commit = github.push(NAME, "main", {"rollouts/new/main.py": "…"})
    github.push(NAME, "other", {"a": "b"}, start="main")
    push_hint(agents, "main", commit)
    engine.sync(agents.pk)
    assert heads_shown(agents) == {"main": commit}
    assert Repository.objects.get().heads_checked_at == checked_at


def test_it_trusts_the_head_and_not_the_hint(agents: Repository, github: GitHubEmulator) -> None:
    older = github.push(NAME, "main", {"one": "1"})
    newer = github.push(NAME, "main", {"two": "2"})
    engine.sync(agents.pk)
    push_hint(agents, "main", older)
    engine.sync(agents.pk)
    assert heads_shown(agents) == {"main": newer}
    run = agents.sync_runs.latest("pk")
    assert (run.state, run.commit) == ("success", newer)


def test_it_follows_a_force_push(agents: Repository, github: GitHubEmulator) -> None:
    engine.sync(agents.pk)
    root = github.replace(NAME, "main", {"rollouts/only/main.py": "…"})
    check_all(agents)
    assert heads_shown(agents) == {"main": root}
    assert names_on(agents, "main") == ["only"]


def test_it_keeps_a_tombstone_of_a_deleted_branch(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.create_branch(NAME, "feature/x", "main")
    check_all(agents)
    github.delete_branch(NAME, "feature/x")
    check_all(agents)
    grave = agents.branches.get(name="feature/x")
    assert grave.deleted_at is not None
    assert names_on(agents, "feature/x") == ["maths", "search"]
    assert heads_shown(agents) == github.heads(NAME)


def test_it_revives_a_branch_made_again(agents: Repository, github: GitHubEmulator) -> None:
    github.create_branch(NAME, "again", "main")
    check_all(agents)
    github.delete_branch(NAME, "again")
    check_all(agents)
    github.create_branch(NAME, "again", "main")
    check_all(agents)
    assert heads_shown(agents) == github.heads(NAME)


def test_it_supersedes_a_push_to_a_branch_that_is_gone(
    agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    run = push_hint(agents, "short-lived", "1" * 40)
    engine.sync(agents.pk)
    run.refresh_from_db()
    assert run.state == "superseded"
    assert heads_shown(agents) == github.heads(NAME)


def test_it_says_when_a_push_brought_nothing(agents: Repository) -> None:
    engine.sync(agents.pk)
    run = push_hint(agents, "main")
    engine.sync(agents.pk)
    run.refresh_from_db()
    assert run.state == "success"
    assert run.reason == "Nothing changed: the branch already showed this commit."


def test_it_writes_one_row_when_nothing_changed(
    agents: Repository, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    check_all(agents)
    first = agents.heads_checked_at
    agents.request_full_check()
    # Lock, repository, whether runs wait, token for REST and for git, runs at work, the one UPDATE,
    # whether more was asked for, unlock.
    with django_assert_num_queries(9):
        engine.sync(agents.pk)
    agents.refresh_from_db()
    assert first
    assert agents.heads_checked_at
    assert agents.heads_checked_at > first
    assert agents.full_check_requested_at is None


@pytest.mark.parametrize("skew", [timedelta(hours=-1), timedelta(hours=1)], ids=["slow", "fast"])
def test_it_ends_the_request_it_knew_of_whatever_the_clocks_say(
    agents: Repository, skew: timedelta
) -> None:
    Repository.objects.update(full_check_requested_at=now() + skew)
    agents.refresh_from_db()
    known = agents.full_check_requested_at
    agents.request_full_check()
    agents.note_full_check(known, "digest")
    agents.drop_full_check()
    agents.refresh_from_db()
    newer = agents.full_check_requested_at
    assert newer is not None
    agents.note_full_check(newer, "digest")
    agents.refresh_from_db()
    assert agents.full_check_requested_at is None


def test_it_ends_with_one_listing_where_the_databases_clock_is_ahead(
    agents: Repository, github: GitHubEmulator
) -> None:
    check_all(agents)
    Repository.objects.update(full_check_requested_at=now() + timedelta(minutes=1))
    before = len(github.requests)
    engine.sync(agents.pk)
    listed = [seen.path for seen in github.requests[before:] if "info/refs" in seen.path]
    agents.refresh_from_db()
    assert (len(listed), agents.full_check_requested_at) == (1, None)


def test_it_leaves_out_branches_with_names_beyond_all_limits(
    agents: Repository, github: GitHubEmulator
) -> None:
    """The database's index holds no such name, and its neighbours must not suffer."""
    parts = [sha512(bytes([number])).hexdigest() for number in range(24)]
    main = github.heads(NAME)["main"]
    github.create_branch(NAME, "/".join(parts), "main")
    check_all(agents)
    assert heads_shown(agents) == {"main": main}


def test_it_tells_branches_apart_by_their_exact_names(
    agents: Repository, github: GitHubEmulator
) -> None:
    odd = [
        "A",
        "a/b",
        "a-b",
        "feature/ui#123",
        "100%25",
        "x+y&z",
        "ünï/码",
        "x;$(touch${IFS}pwned)",
    ]
    for name in odd:
        github.create_branch(NAME, name, "main")
    check_all(agents)
    assert heads_shown(agents) == github.heads(NAME)
    assert set(heads_shown(agents)) == {"main", *odd}


def test_it_leaves_out_branches_whose_names_are_no_text(
    agents: Repository, github: GitHubEmulator
) -> None:
    bare = github.bare(github.repository_named(NAME))
    command = [b"git", b"update-ref", b"refs/heads/caf\xe9", github.heads(NAME)["main"].encode()]
    subprocess.run(command, cwd=bare.folder, check=True)
    check_all(agents)
    assert list(heads_shown(agents)) == ["main"]
    assert agents.trouble == ""


def test_it_marks_only_the_broken_rollout(agents: Repository, github: GitHubEmulator) -> None:
    github.push(NAME, "main", {"rollouts/maths/pyproject.toml": "[project\n"})
    check_all(agents)
    found = RolloutVersion.objects.on(agents.branches.get(name="main"))
    assert dict(found.values_list("rollout__name", "problem_count")) == {"maths": 1, "search": 0}
    assert agents.sync_runs.latest("pk").state == "issues"


def test_it_syncs_an_empty_repository_with_its_first_push(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.delete_branch(NAME, "main")
    check_all(agents)
    assert heads_shown(agents) == {}
    github.push(NAME, "main", FILES)
    check_all(agents)
    assert heads_shown(agents) == github.heads(NAME)


def test_it_never_shows_half_a_branch(agents: Repository) -> None:
    with pytest.raises(Exception, match="branch_with_a_commit_has_a_catalog"):
        Branch.objects.create(repository=agents, name="half", commit="1" * 40)
    connection.close()


def test_it_asks_the_same_number_of_queries_for_2_and_40_branches(
    agents: Repository,
    github: GitHubEmulator,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(40):
        files = {f"rollouts/maths/{number}.py": "…"}
        github.push(NAME, f"branch-{number}", files, start="main")
    with django_assert_max_num_queries(60):
        engine.sync(agents.pk)
    assert heads_shown(agents) == github.heads(NAME)
