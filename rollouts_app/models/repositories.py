"""What we know of GitHub: App installations and the connected repositories."""

from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce, Now
from django.utils.timezone import now

from rollouts_app import addresses
from rollouts_app.models.workspaces import Workspace


class Installation(models.Model):
    """The GitHub App on one account, known by GitHub's number."""

    github_id = models.BigIntegerField(unique=True)
    account_id = models.BigIntegerField()
    account_login = models.CharField(max_length=255)
    account_type = models.CharField(max_length=32)
    permissions = models.JSONField(default=dict)
    suspended_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    # What the App must be granted, by GitHub's words, for Git Sync to work.
    NEEDED_PERMISSIONS: ClassVar[dict[str, str]] = {"contents": "read", "metadata": "read"}

    def __str__(self) -> str:
        return f"{self.account_login} ({self.github_id})"

    @property
    def is_usable(self) -> bool:
        """Whether the App may act there at all, as far as we were told."""
        return self.suspended_at is None and self.removed_at is None

    def rename(self, login: str) -> None:
        """Take over the account's new login."""
        self.account_login = login
        self.save(update_fields=["account_login"])

    def note_removal(self) -> None:
        """Record that the App is no longer installed there, keeping the first time."""
        if self.removed_at is None:
            self.removed_at = now()
            self.save(update_fields=["removed_at"])

    @property
    def page(self) -> str:
        """Its settings at GitHub: repositories, permissions, suspension."""
        return addresses.installation_page(
            settings.GITHUB_URL, self.account_login, self.account_type, self.github_id
        )

    @property
    def permissions_page(self) -> str:
        """Where an owner of the account accepts permissions that the App asks for."""
        return f"{self.page}/permissions/update"


class RepositoryQuerySet(models.QuerySet["Repository"]):
    def connected(self) -> "RepositoryQuerySet":
        """Without those that were disconnected and whose rollouts are only kept."""
        return self.filter(disconnected_at=None)

    def of_account(self, account_id: int) -> "RepositoryQuerySet":
        """Those read by an installation on the account, by GitHub's number of it."""
        return self.filter(installation__account_id=account_id)

    def kept(self) -> "RepositoryQuerySet":
        """Those that were disconnected and can return, the latest first."""
        kept = self.filter(disconnected_at__isnull=False, deletion_requested_at=None)
        return kept.order_by("-disconnected_at", "-pk")


class Repository(models.Model):
    """A workspace repository, known by GitHub's number; its name is a label that follows renames.

    A workspace has one that is connected; those it had before may be kept beside it. The default
    branch is kept by name: its Branch row may not exist yet.
    """

    class Trouble(models.TextChoices):
        """Why the last attempt to look at GitHub did not succeed, by what helps."""

        NONE = ""
        GONE = "gone"
        DELETED = "deleted"
        REMOVED = "removed"
        MOVED = "moved"
        PERMISSION = "permission"
        POLICY = "policy"
        DENIED = "denied"
        APP = "app"
        RATE_LIMITED = "rate limited"
        UNAVAILABLE = "unavailable"
        DISK_FULL = "disk full"
        GIT = "git"

    PASSING_TROUBLES: ClassVar[frozenset[str]] = frozenset(
        {
            *(Trouble.RATE_LIMITED.value, Trouble.UNAVAILABLE.value),
            *(Trouble.DISK_FULL.value, Trouble.GIT.value),
        }
    )
    # What we were told of a repository that is not there says more than that it is not there.
    ABSENCES: ClassVar[frozenset[str]] = frozenset(
        {Trouble.DELETED.value, Trouble.REMOVED.value, Trouble.MOVED.value}
    )

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="repositories")
    installation = models.ForeignKey(
        Installation, on_delete=models.PROTECT, related_name="repositories"
    )
    github_id = models.BigIntegerField()
    full_name = models.CharField(max_length=255)
    default_branch = models.TextField(db_collation="C")
    is_private = models.BooleanField(default=True)
    is_archived = models.BooleanField(default=False)
    connected_at = models.DateTimeField(default=now)
    disconnected_at = models.DateTimeField(null=True, blank=True)
    # Deletion waits for a sync that is still running.
    deletion_requested_at = models.DateTimeField(null=True, blank=True)

    full_check_requested_at = models.DateTimeField(null=True, blank=True)
    # Whether somebody asked for it, so that it begins also what was cancelled or failed.
    full_check_by_hand = models.BooleanField(default=False)
    heads_checked_at = models.DateTimeField(null=True, blank=True)
    heads_digest = models.CharField(max_length=64, blank=True)

    NO_TROUBLE: ClassVar[dict[str, Any]] = {
        "trouble": Trouble.NONE,
        "trouble_reason": "",
        "trouble_since": None,
        "retry_at": None,
    }
    trouble = models.CharField(max_length=16, choices=Trouble, blank=True, default=Trouble.NONE)
    trouble_reason = models.TextField(blank=True)
    trouble_since = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)

    objects = RepositoryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"],
                condition=Q(disconnected_at=None),
                name="one_connected_repository_per_workspace",
            ),
            models.UniqueConstraint(
                fields=["github_id"],
                condition=Q(disconnected_at=None),
                name="one_workspace_per_connected_repository",
            ),
            models.UniqueConstraint(
                fields=["workspace", "github_id"], name="one_row_per_workspace_and_repository"
            ),
            models.CheckConstraint(
                condition=Q(deletion_requested_at=None) | Q(disconnected_at__isnull=False),
                name="a_repository_is_disconnected_before_it_is_deleted",
            ),
        ]

    def __str__(self) -> str:
        return self.full_name

    @property
    def page(self) -> str:
        """Its address at GitHub, by its name today."""
        return addresses.repository_page(settings.GITHUB_URL, self.full_name)

    @property
    def owner(self) -> str:
        """The login of the account it belongs to."""
        return self.full_name.partition("/")[0]

    @property
    def is_blocked(self) -> bool:
        """Whether waiting does not help: GitHub refuses us until somebody changes that there."""
        is_refused = bool(self.trouble) and self.trouble not in self.PASSING_TROUBLES
        return is_refused or not self.installation.is_usable

    @property
    def limited_until(self) -> datetime | None:
        """When GitHub takes requests again, where it limits us now."""
        if self.trouble != self.Trouble.RATE_LIMITED or not self.retry_at:
            return None
        return self.retry_at if self.retry_at > now() else None

    def folder_diff(self, base: str, head: str, path: str) -> str:
        """How a rollout's directory differs between two commits, on GitHub."""
        return addresses.folder_diff(self.page, base, head, path)

    def history_page(self, commit: str, path: str) -> str:
        """The commits that changed a directory."""
        return addresses.history_page(self.page, commit, path)

    def commit_page(self, commit: str) -> str:
        return addresses.commit_page(self.page, commit)

    def tree_page(self, commit: str, path: str) -> str:
        return addresses.tree_page(self.page, commit, path)

    def blob_page(self, commit: str, path: str, line: int | None = None) -> str:
        return addresses.blob_page(self.page, commit, path, line)

    def learn(self, **facts: Any) -> bool:
        """Take over what GitHub says of it; returns whether anything of that is new."""
        changed = [name for name, value in facts.items() if getattr(self, name) != value]
        for name in changed:
            setattr(self, name, facts[name])
        if changed:
            self.save(update_fields=changed)
        return bool(changed)

    def request_full_check(self, *, is_by_hand: bool = False) -> None:
        """Ask that all heads be compared. The request ends with a check that knew of it."""
        by_hand = {"full_check_by_hand": True} if is_by_hand else {}
        Repository.objects.filter(pk=self.pk).update(full_check_requested_at=Now(), **by_hand)

    def note_full_check(self, request: datetime | None, digest: str) -> None:
        """Record that all heads were compared, which answers this request but no later one.

        Requests are told apart by equality: the clocks of workers and database may differ.
        """
        answered = When(full_check_requested_at=request, then=None)
        is_done = When(full_check_requested_at=request, then=Value(value=False))
        Repository.objects.filter(pk=self.pk).update(
            heads_checked_at=Now(),
            heads_digest=digest,
            full_check_requested_at=Case(answered, default=F("full_check_requested_at")),
            full_check_by_hand=Case(is_done, default=F("full_check_by_hand")),
            **self.NO_TROUBLE,
        )

    def forget_heads(self) -> None:
        """Have the next full check compare branch by branch.

        What is shown is about to be no longer what the last one saw. Were it remembered, a branch
        that goes back to where it was then would be taken for unchanged.
        """
        if self.heads_digest:
            Repository.objects.filter(pk=self.pk).update(heads_digest="")

    def note_answer(self) -> None:
        """Record that GitHub answers again, where it had not."""
        if self.trouble:
            Repository.objects.filter(pk=self.pk).update(**self.NO_TROUBLE)

    def drop_full_check(self) -> None:
        """Forget the request for a full check that we know of: it was answered by a refusal."""
        Repository.objects.filter(
            pk=self.pk, full_check_requested_at=self.full_check_requested_at
        ).update(full_check_requested_at=None, full_check_by_hand=False)

    def suspect(self, trouble: str, reason: str) -> None:
        """Take note of trouble that GitHub told of, until it is asked.

        Of a repository that is deleted GitHub also tells, in either order, that it was removed.
        """
        if self.trouble == self.Trouble.DELETED:
            return
        self.note_trouble(trouble, reason, retry_at=now())

    def note_trouble(self, trouble: str, reason: str, retry_at: datetime) -> None:
        """Record why GitHub could not be looked at. `trouble_since` keeps the first time.

        What passes by itself says nothing new of a repository that we were told is not there.
        """
        own = Repository.objects.filter(pk=self.pk)
        is_passing = trouble in self.PASSING_TROUBLES
        if is_passing and own.filter(trouble__in=self.ABSENCES).update(retry_at=retry_at):
            return
        own.update(
            trouble=trouble,
            trouble_reason=reason,
            trouble_since=Coalesce(F("trouble_since"), Now()),
            retry_at=retry_at,
        )

    @property
    def is_overdue(self) -> bool:
        """Whether two intervals of the timer have passed without a look at GitHub."""
        patience = timedelta(seconds=2 * settings.SYNC_INTERVAL_SECONDS)
        return now() - (self.heads_checked_at or self.connected_at) > patience
