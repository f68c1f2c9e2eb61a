"""What branches hold. Contents are immutable and shared; a branch points at one catalog."""

from collections import Counter
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func

from rollouts_app.models.repositories import Repository

if TYPE_CHECKING:
    Ids = ArrayField[list[int], list[int]]

# The hexadecimal digits of an object id by SHA-1; those by SHA-256 have more.
SHORTEST_ID = 40
# A catalog's identity within its repository: the ids of the `rollouts` and `configs` trees.
Pair = tuple[str, str]
# A rollout version's: name and tree id. A config version's: path and blob id.
Key = tuple[str, str]


class Catalog(models.Model):
    """The rollouts of one branch at one commit, shared by all branches with the same trees.

    The arrays have no foreign keys: rows they name are removed under the repository's lock only.
    In place of a tree's id stands the word of `catalog.directory_in` for a directory that is not
    there: empty, or what there is instead.
    """

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="catalogs")
    # Which reading of files made it, and the versions it holds: `catalog.PARSER` of then.
    parser = models.PositiveSmallIntegerField(default=1, db_default=1)
    rollouts_tree = models.CharField(max_length=64, blank=True)
    configs_tree = models.CharField(max_length=64, blank=True)
    versions: "Ids" = ArrayField(models.BigIntegerField(), default=list)
    configs: "Ids" = ArrayField(models.BigIntegerField(), default=list)
    # What only the combination shows: a config that names a rollout which is not there.
    problems = models.JSONField(default=list)
    problem_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "rollouts_tree", "configs_tree", "parser"],
                name="one_catalog_per_pair_of_trees_and_reading",
            )
        ]

    def __str__(self) -> str:
        return f"{self.repository}: {self.rollouts_tree[:7]}, {self.configs_tree[:7]}"

    @property
    def trees(self) -> Pair:
        return self.rollouts_tree, self.configs_tree

    @property
    def rollout_count(self) -> int:
        return len(self.versions)

    @property
    def problems_by_rollout(self) -> dict[str, int]:
        """Rollout name → how many of the catalog's own problems are of that rollout."""
        return Counter(named for problem in self.problems if (named := problem.get("rollout")))

    @property
    def has_rollouts_directory(self) -> bool:
        return len(self.rollouts_tree) >= SHORTEST_ID


def ids_in(catalog_id: int | None, array: str) -> models.QuerySet[Catalog, int]:
    """The ids held by one of a catalog's arrays, as a subquery."""
    return (
        Catalog.objects.filter(pk__in=[] if catalog_id is None else [catalog_id])
        .annotate(member=Func(F(array), function="unnest"))
        .values_list("member", flat=True)
    )
