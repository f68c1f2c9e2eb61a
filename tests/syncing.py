"""What tests of Git Sync ask and do."""

from rollouts_app.models import (
    Branch,
    Catalog,
    ConfigVersion,
    Repository,
    RolloutVersion,
    SyncRun,
)
from rollouts_app.models.changes import Problem
from rollouts_app.sync import engine
from tests.truth import Contents

NAME = "acme/agents"


def names_on(repository: Repository, branch: str) -> list[str]:
    found = RolloutVersion.objects.on(repository.branches.get(name=branch))
    return list(found.values_list("rollout__name", flat=True))


def heads_shown(repository: Repository) -> dict[str, str]:
    return dict(repository.branches.existing().values_list("name", "commit"))


def contents_shown(branch: Branch) -> Contents:
    """What the branch's catalog holds, in git's words."""
    catalog = Catalog.objects.get(branches=branch)
    versions = RolloutVersion.objects.filter(pk__in=catalog.versions)
    configs = ConfigVersion.objects.filter(pk__in=catalog.configs)
    return Contents(
        dict(versions.values_list("rollout__name", "tree_id")),
        dict(configs.values_list("path", "blob_id")),
    )


def check_all(repository: Repository) -> None:
    repository.request_full_check()
    engine.sync(repository.pk)
    repository.refresh_from_db()


def push_hint(repository: Repository, name: str, commit: str = "") -> SyncRun:
    branch, _ = Branch.objects.get_or_create(repository=repository, name=name)
    return SyncRun.objects.request(branch, SyncRun.Trigger.PUSH, commit=commit)


def told_of(name: str, branch: Branch) -> list[Problem]:
    """All that the checks say of a rollout, of its two configs and of the branch; notes, too."""
    version = RolloutVersion.objects.on(branch).get(rollout__name=name)
    configs = list(ConfigVersion.objects.on(branch).filter(rollout_name=name))
    assert [config.kind for config in configs] == ["eval", "training"]
    assert branch.catalog is not None
    lists = [version.problems, branch.catalog.problems, *(each.problems for each in configs)]
    return [problem for problems in lists for problem in problems]
