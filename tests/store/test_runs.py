"""Stored runs: their rows come back unchanged, the newest runs stay, and a run that broke off is not stored."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.evidence import NO_EVIDENCE, Evidence
from internal_linker.model.records import Candidate, Duplicate, Link, Recommendation, Source
from internal_linker.model.runs import Version, VersionRow, lists_with, overlaid, rows_with, unpack_row
from internal_linker.store.databases import damaged_rows
from internal_linker.store.engine import open_database
from internal_linker.store.runs import KEPT, RunStore
from tests.support.builders import Told

VERSION = Version("1", "2026-01-04T03:00:00+00:00", "all rows", "local/x, recipe y", 2, 3, facts={"a": [1]})


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> Engine:
    return open_database(store_url, tmp_path)


def row(name: str, *targets: str, note: str = "") -> VersionRow:
    links = [
        Link(Candidate(f"k{one}", one, 2.5, -0.1, serp_rank=rank), rank, "serp")
        for rank, one in enumerate(targets, 1)
    ]
    return VersionRow(Recommendation(Source(name, name, "q", None, in_sheet=True), tuple(links), note), "h")


def shape(rows: object) -> str:
    return repr(rows)  # NaN is not equal to itself


def test_the_rows_of_a_run_come_back(engine: Engine) -> None:
    """Order, links, figures, notes and hashes come back; another site or run name has no rows."""
    runs = RunStore(engine, "a.example")
    rows = [row("s", "t", "ü\0\ud800"), row("", note="why"), *(row(f"s{n}", "t") for n in range(2500))]
    # A row whose URL redirects, and a query for a URL that is in no list of pages.
    moved = Source(
        "https://a.example/s", "https://a.example/s", "q", None, True, row_url="https://a.example/old"
    )
    unlisted = Source("https://a.example/n", "https://a.example/n", "q", None, False, unlisted=True)
    rows += [VersionRow(Recommendation(one, ())) for one in (moved, unlisted)]
    rows += [replace(one, outlinks=count) for count, one in enumerate((rows[0], rows[-2]))]
    links = [
        replace(link, evidence=Evidence(4, 15, 12, 30, 0, 1, 3, "tea", 2))
        for link in rows[2].recommendation.links
    ]
    rows[2] = replace(rows[2], recommendation=replace(rows[2].recommendation, links=tuple(links)))
    runs.put(VERSION, rows)
    assert runs.versions() == [VERSION]
    assert shape(list(runs.rows("1"))) == shape(rows)
    (link, _) = next(iter(runs.rows("1"))).recommendation.links
    assert math.isnan(link.target.lexical) and link.target.similarity == -0.1
    assert list(runs.rows("2")) == [] and RunStore(engine, "b.example").versions() == []


def test_the_lists_of_a_run_are_those_of_its_rows(engine: Engine) -> None:
    """Lists have the keys of all links, with or without a host in another form; without a basis, they have none."""
    runs, hosts = (
        RunStore(engine, "a.example"),
        CanonicalHosts(origins={"a.example": "https://www.a.example"}),
    )
    pages = [f"http://a.example/{name}" for name in ("s", "t", "u", "t", "s", "index.html")]
    links = [Link(Candidate(page, page, serp_rank=rank), rank, "serp") for rank, page in enumerate(pages, 1)]
    source = Source(pages[0], pages[0], "q", None, in_sheet=True, row_url=pages[0])
    kept = Recommendation(source, tuple(links), held=(Link(Candidate("k", "k"), 0, "semantic"),))
    rows = [VersionRow(kept, basis="a b c"), VersionRow(kept, basis="d e f"), row("x", "t")]
    rows.append(VersionRow(Recommendation(replace(source, query="other"), tuple(links)), outlinks=2))
    runs.put(VERSION, rows)
    stored = [*runs.lists("1")]
    assert [one.basis for one in stored] == ["a b c", "d e f", "", ""]
    assert stored[0].source == source and not stored[2].links
    assert stored[0].links == [(page, rank) for rank, page in enumerate(pages, 1)]
    assert stored[0].held == [("k", 0)]
    for form in (CanonicalHosts(), hosts):
        moved = [one.recommendation for one in rows_with(form, runs.rows("1"))]
        lists = [*lists_with(form, runs.lists("1"))]
        assert [(one.key, one.identity) for one in (each.source for each in moved)] == [
            (one.key, one.identity) for one in (each.source for each in lists)
        ]
        first, item = lists[0], moved[0]
        assert [*first.links] == [(link.target.key, link.target.serp_rank) for link in item.links]
        assert [*first.held] == [(link.target.key, link.target.serp_rank) for link in item.held]


def test_the_rows_of_an_earlier_version_are_read() -> None:
    """A link stored without its evidence has none; its other figures are in their places."""
    link = ["semantic", "kt", "t", 2.5, 0.5, None, 0, None]
    (found,) = unpack_row(["s", "s", "q", True, "", "h", [link]]).recommendation.links
    assert (found.target.url, found.target.score, found.rank) == ("t", 2.5, 1)
    assert math.isnan(found.target.probability) and found.evidence == NO_EVIDENCE


def test_the_near_duplicates_of_the_newest_run_come_back(engine: Engine) -> None:
    """`duplicates` distinguishes None, no pairs and pairs, even for a run without rows; each stored run is sound."""
    runs = RunStore(engine, "a.example")
    pair = Duplicate("https://a.example/ü\0", "b", math.nan, 0.5, 1 / 3)
    assert runs.duplicates() is None
    for number, (rows, pairs) in enumerate(
        [([], None), ([], [pair]), ([row("s", "t")], []), ([row("s")], [pair] * 2)]
    ):
        runs.put(replace(VERSION, run=str(number)), rows, pairs)
        assert shape(runs.duplicates()) == shape(pairs)
        assert shape(list(runs.rows(str(number)))) == shape(rows)
    assert damaged_rows(engine, Told()) == {}


def test_a_run_of_the_same_name_is_replaced(engine: Engine) -> None:
    runs = RunStore(engine, "a.example")
    runs.put(VERSION, [row(f"s{n}") for n in range(2500)])
    runs.put(VERSION, [row("new")])
    assert [one.end for one in runs.rows("1")] == ["new"]


def test_the_oldest_runs_go(engine: Engine) -> None:
    """The store keeps half a year of weekly runs, in the order in which they were stored."""
    runs = RunStore(engine, "a.example")
    for number in range(KEPT + 3):
        runs.put(replace(VERSION, run=f"{number:03}"), [row("s")])
    assert [one.run for one in runs.versions()] == [f"{number:03}" for number in range(3, KEPT + 3)]
    assert not list(runs.rows("000")) and list(runs.rows("003"))


def test_a_run_whose_rows_break_off_is_not_there(engine: Engine) -> None:
    runs = RunStore(engine, "a.example")

    def broken() -> object:
        yield from (row(f"s{n}") for n in range(1500))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.put(VERSION, broken())  # type: ignore[arg-type]
    assert runs.versions() == []


def test_rows_of_a_part_stand_in_the_place_of_older_ones() -> None:
    """The rows of a partial run replace those of the same ends, so that a version is the whole state of Output.csv."""
    before, after = [row("a", "x"), row("b", "x")], [row("b", "y"), row("c", "z")]
    assert [(one.end, one.recommendation.links[0].target.url) for one in overlaid(before, after)] == [
        ("a", "x"),
        ("b", "y"),
        ("c", "z"),
    ]
