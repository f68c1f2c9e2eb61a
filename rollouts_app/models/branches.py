"""The branches of a repository, and which names they can have."""

from collections.abc import Iterable
from difflib import get_close_matches
from urllib.parse import urlencode

from django.db import models
from django.db.models import Case, F, Max, Q, When

from rollouts_app.models.repositories import Repository

# GitHub allows 255 bytes; the database's index holds no entry of more than 2,700.
LONGEST_BRANCH_NAME = 1000


def is_nameable(name: str) -> bool:
    """Whether a branch of this name can be stored and has an address: UTF-8 text, not too long."""
    try:
        return 0 < len(name.encode()) <= LONGEST_BRANCH_NAME and "\0" not in name
    except UnicodeEncodeError:
        return False


class BranchQuerySet(models.QuerySet["Branch"]):
    def existing(self) -> "BranchQuerySet":
        """Without tombstones and without names that were announced but never seen."""
        return self.filter(deleted_at=None).exclude(commit="")

    def showing(self, name: str, commit: str) -> "BranchQuerySet":
        """The branch of that name, if it shows that commit, and GitHub had no other."""
        return self.existing().filter(name=name, commit=commit, withheld="")

    def in_menu_order(self, default_branch: str) -> "BranchQuerySet":
        """The default branch first, then the most recently changed."""
        return self.order_by(
            Case(When(name=default_branch, then=0), default=1),
            F("changed_at").desc(nulls_last=True),
            "name",
        )

    def pushed_by(self, login: str) -> "BranchQuerySet":
        """Those that a GitHub login pushed to, as far as history goes; the latest push first."""
        if not login:
            return self.none()
        own = Q(sync_runs__pusher__iexact=login)
        return self.filter(own).annotate(pushed=Max("sync_runs__pk")).order_by("-pushed")

    def matching(self, text: str) -> "BranchQuerySet":
        """Names that contain the text in any letter case: the exact one, then those it begins."""
        if not text:
            return self
        rank = Case(When(name=text, then=0), When(name__istartswith=text, then=1), default=2)
        return self.filter(name__icontains=text).order_by(
            rank, F("changed_at").desc(nulls_last=True), "name"
        )

    def nearest(self, name: str, count: int) -> list[str]:
        """The names most like one that does not exist."""
        names = list(self.values_list("name", flat=True))
        by_folded = {known.casefold(): known for known in names}
        close = get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.5)
        return [by_folded[folded] for folded in close]

    def named(self, names: Iterable[str]) -> "BranchQuerySet":
        return self.filter(name__in=names)


class Branch(models.Model):
    """A branch by its exact, case-sensitive name, and the commit whose catalog it shows.

    A deleted branch stays as a tombstone that keeps its catalog.
    """

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="branches")
    # The C collation compares bytes, as git does.
    name = models.TextField(db_collation="C")
    commit = models.CharField(max_length=64, blank=True)
    catalog = models.ForeignKey(
        "rollouts_app.Catalog",
        on_delete=models.RESTRICT,
        null=True,
        blank=True,
        related_name="branches",
    )
    # What GitHub has in place of that commit, where the sync of it failed or was cancelled.
    withheld = models.CharField(max_length=64, blank=True)
    changed_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = BranchQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "name"], name="one_branch_per_exact_name"
            ),
            models.CheckConstraint(
                condition=Q(commit="") | Q(catalog__isnull=False),
                name="branch_with_a_commit_has_a_catalog",
            ),
        ]
        indexes = [
            models.Index(F("repository"), F("changed_at").desc(), name="branch_by_last_change")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_tombstone(self) -> bool:
        """Whether it is gone, and was once more than announced."""
        return bool(self.deleted_at and self.commit)

    def withhold(self, commit: str) -> None:
        """Take note that GitHub has this commit and the branch does not show it."""
        others = Branch.objects.filter(pk=self.pk).exclude(commit=commit)
        others.update(withheld=commit)

    @property
    def query(self) -> str:
        """The branch as part of one of our addresses: encoded once, here."""
        return urlencode({"branch": self.name})
