"""The git cache of one repository: what the host has now, and what its commits hold."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from rollouts_app.errors import Unavailable
from rollouts_app.gitstore.batch import MISSING, Found
from rollouts_app.gitstore.cache import Cache
from rollouts_app.gitstore.folder import Folder
from rollouts_app.gitstore.limits import Limits
from rollouts_app.gitstore.names import distinct_ids, read_heads
from rollouts_app.gitstore.objects import CommitFacts, Entry, TreeReader, read_commit
from rollouts_app.gitstore.refusals import Corrupt, DiskFull, TooLarge, Unreadable, Unsound
from rollouts_app.gitstore.remote import Remote
from rollouts_app.gitstore.shelf import Shelf

Answer = TypeVar("Answer")


class GitStore:
    """One bare cache of one repository: commits and trees, and those files that were asked for.

    It is fetched by object id into no refs, so that branch names never collide, and can be thrown
    away at any time: what a read misses is fetched. A damaged cache is made anew by itself; when
    the disk is full, the least recently used other caches of the shelf make room. All methods
    raise `Gone`, `Denied`, `RateLimited` and `Unavailable`; iterators while they are read.
    """

    def __init__(
        self,
        folder: Path,
        url: str,
        token: str | None = None,
        limits: Limits | None = None,
        *,
        shelf: Shelf | None = None,
    ) -> None:
        """`folder` is the cache's own and made when needed; `url` is like https://host/a/b.git.

        `token` is an installation token; it never gets into an argument, a file or a message.
        `shelf` has the caches that may go when the disk is full; without one only our own may.
        """
        self._limits = limits or Limits()
        self._folder = folder
        self._shelf = shelf
        place = Folder(folder)
        self._cache = Cache(place, self._limits)
        self._remote = Remote(place, url, token, self._limits)
        self._tree_reader = TreeReader()
        self._unsound: dict[str, Unsound] = {}

    def heads(self, names: Collection[str] | None = None) -> dict[str, str]:
        """Branch name → commit, as the host has them now; with `names`, only of those there are.

        Bytes of a name that are not UTF-8 are surrogate escapes. An empty repository has none.
        """
        if names is not None and not names:
            return {}
        heads = read_heads(self._with_room(self._list_heads))
        if names is None:
            return heads
        return {name: heads[name] for name in names if name in heads}

    def fetch(self, commits: Collection[str], known: Collection[str] = ()) -> None:
        """Bring commits and their trees, in one go; asks nothing when all are here.

        `known` are commits fetched before that may resemble them, as the branch's last one does:
        the host then sends the difference only. Raises `Vanished` when a commit is no longer there.
        Unsound ones stay away: reading them raises `Unreadable`.
        """
        self._with_room(self._cache.note_use)
        wanted, tips = distinct_ids(commits), distinct_ids(known)
        here = self._sizes([*wanted, *tips])
        missing = [id for id in wanted if id not in here]
        if missing:
            tips = [id for id in tips if id in here]
            self._fetch_sound(missing, tips)

    def commits(self, ids: Iterable[str]) -> dict[str, CommitFacts]:
        """The facts of commits; those that are not here are fetched.

        Raises `Unreadable` for one that is unsound, none at all, or too large.
        """
        found = self._needed(distinct_ids(ids), "commit", self._fetch_commits)
        return {commit: self._facts(commit, content) for commit, content in found}

    def trees(self, ids: Iterable[str]) -> Iterator[tuple[str, list[Entry]]]:
        """Each distinct tree id with its entries in git's order, as they are read.

        So thousands need not be held at once; `dict(store.trees(ids))` does where they may. Trees
        larger than `Limits.object_bytes` are left out, and so is what is no tree.
        """
        for tree, content in self._needed(distinct_ids(ids), "tree", self._fetch_trees):
            if content is not None:
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

    def fetch_blobs(self, ids: Iterable[str]) -> dict[str, int]:
        """Bring files, in one go; the size of each that is here then, in bytes.

        The others are larger than `Limits.blob_bytes` by far, and not worth another try.
        """
        wanted = distinct_ids(ids)
        sizes = self._sizes(wanted)
        missing = [id for id in wanted if id not in sizes]
        if missing:
            self._fetch_files(missing)
            sizes |= self._sizes(missing)
        return {id: sizes[id] for id in wanted if id in sizes}

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Each distinct blob id with its content, as they are read.

        What is not here is fetched first, in one go. Files larger than `Limits.blob_bytes` are
        left out, and so is what is no blob.
        """
        for blob, content in self._needed(distinct_ids(ids), "blob", self._fetch_files):
            if content is not None:
                yield blob, content

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
        self, ids: Sequence[str], kind: str, fetch: Callable[[Sequence[str]], Collection[str]]
    ) -> Iterator[tuple[str, bytes | None]]:
        """Each object: those that are here, then the others, when `fetch` has brought them.

        Without those that `fetch` says it leaves away. None stands for the content of one that is
        too large, or of another kind.
        """
        most = self._limits.blob_bytes if kind == "blob" else self._limits.object_bytes
        for attempt in range(3):
            missing = []
            for found in self._readable(ids, most):
                if found.kind == MISSING:
                    missing.append(found.id)
                else:
                    yield found.id, found.content if found.kind == kind else None
            if not missing:
                return
            if attempt == 1:
                # It was fetched and still cannot be read: git believes to have it, and is wrong.
                self._make_anew()
            away = fetch(missing)
            ids = [id for id in missing if id not in away]
        raise Unavailable("The git cache of this repository cannot be read. Try again later.")

    def _readable(self, ids: Sequence[str], most_bytes: int | None) -> Iterator[Found]:
        """Like Cache.read; of a damaged cache what can be read, the rest as missing."""
        count = 0
        try:
            for found in self._cache.read(ids, most_bytes):
                count += 1
                yield found
        except Corrupt:
            self._make_anew()
            yield from (Found(id, MISSING, 0, None) for id in ids[count:])

    def _sizes(self, ids: Sequence[str]) -> dict[str, int]:
        """The sizes of the objects that are here."""
        found = self._readable(ids, None)
        return {object.id: object.size for object in found if object.kind != MISSING}

    def _facts(self, commit: str, content: bytes | None) -> CommitFacts:
        try:
            return read_commit(content or b"")
        except ValueError:
            raise Unreadable(f"{commit[:12]} is no commit, or is too large to be read.") from None

    def _fetch_commits(self, ids: Sequence[str]) -> Collection[str]:
        self.fetch(ids)
        for id in ids:
            if id in self._unsound:
                raise Unreadable(str(self._unsound[id]))
        return ()

    def _fetch_sound(self, ids: Sequence[str], tips: Sequence[str]) -> None:
        """Bring commits and their trees, but for those that are unsound, found by halving."""
        try:
            self._bring(ids, self._limits.pack_bytes, depth=1, tips=tips)
        except Unsound as error:
            half = len(ids) // 2
            if not half:
                self._unsound[ids[0]] = error
            elif len(self._unsound) >= self._limits.unsound:
                raise
            else:
                self._fetch_sound(ids[:half], tips)
                self._fetch_sound(ids[half:], tips)

    def _fetch_trees(self, ids: Sequence[str]) -> Collection[str]:
        self._bring(ids, self._limits.pack_bytes)
        return ()

    def _fetch_files(self, ids: Sequence[str]) -> Collection[str]:
        """Bring files; gives those that are far too large and stay away, found by halving."""
        try:
            self._bring(ids, self._limits.files_pack_bytes(len(ids)))
        except TooLarge:
            half = len(ids) // 2
            if not half:
                return ids
            return [*self._fetch_files(ids[:half]), *self._fetch_files(ids[half:])]
        return ()

    def _bring(
        self,
        ids: Sequence[str],
        most_bytes: int,
        *,
        depth: int | None = None,
        tips: Sequence[str] = (),
    ) -> None:
        def bring(portion: Sequence[str]) -> None:
            with self._cache.alone() as lock:
                try:
                    self._remote.fetch(portion, lock, most_bytes, depth=depth, tips=tips)
                except Corrupt:
                    self._cache.make_anew(lock)
                    self._remote.fetch(portion, lock, most_bytes, depth=depth)

        for start in range(0, len(ids), self._limits.ids_a_request):
            portion = ids[start : start + self._limits.ids_a_request]
            self._with_room(partial(bring, portion))

    def _list_heads(self) -> bytes:
        with self._cache.alone() as lock:
            try:
                return self._remote.heads(lock)
            except Corrupt:
                self._cache.make_anew(lock)
                return self._remote.heads(lock)

    def _with_room(self, work: Callable[[], Answer]) -> Answer:
        """Do the work; where the disk is full, make room and do it once more."""
        try:
            return work()
        except DiskFull:
            self._make_room()
            return work()

    def _make_room(self) -> None:
        """Free the room of other caches; where there are none, that of our own, fetched anew."""
        room = self._limits.room_bytes
        if self._shelf is None or not self._shelf.make_room(room, self._folder):
            self._cache.delete()

    def _make_anew(self) -> None:
        with self._cache.alone() as lock:
            self._cache.make_anew(lock)

    def _entries(self, tree: str) -> list[Entry]:
        return dict(self.trees([tree]))[tree]
