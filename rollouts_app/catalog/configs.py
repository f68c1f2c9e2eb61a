"""One eval or training config, and what only all of them together show."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rollouts_app.catalog.problems import Problem
from rollouts_app.catalog.text import json_safe, printable, storable
from rollouts_app.catalog.toml import Document, read_toml

SECTION = "experiment"


@dataclass(frozen=True)
class ConfigContents:
    """What a config says: `rollout` is the name in [experiment], empty when it gives none."""

    kind: Literal["eval", "training"]
    rollout: str
    parsed: dict[str, Any]
    problems: tuple[Problem, ...]


def read_config(path: str, content: bytes | None) -> ConfigContents:
    """Read a config. None in place of its content says that it was too large to be fetched.

    `path` is that of `wanted_configs`; its folder says which kind of config it is.
    """
    document = read_toml(path, content)
    rollout = _rollout(document.values)
    problems = document.problems
    if document.is_readable and rollout is None:
        problems = (_without_rollout(document),)
    return ConfigContents(
        kind="training" if path.startswith("configs/training/") else "eval",
        rollout=storable(rollout or ""),
        parsed=json_safe(document.values),
        problems=problems,
    )


def combination_problems(
    rollouts: Collection[str], configs: Mapping[str, str]
) -> tuple[Problem, ...]:
    """What only a whole catalog shows: configs (path → name) of rollouts that are not there."""
    return tuple(
        Problem(
            "config-names-missing-rollout",
            "error",
            f"{printable(path)} is for a rollout that is not there: rollouts/{printable(name)}.",
            "Correct the name in [experiment], or push the rollout's directory.",
            path,
        )
        for path, name in configs.items()
        if name and name not in rollouts
    )


def _rollout(values: Mapping[str, Any]) -> str | None:
    section = values.get(SECTION)
    rollout = section.get("rollout") if isinstance(section, dict) else None
    return rollout if isinstance(rollout, str) and rollout else None


def _without_rollout(document: Document) -> Problem:
    return Problem(
        "config-without-rollout",
        "error",
        f"{printable(document.path)} does not say which rollout it is for.",
        'Add rollout = "<name>" to its [experiment] section.',
        document.path,
        document.line_of(SECTION, "rollout") or document.line_of(SECTION),
    )
