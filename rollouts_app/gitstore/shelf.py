"""All caches on this disk: how much they take, and which go when they take too much."""

import contextlib
import shutil
import time
from collections.abc import Collection, Iterator
from pathlib import Path

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore.folder import DOOMED, Folder


class Shelf:
    """The folder that holds the caches of all repositories, each under a number.

    Whatever else lies there is left alone, and so is a cache that somebody is working in.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def is_due(self, seconds: float) -> bool:
        """Whether nobody has asked this for so many seconds; a mark on the disk tells."""
        mark = self._path / "looked-at"
        with contextlib.suppress(OSError):
            if mark.exists() and 0 <= time.time() - mark.stat().st_mtime < seconds:
                return False
            mark.touch()
        return True

    def names(self) -> set[str]:
        """The names of the caches there are."""
        return {folder.path.name for folder in self._folders()}

    def size(self) -> int:
        """What all of them take of the disk, in bytes."""
        return sum(folder.size() for folder in self._folders())

    def keep_only(self, names: Collection[str]) -> list[str]:
        """Remove all other caches, and what killed processes left; gives the names removed."""
        for doomed in self._path.glob(f"*{DOOMED}"):
            shutil.rmtree(doomed, ignore_errors=True)
        others = (folder for folder in self._folders() if folder.path.name not in names)
        return [folder.path.name for folder in others if _remove(folder)]

    def keep_within(self, most_bytes: int) -> list[str]:
        """Remove the least recently used until all together fit; gives the names removed."""
        sizes = {folder: folder.size() for folder in self._folders()}
        too_many = sum(sizes.values()) - most_bytes
        return self._remove_bytes(sizes, too_many)

    def make_room(self, most_bytes: int, spared: Path) -> list[str]:
        """Remove the least recently used but one until so many bytes are free; gives the names."""
        sizes = {folder: folder.size() for folder in self._folders() if folder.path != spared}
        return self._remove_bytes(sizes, most_bytes)

    def _remove_bytes(self, sizes: dict[Folder, int], most_bytes: int) -> list[str]:
        removed = []
        for folder in sorted(sizes, key=lambda folder: folder.used_at):
            if most_bytes <= 0:
                break
            if _remove(folder):
                most_bytes -= sizes[folder]
                removed.append(folder.path.name)
        return removed

    def _folders(self) -> Iterator[Folder]:
        paths: list[Path] = []
        with contextlib.suppress(OSError):
            paths = [path for path in self._path.iterdir() if path.name.isdecimal()]
        yield from (Folder(path) for path in paths if (path / "lock").is_file())


def _remove(folder: Folder) -> bool:
    """Remove a cache unless it is in use; a disk that refuses this one may allow others."""
    with contextlib.suppress(Unavailable), folder.locked_if_free() as is_ours:
        if is_ours:
            folder.delete()
        return is_ours
    return False
