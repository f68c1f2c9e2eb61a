"""What a repository holds, by git: one bare, blobless cache of objects per repository, no refs.

Commits and trees are fetched by object id with `git fetch --depth=1 --filter=blob:none`, the few
files that are read by id after them; `git ls-remote` tells the heads. There is no checkout: nothing
of a repository is ever run or imported. Knows the git command and nothing of our tables; imports
nothing of ours but the errors, which are all that leaves when something goes wrong.

One process at a time works in a cache (a file lock sees to it); it may be deleted at any time.
"""

from rollouts_app.gitstore.limits import Limits
from rollouts_app.gitstore.objects import CommitFacts, Entry
from rollouts_app.gitstore.refusals import DiskFull, Unreadable, Unusable, Vanished
from rollouts_app.gitstore.shelf import Shelf
from rollouts_app.gitstore.store import GitStore

__all__ = [
    "CommitFacts",
    "DiskFull",
    "Entry",
    "GitStore",
    "Limits",
    "Shelf",
    "Unreadable",
    "Unusable",
    "Vanished",
]
