"""Test the promises at length, print a table, and stop at the first broken one.

python -m tests.research.endurance                    all trials (takes hours)
python -m tests.research.endurance --only kills --kills 200 --seed 1
"""

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.end_to_end.caps import spend
from tests.end_to_end.faulty_services import SERVICES, SILENCE, with_faults
from tests.end_to_end.kills import Calm, Killed, calm, kill_at_boundaries, kill_at_moments
from tests.end_to_end.worlds import world
from tests.research.endurance.editors import schedules
from tests.research.endurance.reviewers import reviews
from tests.research.endurance.soak import soak
from tests.research.endurance.year import check, year
from tests.research.hostile.judge import KINDS
from tests.support.small_project import REPOSITORY, finish, start

Row = tuple[str, str]
YEAR_PAGES = 500
_LONGEST_KIND_S = 1800.0
# Chat requests are sequential, so that each minute without an answer counts.
CHATTY, CHATTY_PAGES = {"anchor_model": "gpt-4.1-mini", "max_anchor_tokens": 10**7}, 60


@dataclass(frozen=True)
class Trials:
    """The number of trials of each kind."""

    kills: int
    faulty_runs: int
    budgets: int
    schedules: int
    pages: int
    runs: int
    seed: int
    folder: Path

    def killed(self) -> Iterator[Row]:
        """Kill the run, and run again."""
        like = calm(self.folder)
        done = list(kill_at_boundaries(like, range(1, like.boundaries + 1), self.folder))
        yield f"killed at each of {len(done)} boundaries", _paid_again(done)
        done = list(kill_at_moments(like, self.kills, self.seed, self.folder))
        yield f"killed at {len(done)} random moments", f"{_paid_again(done)} of {_all(like)}"

    def faulty(self) -> Iterator[Row]:
        """Let three of ten answers fail."""
        with world(self.folder / "fair", settings=CHATTY, pages=CHATTY_PAGES) as of:
            code, said = of.run(longest=600.0)
            assert code == 0, said
            fair = of.outcome()
        seeds = range(self.seed, self.seed + self.faulty_runs)
        for services in (*((name,) for name in SERVICES), SERVICES):
            done = list(with_faults(fair, services, seeds, self.folder, [SILENCE], CHATTY, CHATTY_PAGES))
            spoilt, calls = sum(one.spoilt for one in done), sum(one.calls for one in done)
            longest = max(one.seconds for one in done)
            yield (
                f"{len(done)} runs, {' and '.join(services)} failing at random",
                f"the same result; {spoilt} of {calls} answers failed, {sum(one.charged for one in done)} "
                f"of them charged; nothing else charged twice; the longest run {longest:.0f} s",
            )

    def capped(self) -> Iterator[Row]:
        """Test the caps while services fail."""
        done = [trial for seed in range(self.budgets) for trial in spend(seed)]
        for trial in done:
            trial.check()
        nearest = max(trial.charged / trial.cap for trial in done)
        yield (
            f"{len(done)} caps, 1 to 32 requests in flight",
            f"none exceeded; at most {nearest:.0%} was charged",
        )

    def edited(self) -> Iterator[Row]:
        """Let an editor work on the Sheet while a run writes it."""
        for tab, work in {"main queries": schedules, "Review": reviews}.items():
            done = list(work(range(self.seed, self.seed + self.schedules)))
            acts, told = sum(len(one.done) for one in done), sum(one.reported for one in done)
            yield (
                f"{len(done)} schedules of an editor in the tab of {tab}, {acts} acts",
                f"no foreign cell changed; {told} gaps reported, all filled",
            )

    def hostile(self) -> Iterator[Row]:
        """Judge hostile input."""
        for kind in KINDS:
            # In a separate process, so that the memory of earlier trials doesn't count.
            code, said, errors = finish(
                start("-m", "tests.research.hostile", kind, cwd=REPOSITORY), _LONGEST_KIND_S
            )
            assert code == 0, said + errors
            _, count, _, slowest, most, _ = re.split(r" ?\| ?", said.splitlines()[2])[1:-1]
            yield f"{count} hostile {kind}", f"answered; slowest {slowest}; at most {most} MB"

    def soaked(self) -> Iterator[Row]:
        """Run a large site while services fail."""
        for done in soak(self.pages, self.folder, self.seed):
            yield (
                done.when,
                f"{done.peak_mb:,.0f} MB; so far {done.texts:,} texts and {done.searches:,} searches charged, "
                f"{done.spoilt:,} answers failed, a log of {done.logged:,} bytes, a cache of {done.cache_mb:,.0f} MB",
            )

    def lived(self) -> Iterator[Row]:
        """Run every week."""
        weeks = list(year(self.folder / "year", self.runs, YEAR_PAGES))
        told = {one.number: one for one in (*weeks[3:4], *weeks[12::13], weeks[-1])}
        caches = ", ".join(f"{one.cache / 1e6:.1f} (run {number + 1})" for number, one in told.items())
        longest = max(later.logs - one.logs for one, later in pairwise(weeks))
        check(weeks)
        yield (
            f"{len(weeks)} weekly runs over {YEAR_PAGES:,} pages",
            f"MB of the cache: {caches}; at most {longest:,} bytes of log a run; "
            f"{weeks[-1].texts} texts paid for in the last one; {weeks[-1].words} decisions of editors, none lost; "
            f"{weeks[0].rows:,} rows in Review at first, {weeks[-1].rows:,} at last",
        )


def main() -> None:
    """Run the requested trials."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ("kills", "faults", "caps", "editors", "hostile", "soak", "year")
    parser.add_argument("--only", action="append", choices=names, help="one part; may be repeated")
    parser.add_argument("--kills", type=int, default=200, metavar="N", help="kills at random moments")
    parser.add_argument(
        "--faulty-runs", type=int, default=3, metavar="N", help="runs for each service, and for all"
    )
    parser.add_argument("--budgets", type=int, default=30, metavar="N", help="seeds, twelve caps each")
    parser.add_argument("--schedules", type=int, default=200, metavar="N", help="schedules of an editor")
    parser.add_argument("--pages", type=int, default=50_000, metavar="N", help="pages of the soak")
    parser.add_argument("--runs", type=int, default=52, metavar="N", help="runs of the year, 35 or more")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    amounts = (
        options.kills,
        options.faulty_runs,
        options.budgets,
        options.schedules,
        options.pages,
        options.runs,
    )
    print("| trial | outcome | seconds |\n| --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(*amounts, options.seed, Path(folder))
        parts: dict[str, Callable[[], Iterator[Row]]] = {
            "kills": trials.killed,
            "faults": trials.faulty,
            "caps": trials.capped,
            "editors": trials.edited,
            "hostile": trials.hostile,
            "soak": trials.soaked,
            "year": trials.lived,
        }
        for name in options.only or names:
            began = time.monotonic()
            for trial, outcome in parts[name]():
                print(f"| {trial} | {outcome} | {time.monotonic() - began:.0f} |", flush=True)
                began = time.monotonic()


def _paid_again(done: list[Killed]) -> str:
    texts = max((one.texts for one in done), default=0)
    pages = max((one.pages for one in done), default=0)
    return f"every file whole, the same result; paid again: at most {texts} texts, {pages} result pages (in flight)"


def _all(like: Calm) -> str:
    return f"{like.texts} and {like.pages}"


if __name__ == "__main__":
    main()
