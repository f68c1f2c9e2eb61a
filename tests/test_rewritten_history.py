"""Force pushes: the history says what was rewritten, and what is on the branch no longer."""

import pytest

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync import engine
from tests.conftest import Read, receive
from tests.github_emulator import GitHubEmulator
from tests.history import SYNCS, cells
from tests.syncing import NAME

pytestmark = pytest.mark.django_db

TAKEN_OFF = "No longer on the branch: a force push took this commit off it."


def sync_push(github: GitHubEmulator, repository: Repository) -> None:
    """Hear of the newest push to the repository, and sync it."""
    github.wait_for_deliveries()
    receive([each for each in github.deliveries if each.event == "push"][-1])
    engine.sync(repository.pk)


def notices(read: Read, run: SyncRun) -> list[str]:
    return read(f"{SYNCS}/{run.pk}").texts(".//*[@id='run']/*[@class='notice']/p")


def test_it_marks_what_a_force_push_rewrote(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    """W13: the new row is flagged, the old one says that its commit has gone."""
    engine.sync(agents.pk)
    start = github.heads(NAME)["main"]
    old = github.push(NAME, "main", {"rollouts/chess/main.py": "…"}, message="Add chess")
    sync_push(github, agents)
    new = github.push(
        NAME, "main", {"rollouts/go/main.py": "…"}, message="Add go", start=start, force=True
    )
    sync_push(github, agents)
    [rewriting, before, first] = SyncRun.objects.order_by("-pk")
    assert (rewriting.commit, rewriting.replaced_commit, before.commit) == (new, old, old)
    assert notices(read, rewriting) == [f"Rewritten: a force push took {old[:7]} off the branch."]
    link = read(f"{SYNCS}/{rewriting.pk}").one(".//a[@id='replaced']")
    assert link.get("href") == f"{github.url}/{NAME}/commit/{old}"
    assert notices(read, before) == [
        "This commit is no longer on the branch: a later force push took it off."
    ]
    assert notices(read, first) == []
    assert [row[2] for row in cells(read(SYNCS))] == [
        f"{new[:7]} Add go Rewritten: a force push took {old[:7]} off the branch.",
        f"{old[:7]} Add chess {TAKEN_OFF}",
        f"{first.commit[:7]} {first.subject} First sync",
    ]


def test_a_commit_that_was_brought_back_is_on_the_branch(
    read: Read, agents: Repository, github: GitHubEmulator
) -> None:
    engine.sync(agents.pk)
    [first] = SyncRun.objects.all()
    main = first.branch
    SyncRun.objects.request(main, "push", commit="1" * 40, replaced=first.commit)
    engine.sync(agents.pk)
    # The branch shows it, whatever the hint said.
    assert notices(read, first) == []
    main.commit = "2" * 40
    main.save()
    assert len(notices(read, first)) == 1


def test_only_a_later_force_push_of_the_same_branch_takes_a_commit_off(
    agents: Repository, github: GitHubEmulator
) -> None:
    github.create_branch(NAME, "feature/x", "main")
    engine.sync(agents.pk)
    [x, main] = SyncRun.objects.select_related("branch").order_by("branch__name")
    agents.branches.update(commit="2" * 40)
    SyncRun.objects.request(x.branch, "push", commit="1" * 40, replaced=x.commit)
    runs = list(SyncRun.objects.select_related("branch"))
    assert x.commit == main.commit
    assert SyncRun.objects.taken_off(runs) == {x.pk}
    # Pushed again after that: the later row is about the commit that is on the branch.
    SyncRun.objects.filter(state="pending").update(state="success", finished_at=x.finished_at)
    again = SyncRun.objects.request(x.branch, "push", commit=x.commit)
    assert SyncRun.objects.taken_off([*runs, again]) == {x.pk}
