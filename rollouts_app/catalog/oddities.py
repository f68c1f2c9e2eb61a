"""Trees that are not as they should be: what is left out of a catalog, told as problems.

A path that ends with a slash is that of a directory.
"""

import json
import re
from collections.abc import Iterable

from rollouts_app.catalog.entries import PYPROJECT, Entry, Listing, WantedFiles
from rollouts_app.catalog.limits import LONGEST_NAME
from rollouts_app.catalog.problems import Problem, Severity
from rollouts_app.catalog.text import printable

NOT_FOLLOWED = {
    "file": "is a file, not a directory",
    "symlink": "is a symbolic link, and those are not followed",
    "submodule": "is a submodule, and other repositories are not read",
    "directory": "is a directory, not a file",
}
UNREADABLE = "unreadable"
INIT_NAME = re.compile(r"[a-z][a-z0-9-]*")


def directory_in(entries: Iterable[Entry] | None, name: str) -> str:
    """The tree id of the directory of that name; the kind of what stands in its place, if any.

    None in place of the entries says that there are too many to be read: then it is UNREADABLE.
    """
    if entries is None:
        return UNREADABLE
    found = next((entry for entry in entries if entry.name == name), None)
    if found is None:
        return ""
    return found.id if found.kind == "directory" else found.kind


def is_tree(id: str) -> bool:
    """Whether `directory_in` found a directory."""
    return id not in {"", UNREADABLE, *NOT_FOLLOWED}


def no_directory(path: str, kind: str, severity: Severity) -> tuple[Problem, ...]:
    """What is wrong where `directory_in` found no directory but something else; else nothing."""
    if kind == UNREADABLE:
        return (too_wide(path.rpartition("/")[0] + "/", severity),)
    if kind not in NOT_FOLLOWED:
        return ()
    sentence = f"{path} {NOT_FOLLOWED[kind]}."
    remedy = f"Make {path} a directory of its own and push again."
    return (Problem(f"{path.replace('/', '-')}-no-directory", severity, sentence, remedy, path),)


def no_file(path: str, kind: str) -> Problem:
    """A README or pyproject.toml that is none."""
    is_readme = not path.endswith(".toml")
    return Problem(
        "readme-no-file" if is_readme else "pyproject-no-file",
        "note" if is_readme else "warning",
        f"{printable(path)} {NOT_FOLLOWED[kind]}.",
        "Put a file in its place to have it read here.",
        path,
    )


def directory_problems(name: str, wanted: WantedFiles) -> list[Problem]:
    """What is odd about a rollout's directory: what it lacks, links inside, and its name."""
    folder = f"rollouts/{name}"
    shown = printable(name)
    found = []
    if PYPROJECT not in wanted.ids and PYPROJECT not in wanted.others:
        found.append(
            Problem(
                "pyproject-missing",
                "note",
                f"rollouts/{shown} has no pyproject.toml, so its dependencies are not known.",
                "Add one with a [project] table and push again.",
                f"{folder}/",
            )
        )
    for file, kind in wanted.files:
        if kind == "symlink":
            found.append(
                Problem(
                    "symlink-inside",
                    "note",
                    f"{printable(f'{folder}/{file}')} is a symbolic link, which may not be followed"
                    " where the rollout runs.",
                    "Put what it points to in its place.",
                    f"{folder}/{file}",
                )
            )
    if not INIT_NAME.fullmatch(name):
        found.append(
            Problem(
                "rollout-name",
                "note",
                f"osmosis rollout init makes no rollouts of this name: {shown}.",
                "It takes names that start with a–z, then have a–z, 0–9 and dashes.",
                f"{folder}/",
            )
        )
    return found


def without_config(name: str, path: str) -> Problem:
    """A rollout, and its directory, that no config of its branch names."""
    return Problem(
        "rollout-without-config",
        "note",
        f"No config under configs/eval/ or configs/training/ names {printable(name)}.",
        f"To run it, push a config with rollout = {json.dumps(name)} in [experiment].",
        path,
    )


def too_wide(path: str, severity: Severity = "warning") -> Problem:
    """A directory of so many entries that it is not read."""
    name = printable(path) if path != "/" else "The repository's root"
    remedy = "Move what is data into directories of its own and push again."
    return Problem(
        "directory-too-large", severity, f"{name} has too many entries to be read.", remedy, path
    )


def too_many(path: str, listing: Listing, things: str) -> tuple[Problem, ...]:
    """What a listing left out, if anything."""
    if not listing.is_cut:
        return ()
    shown = len(listing.ids)
    return (
        Problem(
            "too-many-entries",
            "warning",
            f"{path} has {listing.count:,} {things}: the first {shown:,} in the order of names are"
            " shown, the others are left out.",
            "Remove those that are no longer needed, or move them to another repository.",
            path,
        ),
    )


def changed_name(path: str, name: str) -> Problem:
    """A name that could not be taken as it is in git."""
    return Problem(
        "name-changed",
        "warning",
        f"{printable(name)} is called otherwise in git: the name there is not UTF-8, or has more"
        f" than {LONGEST_NAME} characters.",
        "Rename it and push again.",
        path,
    )
