"""The history of Git Sync, which is also the truth about its work."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.postgres.indexes import BrinIndex
from django.db import models, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q
from django.utils.timezone import now

from rollouts_app.models.branches import Branch
from rollouts_app.models.catalogs import Catalog
from rollouts_app.models.repositories import Repository

# How long history is kept: syncs and deliveries. The last sync of each branch stays.
KEPT = timedelta(days=90)

# What a search takes for the beginning of a commit id.
COMMIT_START = re.compile(r"[0-9a-f]{4,64}", re.IGNORECASE)

SUPERSEDED = "A newer push to this branch came first."


class SyncRunQuerySet(models.QuerySet["SyncRun"]):
    def open(self) -> "SyncRunQuerySet":
        """Those that have not ended."""
        return self.filter(state__in=SyncRun.OPEN_STATES)

    def for_history(self) -> "SyncRunQuerySet":
        """The newest first, with their branches."""
        return self.order_by("-pk").select_related("branch")

    def close(self, state: str, reason: str) -> int:
        """End all of them. Returns how many there were."""
        return self.update(state=state, reason=reason, finished_at=now())

    def hold_branches(self) -> None:
        """Have requests for their branches wait until the transaction ends, in one order for all.

        A request holds its branch before any run: so does whoever touches runs that may wait.
        """
        branches = Branch.objects.filter(sync_runs__in=self).order_by("pk")
        list(branches.select_for_update(of=("self",)).values_list("pk"))

    def put_back(self, reason: str) -> None:
        """Let runs at work wait again, unless a newer one waits for the same branch."""
        with transaction.atomic():
            self.hold_branches()
            newer = SyncRun.objects.filter(branch=OuterRef("branch"), state=SyncRun.State.PENDING)
            self.filter(Exists(newer)).close(SyncRun.State.SUPERSEDED, SUPERSEDED)
            self.filter(state=SyncRun.State.SYNCING).update(
                state=SyncRun.State.PENDING, reason=reason
            )

    def matching(self, text: str) -> "SyncRunQuerySet":
        """Those whose branch, message or person contains the text, or whose commit begins so."""
        if not text:
            return self
        branches = Branch.objects.filter(name__icontains=text)
        found = (
            Q(branch__in=branches)
            | Q(subject__icontains=text)
            | Q(author__icontains=text)
            | Q(pusher__icontains=text)
        )
        if COMMIT_START.fullmatch(text):
            found |= Q(commit__startswith=text.lower())
        return self.filter(found)

    def outdated(self) -> "SyncRunQuerySet":
        """Those that ended longer ago than history is kept, without the last one of a branch."""
        newer = SyncRun.objects.filter(branch=OuterRef("branch"), pk__gt=OuterRef("pk"))
        return self.filter(Exists(newer), finished_at__lt=now() - KEPT)

    def taken_off(self, runs: Iterable["SyncRun"]) -> set[int]:
        """The ids of those whose commit a later force push took off the branch, for good so far."""
        runs = [run for run in runs if run.commit and run.commit != run.branch.commit]
        rewritings = (
            self.filter(
                branch__in={run.branch_id for run in runs},
                replaced_commit__in={run.commit for run in runs},
            )
            .exclude(replaced_commit="")
            .values_list("branch_id", "replaced_commit")
            .annotate(last=Max("pk"))
        )
        last = {(branch, commit): pk for branch, commit, pk in rewritings}
        return {run.pk for run in runs if last.get((run.branch_id, run.commit), 0) > run.pk}

    def first_sync_progress(self) -> tuple[int, int]:
        """How many of the branches found when the repository was connected are read, and all."""
        # What an earlier connection found was read then.
        first = self.filter(
            trigger=SyncRun.Trigger.CONNECTED,
            requested_at__gte=F("repository__connected_at"),
        )
        is_open = Q(state__in=SyncRun.OPEN_STATES)
        counts = first.aggregate(total=Count("pk"), open=Count("pk", filter=is_open))
        return counts["total"] - counts["open"], counts["total"]

    def request(
        self,
        branch: Branch,
        trigger: str,
        *,
        commit: str = "",
        pusher: str = "",
        replaced: str = "",
    ) -> "SyncRun":
        """Ask for a sync of the branch. `replaced` is the commit that a force push took off it.

        A run that still waits for the same commit, or for one not known yet, takes the news in;
        one that waits for another commit gives way and stays in the history as superseded.
        """
        with transaction.atomic():
            # Requests for one branch queue up here.
            Branch.objects.select_for_update().get(pk=branch.pk)
            # A worker may be taking the run up: then it waits no longer.
            pending = self.select_for_update().filter(branch=branch, state=SyncRun.State.PENDING)
            waiting = pending.first()
            if waiting and (not commit or waiting.commit in {"", commit}):
                waiting.learn(trigger=trigger, commit=commit, pusher=pusher, replaced=replaced)
                return waiting
            if waiting:
                waiting.close(SyncRun.State.SUPERSEDED, SUPERSEDED)
            return self.create(
                repository=branch.repository,
                branch=branch,
                commit=commit,
                pusher=pusher,
                replaced_commit=replaced,
                trigger=trigger,
            )

    def note_late_push(self, name: str, commit: str, pusher: str) -> "SyncRun | None":
        """The run that the timer began for want of a webhook, now that this has come.

        It was a push after all. None where the timer brought no such commit to that branch.
        """
        has_begun = [SyncRun.State.SYNCING, SyncRun.State.SUCCESS, SyncRun.State.ISSUES]
        found = self.filter(branch__name=name, commit=commit, state__in=has_begun).last()
        if found is None or found.trigger != SyncRun.Trigger.RECOVERED:
            return None
        found.trigger, found.pusher = SyncRun.Trigger.PUSH, pusher
        found.reason = "The timer had found this commit before its webhook came."
        found.save(update_fields=["trigger", "pusher", "reason"])
        return found


class SyncRun(models.Model):
    """One attempt to make one branch's catalog equal GitHub's head."""

    class State(models.TextChoices):
        PENDING = "pending"
        SYNCING = "syncing"
        SUCCESS = "success"
        ISSUES = "issues", "success with issues"
        FAILED = "failed"
        SUPERSEDED = "superseded"
        CANCELLED = "cancelled"

    class Trigger(models.TextChoices):
        CONNECTED = "connected"
        PUSH = "push"
        CREATED = "branch created"
        MANUAL = "sync now"
        TIMER = "timer"
        RECOVERED = "recovered"

    OPEN_STATES = (State.PENDING, State.SYNCING)
    PUSHES = (Trigger.PUSH, Trigger.CREATED)

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="sync_runs")
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, related_name="sync_runs")
    commit = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=20, choices=State, default=State.PENDING)
    trigger = models.CharField(max_length=20, choices=Trigger)
    reason = models.TextField(blank=True)
    pusher = models.CharField(max_length=255, blank=True)
    author = models.CharField(max_length=255, blank=True)
    subject = models.TextField(blank=True)
    # What a force push took off the branch.
    replaced_commit = models.CharField(max_length=64, blank=True)
    # Whether the branch showed nothing before, so that it was compared with the default branch.
    is_new_branch = models.BooleanField(default=False)
    catalog_before = models.ForeignKey(
        Catalog, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    catalog_after = models.ForeignKey(
        Catalog, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    requested_at = models.DateTimeField(default=now)
    started_at = models.DateTimeField(null=True, blank=True)
    # When GitHub had told its heads, and when the commit and its trees were here.
    looked_at = models.DateTimeField(null=True, blank=True)
    fetched_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)

    objects = SyncRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["branch"], condition=Q(state="pending"), name="one_pending_run_per_branch"
            ),
            models.UniqueConstraint(
                fields=["branch"], condition=Q(state="syncing"), name="one_syncing_run_per_branch"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "syncing"]) ^ Q(finished_at__isnull=False),
                name="a_run_is_finished_or_open",
            ),
        ]
        indexes = [
            models.Index(fields=["repository", "-id"], name="runs_of_a_repository"),
            models.Index(
                fields=["repository"],
                condition=Q(state__in=["pending", "syncing"]),
                name="open_runs_of_a_repository",
            ),
            models.Index(
                fields=["branch"], condition=~Q(replaced_commit=""), name="rewritings_of_a_branch"
            ),
            # Asked once a scrape, written with each run: one small enough to cost nothing then.
            BrinIndex(fields=["finished_at"], autosummarize=True, name="runs_that_ended_lately"),
        ]

    def __str__(self) -> str:
        return f"{self.branch} at {self.commit[:7]}: {self.state}"

    def learn(self, *, trigger: str, commit: str, pusher: str, replaced: str) -> None:
        """Take what a later hint adds to a run that still waits."""
        if not commit:
            return
        self.commit, self.trigger = commit, trigger
        self.pusher = pusher or self.pusher
        self.replaced_commit = replaced or self.replaced_commit
        self.save(update_fields=["commit", "trigger", "pusher", "replaced_commit"])

    def anew(self) -> "SyncRun":
        """A run, not yet stored, that waits for the same as this one."""
        return SyncRun(
            repository_id=self.repository_id,
            branch_id=self.branch_id,
            commit=self.commit,
            trigger=self.trigger,
            pusher=self.pusher,
            replaced_commit=self.replaced_commit,
            attempts=self.attempts,
        )

    def close(self, state: str, reason: str) -> None:
        """End the run."""
        self.state, self.reason, self.finished_at = state, reason, now()
        self.save(update_fields=["state", "reason", "finished_at"])

    def cancel(self, by: str) -> bool:
        """End the run if it still waits, for this commit. False when a worker or push was first."""
        waiting = SyncRun.objects.filter(pk=self.pk, state=self.State.PENDING, commit=self.commit)
        reason = f"Cancelled by {by}. The next push or Sync now syncs this branch."
        ended = waiting.update(state=self.State.CANCELLED, reason=reason, finished_at=now())
        if ended and self.commit:
            self.branch.withhold(self.commit)
        return ended == 1

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN_STATES

    @property
    def is_worth_a_retry(self) -> bool:
        """Whether it ended without the branch having been looked at."""
        return self.state in {self.State.FAILED, self.State.CANCELLED}

    def newer_run(self) -> "SyncRun | None":
        """The newest run of the same branch, if that is not this one."""
        return self.branch.sync_runs.filter(pk__gt=self.pk).order_by("-pk").first()

    @property
    def duration(self) -> timedelta | None:
        """How long the work took, from the worker's start to the end."""
        if self.started_at and self.finished_at:
            return self.finished_at - self.started_at
        return None

    @property
    def when(self) -> datetime:
        return self.finished_at or self.started_at or self.requested_at
