"""Workspaces and who belongs to them."""

from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Case, FilteredRelation, Q, When
from django.utils.functional import cached_property

from rollouts_app.models.users import User

if TYPE_CHECKING:
    from rollouts_app.models.repositories import Repository, RepositoryQuerySet

    Words = ArrayField[list[str], list[str]]

SLUG_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"

# First segments of addresses that the server uses, or will, for itself.
RESERVED_SLUGS = frozenset(
    {
        *("account", "join"),
        *("accounts", "admin", "api", "assets", "device", "docs", "doctor", "favicon", "github"),
        *("healthz", "help", "invitations", "login", "logout", "metrics", "new", "onboarding"),
        *("readyz", "server", "settings", "setup", "static", "status", "theme", "webhooks"),
        "workspaces",
    }
)

is_slug = RegexValidator(
    SLUG_PATTERN,
    "Use lower-case letters, digits and dashes, with a letter or digit at both ends.",
)


class Workspace(models.Model):
    """A team's space. Its slug is the first segment of its addresses."""

    slug = models.CharField(
        max_length=64,
        unique=True,
        validators=[is_slug],
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # The zone of all dates on its pages, by its name in the IANA database.
    timezone = models.CharField(max_length=64, default="UTC")
    # Of a private repository, GitHub has to let members read it, too.
    needs_read_access = models.BooleanField(default=True)
    # Whoever GitHub lets read the repository may join as a member.
    is_open_to_readers = models.BooleanField(default=False)
    # Out of everybody's sight already; deletion waits for a sync that is still running.
    deletion_requested_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(slug__regex=SLUG_PATTERN), name="workspace_slug_is_an_address_segment"
            )
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of its pages; UTC on a machine that does not know the one chosen."""
        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError):
            return ZoneInfo("UTC")

    @cached_property
    def repository(self) -> "Repository | None":
        """The connected repository, if there is one. One query."""
        return self.repositories.connected().select_related("installation").first()

    def kept_repositories(self) -> "RepositoryQuerySet":
        """Those it had before, whose rollouts return when they are connected again."""
        return self.repositories.kept()

    def manager_names(self) -> list[str]:
        """The names of those who may connect a repository here, in the order they joined."""
        roles = [Membership.Role.OWNER, Membership.Role.ADMIN]
        managers = self.memberships.filter(role__in=roles).select_related("user").order_by("pk")
        return [membership.user.display_name for membership in managers]


class WorkspaceSlug(models.Model):
    """A slug that a workspace has or had. The database writes these, and takes no slug twice.

    Old addresses lead on by it, and nobody else gets them while the workspace is there.
    """

    slug = models.CharField(max_length=64, primary_key=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="slugs")

    def __str__(self) -> str:
        return self.slug


class MembershipQuerySet(models.QuerySet["Membership"]):
    def by_role(self) -> "MembershipQuerySet":
        """Owners first, then admins; each in the order in which they joined."""
        ranks = [When(role=role, then=rank) for rank, role in enumerate(Membership.Role)]
        return self.order_by(Case(*ranks, default=len(ranks)), "pk")

    def with_repositories(self, *, and_installations: bool = True) -> "list[Membership]":
        """All, each with its workspace and the workspace's connected repository. One query.

        Installations come along for pages, which say how those fare.
        """
        is_connected = Q(workspace__repositories__disconnected_at=None)
        joined: Any = self.annotate(
            connected=FilteredRelation("workspace__repositories", condition=is_connected)
        )
        repository = "connected__installation" if and_installations else "connected"
        found: list[Membership] = list(joined.select_related("workspace", repository))
        for membership in found:
            membership.workspace.repository = getattr(membership, "connected", None)
        return found


class Membership(models.Model):
    """One person's role in one workspace."""

    class Role(models.TextChoices):
        OWNER = "owner"
        ADMIN = "admin"
        MEMBER = "member"

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    joined_at = models.DateTimeField(auto_now_add=True)
    # What GitHub said last: whether they may read which repository, and when to ask anew. None
    # while it has not been asked, or could not be.
    may_read = models.BooleanField(null=True)
    asked_about = models.BigIntegerField(null=True)
    ask_again_at = models.DateTimeField(null=True)
    # Of the first steps, those that the person has ticked off; and that they want no reminder.
    setup_done: "Words" = ArrayField(models.CharField(max_length=16), default=list, blank=True)
    setup_dismissed_at = models.DateTimeField(null=True, blank=True)
    # When `osmosis quickstart` was gone through here first, and what for: one of its own words.
    quickstart_completed_at = models.DateTimeField(null=True, blank=True)
    quickstart_intent = models.CharField(max_length=16, blank=True, default="", db_default="")

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_per_person"),
            models.CheckConstraint(
                condition=Q(role__in=["owner", "admin", "member"]),
                name="membership_role_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.workspace}"

    def can_read(self, repository: "Repository") -> bool | None:
        """What GitHub said of this repository; None when it has not said."""
        return self.may_read if self.asked_about == repository.pk else None

    @property
    def is_owner(self) -> bool:
        return self.role == self.Role.OWNER

    @property
    def may_invite(self) -> bool:
        """Owners and admins invite people and look after the roles below their own."""
        return self.role in {self.Role.OWNER, self.Role.ADMIN}

    @property
    def may_change_settings(self) -> bool:
        """Owners and admins name the workspace and choose its time zone."""
        return self.role in {self.Role.OWNER, self.Role.ADMIN}

    @property
    def roles_to_give(self) -> list["Membership.Role"]:
        """The roles this person may give to others, the least first: only owners make owners."""
        given = [self.Role.MEMBER, self.Role.ADMIN] if self.may_invite else []
        return [*given, self.Role.OWNER] if self.is_owner else given

    def may_change(self, other: "Membership") -> bool:
        """Whether this person may change the other's role, or remove them."""
        return other.role in self.roles_to_give and other.pk != self.pk

    @property
    def may_manage_connection(self) -> bool:
        """Owners and admins connect, change and disconnect the repository."""
        return self.role in {self.Role.OWNER, self.Role.ADMIN}
