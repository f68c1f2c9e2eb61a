"""The one verb: make the stored catalogs equal to GitHub's heads.

Safe to call at any time, twice, late or after a crash. A webhook is only a hint to call it.
"""

import logging
import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.timezone import now

from rollouts_app import tracing
from rollouts_app.errors import Denied, GitHubError, Gone, RateLimited, Unavailable
from rollouts_app.gitstore import DiskFull, GitStore, Unreadable, Unusable, Vanished
from rollouts_app.models import Repository, SyncRun
from rollouts_app.models.branches import is_nameable
from rollouts_app.sync.clients import store_for
from rollouts_app.sync.identity import Blocked, blocked_by, find_again, follow
from rollouts_app.sync.locks import repository_lock
from rollouts_app.sync.plan import Look, Move, plan, runs_at_work, take_up
from rollouts_app.sync.reading import read_catalogs
from rollouts_app.sync.writing import settle

log = logging.getLogger(__name__)

# Branches written in one transaction, each of them whole.
CHUNK = 500
# Of a large push only this many branches get a line each in the log.
LINES_A_CHUNK = 20
# A branch may move again between listing and fetching; then the listing is repeated.
LISTINGS = 3
# What is asked for while we work is done before the lock is given back: the ring that came with it
# finds the lock taken, and the queue looks again only after a pause.
ROUNDS = 20
LOCKED_RETRY = timedelta(seconds=5)
SHORTEST_WAIT = timedelta(seconds=5)
# How rarely a repository is looked at that GitHub has refused us for long.
LONGEST_PAUSE = timedelta(hours=6)


class Renamed(Unavailable):
    """The branches were listed by a name that is no longer the repository's."""


def sync(repository_id: int) -> datetime | None:
    """Make one repository's catalogs equal to GitHub's heads.

    Looks at the branches of waiting runs, or at all when a full check was requested. Returns when
    to try again if GitHub could not be asked now, else None. Nothing is raised for a failing
    GitHub: the repository and its runs say what happened.
    """
    with repository_lock(repository_id) as is_ours:
        if not is_ours:
            return now() + LOCKED_RETRY
        for _ in range(ROUNDS):
            repository = _with_work(repository_id)
            if repository is None:
                return None
            # Whoever goes on asking while being limited is limited longer, or blocked.
            again_at = repository.limited_until or _attempt(repository)
            if again_at:
                return again_at
        return None


def _with_work(repository_id: int) -> Repository | None:
    """The repository as it is now, if anything is asked of it."""
    return (
        Repository.objects.connected()
        .select_related("installation")
        .filter(pk=repository_id)
        .filter(Q(full_check_requested_at__isnull=False) | Q(Exists(OPEN_RUNS)))
        .first()
    )


OPEN_RUNS = SyncRun.objects.open().filter(repository=OuterRef("pk"))


def _attempt(repository: Repository) -> datetime | None:
    try:
        take_up(repository)
        _look_and_write(repository)
    except RateLimited as limit:
        return _wait(repository, Repository.Trouble.RATE_LIMITED, limit, limit.retry_at)
    except Unavailable as outage:
        longest = timedelta(seconds=settings.SYNC_INTERVAL_SECONDS)
        again_at = _backoff(repository, SHORTEST_WAIT, longest)
        return _wait(repository, _trouble_of(outage), outage, again_at)
    except Blocked as block:
        _give_up(repository, block)
    except (InterfaceError, OperationalError):
        # Where even this fails, the runs are those of a lost worker.
        _put_back(repository, "The database of this server failed for a moment.")
        log.exception("Sync of %s was broken off", repository)
        return now() + SHORTEST_WAIT
    return None


def _look_and_write(repository: Repository) -> None:
    try:
        _follow_and_sync(repository)
    except (Denied, Gone):
        # The name may be an old one, the token refused before its time, the App installed anew.
        try:
            find_again(repository)
            _follow_and_sync(repository)
        except (Denied, Gone) as refusal:
            raise blocked_by(repository, refusal) from refusal


def _follow_and_sync(repository: Repository) -> None:
    if repository.full_check_requested_at:
        follow(repository)
    for attempt in range(1, LISTINGS + 1):
        try:
            return _sync_once(store_for(repository), repository)
        except (Vanished, Renamed):
            if attempt == LISTINGS:
                raise
            repository.refresh_from_db(fields=["full_check_requested_at", "full_check_by_hand"])
    return None


def _sync_once(store: GitStore, repository: Repository) -> None:
    working = list(runs_at_work(repository).select_related("branch"))
    if not working and not repository.full_check_requested_at:
        return None
    look = _look(store, repository, working)
    if look.is_complete and not working and look.digest == repository.heads_digest:
        return repository.note_full_check(look.request, look.digest)
    moves = plan(repository, look, working)
    store.fetch(
        {move.commit for move in moves}, known={m.branch.commit for m in moves if m.branch.commit}
    )
    fetched_at = now()
    for chunk in _chunks(moves):
        _write(store, repository, chunk, fetched_at)
    store.tidy()
    if look.is_complete:
        return repository.note_full_check(look.request, look.digest)
    return repository.note_answer()


def _look(store: GitStore, repository: Repository, working: list[SyncRun]) -> Look:
    """Ask for the heads of the runs at work, or for all."""
    request = repository.full_check_requested_at
    told = {run.branch.name: run.commit for run in working}
    if not request:
        heads = _nameable(store.heads(told.keys()))
        if heads != told:
            _confirm_name(repository)
        if len(heads) == len(told):
            return Look(heads, is_complete=False, request=None)
    return Look(_nameable(store.heads()), is_complete=True, request=request)


def _confirm_name(repository: Repository) -> None:
    """Make sure that it is our repository that answers by the name we know.

    Where all branches have the commits that GitHub told of by its number, it is.
    """
    name = repository.full_name
    follow(repository)
    if repository.full_name != name:
        raise Renamed(f"{name} is called {repository.full_name} now. Its branches are listed anew.")


def _nameable(heads: dict[str, str]) -> dict[str, str]:
    """Without branches that no address and no page could name."""
    return {name: commit for name, commit in heads.items() if is_nameable(name)}


def _chunks(moves: list[Move]) -> Iterator[list[Move]]:
    """The default branch alone, so that it shows first, then the others by the hundred."""
    yield from filter(None, [moves[:1]])
    for start in range(1, len(moves), CHUNK):
        yield moves[start : start + CHUNK]


def _write(
    store: GitStore, repository: Repository, moves: list[Move], fetched_at: datetime
) -> None:
    """Write a chunk; when it fails, each branch alone, so that one cannot hurt its neighbours."""
    try:
        read = read_catalogs(store, repository, [move.commit for move in moves])
        settle(moves, read, fetched_at)
        _tell(moves)
    except (GitHubError, InterfaceError, OperationalError):
        # Neither GitHub nor our database being away is the commit's fault: the run stays open.
        raise
    except Exception as fault:
        if len(moves) == 1:
            return _fail(moves[0], fault)
        for move in moves:
            _write(store, repository, [move], fetched_at)


def _tell(moves: list[Move]) -> None:
    for move in moves[:LINES_A_CHUNK]:
        with tracing.bound(run=move.run.pk):
            log.info("Synced a branch to %s", move.commit[:7])
    if len(moves) > LINES_A_CHUNK:
        log.info("Synced %s more branches", len(moves) - LINES_A_CHUNK)


def _fail(move: Move, fault: Exception) -> None:
    """End the run of a commit that cannot be read; the branch shows what it showed before."""
    reason = str(fault)
    if not isinstance(fault, Unreadable):
        log.exception("Cannot sync %s of %s", move.branch, move.branch.repository)
        reason = (
            "This commit could not be read because of a fault in Osmosis Web; the server's log "
            "has the details."
        )
    with transaction.atomic():
        move.run.close(SyncRun.State.FAILED, reason)
        move.branch.withhold(move.commit)


def _trouble_of(outage: Unavailable) -> Repository.Trouble:
    if isinstance(outage, DiskFull):
        return Repository.Trouble.DISK_FULL
    is_ours = isinstance(outage, Unusable)
    return Repository.Trouble.GIT if is_ours else Repository.Trouble.UNAVAILABLE


def _wait(repository: Repository, trouble: str, error: GitHubError, until: datetime) -> datetime:
    """Keep the last good catalogs, say why they are not fresher, and come back."""
    log.warning("Sync of %s waits until %s: %s", repository, until, error)
    repository.note_trouble(trouble, str(error), retry_at=until)
    _put_back(repository, str(error))
    return until


def _put_back(repository: Repository, reason: str) -> None:
    """Let the runs at work wait again, unless a newer one waits for the same branch."""
    runs_at_work(repository).put_back(reason)


def _give_up(repository: Repository, block: Blocked) -> None:
    """Being refused does not mend itself by asking again: runs end, the timer looks more rarely."""
    log.warning("Sync of %s is blocked: %s", repository, block)
    interval = timedelta(seconds=settings.SYNC_INTERVAL_SECONDS)
    again_at = _backoff(repository, interval, LONGEST_PAUSE)
    repository.note_trouble(block.trouble, str(block), retry_at=again_at)
    repository.drop_full_check()
    runs_at_work(repository).close(SyncRun.State.FAILED, str(block))


def _backoff(repository: Repository, shortest: timedelta, longest: timedelta) -> datetime:
    """Wait as long as the trouble has lasted, with jitter: that doubles from try to try."""
    lasted = now() - repository.trouble_since if repository.trouble_since else shortest
    wait = min(max(lasted, shortest), longest)
    return now() + wait * random.SystemRandom().uniform(0.75, 1.25)
