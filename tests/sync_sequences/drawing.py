"""How sequences of steps are drawn."""

from hypothesis import strategies as st

from tests.sync_sequences import at_github, at_ours, underway
from tests.sync_sequences.world import ACCOUNTS, BRANCHES, REPOSITORIES, Step

# What shrinks, shrinks to the first.
which = st.sampled_from(REPOSITORIES[:1] * 3 + REPOSITORIES)
branch = st.sampled_from(BRANCHES)
account = st.sampled_from(ACCOUNTS[:1] * 2 + ACCOUNTS)
what = st.sampled_from(list(at_github.CONTENTS))
times = st.integers(1, 4)
where = st.sampled_from(list(underway.PLACES))
number = st.integers(0, 40)

PUSHES: list[st.SearchStrategy[Step]] = [
    st.builds(at_github.Push, which, branch, what),
    st.builds(at_github.ForcePush, which, branch, what),
    st.builds(at_github.MoveTo, which, branch, number),
    st.builds(at_github.CreateBranch, which, branch, branch),
    st.builds(at_github.CreateMany, which, branch),
    st.builds(at_github.DeleteBranch, which, branch),
    st.builds(at_github.Tag, which, branch),
]
IDENTITY: list[st.SearchStrategy[Step]] = [
    st.builds(at_github.SetDefault, which, branch),
    st.builds(at_github.Rename, which, st.sampled_from(["agents", "robots", "tools"])),
    st.builds(at_github.RenameOwner, account, st.sampled_from(["acme", "acme-labs", "umbrella"])),
    st.builds(at_github.Transfer, which, account),
    st.builds(at_github.Publish, which),
    st.builds(at_github.Hide, which),
]
ACCESS: list[st.SearchStrategy[Step]] = [
    st.builds(at_github.Suspend, account),
    st.builds(at_github.Unsuspend, account),
    st.builds(at_github.Uninstall, account),
    st.builds(at_github.Install, account),
    st.builds(at_github.TakeAway, which),
    st.builds(at_github.GiveBack, which),
    st.builds(at_github.TakePermission, account),
    st.builds(at_github.AcceptPermission, account),
    st.builds(at_github.ExpireTokens),
]
REQUESTS: list[st.SearchStrategy[Step]] = [
    st.builds(
        underway.Refuse,
        where,
        st.sampled_from([401, 403, 404, 409, 429, 500, 502, 503]),
        times,
    ),
    st.builds(underway.Limit, where, st.sampled_from(["primary", "secondary"]), times),
    st.builds(underway.Cut, where, st.integers(0, 400), times),
    st.builds(underway.Mend),
]
DELIVERIES: list[st.SearchStrategy[Step]] = [
    st.builds(underway.Lose, times),
    st.builds(underway.Fail, times),
    st.builds(underway.Double, times),
    st.builds(underway.Hold),
    st.builds(underway.Release, number),
    st.builds(underway.ComeAgain, number, st.booleans()),
]
OURS: list[st.SearchStrategy[Step]] = [
    st.builds(at_ours.Work),
    st.builds(at_ours.StartWorker),
    st.builds(at_ours.Die, which, st.integers(0, 60)),
    st.builds(at_ours.Timer),
    st.builds(at_ours.PressSyncNow, which),
    st.builds(at_ours.Retry, number),
    st.builds(at_ours.Cancel),
    st.builds(at_ours.Wait, st.sampled_from([0.2, 2, 6, 60])),
    st.builds(at_ours.Sync, which),
    st.builds(at_ours.SyncTwice, which),
]
MEANWHILE: list[st.SearchStrategy[Step]] = [
    st.builds(
        at_ours.SyncDuring,
        which,
        st.integers(0, 7),
        st.one_of(*kinds),
    )
    for kinds in (
        PUSHES,
        [*IDENTITY, *ACCESS, *REQUESTS],
        [
            st.builds(underway.Release, number),
            st.builds(underway.ComeAgain, number, st.booleans()),
            st.builds(at_ours.PressSyncNow, which),
            st.builds(at_ours.Retry, number),
            st.builds(at_ours.Cancel),
            st.builds(at_ours.Timer),
            st.builds(at_ours.Sync, which),
            st.builds(at_ours.Work),
            st.builds(at_ours.RestartDatabase),
        ],
    )
]


@st.composite
def sequences(draw: st.DrawFn) -> list[Step]:
    """Steps of a few kinds: where all may happen, nothing happens often enough."""
    rest = [*IDENTITY, *ACCESS, *REQUESTS, *DELIVERIES]
    chosen = draw(st.lists(st.sampled_from(range(len(rest))), max_size=8, unique=True))
    groups = [PUSHES, OURS, MEANWHILE, *([rest[place]] for place in sorted(chosen))]
    step = st.one_of(*(st.one_of(*group) for group in groups[:3]), *(g[0] for g in groups[3:]))
    return draw(st.lists(step, min_size=1, max_size=24))
