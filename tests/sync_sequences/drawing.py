"""How sequences of steps are drawn. What is drawn shrinks to the first of what may be drawn."""

from hypothesis import strategies as st

from tests.sync_sequences import at_github, at_ours, underway
from tests.sync_sequences.world import ACCOUNTS, BRANCHES, REPOSITORIES, Step

Steps = st.SearchStrategy[Step]
Weighed = list[tuple[int, Steps]]

which = st.sampled_from(REPOSITORIES[:1] * 3 + REPOSITORIES)
branch = st.sampled_from(BRANCHES)
account = st.sampled_from(ACCOUNTS[:1] * 2 + ACCOUNTS)
what = st.sampled_from(list(at_github.CONTENTS))
times = st.integers(1, 4)
where = st.sampled_from(list(underway.PLACES))
number = st.integers(0, 40)
is_kept = st.sampled_from([False, *[True] * 6])
status = st.sampled_from([401, 403, 404, 409, 429, 500, 502, 503])

PUSHES: Weighed = [
    (6, st.builds(at_github.Push, which, branch, what)),
    (2, st.builds(at_github.ForcePush, which, branch, what)),
    (2, st.builds(at_github.MoveTo, which, branch, number)),
    (2, st.builds(at_github.CreateBranch, which, branch, branch)),
    (1, st.builds(at_github.CreateMany, which, branch)),
    (3, st.builds(at_github.DeleteBranch, which, st.sampled_from(BRANCHES[1:]))),
    (1, st.builds(at_github.Tag, which, branch)),
]
IDENTITY: Weighed = [
    (2, st.builds(at_github.SetDefault, which, branch)),
    (6, st.builds(at_github.Rename, which, st.sampled_from(["robots", "agents", "tools"]))),
    (3, st.builds(at_github.RenameOwner, account, st.sampled_from(["acme-labs", "acme"]))),
    (6, st.builds(at_github.Transfer, which, account)),
    (1, st.builds(at_github.Publish, which)),
    (1, st.builds(at_github.Hide, which)),
]
ACCESS: Weighed = [
    (2, st.builds(at_github.Suspend, account)),
    (2, st.builds(at_github.Unsuspend, account)),
    (2, st.builds(at_github.Uninstall, account)),
    (2, st.builds(at_github.Install, account)),
    (2, st.builds(at_github.TakeAway, which)),
    (2, st.builds(at_github.GiveBack, which)),
    (2, st.builds(at_github.TakePermission, account)),
    (2, st.builds(at_github.AcceptPermission, account)),
    (2, st.builds(at_github.ExpireTokens)),
]
REQUESTS: Weighed = [
    (4, st.builds(underway.Refuse, where, status, times)),
    (2, st.builds(underway.Limit, where, st.sampled_from(["primary", "secondary"]), times)),
    (4, st.builds(underway.Cut, where, st.integers(0, 400), times)),
    (1, st.builds(underway.Mend)),
]
DELIVERIES: Weighed = [
    (2, st.builds(underway.Lose, times)),
    (2, st.builds(underway.Fail, times)),
    (2, st.builds(underway.Double, times)),
    (2, st.builds(underway.Hold)),
    (2, st.builds(underway.Release, number)),
    (2, st.builds(underway.ComeAgain, number, st.booleans())),
]
BUTTONS: Weighed = [
    (2, st.builds(at_ours.PressSyncNow, which)),
    (1, st.builds(at_ours.Retry, number)),
    (1, st.builds(at_ours.Cancel)),
]
WORKERS: Weighed = [
    (6, st.builds(at_ours.Work)),
    (1, st.builds(at_ours.StartWorker)),
    (3, st.builds(at_ours.Die, which, st.integers(0, 60))),
    (2, st.builds(at_ours.Timer)),
    (2, st.builds(at_ours.Wait, st.sampled_from([0.2, 2, 6, 60]))),
    (1, st.builds(at_ours.Sync, which)),
    (2, st.builds(at_ours.SyncTwice, which)),
]
HERE: Weighed = [
    *((weight, kind) for weight, kind in DELIVERIES[-2:]),
    *BUTTONS,
    (1, st.builds(at_ours.Timer)),
    (1, st.builds(at_ours.Sync, which)),
    (1, st.builds(at_ours.Work)),
    (2, st.builds(at_ours.RestartDatabase)),
]


def one_of(weighed: Weighed) -> Steps:
    """One of them, as often as it weighs."""
    pool = [kind for weight, kind in weighed for _ in range(weight)]
    return st.sampled_from(pool).flatmap(lambda kind: kind)


def during(weighed: Weighed) -> Steps:
    """One of them in the middle of a sync."""
    return st.builds(at_ours.SyncDuring, which, st.integers(0, 7), one_of(weighed))


ALWAYS: Weighed = [
    *PUSHES,
    *WORKERS,
    *BUTTONS,
    (3, during(PUSHES)),
    (2, during(HERE)),
    (1, during([*IDENTITY, *ACCESS, *REQUESTS])),
]
SOMETIMES = [DELIVERIES, REQUESTS, IDENTITY, ACCESS]


@st.composite
def sequences(draw: st.DrawFn) -> list[Step]:
    """Some twenty steps, of a few kinds: where all may happen, nothing happens often enough.

    Steps are drawn and then left out or not: so there are many, and shrinking leaves few.
    """
    chosen = draw(st.lists(st.sampled_from(SOMETIMES), min_size=1, max_size=3, unique_by=id))
    step = one_of([*ALWAYS, *(weighed for kinds in chosen for weighed in kinds)])
    drawn = draw(st.lists(st.tuples(is_kept, step), min_size=16, max_size=32))
    return [step for is_one, step in drawn if is_one]
