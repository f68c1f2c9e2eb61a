"""What stands in a rollout's row: its source, its configs, its problems, its change."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rollouts_app.models import ConfigVersion, Repository, RolloutVersion
from rollouts_app.models.changes import Problem
from rollouts_app.views.asked import AskedBranch

if TYPE_CHECKING:
    from rollouts_app.models.catalogs import ComparedVersion

# What a kind of config is called where there is little room.
SHORT_KINDS = {"eval": "eval", "training": "train"}


@dataclass(frozen=True)
class RolloutRow:
    """One rollout as a branch shows it.

    `source` is its page at GitHub, at the commit. `change` is "added" or "changed" against the
    default branch, empty where they agree.
    """

    version: RolloutVersion
    source: str
    configs: list[ConfigVersion]
    problems: list[Problem]
    change: str

    @property
    def name(self) -> str:
        return self.version.rollout.name

    @property
    def kinds(self) -> list[str]:
        """Which kinds of configs there are for it."""
        return sorted({SHORT_KINDS[config.kind] for config in self.configs})

    @property
    def errors(self) -> int:
        return sum(problem["severity"] == "error" for problem in self.problems)

    @property
    def warnings(self) -> int:
        return sum(problem["severity"] == "warning" for problem in self.problems)


@dataclass(frozen=True)
class ConfigRow:
    """An eval or training config, its page at GitHub, and the model and dataset it names."""

    kind: str
    path: str
    page: str
    model: str
    dataset: str


@dataclass(frozen=True)
class Rows:
    """The rows of a page, and the problems that belong to no rollout of the branch."""

    rollouts: list[RolloutRow]
    lost_problems: list[Problem]


def rows_of(asked: AskedBranch, versions: "list[ComparedVersion]") -> Rows:
    """The rows of versions that the branch shows. One query, however many rows."""
    branch = asked.branch
    if branch is None or branch.catalog is None:
        return Rows([], [])
    names = {version.rollout.name for version in versions}
    configs = list(ConfigVersion.objects.concerning(branch, names))
    rollouts = [_row(asked, version, configs) for version in versions]
    lost = [p for config in configs if config.belongs_to not in names for p in config.problems]
    problems = [*branch.catalog.problems, *lost]
    return Rows(rollouts, linked(asked.repository, branch.commit, problems))


def config_rows(asked: AskedBranch, configs: list[ConfigVersion]) -> list[ConfigRow]:
    """The configs of a rollout with what their [experiment] says."""
    return [
        ConfigRow(
            kind=config.kind,
            path=config.path,
            page=asked.repository.blob_page(asked.commit, config.path),
            model=_said(config, "model_path"),
            dataset=_said(config, "dataset"),
        )
        for config in configs
    ]


def _said(config: ConfigVersion, key: str) -> str:
    """A text of the config's [experiment]; empty where it says none, or something else."""
    experiment = config.parsed.get("experiment")
    value = experiment.get(key) if isinstance(experiment, dict) else None
    return value if isinstance(value, str) else ""


def linked(repository: Repository, commit: str, problems: Iterable[Problem]) -> list[Problem]:
    """Problems, each with the page of its file and line at the commit as `url`."""
    return [
        {**problem, "url": repository.blob_page(commit, problem["path"], problem["line"])}
        for problem in problems
    ]


def _row(
    asked: AskedBranch, version: "ComparedVersion", configs: list[ConfigVersion]
) -> RolloutRow:
    name = version.rollout.name
    own = [config for config in configs if config.belongs_to == name]
    problems = [*version.problems, *(problem for config in own for problem in config.problems)]
    return RolloutRow(
        version=version,
        source=asked.repository.tree_page(asked.commit, f"rollouts/{name}"),
        configs=own,
        problems=linked(asked.repository, asked.commit, problems),
        change=_change(asked, version),
    )


def _change(asked: AskedBranch, version: "ComparedVersion") -> str:
    """How the version differs from the default branch's."""
    default = asked.default.catalog if asked.default else None
    if asked.is_default or default is None or version.pk in default.versions:
        return ""
    return "changed" if version.is_there else "added"
