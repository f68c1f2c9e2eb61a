"""What one rollout's page tells of its contents: README, files, metadata, parameters."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from rollouts_app.catalog import DEFAULTS
from rollouts_app.models import ConfigVersion, Repository, RolloutVersion
from rollouts_app.models.versions import branches_holding
from rollouts_app.readmes import render_readme
from rollouts_app.views.asked import AskedBranch

MARKDOWN = (".md", ".markdown")
# What of one list a page shows.
MOST_BRANCHES = 10
# What pyproject.toml says, as a page calls it.
FACTS = {
    "version": "Version",
    "requires-python": "Python",
    "license": "License",
    "dependencies": "Dependencies",
    "tags": "Tags",
}


@dataclass(frozen=True)
class Fact:
    """One line of what pyproject.toml says; `values` are several."""

    name: str
    values: list[str]


@dataclass(frozen=True)
class FileRow:
    """An entry of the rollout's directory, and its page at GitHub."""

    name: str
    kind: str
    page: str


@dataclass(frozen=True)
class Parameter:
    """A key of a config: what it says, and what holds where it says nothing (empty if unknown)."""

    section: str
    key: str
    value: str
    default: str

    @property
    def is_default(self) -> bool:
        return self.value == self.default


@dataclass(frozen=True)
class Elsewhere:
    """A branch that has a rollout of this name, and whether it is the same there."""

    name: str
    query: str
    is_same: bool


def readme_of(asked: AskedBranch, version: RolloutVersion) -> SafeString | None:
    """The README as HTML; None where it is no Markdown, or there is none."""
    name = version.metadata.get("readme", "")
    if not version.readme or not name.lower().endswith(MARKDOWN):
        return None
    folder = f"rollouts/{version.rollout.name}"

    def page_of(path: str) -> str:
        repository = asked.repository
        if not path or path.endswith("/"):
            return repository.tree_page(asked.commit, path)
        return repository.blob_page(asked.commit, path)

    return render_readme(version.readme, folder, page_of)


def facts_of(version: RolloutVersion) -> list[Fact]:
    """What pyproject.toml says of the rollout."""
    facts = []
    for key, name in FACTS.items():
        value = version.metadata.get(key)
        if value:
            facts.append(Fact(name, value if isinstance(value, list) else [value]))
    return facts


def files_of(asked: AskedBranch, version: RolloutVersion) -> list[FileRow]:
    """What the directory holds, directories first."""
    return sorted(
        _files(asked.repository, asked.commit, version), key=lambda row: row.kind != "directory"
    )


def _files(repository: Repository, commit: str, version: RolloutVersion) -> Iterator[FileRow]:
    for name, kind in version.metadata.get("files", []):
        path = f"rollouts/{version.rollout.name}/{name}"
        page = repository.tree_page if kind == "directory" else repository.blob_page
        yield FileRow(name, kind, page(commit, path))


def parameters_of(config: ConfigVersion) -> list[Parameter]:
    """The values of a config beside what holds without them, section by section."""
    found = []
    for section, defaults in DEFAULTS.items():
        values = config.parsed.get(section)
        if isinstance(values, dict):
            found += [
                Parameter(section, key, _text(value), _text(defaults.get(key)))
                for key, value in values.items()
            ]
    return found


def elsewhere(asked: AskedBranch, version: RolloutVersion) -> list[Elsewhere]:
    """The other branches that have it, the most recently changed first, and one more than shown."""
    holding = branches_holding(asked.repository, version.rollout.name)
    others = holding.exclude(name=asked.name).select_related("catalog")
    return [
        Elsewhere(
            branch.name,
            branch.query,
            bool(branch.catalog and version.pk in branch.catalog.versions),
        )
        for branch in others[: MOST_BRANCHES + 1]
    ]


def _text(value: Any) -> str:
    """A value as TOML has it; empty for none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
