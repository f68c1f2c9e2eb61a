"""The soak: thousands of pushes, a share of the webhooks lost, doubled or late, and every few
seconds a worker killed in the middle of its work. In the end nothing may be missing.
"""

import sys
import time
from argparse import ArgumentParser, Namespace

from django.core.management import call_command

from tests.bench.crew import Crew
from tests.bench.figures import figures
from tests.bench.postman import Postman
from tests.bench.pushes import Pushes
from tests.bench.verdict import Ticker, is_at_rest, losses
from tests.settings import EMULATOR

# How long the workers may take, after the last push, until everything is on show.
PATIENCE_SECONDS = 180.0


def describe(parser: ArgumentParser) -> None:
    """The options."""
    parser.description = __doc__
    parser.add_argument("--pushes", type=int, default=2000)
    parser.add_argument("--repositories", type=int, default=50, help="each in its own workspace")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pushes-per-second", type=float, default=10, help="at most")
    parser.add_argument("--seconds-between-kills", type=float, default=4)
    parser.add_argument("--seconds-between-checks", type=int, default=20, help="of all heads")
    parser.add_argument("--seed", type=int, default=1, help="of all that is left to chance")


def run(options: Namespace) -> int:
    """Soak, print the figures, and say what was lost: 1 when anything was."""
    call_command("migrate", verbosity=0)
    crew = Crew(options.workers, options.seconds_between_kills, options.seconds_between_checks)
    with EMULATOR as github:
        pushes = Pushes(github, options.seed, options.repositories)
        with crew, Postman(github, options.seed) as postman:
            ticker = Ticker(options.seconds_between_checks)
            begun = time.monotonic()
            for number in range(options.pushes):
                pushes.make_one()
                crew.tend(kill=True)
                ticker.tick_when_due()
                postman.bring_what_is_due()
                due = begun + (number + 1) / options.pushes_per_second
                time.sleep(max(0.0, due - time.monotonic()))
            pushed = time.monotonic()
            lost = _wait_for_all(pushes, postman, crew, ticker)
            settled = time.monotonic()
            crew.stop()
        for line in figures(options, pushes, postman, crew, pushed - begun, settled - pushed):
            say(line)
    for sentence in lost:
        say(sentence)
    say("Something was lost." if lost else "Nothing was lost.")
    return 1 if lost else 0


def _wait_for_all(pushes: Pushes, postman: Postman, crew: Crew, ticker: Ticker) -> list[str]:
    """Let the workers come to rest; what is missing when they have, or when patience ends."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    heads = {name: pushes.heads(name) for name in pushes.names}
    while time.monotonic() < deadline and not (postman.is_done and is_at_rest(heads)):
        postman.bring_what_is_due()
        ticker.tick_when_due()
        crew.tend()
        time.sleep(0.2)
    return losses(pushes, postman)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
