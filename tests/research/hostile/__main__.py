"""Judge hostile inputs: `python -m tests.research.hostile` prints a table, and each input that got a wrong answer."""

import argparse
import tempfile
import time
from pathlib import Path

from tests.research.hostile.judge import KINDS, judge


def main() -> None:
    """Judge all kinds, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--some", type=int, default=0, metavar="N", help="so many of each kind, by the seed")
    parser.add_argument("--seed", type=int, default=1)
    options, failed = parser.parse_args(), 0
    print("| kind | inputs | seconds | slowest | peak MB | wrong |\n|---|---|---|---|---|---|")
    for kind in options.kinds or KINDS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            judged = list(judge(kind, Path(folder), options.some, options.seed))
        wrong = [one for one in judged if one.wrong]
        failed += len(wrong)
        slowest = max(judged, key=lambda one: one.seconds)
        seconds = time.monotonic() - began
        told = f"{slowest.seconds:.1f} s, {slowest.name}"
        print(
            f"| {kind} | {len(judged)} | {seconds:.0f} | {told} | {max(one.mb for one in judged):.0f} | {len(wrong)} |",
            flush=True,
        )
        for one in wrong:
            print(f"    {one.name}: {one.wrong}", flush=True)
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
