"""Real bare repositories: the reading side, for pages and webhooks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .git import GitFailed, git

Kind = Literal["directory", "file", "symlink", "submodule"]
KINDS: dict[str, Kind] = {"040000": "directory", "120000": "symlink", "160000": "submodule"}
FIELDS = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"


@dataclass(frozen=True)
class Person:
    """Author or committer, with the date in ISO 8601."""

    name: str
    email: str
    date: str


@dataclass
class Commit:
    """One commit; the paths it touched are filled in by `with_paths`."""

    id: str
    tree: str
    parents: list[str]
    author: Person
    committer: Person
    message: str
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    modified: list[str] = field(default_factory=list)

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True)
class Entry:
    """One entry of a directory."""

    name: str
    kind: Kind
    id: str


def history(folder: Path, revisions: Sequence[str], limit: int, path: str = "") -> list[Commit]:
    """The newest `limit` commits of a revision range, newest first, touching `path` if given."""
    arguments = ["log", "-z", f"--format=tformat:{FIELDS}", f"--max-count={limit}", *revisions]
    output = git(folder, *arguments, "--", *([path] if path else [])).decode(errors="replace")
    # -z ends each field list with NUL, just as our fields are separated.
    parts = output.split("\0")[:-1]
    return [_commit(parts[start : start + 10]) for start in range(0, len(parts), 10)]


def commit(folder: Path, revision: str) -> Commit:
    """One commit. Raises GitFailed."""
    return history(folder, [revision], 1)[0]


def with_paths(folder: Path, commits: Sequence[Commit]) -> Sequence[Commit]:
    """The same commits, with the paths each touched against its first parent."""
    if not commits:
        return commits
    arguments = ["diff-tree", "--stdin", "-r", "-z", "--root", "--name-status", "--no-renames"]
    ids = "".join(f"{commit.id}\n" for commit in commits).encode()
    parts = iter(git(folder, *arguments, stdin=ids).decode(errors="replace").split("\0"))
    by_id = {commit.id: commit for commit in commits}
    current = commits[0]
    for part in parts:
        if part in by_id:
            current = by_id[part]
        elif part:
            {"A": current.added, "D": current.removed}.get(part, current.modified).append(
                next(parts)
            )
    return commits


def directory(folder: Path, revision: str, path: str) -> list[Entry] | None:
    """What a directory of a commit holds, directories first; None when there is no such path."""
    try:
        output = git(folder, "ls-tree", "-z", f"{revision}:{path}" if path else revision)
    except GitFailed:
        return None
    entries = [_entry(line) for line in output.decode(errors="replace").split("\0") if line]
    return sorted(entries, key=lambda entry: (entry.kind != "directory", entry.name))


def file(folder: Path, revision: str, path: str) -> bytes | None:
    """The bytes of a file (of a symlink: its target) of a commit, or None."""
    try:
        return git(folder, "cat-file", "blob", f"{revision}:{path}")
    except GitFailed:
        return None


def diff(folder: Path, base: str, head: str) -> str:
    """What changes from one commit to the other, as a unified diff with renames found."""
    options = ("-M", "--no-color", "--no-ext-diff")
    output = git(folder, "-c", "core.quotePath=false", "diff", *options, base, head)
    return output.decode(errors="replace")


def merge_base(folder: Path, base: str, head: str) -> str | None:
    """The commit both come from, or None when their histories are unrelated."""
    try:
        return git(folder, "merge-base", base, head).decode().strip()
    except GitFailed:
        return None


def follows(folder: Path, newer: Sequence[Commit], older: str) -> bool:
    """Whether the first of these commits, which are what `older` lacks of it, builds on `older`."""
    if not newer or any(older in commit.parents for commit in newer):
        return bool(newer)
    try:
        git(folder, "merge-base", "--is-ancestor", older, newer[0].id)
    except GitFailed:
        return False
    return True


def _commit(fields: Sequence[str]) -> Commit:
    commit_id, tree, parents, *people, message = fields
    author, committer = Person(*people[:3]), Person(*people[3:])
    return Commit(commit_id, tree, parents.split(), author, committer, message.rstrip("\n"))


def _entry(line: str) -> Entry:
    facts, name = line.split("\t", 1)
    mode, _, object_id = facts.split(" ")
    return Entry(name, KINDS.get(mode, "file"), object_id)
