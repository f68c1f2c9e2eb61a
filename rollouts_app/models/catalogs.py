"""What branches hold. Contents are immutable and shared; a branch points at one catalog."""

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypedDict

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Exists, F, Func, OuterRef, Q, Subquery, Sum, TextField, Value
from django.db.models.functions import Coalesce, NullIf

from rollouts_app.models.repositories import Repository

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    from rollouts_app.models.branches import Branch, BranchQuerySet

    Ids = ArrayField[list[int], list[int]]

    class Comparison(TypedDict):
        """Whether the branch compared with has any version of the rollout."""

        is_there: bool

    ComparedVersion = WithAnnotations["RolloutVersion", Comparison]


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
    def has_rollouts_directory(self) -> bool:
        return len(self.rollouts_tree) >= SHORTEST_ID


class Rollout(models.Model):
    """A direct subdirectory of `rollouts/` by name, with an id that outlives its contents."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="rollouts")
    name = models.TextField(db_collation="C")
    first_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "name"], name="one_rollout_per_exact_name"
            )
        ]

    def __str__(self) -> str:
        return self.name


def ids_in(catalog_id: int | None, array: str) -> models.QuerySet[Catalog, int]:
    """The ids held by one of a catalog's arrays, as a subquery."""
    return (
        Catalog.objects.filter(pk__in=[] if catalog_id is None else [catalog_id])
        .annotate(member=Func(F(array), function="unnest"))
        .values_list("member", flat=True)
    )


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
        return self.filter(Q(problem_count__gt=0) | Exists(own.filter(problem_count__gt=0)))

    def with_all_problems(self, branch: "Branch") -> "RolloutVersionQuerySet":
        """Each with `all_problems`: how many it has, with those of its configs on the branch."""
        own = ConfigVersion.objects.of_rollout(branch, OuterRef("rollout__name"))
        total = own.order_by().values("parser").annotate(total=Sum("problem_count"))
        return self.annotate(
            all_problems=F("problem_count") + Coalesce(Subquery(total.values("total")[:1]), 0)
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


class ConfigVersionQuerySet(models.QuerySet["ConfigVersion"]):
    def known(
        self, repository: Repository, keys: Collection[Key], parser: int
    ) -> "dict[Key, ConfigVersion]":
        """Those of the given versions that are stored by this reading, without their contents."""
        blobs = {blob for _, blob in keys}
        rows = self.filter(repository=repository, blob_id__in=blobs, parser=parser)
        contents = ("parsed", "problems")
        return {
            key: row for row in rows.defer(*contents) if (key := (row.path, row.blob_id)) in keys
        }

    def on(self, branch: "Branch") -> "ConfigVersionQuerySet":
        """The eval and training configs in the branch's catalog, by path."""
        return self.filter(id__in=ids_in(branch.catalog_id, "configs")).order_by("path")

    def of_rollout(self, branch: "Branch", name: OuterRef) -> "ConfigVersionQuerySet":
        """Those on the branch that are for the rollout of a name, as a subquery."""
        found: ConfigVersionQuerySet = self._owned(branch).filter(owner=name)
        return found

    def _owned(self, branch: "Branch") -> Any:
        """Those on the branch, each with `owner`: the rollout that it belongs to."""
        stem = Func(
            F("path"), Value(r"^.*/|\.toml$"), Value(""), Value("g"), function="regexp_replace"
        )
        return self.on(branch).annotate(
            owner=Coalesce(NullIf("rollout_name", Value("")), stem, output_field=TextField())
        )

    def concerning(self, branch: "Branch", names: Collection[str]) -> "ConfigVersionQuerySet":
        """Those of the named rollouts, and those with problems of which no rollout here tells."""
        held = RolloutVersion.objects.filter(
            id__in=ids_in(branch.catalog_id, "versions"), rollout__name=OuterRef("owner")
        )
        lost = Q(problem_count__gt=0) & ~Q(Exists(held))
        found: ConfigVersionQuerySet = self._owned(branch).filter(Q(owner__in=names) | lost)
        return found


class ConfigVersion(models.Model):
    """The contents of one eval or training config: immutable, found by its git blob id."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="configs")
    path = models.TextField(db_collation="C")
    blob_id = models.CharField(max_length=64)
    parser = models.PositiveSmallIntegerField(default=1, db_default=1)
    kind = models.CharField(max_length=16)
    rollout_name = models.TextField(db_collation="C", blank=True)
    parsed = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    problem_count = models.PositiveIntegerField(default=0)

    objects = ConfigVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "path", "blob_id", "parser"],
                name="one_version_per_path_blob_and_reading",
            )
        ]

    def __str__(self) -> str:
        return f"{self.path} at blob {self.blob_id[:7]}"

    @property
    def belongs_to(self) -> str:
        """The rollout it names; a config too broken to name one goes by its own file name."""
        return self.rollout_name or PurePosixPath(self.path).stem
