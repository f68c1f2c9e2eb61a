"""Which entries of a directory count: rollouts, and the files that are read of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from rollouts_app.catalog.limits import LONGEST_NAME, MOST_CONFIGS, MOST_FILES, MOST_ROLLOUTS
from rollouts_app.catalog.text import ELLIPSIS, storable

# In the order of preference, in any letter case.
READMES = ("readme.md", "readme.markdown", "readme.rst", "readme.txt", "readme")
PYPROJECT = "pyproject.toml"
TEMPLATE = "default.toml"
# Git's own checks refuse them; as parts of an address they would lead elsewhere.
NO_NAMES = {"", ".", ".."}


class Entry(Protocol):
    """One line of a directory: `kind` is directory, file, symlink or submodule."""

    @property
    def name(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...


@dataclass(frozen=True)
class Listing:
    """What counts of a directory: `ids` by name, trees of rollouts or blobs of configs.

    Names are as in git; those that cannot be stored so are changed, stay distinct and are told in
    `changed`. `count` is how many there are, with those that are too many.
    """

    ids: dict[str, str]
    changed: frozenset[str]
    count: int

    @property
    def is_cut(self) -> bool:
        return self.count > len(self.ids)

    def with_(self, other: "Listing") -> "Listing":
        """Both together; their names must differ."""
        return Listing(self.ids | other.ids, self.changed | other.changed, self.count + other.count)


@dataclass(frozen=True)
class WantedFiles:
    """What `read_rollout` needs of a rollout's directory.

    `ids` are the blobs of pyproject.toml and one README, by file name. `others` has the kind of
    what bears such a name and is no file, so that it is not read: symlink, submodule, directory.
    `files` names all that the directory holds, each with its kind, cut to MOST_FILES of `count`.
    """

    ids: dict[str, str]
    others: dict[str, str]
    files: tuple[tuple[str, str], ...] = ()
    count: int = 0


def rollouts_in(entries: Iterable[Entry]) -> Listing:
    """The rollouts in a `rollouts` directory: its subdirectories, nothing else."""
    directories = [
        entry
        for entry in entries
        if entry.kind == "directory" and entry.name not in NO_NAMES and "/" not in entry.name
    ]
    return _listing(directories, MOST_ROLLOUTS, "")


def wanted_files(entries: Iterable[Entry]) -> WantedFiles:
    """Which files of a rollout's directory are read, and what it holds besides."""
    entries = list(entries)
    named = [entry for entry in entries if entry.name == PYPROJECT or _is_readme(entry.name)]
    files = {entry.name: entry.id for entry in named if entry.kind == "file"}
    readmes = [name for name in files if _is_readme(name)]
    wanted = sorted(readmes, key=lambda name: (READMES.index(name.lower()), name))[:1]
    ids = {name: files[name] for name in [PYPROJECT, *wanted] if name in files}
    others = {
        entry.name: entry.kind
        for entry in named
        if entry.kind != "file" and not (wanted and _is_readme(entry.name))
    }
    listed = tuple((_name(entry.name), entry.kind) for entry in entries[:MOST_FILES])
    return WantedFiles(ids, others, listed, len(entries))


def wanted_configs(kind: Literal["eval", "training"], entries: Iterable[Entry]) -> Listing:
    """The configs in `configs/<kind>` by their paths from the repository's root.

    `default.toml` is the template that others are copied from, not a config.
    """
    files = (entry for entry in entries if entry.kind == "file")
    configs = [entry for entry in files if entry.name.endswith(".toml") and entry.name != TEMPLATE]
    return _listing(configs, MOST_CONFIGS, f"configs/{kind}/")


def _is_readme(name: str) -> bool:
    return name.lower() in READMES


def _listing(entries: list[Entry], most: int, prefix: str) -> Listing:
    """By storable name. Clean names come first, so that no other takes theirs."""
    named = [(_name(entry.name), entry) for entry in entries[:most]]
    ids: dict[str, str] = {}
    changed = set()
    for name, entry in sorted(named, key=lambda pair: pair[0] != pair[1].name):
        number = 1
        unique = prefix + name
        while unique in ids:
            number += 1
            unique = f"{prefix}{name} ({number})"
        ids[unique] = entry.id
        if unique != prefix + entry.name:
            changed.add(unique)
    return Listing(ids, frozenset(changed), len(entries))


def _name(name: str) -> str:
    shown = storable(name)
    return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + ELLIPSIS
