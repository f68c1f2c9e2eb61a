"""`python -m tests.bench soak …`: one subcommand a benchmark."""

import argparse
import signal
import sys
from collections.abc import Callable
from types import FrameType

from tests.bench import growth, load, soak

RUNS = {"soak": soak.run, "growth": growth.run, "load": load.run}


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    benches = parser.add_subparsers(dest="bench", required=True)
    soak.describe(benches.add_parser("soak", help="nothing is lost, whatever dies on the way"))
    growth.describe(benches.add_parser("growth", help="rows as they multiply"))
    load.describe(benches.add_parser("load", help="what the command line waits for"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    try:
        run: Callable[[argparse.Namespace], int] = RUNS[options.bench]
        return run(options)
    except KeyboardInterrupt:
        return 130


def stop(number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does, which cleans up."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
