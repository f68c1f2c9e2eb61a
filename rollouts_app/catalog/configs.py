"""One eval or training config, and what only all of them together show."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from rollouts_app.catalog.checks import config_problems, path_within
from rollouts_app.catalog.limits import LONGEST_PARSED, LONGEST_VALUE, MOST_PROBLEMS
from rollouts_app.catalog.oddities import changed_name
from rollouts_app.catalog.parameters import Kind
from rollouts_app.catalog.problems import Problem
from rollouts_app.catalog.text import json_safe, printable, storable
from rollouts_app.catalog.toml import Document, read_toml

SECTION = "experiment"
REMEDY = "Correct the name in [experiment], or push the rollout's directory."
MORE = {
    "config-names-missing-rollout": "are for rollouts that are not there",
    "config-entrypoint-missing": "have entrypoints that are no files",
}


class Named(Protocol):
    """What a config names, and the lines where it does so: those of rollout and entrypoint."""

    @property
    def rollout_name(self) -> str: ...
    @property
    def entrypoint(self) -> str: ...
    @property
    def lines(self) -> Mapping[str, int]: ...


@dataclass(frozen=True)
class ConfigContents:
    """What a config says: `rollout_name` is that of [experiment], empty when it gives none.

    `entrypoint` is a path within the rollout's directory, without `.` and `..`; empty where none is
    given, or one that leads elsewhere. `lines` has the places of the two, as far as known. `parsed`
    holds its values; where they are many, only the short ones of [experiment].
    """

    kind: Kind
    rollout_name: str
    entrypoint: str
    lines: dict[str, int]
    parsed: dict[str, Any]
    problems: tuple[Problem, ...]


def read_config(path: str, content: bytes | None, *, is_changed: bool = False) -> ConfigContents:
    """Read a config. None in place of its content says that it was too large to be fetched.

    `path` is that of `wanted_configs`; its folder says which kind of config it is, and
    `is_changed` that its name in git is another.
    """
    document = read_toml(path, content)
    kind: Kind = "training" if path.startswith("configs/training/") else "eval"
    problems = document.problems or config_problems(kind, document)
    if is_changed:
        # Its own address leads nowhere.
        folder = f"{path.rpartition('/')[0]}/"
        told = (replace(problem, path=folder, line=None) for problem in problems)
        problems = (changed_name(folder, path.removeprefix(folder)), *told)
    return ConfigContents(
        kind=kind,
        rollout_name=storable(_said(document.values, "rollout")),
        entrypoint=storable(path_within(_said(document.values, "entrypoint"))),
        lines=_lines(document),
        parsed=_kept(json_safe(document.values)),
        problems=problems,
    )


def combination_problems(
    rollouts: Collection[str], configs: Mapping[str, Named], absent: Collection[str] = ()
) -> tuple[Problem, ...]:
    """What only a whole catalog shows: configs that name a rollout or a file that is not there.

    `configs` are by path; `absent` are the paths of those whose entrypoint is not in the rollout's
    directory. Many are counted in one problem after the first.
    """
    lost = [
        _of_missing(path, named)
        for path, named in configs.items()
        if named.rollout_name and named.rollout_name not in rollouts
    ]
    return (*_cut(lost), *_cut([_of_absent(path, configs[path]) for path in sorted(absent)]))


def _cut(problems: list[Problem]) -> list[Problem]:
    more = problems[MOST_PROBLEMS:]
    if not more:
        return problems
    sentence = f"{len(more):,} more configs {MORE[more[0].id]}."
    told = replace(
        more[0],
        id="more-problems",
        sentence=sentence,
        path="configs/",
        line=None,
        count=len(more),
        rollout="",
    )
    return [*problems[:MOST_PROBLEMS], told]


def _of_missing(path: str, named: Named) -> Problem:
    name = printable(named.rollout_name)
    sentence = f"{printable(path)} is for a rollout that is not there: rollouts/{name}."
    line = named.lines.get("rollout")
    return Problem("config-names-missing-rollout", "error", sentence, REMEDY, path, line)


def _of_absent(path: str, named: Named) -> Problem:
    file = printable(f"rollouts/{named.rollout_name}/{named.entrypoint}")
    return Problem(
        "config-entrypoint-missing",
        "error",
        f"{printable(path)} has an entrypoint that is no file: {file}.",
        "Correct entrypoint in [experiment], or push the file.",
        path,
        named.lines.get("entrypoint"),
        rollout=named.rollout_name,
    )


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


def _said(values: Mapping[str, Any], key: str) -> str:
    """A text of [experiment]; empty where there is none."""
    section = values.get(SECTION)
    value = section.get(key) if isinstance(section, dict) else None
    return value if isinstance(value, str) else ""


def _lines(document: Document) -> dict[str, int]:
    found = {key: document.line_of(SECTION, key) for key in ("rollout", "entrypoint")}
    return {key: line for key, line in found.items() if line}
