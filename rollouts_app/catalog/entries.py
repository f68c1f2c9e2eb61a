"""Which entries of a directory count: rollouts, and the files that are read of them."""

from collections.abc import Iterable
from typing import Literal, Protocol

from rollouts_app.catalog.text import ELLIPSIS, storable

# In the order of preference, in any letter case.
READMES = ("readme.md", "readme.markdown", "readme.rst", "readme.txt", "readme")
PYPROJECT = "pyproject.toml"
TEMPLATE = "default.toml"
# File systems know no longer names, and the database's indexes are limited too.
LONGEST_NAME = 255


class Entry(Protocol):
    """One line of a directory: `kind` is directory, file, symlink or submodule."""

    @property
    def name(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...


def rollouts_in(entries: Iterable[Entry]) -> dict[str, str]:
    """Name → tree id of the rollouts in a `rollouts` directory: its subdirectories, nothing else.

    Names are as in git; those that cannot be stored so are changed, and stay distinct.
    """
    return _distinct((entry for entry in entries if entry.kind == "directory"), "")


def wanted_files(entries: Iterable[Entry]) -> dict[str, str]:
    """File name → blob id of what `read_rollout` needs: pyproject.toml and one README."""
    files = {entry.name: entry.id for entry in entries if entry.kind == "file"}
    readmes = [name for name in files if name.lower() in READMES]
    wanted = sorted(readmes, key=lambda name: (READMES.index(name.lower()), name))[:1]
    return {name: files[name] for name in [PYPROJECT, *wanted] if name in files}


def wanted_configs(kind: Literal["eval", "training"], entries: Iterable[Entry]) -> dict[str, str]:
    """Path from the repository's root → blob id of the configs in `configs/<kind>`.

    `default.toml` is the template that others are copied from, not a config.
    """
    files = (entry for entry in entries if entry.kind == "file")
    configs = (entry for entry in files if entry.name.endswith(".toml") and entry.name != TEMPLATE)
    return _distinct(configs, f"configs/{kind}/")


def _distinct(entries: Iterable[Entry], prefix: str) -> dict[str, str]:
    """Storable name → id. Clean names come first, so that no other takes theirs."""
    named = [(_name(entry.name), entry) for entry in entries]
    distinct: dict[str, str] = {}
    for name, entry in sorted(named, key=lambda pair: pair[0] != pair[1].name):
        number = 1
        unique = name
        while prefix + unique in distinct:
            number += 1
            unique = f"{name} ({number})"
        distinct[prefix + unique] = entry.id
    return distinct


def _name(name: str) -> str:
    shown = storable(name)
    return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + ELLIPSIS
