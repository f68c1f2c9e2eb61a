"""What tests of Git Sync ask and do."""

from rollouts_app.models import Branch, Repository, RolloutVersion, SyncRun
from rollouts_app.sync import engine

NAME = "acme/agents"


def names_on(repository: Repository, branch: str) -> list[str]:
    found = RolloutVersion.objects.on(repository.branches.get(name=branch))
    return list(found.values_list("rollout__name", flat=True))


def heads_shown(repository: Repository) -> dict[str, str]:
    return dict(repository.branches.existing().values_list("name", "commit"))


def check_all(repository: Repository) -> None:
    repository.request_full_check()
    engine.sync(repository.pk)
    repository.refresh_from_db()


def push_hint(repository: Repository, name: str, commit: str = "") -> SyncRun:
    branch, _ = Branch.objects.get_or_create(repository=repository, name=name)
    return SyncRun.objects.request(branch, SyncRun.Trigger.PUSH, commit=commit)
