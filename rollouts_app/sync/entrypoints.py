"""Whether the files that configs name as entrypoints are there. Trees are read, files never."""

from collections import defaultdict
from collections.abc import Iterable

from rollouts_app.gitstore import Entry, GitStore

# The tree of a rollout's directory, and a path in it.
Use = tuple[str, str]


def absent_files(store: GitStore, uses: Iterable[Use]) -> set[Use]:
    """Those of the paths that lead to no file.

    Symbolic links and submodules are not followed, so what lies behind them counts as there; so
    does what stands in a directory too large to be read. Asks git once for each level of depth.
    """
    absent = set()
    level = {use: use for use in uses}
    while level:
        waiting = defaultdict(list)
        for use, (tree, path) in level.items():
            waiting[tree].append((use, path))
        level = {}
        for tree, entries in store.trees(waiting):
            by_name = {entry.name: entry for entry in entries}
            for use, path in waiting[tree]:
                name, _, rest = path.partition("/")
                entry = by_name.get(name)
                if _ends(entry, rest):
                    absent.add(use)
                elif entry and entry.kind == "directory":
                    level[use] = entry.id, rest
    return absent


def _ends(entry: Entry | None, rest: str) -> bool:
    """Whether the way ends here without a file."""
    if entry is None:
        return True
    if entry.kind == "directory":
        return not rest
    return entry.kind == "file" and bool(rest)
