"""What stands in a rollout's row: its version, its configs, its problems, its change."""

from dataclasses import dataclass
from typing import Any

from rollouts_app.models import Branch, ConfigVersion, Repository, RolloutVersion
from rollouts_app.models.catalogs import ids_in


@dataclass(frozen=True)
class RolloutRow:
    """One rollout as a branch shows it.

    `change` is "added" or "changed" against the default branch, empty where they agree.
    """

    version: RolloutVersion
    configs: list[ConfigVersion]
    problems: list[dict[str, Any]]
    change: str

    @property
    def name(self) -> str:
        return self.version.rollout.name

    @property
    def path(self) -> str:
        """Where the rollout lies in the repository."""
        return f"rollouts/{self.name}"


def rows_of(
    repository: Repository, branch: Branch, versions: list[RolloutVersion]
) -> list[RolloutRow]:
    """The rows of versions that the branch shows. Four queries at most, however many rows."""
    names = {version.rollout.name for version in versions}
    configs = list(ConfigVersion.objects.on(branch).filter(rollout_name__in=names))
    together = branch.catalog.problems if branch.catalog else []
    changes = _changes(repository, branch, versions)
    return [_row(version, configs, together, changes.get(version.pk, "")) for version in versions]


def _row(
    version: RolloutVersion,
    configs: list[ConfigVersion],
    together: list[dict[str, Any]],
    change: str,
) -> RolloutRow:
    name = version.rollout.name
    own = [config for config in configs if config.rollout_name == name]
    problems = [
        *version.problems,
        *(problem for config in own for problem in config.problems),
        *(problem for problem in together if problem.get("rollout") == name),
    ]
    return RolloutRow(version, own, problems, change)


def _changes(
    repository: Repository, branch: Branch, versions: list[RolloutVersion]
) -> dict[int, str]:
    """Version id → how it differs from the default branch; those that agree are left out."""
    default = repository.branches.filter(name=repository.default_branch).first()
    if default is None or default.catalog_id in {None, branch.catalog_id}:
        return {}
    there = dict(
        RolloutVersion.objects.filter(
            pk__in=ids_in(default.catalog_id, "versions"),
            rollout_id__in={version.rollout_id for version in versions},
        ).values_list("rollout_id", "pk")
    )
    return {
        version.pk: "changed" if version.rollout_id in there else "added"
        for version in versions
        if there.get(version.rollout_id) != version.pk
    }
