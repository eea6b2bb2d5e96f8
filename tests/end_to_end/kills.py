"""Kill the real program, check what it left, run it again, and compare with an undisturbed run."""

import random
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.end_to_end.worlds import (
    FOREIGN,
    PAGES,
    SEARCHES_IN_FLIGHT,
    TEXTS_IN_FLIGHT,
    Outcome,
    State,
    World,
    a_week_later,
    keep,
    kept,
    world,
)
from tests.support.small_project import start

# Servers finish the requests in progress when the client is killed.
_SETTLED_S = 0.5


@dataclass(frozen=True)
class Calm:
    """The second week without disturbance.

    Attributes:
        size: the number of pages of the first week.
        before: the world after the first week.
        old, new: the outcomes of both weeks.
        texts, pages: texts and result pages that the second week pays for.
        seconds: the duration of its run.
        boundaries: the number of boundaries of its run.
    """

    size: int
    before: State
    old: Outcome
    new: Outcome
    texts: int
    pages: int
    seconds: float
    boundaries: int


@dataclass(frozen=True)
class Killed:
    """The cost of a kill: texts and result pages that were in flight and had to be paid for again."""

    when: str
    texts: int
    pages: int


def calm(folder: Path, pages: int = PAGES) -> Calm:
    """Run two weeks of a site with this many pages without a disturbance."""
    with world(folder / "first", pages=pages) as first:
        _ends_well(first)
        before = keep(first, folder / "kept")
        old = first.outcome()
    with world(folder / "second", before, pages=pages) as second:
        a_week_later(second)
        began = time.monotonic()
        tally = folder / "boundaries.txt"
        process = _doomed(second, 0, tally)
        assert process.wait() == 0, process.communicate()
        process.communicate()
        seconds = time.monotonic() - began
        return Calm(
            pages,
            before,
            old,
            second.outcome(),
            second.embedded().total(),
            second.searched().total(),
            seconds,
            int(tally.read_text("utf-8")),
        )


def kill_at_moments(like: Calm, count: int, seed: int, folder: Path) -> Iterator[Killed]:
    """Kill at this many random moments of a run.

    Raises:
        AssertionError: a promise was broken; it names the seed.
    """
    dice = random.Random(seed)
    for number in range(count):
        moment = dice.uniform(0, like.seconds)
        with world(folder / f"moment-{number}", like.before, pages=like.size) as of:
            a_week_later(of)
            process = of.start()
            time.sleep(moment)
            yield _looked_at(of, process, like, f"seed {seed}, kill {number} after {moment:.2f} s")


def kill_at_boundaries(like: Calm, numbers: range, folder: Path) -> Iterator[Killed]:
    """Kill at these boundaries, counted from 1.

    Raises:
        AssertionError: a promise was broken; it names the boundary.
    """
    for number in numbers:
        with world(folder / f"boundary-{number}", like.before, pages=like.size) as of:
            a_week_later(of)
            process = _doomed(of, number, folder / "none.txt")
            process.wait()
            yield _looked_at(of, process, like, f"boundary {number} of {like.boundaries}")


def _looked_at(of: World, process: subprocess.Popen[str], like: Calm, when: str) -> Killed:
    process.kill()
    process.communicate()
    time.sleep(_SETTLED_S)
    foreign = [row[:FOREIGN] for row in like.new.sheet]
    for name, text in of.results().items():
        assert text in (like.old.results[name], like.new.results[name]), (
            f"{when}: {name} is neither the old nor the new"
        )
    assert [row[:FOREIGN] for row in of.sheet()] == foreign, f"{when}: a foreign cell has changed"
    texts = of.embedded().total() - (kept(of.project, "embeddings") - kept(like.before.folder, "embeddings"))
    pages = of.searched().total() - (kept(of.project, "serp") - kept(like.before.folder, "serp"))
    assert 0 <= texts <= TEXTS_IN_FLIGHT, f"{when}: {texts} texts were paid for and not kept"
    assert 0 <= pages <= SEARCHES_IN_FLIGHT, f"{when}: {pages} result pages were paid for and not kept"
    _ends_well(of)
    assert not (other := of.outcome().differs(like.new)), f"{when}: {other}"
    paid = of.embedded().total() - like.texts, of.searched().total() - like.pages
    assert paid == (texts, pages), f"{when}: {paid} were paid for twice, {(texts, pages)} were in flight"
    return Killed(when, texts, pages)


def _ends_well(of: World) -> None:
    code, said = of.run()
    assert code == 0, said


def _doomed(of: World, number: int, tally: Path) -> subprocess.Popen[str]:
    arguments = (
        "-m",
        "tests.end_to_end.doomed",
        str(number),
        str(tally),
        "run",
        "--project",
        str(of.project),
    )
    return start(*arguments, cwd=of.project)
