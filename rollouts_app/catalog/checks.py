"""The rules of run configs, as the osmosis command and the platform have them. Pure.

Structure is what the command refuses; types are what it hands on and the platform then refuses.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any

from rollouts_app.catalog.limits import LONGEST_PATH, LONGEST_VALUE
from rollouts_app.catalog.parameters import EXPERIMENT, NEEDED, SECTIONS, Kind, Rule
from rollouts_app.catalog.problems import Problem
from rollouts_app.catalog.text import printable, shortened
from rollouts_app.catalog.toml import Document

ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
SECRET_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
RESERVED_PREFIX = "_OSMOSIS_"
MOST_PROBLEMS = 20
# Their keys are not listed.
FREE = {"advanced", "env", "secrets"}


def config_problems(kind: Kind, document: Document) -> tuple[Problem, ...]:
    """What the rules have against a config that could be parsed; of very many the first few.

    Nothing is looked at beyond those: a hostile file has thousands of keys.
    """
    found = chain(_sections(kind, document), _env(document), _secrets(kind, document))
    return tuple(islice(found, MOST_PROBLEMS))


def _sections(kind: Kind, document: Document) -> Iterator[Problem]:
    known = {"experiment": EXPERIMENT, **SECTIONS[kind]}
    yield from _experiment(document)
    for name, section in document.values.items():
        if name in FREE:
            if not isinstance(section, dict):
                yield _wrong(document, name, "", "a table")
        elif name not in known:
            yield _unknown_section(kind, document, name, [*known, *FREE])
        elif not isinstance(section, dict):
            yield _wrong(document, name, "", "a table")
        else:
            yield from _keys(document, name, section, known[name])


def _experiment(document: Document) -> Iterator[Problem]:
    section = document.values.get("experiment")
    if not isinstance(section, dict):
        if "experiment" not in document.values:
            yield _problem(
                document,
                "config-without-experiment",
                "has no [experiment] section",
                f"Add [experiment] with {', '.join(NEEDED[:-1])} and {NEEDED[-1]}.",
            )
        return
    for key in NEEDED:
        if key not in section:
            yield _problem(
                document,
                "config-key-missing",
                f"does not say {key} in [experiment]",
                f'Add {key} = "…" to [experiment].',
                document.line_of("experiment"),
            )
    if "branch" in section and "commit_sha" in section:
        yield _problem(
            document,
            "config-branch-and-commit",
            "names both a branch and a commit",
            "Keep branch or commit_sha in [experiment], not both.",
            document.line_of("experiment", "commit_sha"),
        )
    yield from _rollout_name(document, section)
    yield from _entrypoint(document, section)


def path_within(entrypoint: str) -> str:
    """An entrypoint as a path from the rollout's directory; empty where it leads out of it.

    What is too long to be a path counts as none.
    """
    path = posixpath.normpath(entrypoint) if entrypoint else ""
    leads_out = path.startswith("/") or path.split("/")[0] == ".."
    return "" if leads_out or len(path) > LONGEST_PATH else path


def _entrypoint(document: Document, section: Mapping[str, Any]) -> Iterator[Problem]:
    entrypoint = section.get("entrypoint")
    if isinstance(entrypoint, str) and entrypoint and not path_within(entrypoint):
        yield _problem(
            document,
            "config-entrypoint-outside",
            "has an entrypoint outside the rollout's directory:"
            f" {printable(shortened(entrypoint, LONGEST_VALUE))}",
            "Write its path from there, such as main.py.",
            document.line_of("experiment", "entrypoint"),
        )


def _rollout_name(document: Document, section: Mapping[str, Any]) -> Iterator[Problem]:
    name = section.get("rollout")
    if isinstance(name, str) and name and ("/" in name or "\\" in name or name in {".", ".."}):
        yield _problem(
            document,
            "config-rollout-is-a-path",
            f"names a path, {printable(name)}, where a directory of rollouts/ is meant",
            "Write the directory's own name.",
            document.line_of("experiment", "rollout"),
        )


def _keys(
    document: Document, table: str, section: Mapping[str, Any], rules: Mapping[str, Rule]
) -> Iterator[Problem]:
    for key, value in section.items():
        if key not in rules:
            meant = _meant(key, rules)
            yield _problem(
                document,
                "config-unknown-key",
                f"has a key in [{table}] that is not known: {printable(key)}",
                f"Write {meant}." if meant else "Remove it, or move it to [advanced].",
                document.line_of(table, key),
            )
        elif not rules[key].fits(value):
            yield _wrong(document, table, key, rules[key].words)


def _unknown_section(kind: str, document: Document, name: str, known: list[str]) -> Problem:
    meant = _meant(name, known)
    return _problem(
        document,
        "config-unknown-section",
        f"has a section that {kind} configs do not have: [{printable(name)}]",
        f"Write [{meant}]." if meant else "Remove it.",
        document.line_of(name),
    )


def _env(document: Document) -> Iterator[Problem]:
    section = document.values.get("env")
    if not isinstance(section, dict):
        return
    for key, value in section.items():
        line = document.line_of("env", key)
        if not ENV_NAME.fullmatch(key):
            remedy = "Use capital letters, digits and underscores, a letter or underscore first."
            words = f"has a name in [env] that no environment variable may have: {printable(key)}"
            yield _problem(document, "config-env-name", words, remedy, line)
        elif key.startswith(RESERVED_PREFIX):
            words = f"sets {printable(key)}, and names that begin with {RESERVED_PREFIX} are taken"
            yield _problem(document, "config-env-reserved", words, "Choose another name.", line)
        elif not isinstance(value, str):
            yield _wrong(document, "env", key, "a text in quotes")


def _secrets(kind: Kind, document: Document) -> Iterator[Problem]:
    section = document.values.get("secrets")
    if section is None:
        if kind == "eval":
            yield _problem(
                document,
                "config-without-secrets",
                "has no [secrets] section, and eval configs need one",
                "Add [secrets] with required = [].",
            )
        return
    if not isinstance(section, dict):
        return
    for key in section:
        if key != "required":
            words = f"has a key in [secrets] that is not known: {printable(key)}"
            remedy = "Only required belongs there, a list of names."
            line = document.line_of("secrets", key)
            yield _problem(document, "config-unknown-key", words, remedy, line)
    yield from _required(document, section.get("required"))


def _required(document: Document, names: object) -> Iterator[Problem]:
    line = document.line_of("secrets", "required") or document.line_of("secrets")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        yield _wrong(document, "secrets", "required", "a list of names in quotes", line)
        return
    env = document.values.get("env")
    for place, name in enumerate(names):
        words = ""
        if not SECRET_NAME.fullmatch(name):
            words = f"asks for a secret by a name that none may have: {printable(name)}"
        elif name in names[:place]:
            words = f"asks for the secret {name} twice"
        elif isinstance(env, dict) and name in env:
            words = f"asks for the secret {name}, which [env] sets as well"
        if words:
            remedy = "Name each secret once, in capital letters, digits and underscores."
            yield _problem(document, "config-secret-name", words, remedy, line)


def _wrong(
    document: Document, table: str, key: str, expected: str, line: int | None = None
) -> Problem:
    named = f"{table}.{key}" if key else f"[{table}]"
    return _problem(
        document,
        "config-wrong-type",
        f"{printable(named)} must be {expected}",
        f"Make {printable(named)} {expected}.",
        line or document.line_of(table, key),
        joint=": ",
    )


def _problem(
    document: Document,
    id: str,
    words: str,
    remedy: str,
    line: int | None = None,
    *,
    joint: str = " ",
) -> Problem:
    sentence = f"{printable(document.path)}{joint}{words}."
    return Problem(id, "error", sentence, remedy, document.path, line)


def _meant(word: str, known: Any) -> str:
    """What somebody may have meant; empty when nothing is near."""
    close = get_close_matches(word, [*known], n=1, cutoff=0.6)
    return close[0] if close else ""
