"""Git Sync cannot be fooled: whatever happens, in the end it shows what git says.

A sequence of steps is drawn: pushes, deletions, renames, transfers, refusals, deliveries that are
lost, late, doubled and shuffled, workers that die, syncs that meet. After each step nothing false
is on show; and when the dust has settled everything equals what the git command says.

The suite tries those of `known` and a few others, always the same. To try more of them:

    SYNC_SEQUENCES=1000 script/test tests/test_sync_property.py

A sequence that fails is made as short as possible and printed; give it a name in `known`.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.github_emulator import GitHubEmulator
from tests.sync_sequences import known
from tests.sync_sequences.drawing import sequences
from tests.sync_sequences.mortals import Mortals
from tests.sync_sequences.settled import check_all_is_well, check_what_is_shown, settle
from tests.sync_sequences.world import Step, World

pytestmark = pytest.mark.django_db(transaction=True)

FEW = 2
MANY = int(os.environ.get("SYNC_SEQUENCES", "0"))


@pytest.fixture(scope="module")
def mortals() -> Iterator[Mortals]:
    mortals = Mortals()
    yield mortals
    mortals.end()


@settings(
    max_examples=MANY or FEW,
    derandomize=not MANY,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
@given(steps=sequences())
@example(steps=known.BRANCHES)
@example(steps=known.NAMES)
@example(steps=known.REFUSALS)
@example(steps=known.SILENT_MOVES)
def test_it_shows_what_git_says_when_the_dust_has_settled(
    running_emulator: GitHubEmulator, mortals: Mortals, steps: list[Step]
) -> None:
    """W01 to W14, W16, R01 to R06, I11 to I15, in any order and all at once."""
    world = World(running_emulator, mortals)
    try:
        for step in steps:
            step.run(world)
            check_what_is_shown(world)
        settle(world)
        check_what_is_shown(world)
        check_all_is_well(world)
    except BaseException as error:
        error.add_note("\n".join(["After:", *map(repr, steps)]))
        raise
    finally:
        world.end()
