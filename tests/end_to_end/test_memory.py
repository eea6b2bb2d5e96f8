"""The memory that a site needs, measured in separate processes against the README's figures."""

import csv
import random
import sys
import tracemalloc
from pathlib import Path

import pytest

from internal_linker.model.columns import REJECTED_ROWS
from internal_linker.model.records import Candidate, Link, Recommendation, Reject
from internal_linker.model.sequences import Lazy
from internal_linker.sources.tables.links_csv import LinksCsv, OutputCsv
from internal_linker.sources.tables.lists_csv import ListCsv
from tests.support.builders import source, url
from tests.support.small_project import start

pytestmark = pytest.mark.long
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")

# Reads pages and iterates over their texts, as a run does; prints the peak (MB) before and after.
READING = """
import re, sys
from pathlib import Path
from internal_linker.match.embed import hashes_of
from internal_linker.sources.collect import gather
from internal_linker.sources.tables.csv_reader import (CsvTable)
from internal_linker.store.files.text_spool import TextSpool
from internal_linker.text.language import detect
from internal_linker.match.embed import all_texts
from tests.support.builders import Told

def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) / 1000

detect("The model that tells languages is read here, for it takes as much as it does for one page.")
before, file = peak(), Path(sys.argv[1])
spool = TextSpool(file.parent)
pages = gather(
    None, CsvTable(file), None, queries_in_sheet=False, progress=Told(), keep=spool.keep
).pages
hashes = hashes_of(all_texts(pages, {}, ()))
assert len(set(hashes)) == len(pages) == int(sys.argv[2])
spool.close()
print(before, peak())
"""


def peak_mb(folder: Path, count: int, words: int, lang: str) -> tuple[float, float]:
    """Return the program's peak in MB before and after it reads this many pages of this many words."""
    dice = random.Random(3)
    pieces = [" ".join(dice.choices("tea leaves water cup the and of is".split(), k=10)) for _ in range(500)]
    file = folder / "pages.csv"
    with file.open("w", encoding="utf-8", newline="") as open_file:
        rows = csv.writer(open_file)
        rows.writerow(("URL", "Title", "Main Content", "Lang"))
        for number in range(count):
            content = f"{number} " + " ".join(dice.choices(pieces, k=words // 10))
            rows.writerow(
                (f"https://www.shop.example/guides/{number}/", f"A title of a page {number}", content, lang)
            )
    out, err = start("-c", READING, str(file), str(count), cwd=folder).communicate(timeout=600)
    assert out, err
    before, after = map(float, out.split())
    return before, after


@on_linux
def test_long_pages_take_no_more_memory(tmp_path: Path) -> None:
    """400 MB of text in 1,000 pages stay within the README's 300 MB, half of which the program and its model need."""
    before, after = peak_mb(tmp_path, 1_000, 80_000, "")
    assert after < 300
    assert after - before < 150


@on_linux
def test_a_page_takes_little(tmp_path: Path) -> None:
    """From 20,000 to 60,000 short pages, each takes less than the README's 1 KB."""
    (_, small), (_, large) = (peak_mb(tmp_path, count, 10, "en") for count in (20_000, 60_000))
    assert 1000 * (large - small) / 40_000 < 1


def test_results_are_written_as_a_stream(tmp_path: Path) -> None:
    def recommendation(number: int) -> Recommendation:
        links = (Link(Candidate(url(at), url(at), 1.5, 0.5, 0.5), at, "semantic") for at in range(1, 6))
        return Recommendation(source(number), tuple(links))

    files = [tmp_path / name for name in ("Output.csv", "links.csv", "rejected_rows.csv")]

    def write(count: int) -> None:
        found = Lazy(count, recommendation)
        OutputCsv(files[0], 5, keeps=None).deliver(found, "run")
        LinksCsv(files[1], "model", keeps=None).deliver(found, "run")
        rejects = Lazy(count, lambda number: Reject("pages.csv", number, url(number), "the URL is empty"))
        ListCsv(files[2], REJECTED_ROWS).write(rejects)

    write(1)  # what is imported on the way is no part of it
    tracemalloc.start()
    write(6_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000 < sum(file.stat().st_size for file in files) / 5
