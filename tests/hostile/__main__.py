"""Judge hostile inputs: `python -m tests.hostile` prints a table, and each input that got a wrong answer."""

import argparse
import tempfile
import time
from pathlib import Path

from tests.hostile.judge import KINDS, judge, peak_mb


def main() -> None:
    """All kinds, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    failed = 0
    print("| kind | inputs | seconds | slowest | peak MB so far | wrong |\n|---|---|---|---|---|---|")
    for kind in parser.parse_args().kinds or KINDS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            judged = list(judge(KINDS[kind](), Path(folder)))
        wrong = [one for one in judged if one.wrong]
        failed += len(wrong)
        slowest = max(judged, key=lambda one: one.seconds)
        seconds = time.monotonic() - began
        told = f"{slowest.seconds:.1f} s, {slowest.name}"
        print(
            f"| {kind} | {len(judged)} | {seconds:.0f} | {told} | {peak_mb():.0f} | {len(wrong)} |",
            flush=True,
        )
        for one in wrong:
            print(f"    {one.name}: {one.wrong}", flush=True)
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
