"""A large site with failing services: the memory that the real program takes, and the size of its folder."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from internal_linker.project.log import LOG_FILE
from tests.end_to_end.faulty_services import SERVICES, fail_services, looked_at
from tests.end_to_end.worlds import HEADER, World, fill, queries, world
from tests.research.benchmarks.projects import synthetic_links
from tests.research.benchmarks.runs import peak_of
from tests.support.small_project import environment, write_csv
from tests.support.synthetic_pages import Row, synthetic

WORDS, LINKS_A_PAGE, PAGES_A_QUERY = 100, 3, 10
# The dimensions of OpenAI's text-embedding-3-small.
DIMENSIONS = 1536
# A run's memory limit: MB for the program, KB per page.
PROGRAM_MB, PAGE_KB = 500, 36
# The most bytes that a run may write into the log, whatever the site and the failures.
LOG_A_RUN = 6_000


@dataclass(frozen=True)
class Soaked:
    """One run, and the world's totals after it.

    Attributes:
        when: the run's name.
        seconds: the run's duration.
        peak_mb: the peak memory of all its processes together; 0 where that is unknown.
        texts, searches: the texts and result pages charged so far.
        spoilt: the failed answers so far.
        logged: the bytes of the log.
        cache_mb: the size of the cache.
    """

    when: str
    seconds: float
    peak_mb: float
    texts: int
    searches: int
    spoilt: int
    logged: int
    cache_mb: float


def soak(pages: int, folder: Path, seed: int) -> Iterator[Soaked]:
    """Make a first run with failing services, and a second one without changes.

    Args:
        pages: the pages of the site.
        folder: an empty folder.
        seed: the seed of the failures.

    Raises:
        AssertionError: a run failed, took too much memory, paid for anything twice or wrote too much into its log.
    """
    with world(folder / "soak", settings={"max_serp_credits": 10**6}) as of:
        _enlarge(of, synthetic(pages, WORDS))
        fail_services(of, SERVICES, seed)
        charged = []
        for number in (1, 2):
            done = _run(of, f"run {number} over {pages:,} pages, seed {seed}", folder / "said.txt")
            assert done.peak_mb <= PROGRAM_MB + PAGE_KB * pages / 1000, done
            assert 0 < done.logged <= number * LOG_A_RUN, done
            charged.append((done.texts, done.searches))
            yield done
        assert charged[0] == charged[1] > (pages, pages // PAGES_A_QUERY), charged


def _enlarge(of: World, site: list[Row]) -> None:
    """Replace the usual pages with this many, with links between them."""
    fill(of.project, site)
    links = [("Source", "Destination", "Anchor"), *synthetic_links(len(site), LINKS_A_PAGE)]
    write_csv(of.project / "files/existing_links.csv", links)
    of.google.set_grid("Main", [HEADER, *queries(site, PAGES_A_QUERY)])
    of.openai.models["text-embedding-3-small"] = DIMENSIONS


def _run(of: World, when: str, said: Path) -> Soaked:
    command = [sys.executable, "-m", "internal_linker", "run", "--project", str(of.project)]
    began = time.monotonic()
    with (
        said.open("w", encoding="utf-8") as output,
        subprocess.Popen(command, env=environment(), stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        peak, code = peak_of(process)
    seconds = time.monotonic() - began
    assert code == 0, f"{when}: {said.read_text(encoding='utf-8')}"
    return Soaked(
        when,
        seconds,
        peak,
        of.embedded().total(),
        of.searched().total(),
        looked_at(of, when, seconds).spoilt,
        (of.project / LOG_FILE).stat().st_size,
        (of.project / "files/cache.sqlite3").stat().st_size / 1e6,
    )
