"""One eval or training config, and what only all of them together show."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rollouts_app.catalog.checks import Kind, config_problems
from rollouts_app.catalog.limits import LONGEST_PARSED, LONGEST_VALUE, MOST_PROBLEMS
from rollouts_app.catalog.oddities import changed_name
from rollouts_app.catalog.problems import Problem
from rollouts_app.catalog.text import json_safe, printable, storable
from rollouts_app.catalog.toml import read_toml

SECTION = "experiment"
REMEDY = "Correct the name in [experiment], or push the rollout's directory."


@dataclass(frozen=True)
class ConfigContents:
    """What a config says: `rollout` is the name in [experiment], empty when it gives none.

    `parsed` holds its values; where they are many, only the short ones of [experiment].
    """

    kind: Kind
    rollout: str
    parsed: dict[str, Any]
    problems: tuple[Problem, ...]


def read_config(path: str, content: bytes | None, *, is_changed: bool = False) -> ConfigContents:
    """Read a config. None in place of its content says that it was too large to be fetched.

    `path` is that of `wanted_configs`; its folder says which kind of config it is, and
    `is_changed` that its name in git is another.
    """
    document = read_toml(path, content)
    kind: Kind = "training" if path.startswith("configs/training/") else "eval"
    rollout = _rollout(document.values)
    problems = document.problems or config_problems(kind, document)
    if is_changed:
        # Its own address leads nowhere.
        folder = f"{path.rpartition('/')[0]}/"
        told = (replace(problem, path=folder, line=None) for problem in problems)
        problems = (changed_name(folder, path.removeprefix(folder)), *told)
    return ConfigContents(
        kind=kind,
        rollout=storable(rollout or ""),
        parsed=_kept(json_safe(document.values)),
        problems=problems,
    )


def combination_problems(
    rollouts: Collection[str], configs: Mapping[str, str]
) -> tuple[Problem, ...]:
    """What only a whole catalog shows: configs (path → name) of rollouts that are not there.

    Many are counted in one problem after the first.
    """
    lost = {path: name for path, name in configs.items() if name and name not in rollouts}
    problems = [_of_missing(path, name) for path, name in list(lost.items())[:MOST_PROBLEMS]]
    more = len(lost) - MOST_PROBLEMS
    if more > 0:
        sentence = f"{more:,} more configs are for rollouts that are not there."
        told = Problem("more-problems", "error", sentence, REMEDY, "configs/", count=more)
        problems.append(told)
    return tuple(problems)


def _of_missing(path: str, name: str) -> Problem:
    sentence = f"{printable(path)} is for a rollout that is not there: rollouts/{printable(name)}."
    return Problem("config-names-missing-rollout", "error", sentence, REMEDY, path)


def _kept(parsed: dict[str, Any]) -> dict[str, Any]:
    """The values if they are few enough to be kept with each version of the config."""
    if len(json.dumps(parsed)) <= LONGEST_PARSED:
        return parsed
    section = parsed.get(SECTION)
    texts = section if isinstance(section, dict) else {}
    short = {
        key: value
        for key, value in texts.items()
        if isinstance(value, str) and len(key) + len(value) <= LONGEST_VALUE
    }
    kept = {SECTION: dict(list(short.items())[: LONGEST_PARSED // LONGEST_VALUE])}
    return kept if short else {}


def _rollout(values: Mapping[str, Any]) -> str | None:
    section = values.get(SECTION)
    rollout = section.get("rollout") if isinstance(section, dict) else None
    return rollout if isinstance(rollout, str) and rollout else None
