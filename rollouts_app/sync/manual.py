""" "Sync now": somebody wants to know whether the page is true."""

from django.db import transaction

from rollouts_app.models import Repository, SyncRun
from rollouts_app.sync.tasks import ring


def check_now(repository: Repository) -> None:
    """Have all heads compared at once. Pressed twice it is still one job and one run."""
    with transaction.atomic():
        repository.request_full_check()
        default = repository.branches.existing().filter(name=repository.default_branch).first()
        if default and not default.sync_runs.open().exists():
            SyncRun.objects.request(default, SyncRun.Trigger.MANUAL)
        ring(repository.pk)
