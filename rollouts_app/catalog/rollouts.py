"""One rollout: what its pyproject.toml and README say."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rollouts_app.catalog.entries import PYPROJECT, WantedFiles
from rollouts_app.catalog.limits import (
    LONGEST_DESCRIPTION,
    LONGEST_README,
    LONGEST_VALUE,
    MOST_VALUES,
)
from rollouts_app.catalog.oddities import changed_name, directory_problems, no_file, too_wide
from rollouts_app.catalog.problems import Problem
from rollouts_app.catalog.readme import first_sentence
from rollouts_app.catalog.text import printable, prose, shortened, storable
from rollouts_app.catalog.toml import Document, read_toml

TEXTS = ("name", "version", "requires-python", "description")
LISTS = ("keywords", "tags", "dependencies")


@dataclass(frozen=True)
class RolloutContents:
    """What a rollout's files say.

    `metadata` holds, of what [project] says: name, version, requires-python, license (a text),
    tags (keywords among them) and dependencies (lists of texts); the README's file name as readme;
    and, of what the directory holds, files (pairs of name and kind) and file-count. What is not
    said is absent.
    """

    description: str
    readme: str
    metadata: dict[str, Any]
    problems: tuple[Problem, ...]


def read_rollout(
    name: str,
    files: Mapping[str, bytes | None] | None,
    wanted: WantedFiles | None = None,
    *,
    is_changed: bool = False,
) -> RolloutContents:
    """Read a rollout from the `wanted_files` of its directory.

    `name` is that of `rollouts_in`; `is_changed` says that the directory is called otherwise. None
    in place of a file's content says that it is there but could not be read, being too large; in
    place of all files, that the directory is. `wanted` tells what else it holds.
    """
    contents = _read(name, files or {})
    folder = f"rollouts/{name}"
    others = wanted.others if wanted else {}
    odd = [no_file(f"{folder}/{storable(file)}", kind) for file, kind in others.items()]
    if files is None:
        odd.append(too_wide(f"{folder}/"))
    elif wanted:
        odd += directory_problems(name, wanted)
        contents.metadata.update(_files(wanted))
    problems = (*contents.problems, *odd)
    if is_changed:
        # Its own address leads nowhere.
        told = (replace(problem, path="rollouts/", line=None) for problem in problems)
        problems = (changed_name("rollouts/", name), *told)
    return replace(contents, problems=problems)


def _read(name: str, files: Mapping[str, bytes | None]) -> RolloutContents:
    folder = f"rollouts/{name}"
    document = Document(f"{folder}/{PYPROJECT}", {})
    if PYPROJECT in files:
        document = read_toml(document.path, files[PYPROJECT])
    readme, readme_problems = _read_readme(folder, files)
    project, project_problems = _read_project(document)
    description = project.pop("description", "") or first_sentence(readme)
    return RolloutContents(
        description=shortened(printable(description), LONGEST_DESCRIPTION),
        readme=readme,
        metadata=_metadata(project) | _readme_name(files),
        problems=(*document.problems, *project_problems, *readme_problems),
    )


def _readme_name(files: Mapping[str, bytes | None]) -> dict[str, Any]:
    file = next((file for file in files if file != PYPROJECT), None)
    return {"readme": storable(file)} if file else {}


def _files(wanted: WantedFiles) -> dict[str, Any]:
    return {"files": [list(file) for file in wanted.files], "file-count": wanted.count}


def _read_readme(folder: str, files: Mapping[str, bytes | None]) -> tuple[str, list[Problem]]:
    """The README's text as it can be shown, and what is wrong with it."""
    file = next((file for file in files if file != PYPROJECT), None)
    if file is None:
        return "", []
    path = f"{folder}/{storable(file)}"
    content = files[file]
    if content is None:
        words = "is too large to be shown"
        return "", [_unread(path, "readme-too-large", words, "Make it smaller and push again.")]
    problems = []
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("utf-8-sig", errors="replace")
        words = "is not UTF-8, so parts of it may look wrong"
        problems = [_unread(path, "readme-not-utf8", words, "Save it as UTF-8 and push again.")]
    if len(text) > LONGEST_README:
        words = f"is cut: {LONGEST_README:,} of its {len(text):,} characters are shown here"
        cut = _unread(path, "readme-cut", words, "Read all of it on GitHub.")
        problems.append(replace(cut, severity="note"))
    return prose(text, LONGEST_README), problems


def _unread(path: str, id: str, words: str, remedy: str) -> Problem:
    return Problem(id, "warning", f"{printable(path)} {words}.", remedy, path)


def _read_project(document: Document) -> tuple[dict[str, Any], list[Problem]]:
    """What [project] holds of the types it should have, and a problem for each that it has not.

    https://packaging.python.org/en/latest/specifications/pyproject-toml/
    """
    project = document.values.get("project", {})
    if not isinstance(project, dict):
        return {}, [_wrong(document, "project", "", "a table")]
    wrong = list(_wrong_types(document, project))
    known = {*TEXTS, *LISTS, "license"} - {problem_key for problem_key, _problem in wrong}
    kept = {key: value for key, value in project.items() if key in known}
    return kept, [problem for _key, problem in wrong]


def _wrong_types(document: Document, project: dict[str, Any]) -> Iterator[tuple[str, Problem]]:
    for key in TEXTS:
        if key in project and not isinstance(project[key], str):
            yield key, _wrong(document, "project", key, "a text in quotes")
    for key in LISTS:
        if key in project and not _is_texts(project[key]):
            yield key, _wrong(document, "project", key, "a list of texts in quotes")
    if "license" in project and _license(project["license"]) is None:
        expected = 'a text in quotes, {text = "…"} or {file = "…"}'
        yield "license", _wrong(document, "project", "license", expected)


def _wrong(document: Document, table: str, key: str, expected: str) -> Problem:
    named = f"{table}.{key}" if key else table
    return Problem(
        "pyproject-wrong-type",
        "error",
        f"{printable(document.path)}: {named} must be {expected}.",
        f"Make {named} {expected} and push again.",
        document.path,
        document.line_of(table, key),
    )


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(member, str) for member in value)


def _license(value: object) -> str | None:
    """A licence in the form of today (a text), or in the former one (a table)."""
    if isinstance(value, dict):
        value = value.get("text", value.get("file"))
    return value if isinstance(value, str) else None


def _metadata(project: dict[str, Any]) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for key in ("name", "version", "requires-python"):
        if key in project:
            metadata[key] = _value(project[key])
    if "license" in project:
        metadata["license"] = _value(_license(project["license"]) or "")
    if "dependencies" in project:
        metadata["dependencies"] = _values(project["dependencies"])
    tags = [*project.get("keywords", []), *project.get("tags", [])]
    if tags:
        metadata["tags"] = list(dict.fromkeys(_values(tags)))
    return metadata


def _values(values: list[str]) -> list[str]:
    return [_value(value) for value in values[:MOST_VALUES]]


def _value(value: str) -> str:
    return shortened(printable(value), LONGEST_VALUE)
