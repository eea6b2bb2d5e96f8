"""Draw mutations of the program, test which the quick tier notices, and write RESULTS.md.

python -m tests.research.mutations --seed 0 --count 200          continues an interrupted run
python -m tests.research.mutations --seed 0 --count 200 text     only those in `text`; RESULTS.md is unchanged
"""

import argparse
import hashlib
import json
import os
import pickle
import queue
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from tests.research.mutations.mutants import PACKAGE, ROOMS, Mutation, sample
from tests.research.mutations.table import shown, write
from tests.research.mutations.trials import Copy, Reach, Verdict

ROOT = Path(__file__).resolve().parents[3]


def main() -> None:
    """Try each mutation of the sample once for this state of code and tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at the same time")
    parser.add_argument(
        "--work", type=Path, default=ROOT / ".mutations", help="copies and what was found so far"
    )
    options = parser.parse_args()
    work = options.work.resolve() / _digest()
    drawn = sample(ROOT, options.count, options.seed)
    wanted = [one for one in drawn if not options.rooms or one.room in options.rooms]
    verdicts = _try_all(wanted, work, options.jobs)
    if not options.rooms:
        results = [*zip(drawn, verdicts, strict=True)]
        write(Path(__file__).with_name("RESULTS.md"), ROOT, options.seed, results)
    killed = sum(one.outcome != "survived" for one in verdicts)
    print(f"{killed} of {len(verdicts)} mutations were noticed.")


def _try_all(wanted: Sequence[Mutation], work: Path, jobs: int) -> list[Verdict]:
    reach = _reach(work)
    done = _Done(work / "verdicts.jsonl")
    copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for number in range(jobs):
        folder = work / f"copy-{number}"
        shutil.rmtree(folder, ignore_errors=True)  # an interrupted run may have left it
        copies.put(Copy.of(work / "original", folder))
    copy = copies.get()
    copy.check([*reach.seconds])
    copies.put(copy)

    def verdict(mutation: Mutation) -> Verdict:
        if mutation not in done:
            copy = copies.get()
            tests = reach.tests(mutation)
            done.add(mutation, copy.judge(mutation, tests, reach.longest(tests)))
            copies.put(copy)
        return done[mutation]

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(verdict, wanted))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _reach(work: Path) -> Reach:
    """Return what the tests reach, measured once."""
    kept = work / "reach.pickle"
    if not kept.exists():
        shutil.rmtree(work, ignore_errors=True)
        print("Mapping which tests reach which lines (one run of the quick tier) ...", flush=True)
        kept.write_bytes(pickle.dumps(Reach.measure(Copy.of(ROOT, work / "original"), work / "records")))
    reach: Reach = pickle.loads(kept.read_bytes())
    print(
        f"{len(reach.seconds)} tests, of which {len(reach.starters)} are in files that start processes.",
        flush=True,
    )
    return reach


class _Done:
    """Verdicts on disk, one per line, so that an interrupted run continues."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        found = [json.loads(line) for line in lines]
        self._verdicts = {Mutation(**mutation): Verdict(**verdict) for mutation, verdict in found}

    def __contains__(self, mutation: Mutation) -> bool:
        return mutation in self._verdicts

    def __getitem__(self, mutation: Mutation) -> Verdict:
        return self._verdicts[mutation]

    def add(self, mutation: Mutation, verdict: Verdict) -> None:
        self._verdicts[mutation] = verdict
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps([asdict(mutation), asdict(verdict)]) + "\n")
        print(f"{verdict.outcome}: {shown(mutation)} [{verdict.tests} tests] {verdict.killer}", flush=True)


def _digest() -> str:
    """Return a name for this state of code and tests."""
    files = [file for folder in (PACKAGE, "tests") for file in sorted((ROOT / folder).rglob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


if __name__ == "__main__":
    main()
