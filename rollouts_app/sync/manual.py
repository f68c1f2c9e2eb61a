"""What somebody asks for on a page: Sync now, and Retry of one sync."""

from django.db import transaction

from rollouts_app.models import Branch, Repository, SyncRun
from rollouts_app.sync.tasks import ring


def check_now(repository: Repository) -> None:
    """Have all heads compared at once. Pressed twice it is still one job and one run."""
    with transaction.atomic():
        repository.request_full_check(is_by_hand=True)
        default = repository.branches.existing().filter(name=repository.default_branch).first()
        if default and not default.sync_runs.open().exists():
            SyncRun.objects.request(default, SyncRun.Trigger.MANUAL)
        ring(repository.pk)


def retry(run: SyncRun, login: str) -> SyncRun:
    """Ask anew for the branch of a run that failed or was cancelled; the run that answers.

    `login` is who asks. Where the branch was asked for since, by anybody, that run answers:
    pressed twice is once. A run that is not worth a retry is its own answer.
    """
    with transaction.atomic():
        # Whoever else asks for this branch waits here.
        Branch.objects.select_for_update().get(pk=run.branch_id)
        newer = run.newer_run()
        if newer or not run.is_worth_a_retry:
            return newer or run
        asked = SyncRun.objects.request(run.branch, SyncRun.Trigger.MANUAL, pusher=login)
        ring(run.repository_id)
    return asked
