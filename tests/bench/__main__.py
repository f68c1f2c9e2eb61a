"""`python -m tests.bench soak …`: one subcommand a benchmark."""

import argparse
import signal
import sys
from types import FrameType

from tests.bench import growth, soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    benches = parser.add_subparsers(dest="bench", required=True)
    soak.describe(benches.add_parser("soak", help="nothing is lost, whatever dies on the way"))
    growth.describe(benches.add_parser("growth", help="rows as they multiply"))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)
    try:
        return growth.run(options) if options.bench == "growth" else soak.run(options)
    except KeyboardInterrupt:
        return 130


def stop(number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does, which cleans up."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
