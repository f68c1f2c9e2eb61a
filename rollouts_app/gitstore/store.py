"""The git cache of one repository: what the host has now, and what its commits hold."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore.batch import MISSING, Found
from rollouts_app.gitstore.cache import Cache
from rollouts_app.gitstore.folder import Folder
from rollouts_app.gitstore.limits import Limits
from rollouts_app.gitstore.objects import CommitFacts, Entry, TreeReader, read_commit
from rollouts_app.gitstore.refusals import Corrupt, TooLarge
from rollouts_app.gitstore.remote import Remote

OBJECT_ID = re.compile(r"[0-9a-f]{40}")
HEADS = "refs/heads/"


class GitStore:
    """One bare cache of one repository: commits and trees, and those files that were asked for.

    It is fetched by object id into no refs, so that branch names never collide, and can be thrown
    away at any time: what a read misses is fetched. A damaged cache is made anew by itself. All
    methods raise `Gone`, `Denied`, `RateLimited` and `Unavailable`; iterators while they are read.
    """

    def __init__(
        self, folder: Path, url: str, token: str | None = None, limits: Limits | None = None
    ) -> None:
        """`folder` is the cache's own and made when needed; `url` is like https://host/a/b.git.

        `token` is an installation token; it never gets into an argument, a file or a message.
        """
        self._limits = limits or Limits()
        place = Folder(folder)
        self._cache = Cache(place, self._limits)
        self._remote = Remote(place, url, token, self._limits)
        self._tree_reader = TreeReader()

    def heads(self, names: Collection[str] | None = None) -> dict[str, str]:
        """Branch name → commit, as the host has them now; with `names`, only of those there are.

        Bytes of a name that are not UTF-8 are surrogate escapes. An empty repository has none.
        """
        if names is not None and not names:
            return {}
        with self._cache.alone() as lock:
            try:
                listing = self._remote.heads(lock)
            except Corrupt:
                self._cache.make_anew(lock)
                listing = self._remote.heads(lock)
        heads = _read_heads(listing)
        if names is None:
            return heads
        return {name: heads[name] for name in names if name in heads}

    def fetch(self, commits: Collection[str], known: Collection[str] = ()) -> None:
        """Bring commits and their trees, in one go; asks nothing when all are here.

        `known` are commits fetched before that may resemble them, as the branch's last one does:
        the host then sends the difference only. Raises `Vanished` when a commit is no longer there.
        """
        wanted, tips = _distinct(commits), _distinct(known)
        here = self._sizes([*wanted, *tips])
        missing = [id for id in wanted if id not in here]
        if missing:
            tips = [id for id in tips if id in here]
            self._bring(missing, self._limits.pack_bytes, depth=1, tips=tips)

    def commits(self, ids: Iterable[str]) -> dict[str, CommitFacts]:
        """The facts of commits; those that are not here are fetched."""
        found = self._needed(_distinct(ids), "commit", self.fetch)
        return {commit: read_commit(content) for commit, content in found}

    def trees(self, ids: Iterable[str]) -> Iterator[tuple[str, list[Entry]]]:
        """Each distinct tree id with its entries in git's order, as they are read.

        So thousands need not be held at once; `dict(store.trees(ids))` does where they may.
        """
        for tree, content in self._needed(_distinct(ids), "tree", self._fetch_trees):
            yield tree, self._tree_reader.read(content)

    def tree(self, commit: str, path: str = "") -> list[Entry] | None:
        """The directory `path` of a commit, the root by default.

        None when there is none, or a file, symlink or submodule in its place: the entries' modes
        are walked, nothing is ever followed.
        """
        id = self.commits([commit])[commit].tree
        for name in filter(None, path.split("/")):
            entry = next((entry for entry in self._entries(id) if entry.name == name), None)
            if entry is None or entry.kind != "directory":
                return None
            id = entry.id
        return self._entries(id)

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Each distinct blob id with its content, as they are read.

        What is not here is fetched first, in one go. Files larger than `Limits.blob_bytes` are
        left out, and so is what is no blob.
        """
        wanted = _distinct(ids)
        sizes = self._sizes(wanted)
        missing = [id for id in wanted if id not in sizes]
        if missing:
            self._fetch_files(missing)
            sizes |= self._sizes(missing)
        small = [id for id in wanted if sizes.get(id, -1) in range(self._limits.blob_bytes + 1)]
        yield from self._needed(small, "blob", self._fetch_files)

    def tidy(self) -> None:
        """Merge the packs when there are many; delete the cache when it has grown too large.

        To be called after a sync.
        """
        self._cache.tidy()

    def size(self) -> int:
        """Bytes on the disk; 0 when there is no cache."""
        return self._cache.size()

    def delete(self) -> None:
        """Remove the cache from the disk; the next use makes it anew."""
        self._cache.delete()

    def _needed(
        self, ids: Sequence[str], kind: str, fetch: Callable[[Sequence[str]], None]
    ) -> Iterator[tuple[str, bytes]]:
        """Each object: those that are here, then the others, when `fetch` has brought them."""
        for attempt in range(3):
            missing = []
            for found in self._readable(ids):
                if found.kind == MISSING:
                    missing.append(found.id)
                else:
                    yield found.id, _content(found, kind)
            if not missing:
                return
            if attempt == 1:
                # It was fetched and still cannot be read: git believes to have it, and is wrong.
                self._make_anew()
            fetch(missing)
            ids = missing
        raise Unavailable("The git cache of this repository cannot be read. Try again later.")

    def _readable(self, ids: Sequence[str], *, contents: bool = True) -> Iterator[Found]:
        """Like Cache.read; of a damaged cache what can be read, the rest as missing."""
        count = 0
        try:
            for found in self._cache.read(ids, contents=contents):
                count += 1
                yield found
        except Corrupt:
            self._make_anew()
            yield from (Found(id, MISSING, 0, None) for id in ids[count:])

    def _sizes(self, ids: Sequence[str]) -> dict[str, int]:
        """The sizes of the objects that are here; -1 of those that are no blobs."""
        found = self._readable(ids, contents=False)
        return {
            object.id: object.size if object.kind == "blob" else -1
            for object in found
            if object.kind != MISSING
        }

    def _fetch_trees(self, ids: Sequence[str]) -> None:
        self._bring(ids, self._limits.pack_bytes)

    def _fetch_files(self, ids: Sequence[str]) -> None:
        """Bring files; those that are far too large stay away, found by halving."""
        limits = self._limits
        try:
            self._bring(ids, limits.blob_pack_bytes + len(ids) * limits.blob_pack_bytes_each)
        except TooLarge:
            half = len(ids) // 2
            if half:
                self._fetch_files(ids[:half])
                self._fetch_files(ids[half:])

    def _bring(
        self,
        ids: Sequence[str],
        most_bytes: int,
        *,
        depth: int | None = None,
        tips: Sequence[str] = (),
    ) -> None:
        with self._cache.alone() as lock:
            for start in range(0, len(ids), self._limits.ids_a_request):
                portion = ids[start : start + self._limits.ids_a_request]
                try:
                    self._remote.fetch(portion, lock, most_bytes, depth=depth, tips=tips)
                except Corrupt:
                    self._cache.make_anew(lock)
                    self._remote.fetch(portion, lock, most_bytes, depth=depth)

    def _make_anew(self) -> None:
        with self._cache.alone() as lock:
            self._cache.make_anew(lock)

    def _entries(self, tree: str) -> list[Entry]:
        return dict(self.trees([tree]))[tree]


def _distinct(ids: Iterable[str]) -> list[str]:
    """Each id once, in order. ValueError for anything that is none: ids become lines for git."""
    distinct = list(dict.fromkeys(ids))
    for id in distinct:
        if not OBJECT_ID.fullmatch(id):
            raise ValueError(f"{id!r} is no object id")
    return distinct


def _content(found: Found, kind: str) -> bytes:
    if found.kind != kind:
        raise Unavailable(f"The repository's object {found.id} is a {found.kind}, not a {kind}.")
    if found.content is None:
        raise Unavailable(f"The repository's {kind} {found.id} has {found.size:,} bytes: too many.")
    return found.content


def _read_heads(listing: bytes) -> dict[str, str]:
    """The lines of `git ls-remote`, `<id> tab refs/heads/<name>`."""
    heads = {}
    for line in listing.splitlines():
        id, _, ref = line.decode(errors="surrogateescape").partition("\t")
        if ref.startswith(HEADS) and OBJECT_ID.fullmatch(id):
            heads[ref.removeprefix(HEADS)] = id
    return heads
