"""What differs between two catalogs, and what is wrong in one. Read, never stored."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, Func, IntegerField, OuterRef

from rollouts_app.models.catalogs import Catalog, ids_in
from rollouts_app.models.configs import ConfigVersion
from rollouts_app.models.versions import RolloutVersion

Problem = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A rollout that two catalogs do not show alike: it was added, changed or removed."""

    name: str
    kind: str


def rollout_counts(catalogs: Iterable[int | None]) -> dict[int, int]:
    """Catalog id → how many rollouts it holds. One query, which reads no array."""
    found = Catalog.objects.filter(pk__in={pk for pk in catalogs if pk})
    count = Func(F("versions"), function="cardinality", output_field=IntegerField())
    return dict(found.annotate(count=count).values_list("pk", "count"))


def changes_between(before: int | None, after: int | None) -> list[Change]:
    """How the catalog `after` differs from `before`, by name. None is the empty catalog."""
    if before == after:
        return []
    gone = _only_in(before, after)
    come = _only_in(after, before)
    kinds = {
        **dict.fromkeys(gone - come, "removed"),
        **dict.fromkeys(come - gone, "added"),
        **dict.fromkeys(come & gone, "changed"),
    }
    return [Change(name, kinds[name]) for name in sorted(kinds)]


def _only_in(catalog: int | None, other: int | None) -> set[str]:
    """The names whose contents the other has not. By trees: what was read anew is no change."""
    others = RolloutVersion.objects.filter(
        pk__in=ids_in(other, "versions"), rollout=OuterRef("rollout"), tree_id=OuterRef("tree_id")
    )
    versions = RolloutVersion.objects.filter(pk__in=ids_in(catalog, "versions"))
    names = versions.exclude(Exists(others)).values_list("rollout__name", flat=True)
    return set(names)


def problems_in(catalog: Catalog | None) -> list[Problem]:
    """All problems of a catalog: of its rollouts, of its configs, of the two together; no notes."""
    if catalog is None or not catalog.problem_count:
        return []
    versions = RolloutVersion.objects.filter(pk__in=ids_in(catalog.pk, "versions"))
    configs = ConfigVersion.objects.filter(pk__in=ids_in(catalog.pk, "configs"))
    lists = [
        *versions.exclude(problems=[]).values_list("problems", flat=True),
        *configs.exclude(problems=[]).values_list("problems", flat=True),
        catalog.problems,
    ]
    found: list[Problem] = [
        problem for problems in lists for problem in problems if problem["severity"] != "note"
    ]
    return sorted(found, key=lambda problem: (problem["path"], problem["line"] or 0))
