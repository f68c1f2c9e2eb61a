"""What rollouts hold: contents are immutable, and shared by the branches that have them."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypedDict

from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Sum, When
from django.db.models.functions import Coalesce

from rollouts_app.models.catalogs import Key, ids_in
from rollouts_app.models.configs import ConfigVersion
from rollouts_app.models.repositories import Repository
from rollouts_app.models.rollouts import Rollout

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    from rollouts_app.models.branches import Branch, BranchQuerySet

    class Comparison(TypedDict):
        """Whether the branch compared with has any version of the rollout."""

        is_there: bool

    ComparedVersion = WithAnnotations["RolloutVersion", Comparison]


class RolloutVersionQuerySet(models.QuerySet["RolloutVersion"]):
    def known(
        self, repository: Repository, keys: Collection[Key], parser: int
    ) -> "dict[Key, RolloutVersion]":
        """Those of the given versions that are stored by this reading, without their contents."""
        rows = self.filter(
            rollout__repository=repository,
            tree_id__in={tree for _, tree in keys},
            parser=parser,
        ).select_related("rollout")
        contents = ("description", "readme", "metadata", "problems")
        return {
            key: row
            for row in rows.defer(*contents)
            if (key := (row.rollout.name, row.tree_id)) in keys
        }

    def on(self, branch: "Branch") -> "RolloutVersionQuerySet":
        """The versions in the branch's catalog, by name; READMEs stay in the database."""
        return (
            self.filter(id__in=ids_in(branch.catalog_id, "versions"))
            .select_related("rollout")
            .defer("readme")
            .order_by("rollout__name")
        )

    def matching(self, text: str) -> "RolloutVersionQuerySet":
        """Those whose name, description or tags contain the text, in any letter case."""
        if not text:
            return self
        return self.filter(
            Q(rollout__name__icontains=text)
            | Q(description__icontains=text)
            | Q(metadata__tags__icontains=text)
        )

    def with_problems(self, branch: "Branch") -> "RolloutVersionQuerySet":
        """Those that have any, in themselves or in their configs on the branch."""
        own = ConfigVersion.objects.of_rollout(branch, OuterRef("rollout__name"))
        named = Q(rollout__name__in=branch.catalog.problems_by_rollout if branch.catalog else ())
        broken = Exists(own.filter(problem_count__gt=0))
        return self.filter(Q(problem_count__gt=0) | broken | named)

    def with_all_problems(self, branch: "Branch") -> "RolloutVersionQuerySet":
        """Each with `all_problems`: how many it has, with those of its configs on the branch."""
        own = ConfigVersion.objects.of_rollout(branch, OuterRef("rollout__name"))
        total = own.order_by().values("parser").annotate(total=Sum("problem_count"))
        counts = branch.catalog.problems_by_rollout if branch.catalog else {}
        named = [When(rollout__name=name, then=count) for name, count in counts.items()]
        return self.annotate(
            all_problems=F("problem_count")
            + Coalesce(Subquery(total.values("total")[:1]), 0)
            + Case(*named, default=0)
        )

    def not_on(self, branch: "Branch | None") -> "RolloutVersionQuerySet":
        """Those that the branch does not show just so."""
        return self.exclude(id__in=ids_in(branch.catalog_id if branch else None, "versions"))

    def without_eval(self, branch: "Branch") -> "RolloutVersionQuerySet":
        """Those that no eval config of the branch is for."""
        own = ConfigVersion.objects.of_rollout(branch, OuterRef("rollout__name"))
        return self.exclude(Exists(own.filter(kind="eval")))

    def compared_with(self, branch: "Branch | None") -> "models.QuerySet[ComparedVersion]":
        """Each with whether the branch has any version of its rollout."""
        held = ids_in(branch.catalog_id if branch else None, "versions")
        there = RolloutVersion.objects.filter(rollout=OuterRef("rollout"), id__in=held)
        compared: models.QuerySet[Any] = self.annotate(is_there=Exists(there))
        return compared


class RolloutVersion(models.Model):
    """The contents of one rollout directory: immutable, found by its git tree id."""

    rollout = models.ForeignKey(Rollout, on_delete=models.CASCADE, related_name="versions")
    tree_id = models.CharField(max_length=64)
    parser = models.PositiveSmallIntegerField(default=1, db_default=1)
    description = models.TextField(blank=True)
    readme = models.TextField(blank=True)
    metadata = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    problem_count = models.PositiveIntegerField(default=0)

    objects = RolloutVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rollout", "tree_id", "parser"],
                name="one_version_per_rollout_tree_and_reading",
            )
        ]

    def __str__(self) -> str:
        return f"{self.rollout} at tree {self.tree_id[:7]}"


def branches_holding(repository: Repository, rollout_name: str) -> "BranchQuerySet":
    """The branches that show a rollout of this name, the most recently changed first."""
    versions = RolloutVersion.objects.filter(
        rollout__repository=repository, rollout__name=rollout_name
    )
    holding = repository.branches.existing().filter(
        catalog__versions__overlap=ArraySubquery(versions.values("pk"))
    )
    return holding.order_by("-changed_at", "name")
