"""What stands in a rollout's row: its source, its configs, its problems, its change."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rollouts_app.catalog import without_config
from rollouts_app.models import ConfigVersion, Repository, RolloutVersion
from rollouts_app.models.changes import Problem
from rollouts_app.views.asked import AskedBranch
from rollouts_app.views.contents import Parameter, parameters_of

if TYPE_CHECKING:
    from rollouts_app.models.versions import ComparedVersion

# What a kind of config is called where there is little room.
SHORT_KINDS = {"eval": "eval", "training": "train"}
# The worst first.
SEVERITIES = ("error", "warning", "note")
# Problems that belong to no rollout, on one page.
MOST_PROBLEMS = 50
# Those of a catalog that are about single configs; the others are about what was left out.
ABOUT_CONFIGS = {"config-names-missing-rollout", "more-problems"}


@dataclass(frozen=True)
class RolloutRow:
    """One rollout as a branch shows it.

    `source` is its page at GitHub, at the commit, `history` that of its commits. `change` is
    "added" or "changed" against the default branch, empty where they agree; `diff` is GitHub's page
    of what was changed.
    """

    version: RolloutVersion
    source: str
    history: str
    configs: list[ConfigVersion]
    problems: list[Problem]
    change: str
    diff: str

    @property
    def name(self) -> str:
        return self.version.rollout.name

    @property
    def kinds(self) -> list[str]:
        """Which kinds of configs there are for it."""
        return sorted({SHORT_KINDS[config.kind] for config in self.configs})

    @property
    def readme_problem(self) -> Problem | None:
        """Why the README is not here as a whole, if it is not."""
        missing = ("readme-cut", "readme-too-large", "readme-no-file")
        return next((p for p in self.problems if p["id"] in missing), None)

    @property
    def config_problem(self) -> Problem | None:
        """That no config names it, if none does."""
        return next((p for p in self.problems if p["id"] == "rollout-without-config"), None)

    @property
    def problems_above(self) -> list[Problem]:
        """Those that are not told beside the README or among the configs alone."""
        beside = self.readme_problem, self.config_problem
        return [p for p in self.problems if p not in beside or p["severity"] != "note"]

    @property
    def errors(self) -> int:
        return sum(problem["severity"] == "error" for problem in self.problems)

    @property
    def warnings(self) -> int:
        return sum(problem["severity"] == "warning" for problem in self.problems)


@dataclass(frozen=True)
class ConfigRow:
    """An eval or training config, its page at GitHub, the model and dataset it names, and its
    parameters."""

    kind: str
    path: str
    page: str
    model: str
    dataset: str
    parameters: list[Parameter]


@dataclass(frozen=True)
class Rows:
    """The rows of a page, and the problems that belong to no rollout of the branch.

    `notices` are about what was left out; `lost_problems` about single configs, of which there are
    `lost_count`.
    """

    rollouts: list[RolloutRow]
    notices: list[Problem]
    lost_problems: list[Problem]
    lost_count: int


def rows_of(asked: AskedBranch, versions: "list[ComparedVersion]") -> Rows:
    """The rows of versions that the branch shows. One query, however many rows."""
    branch = asked.branch
    if branch is None or branch.catalog is None:
        return Rows([], [], [], 0)
    names = {version.rollout.name for version in versions}
    configs = list(ConfigVersion.objects.concerning(branch, names))
    rollouts = [_row(asked, version, configs) for version in versions]
    lost = [p for config in configs if config.belongs_to not in names for p in config.problems]
    own = [problem for problem in branch.catalog.problems if not problem.get("rollout")]
    lost = [*(p for p in own if p["id"] in ABOUT_CONFIGS), *lost]
    # The first of each config: once that is mended, the next one shows.
    lost = list({problem["path"]: problem for problem in reversed(lost)}.values())[::-1]
    notices = [p for p in own if p["id"] not in ABOUT_CONFIGS]
    return Rows(
        rollouts,
        linked(asked.repository, branch.commit, notices),
        linked(asked.repository, branch.commit, lost[:MOST_PROBLEMS]),
        sum(problem.get("count", 1) for problem in lost),
    )


def config_rows(asked: AskedBranch, configs: list[ConfigVersion]) -> list[ConfigRow]:
    """The configs of a rollout with what their [experiment] says."""
    return [
        ConfigRow(
            kind=config.kind,
            path=config.path,
            page=_page(asked.repository, asked.commit, _place(config.path, config.problems)),
            model=_said(config, "model_path"),
            dataset=_said(config, "dataset"),
            parameters=parameters_of(config),
        )
        for config in configs
    ]


def _said(config: ConfigVersion, key: str) -> str:
    """A text of the config's [experiment]; empty where it says none, or something else."""
    experiment = config.parsed.get("experiment")
    value = experiment.get(key) if isinstance(experiment, dict) else None
    return value if isinstance(value, str) else ""


def linked(repository: Repository, commit: str, problems: Iterable[Problem]) -> list[Problem]:
    """Problems, each with the page of its file and line at the commit as `url`.

    A path that ends with a slash is that of a directory.
    """
    return [
        {**problem, "url": _page(repository, commit, problem["path"], problem["line"])}
        for problem in problems
    ]


def _page(repository: Repository, commit: str, path: str, line: int | None = None) -> str:
    if path.endswith("/"):
        return repository.tree_page(commit, path.strip("/"))
    return repository.blob_page(commit, path, line)


def _place(path: str, problems: Iterable[Problem]) -> str:
    """The path of a rollout's directory or of a config; where its name was changed, of the
    directory that holds it."""
    changed = (problem["path"] for problem in problems if problem["id"] == "name-changed")
    return next(changed, path)


def _row(
    asked: AskedBranch, version: "ComparedVersion", configs: list[ConfigVersion]
) -> RolloutRow:
    name = version.rollout.name
    folder = _place(f"rollouts/{name}/", version.problems)
    change = _change(asked, version)
    own = [config for config in configs if config.belongs_to == name]
    held = asked.branch.catalog if asked.branch else None
    problems = [
        *version.problems,
        *(problem for config in own for problem in config.problems),
        *(p for p in (held.problems if held else []) if p.get("rollout") == name),
        *([] if own else [asdict(without_config(name, folder))]),
    ]
    problems.sort(key=lambda problem: SEVERITIES.index(problem["severity"]))
    return RolloutRow(
        version=version,
        source=_page(asked.repository, asked.commit, folder),
        configs=own,
        problems=linked(asked.repository, asked.commit, problems),
        history=asked.repository.history_page(asked.commit, folder.strip("/")),
        change=change,
        diff=_diff(asked, folder) if change == "changed" else "",
    )


def _diff(asked: AskedBranch, folder: str) -> str:
    base = asked.default.commit if asked.default else ""
    return asked.repository.folder_diff(base, asked.commit, folder.strip("/"))


def _change(asked: AskedBranch, version: "ComparedVersion") -> str:
    """How the version differs from the default branch's."""
    default = asked.default.catalog if asked.default else None
    if asked.is_default or default is None or version.pk in default.versions:
        return ""
    return "changed" if version.is_there else "added"
