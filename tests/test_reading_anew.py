"""An upgrade that reads files in another way: what is stored is read anew, and nothing is lost."""

import pytest

from rollouts_app import catalog
from rollouts_app.models import Catalog, ConfigVersion, Repository, RolloutVersion, SyncRun
from rollouts_app.models.changes import changes_between
from rollouts_app.sync import engine, pruning
from tests.github_emulator import GitHubEmulator
from tests.syncing import NAME, check_all

pytestmark = pytest.mark.django_db

TABLES = (Catalog, RolloutVersion, ConfigVersion)


@pytest.fixture
def upgraded(synced: Repository) -> Repository:
    """A repository that an earlier version of the server has read."""
    for table in TABLES:
        table.objects.update(parser=catalog.PARSER - 1)
    Repository.objects.update(heads_digest="made by an earlier version")
    return synced


def readings(repository: Repository) -> set[int]:
    """By which readings what the branches show was made."""
    shown = Catalog.objects.filter(branches__repository=repository)
    return set(shown.values_list("parser", flat=True))


def test_the_next_full_check_reads_all_anew(upgraded: Repository) -> None:
    before = upgraded.branches.get().catalog
    check_all(upgraded)
    assert readings(upgraded) == {catalog.PARSER}
    after = upgraded.branches.get().catalog
    assert before
    assert after
    assert before.pk != after.pk
    assert changes_between(before.pk, after.pk) == []
    run = SyncRun.objects.latest("pk")
    assert (run.state, run.catalog_before_id, run.catalog_after_id) == (
        "success",
        before.pk,
        after.pk,
    )


def test_a_push_is_read_by_the_rules_of_today(upgraded: Repository, github: GitHubEmulator) -> None:
    commit = github.push(NAME, "main", {"rollouts/maths/README.md": "# Other\n"})
    branch = upgraded.branches.get()
    SyncRun.objects.request(branch, "push", commit=commit)
    engine.sync(upgraded.pk)
    assert readings(upgraded) == {catalog.PARSER}


def test_it_is_read_once(upgraded: Repository) -> None:
    check_all(upgraded)
    count = SyncRun.objects.count()
    check_all(upgraded)
    assert SyncRun.objects.count() == count


def test_what_was_read_before_is_pruned(upgraded: Repository) -> None:
    check_all(upgraded)
    SyncRun.objects.all().delete()
    pruning.prune(upgraded.pk)
    for table in TABLES:
        assert set(table.objects.values_list("parser", flat=True)) <= {catalog.PARSER}
