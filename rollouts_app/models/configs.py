"""Eval and training configs: contents are immutable, and shared by the branches that have them."""

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Exists, F, Func, OuterRef, Q, TextField, Value
from django.db.models.functions import Coalesce, NullIf

from rollouts_app.models.catalogs import Key, ids_in
from rollouts_app.models.repositories import Repository
from rollouts_app.models.rollouts import Rollout

if TYPE_CHECKING:
    from rollouts_app.models.branches import Branch


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
        held = Rollout.objects.filter(
            versions__in=ids_in(branch.catalog_id, "versions"), name=OuterRef("owner")
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
    # A path within the rollout's directory.
    entrypoint = models.TextField(blank=True, default="", db_default="")
    # Where it says so: the lines of rollout and entrypoint.
    lines = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
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
