"""Real bare repositories: the writing side. Objects and refs are made by git itself."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .git import GitFailed, git

# GitHub serves partial clones and any commit by id, and no hook of ours ever runs.
CONFIG = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\thooksPath = /dev/null
\tlogAllRefUpdates = false
[uploadpack]
\tallowFilter = true
\tallowAnySHA1InWant = true
[http]
\treceivepack = true
[receive]
\tdenyDeleteCurrent = ignore
\tautogc = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
NOTHING = "0" * 40


@dataclass(frozen=True)
class Symlink:
    """A file of a push that is a symbolic link."""

    target: str


@dataclass(frozen=True)
class Submodule:
    """A file of a push that is a submodule at a commit (40 hex digits) of some other repository."""

    commit: str


Content = str | bytes | Symlink | Submodule | None
"""What a path of a push holds; None removes it."""


@dataclass(frozen=True)
class Signature:
    """Who wrote a commit, and when."""

    name: str
    email: str
    when: datetime

    def __str__(self) -> str:
        safe = {ord(sign): None for sign in "<>\n\0"}
        name, email = self.name.translate(safe), self.email.translate(safe)
        return (
            f"{name} <{email}> {int(self.when.timestamp())} {self.when.strftime('%z') or '+0000'}"
        )


class BareRepository:
    """One bare repository in a folder. `lock` is held by whoever changes its refs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()

    def create(self, default_branch: str) -> None:
        """Make the repository, empty. Written by hand, as `git init` takes ten times as long."""
        for part in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            (self.folder / part).mkdir(parents=True)
        (self.folder / "config").write_text(CONFIG)
        self.set_head(default_branch)

    def set_head(self, branch: str) -> None:
        """Let HEAD name the branch, which need not exist."""
        (self.folder / "HEAD").write_bytes(b"ref: refs/heads/" + branch.encode() + b"\n")

    def refs(self) -> dict[str, str]:
        """Full name → object id, of all branches and tags, in the order of names."""
        lines = git(
            self.folder,
            "for-each-ref",
            "--format=%(objectname) %(refname)",
            "refs/heads",
            "refs/tags",
        )
        pairs = (line.split(" ", 1) for line in lines.decode(errors="replace").splitlines())
        return {name: commit for commit, name in pairs}

    def heads(self) -> dict[str, str]:
        """Branch → commit."""
        return {
            name.removeprefix("refs/heads/"): commit
            for name, commit in self.refs().items()
            if name.startswith("refs/heads/")
        }

    def resolve(self, revision: str) -> str | None:
        """The full id of the commit a revision names, or None."""
        arguments = (
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{revision}^{{commit}}",
        )
        try:
            return git(self.folder, *arguments).decode().strip()
        except GitFailed:
            return None

    def commit(
        self,
        branch: str,
        files: Mapping[str, Content],
        *,
        message: str,
        author: Signature,
        parent: str | None,
        force: bool = False,
    ) -> str:
        """Add a commit on top of `parent` (None: on nothing), move the branch to it, return its id.

        Raises GitFailed when the branch would lose commits and `force` is not set.
        """
        stream = b"".join(
            [
                f"feature done\ncommit refs/heads/{branch}\nmark :1\n".encode(),
                f"author {author}\ncommitter {author}\n".encode(),
                _data(message.encode()),
                f"from {parent}\n".encode() if parent else b"",
                *(_change(path, content) for path, content in files.items()),
                b"get-mark :1\ndone\n",
            ]
        )
        return self.fast_import(stream, force=force).decode().strip()

    def fast_import(self, stream: bytes, *, force: bool = False) -> bytes:
        """Run `git fast-import` over a stream; what it was asked to print comes back."""
        extra = ["--force"] if force else []
        return git(self.folder, "fast-import", "--quiet", "--cat-blob-fd=1", *extra, stdin=stream)

    def set_ref(self, name: str, commit: str | None, *, force: bool = False) -> None:
        """Point a ref (full name) at a commit, or remove it (None); one that exists needs force."""
        command = f"delete {name}\n" if commit is None else f"create {name} {commit}\n"
        if commit is not None and force:
            command = f"update {name} {commit}\n"
        git(self.folder, "update-ref", "--stdin", stdin=command.encode())


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _change(path: str, content: Content) -> bytes:
    """One line (and its data) of fast-import for one path."""
    quoted = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    name = b'"' + quoted.encode(errors="surrogateescape") + b'"\n'
    if content is None:
        return b"D " + name
    if isinstance(content, Submodule):
        return b"M 160000 " + content.commit.encode() + b" " + name
    if isinstance(content, Symlink):
        return b"M 120000 inline " + name + _data(content.target.encode())
    return (
        b"M 100644 inline "
        + name
        + _data(content if isinstance(content, bytes) else content.encode())
    )
