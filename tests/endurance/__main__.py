"""Try the promises at length: `python -m tests.endurance --kills 200`; prints a table, ends at the first broken one."""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.endurance.kills import Killed, calm, kill_at_boundaries, kill_at_moments


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, metavar="N", help="at so many random moments")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        like = calm(Path(folder))
        print("| trial | times | texts in flight, most | result pages in flight, most | seconds |")
        print("| --- | --- | --- | --- | --- |")
        boundaries = kill_at_boundaries(like, range(1, like.boundaries + 1), Path(folder))
        _tell("killed at each boundary", list(boundaries), began)
        moments = kill_at_moments(like, options.kills, options.seed, Path(folder))
        _tell(f"killed at random moments, seed {options.seed}", list(moments), began)


def _tell(what: str, trials: Sequence[Killed], began: float) -> None:
    texts = max((one.texts for one in trials), default=0)
    pages = max((one.pages for one in trials), default=0)
    print(f"| {what} | {len(trials)} | {texts} | {pages} | {time.monotonic() - began:.0f} |", flush=True)


if __name__ == "__main__":
    main()
