"""Weekly runs over a simulated year: pages come, change and go, editors decide, and the folder's growth is checked."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path

import time_machine

from internal_linker.project.log import LOG_FILE, MAX_BYTES, OLD_FILES
from internal_linker.store.databases import KEPT_DAYS
from tests.end_to_end.test_half_year import Editors, words_stay
from tests.end_to_end.worlds import HEADER, WORDS, World, fill, queries, world
from tests.standins.gspread_client import gspread_client
from tests.support.small_project import finish, start
from tests.support.synthetic_pages import Row, synthetic

PAGES_A_QUERY, LONGEST_S = 10, 300.0
CACHE = "files/cache.sqlite3"
# A vector's last use is noted once a month: this many days after it was last needed it is gone.
GONE_AFTER = KEPT_DAYS + 31
# Until then the cache may grow to this many times its first size; after that it is level, except for editors'
# decisions, which are kept.
GROWN, LEVEL = 4, 1.1
# The default of store_backups.
_BACKUPS = 4
# Bytes by which any file may grow, and the list of excluded targets per link that an editor rejected.
_SPARE, _REJECTED = 1_000, 120
EXCLUDED = "files/excluded_targets.csv"


@dataclass(frozen=True)
class Week:
    """What a run paid for, and the sizes of the folder's files after it, in bytes.

    Attributes:
        number: the run's number, from 0.
        texts, searches: the texts and result pages paid for.
        words: the links that editors have decided so far.
        rows: the rows of the tab Review.
        cache: the database's size.
        logs: the size of the log and its older files.
        backups: the size of the weekly backups of the cache.
        others: the sizes of all other files by name.
    """

    number: int
    texts: int
    searches: int
    words: int
    rows: int
    cache: int
    logs: int
    backups: int
    others: dict[str, int]


def year(folder: Path, runs: int, pages: int, *, churn: float = 0.02, days: int = 7) -> Iterator[Week]:
    """Run this many times, this many days apart.

    Args:
        folder: an empty folder.
        runs: the number of runs.
        pages: the pages of the site.
        churn: the share of pages that change between two runs; as many go, and as many come.
        days: the days between two runs.

    Raises:
        AssertionError: a run failed or paid for what it had, an editor's text was lost, or the log grew too long.
    """
    dice, editors = random.Random(1), Editors()
    pool = synthetic(pages + runs * ceil(churn * pages), WORDS)
    site, ahead, changed = pool[:pages], pool[pages:], pages
    with world(folder, pages=pages) as of:
        _fill_logs(of.project)
        client = gspread_client(of.google)
        # An editor works without a time limit, and writes a range over thousands of rows.
        client.set_timeout(LONGEST_S)
        sheet = client.open_by_key(of.google.spreadsheet_id)
        for number in range(runs):
            fill(of.project, site)
            of.google.set_grid("Main", [HEADER, *queries(site, PAGES_A_QUERY)])
            # The servers' clock moves, too: they check the time of signed requests.
            with time_machine.travel(datetime.now(UTC) + timedelta(days=number * days)):
                done = _run(of, number, days, len(editors.status))
                assert done.texts == changed, (changed, done)
                assert done.logs <= (1 + OLD_FILES) * MAX_BYTES, done
                words_stay(of.google, editors)
                editors.work(sheet, dice)
            yield done
            changed = _live(site, ahead, ceil(churn * pages), dice)


def check(weeks: Sequence[Week], days: int = 7) -> None:
    """Assert that the folder has stopped growing.

    Raises:
        AssertionError: the folder still grows, or there are too few weeks to tell.
    """
    # First the first run's data go, then what the second run withdrew; the next run reuses the space.
    first, level = weeks[0], weeks[ceil(GONE_AFTER / days) + 2 :]
    assert len(level) > 1, "No data half a year old were seen to go."
    for week in level:
        assert week.cache <= LEVEL * level[0].cache, (level[0], week)
    for week in weeks:
        assert week.cache <= GROWN * first.cache, (first, week)
        assert week.backups <= _BACKUPS * GROWN * first.cache, (first, week)
        # Editors decide, and write one note a week: these rows stay in the cache.
        assert week.rows <= first.rows + week.words + week.number, (first, week)
        assert week.others.keys() == first.others.keys(), (first, week)
        for name, size in week.others.items():
            told = _REJECTED * week.words if name == EXCLUDED else 0
            assert size <= LEVEL * first.others[name] + _SPARE + told, (name, first, week)


def _fill_logs(project: Path) -> None:
    """Fill the logs as many runs would, so that the next one has to rotate."""
    for name in (LOG_FILE, *(f"{LOG_FILE}.{old}" for old in range(1, OLD_FILES + 1))):
        (project / name).write_text(f"{name}\n" + "x" * (MAX_BYTES - 1000), encoding="utf-8")


def _live(site: list[Row], ahead: list[Row], count: int, dice: random.Random) -> int:
    """Change this many pages, replace as many others with new ones, and return how many texts that makes."""
    places = dice.sample(range(len(site)), 2 * count)
    for at in places[:count]:
        url, title, text, lang = site[at]
        site[at] = url, title, " ".join(dice.sample(text.split(), len(text.split()))), lang
    for at in places[count:]:
        site[at] = ahead.pop()
    return 2 * count


def _run(of: World, number: int, days: int, words: int) -> Week:
    for service in (of.serper, of.openai, of.google):
        service.forget()
    when = str(number * days)
    process = start(
        "-m", "tests.research.endurance.later", when, "run", "--project", str(of.project), cwd=of.project
    )
    code, out, err = finish(process, LONGEST_S)
    assert code == 0, f"run {number}: {out}{err}"
    files = [path for path in of.project.rglob("*") if path.is_file()]
    sizes = {str(path.relative_to(of.project)): path.stat().st_size for path in files}
    cache = sizes.pop(CACHE)
    logs = [sizes.pop(name) for name in sorted(sizes) if name.startswith(LOG_FILE)]
    backups = [sizes.pop(name) for name in sorted(sizes) if name.startswith("files/backups/")]
    assert len(backups) <= _BACKUPS, sizes
    # The names of its parts change with what they derive from.
    index = [sizes.pop(name) for name in sorted(sizes) if name.startswith("files/index/")]
    sizes["files/index"] = sum(index)
    texts, searches = of.embedded().total(), of.searched().total()
    rows = len(of.google.grid("Review"))
    return Week(number, texts, searches, words, rows, cache, sum(logs), sum(backups), sizes)
