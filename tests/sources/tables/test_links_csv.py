"""Result files contain every link, can't harm a spreadsheet, and keep the rows that a partial run did not compute."""

import csv
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from internal_linker.model.arrays import Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts, host_map
from internal_linker.model.columns import BACKTEST, EXCLUDED_TARGETS, REJECTED_ROWS, LinkView
from internal_linker.model.edges import Anchor, Edge, edge_id
from internal_linker.model.errors import OutputError
from internal_linker.model.evidence import Evidence
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import (
    AddedLink,
    Candidate,
    ExcludedTarget,
    Link,
    Recommendation,
    Reject,
    Source,
)
from internal_linker.model.urls import normal_form
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.links_csv import LinksCsv, OutputCsv
from internal_linker.sources.tables.lists_csv import PAGE_VECTORS, ListCsv
from internal_linker.store.files.atomic import replace_whole
from tests.support.builders import anything, whole

OUTPUT_HEADER = ["URL", "Main Query", "Link 1", "Link 2", "Note"]


def links_of(name: str, *targets: str, note: str = "", query: str = "") -> Recommendation:
    url = f"https://{name}.example/" if name else ""
    links = [
        Link(Candidate(f"https://{target}.example/", f"https://{target}.example/", 1.5), rank, "semantic")
        for rank, target in enumerate(targets, 1)
    ]
    source = Source(normal_form(url) if url else "", url, query or f"query {name}", None, True)
    return Recommendation(source, tuple(links), note)


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def letters(path: Path) -> list[str]:
    """Return a result in short form: `a>bc` for page a with links to b and c."""
    header, *body = rows(path)
    wide = [[row[0], *(row[i] for i, name in enumerate(header) if name.startswith("Link"))] for row in body]
    return [re.sub(r"https://(.)\.example/", r"\1", f"{url}>{''.join(links)}") for url, *links in wide]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    return tmp_path / "files" / "Output.csv"


def test_output_has_one_row_a_recommendation_in_order(path: Path) -> None:
    given = [
        links_of("b", "x", "y"),
        links_of("a", "x", note="1 of 2 links"),
        links_of("", query="café, «قهوه»"),
    ]
    assert OutputCsv(path, 2, keeps=None).deliver(given, "run") == []
    assert rows(path) == [
        OUTPUT_HEADER,
        ["https://b.example/", "query b", "https://x.example/", "https://y.example/", ""],
        ["https://a.example/", "query a", "https://x.example/", "", "1 of 2 links"],
        ["", "café, «قهوه»", "", "", ""],
    ]


def test_output_is_what_excel_and_our_own_reader_expect(path: Path) -> None:
    """The file begins with a byte order mark, ends its lines with CR LF, and CsvTable reads it back."""
    OutputCsv(path, 2, keeps=None).deliver([links_of("a", "x", query="two\rlines"), links_of("b")], "run")
    assert path.read_bytes().startswith(b"\xef\xbb\xbfURL,")
    table = whole(CsvTable(path))
    assert [list(table.header), *(list(cells) for _, cells in table.rows)] == rows(path)
    assert table.rows[0] == (2, ("https://a.example/", "two\rlines", "https://x.example/", "", ""))


def test_a_partial_run_keeps_replaces_and_appends(path: Path) -> None:
    path.write_bytes(b"")
    first = [links_of("a", "x"), links_of("b", "x", "y"), links_of("c", "x"), links_of("", query="= x")]
    assert OutputCsv(path, 2, keeps=anything).deliver(first, "run 1") == []
    second = [links_of("d", "z"), links_of("b", "z"), links_of("", "z", query="=  X")]
    assert OutputCsv(path, 2, keeps=anything).deliver(second, "run 2") == []
    assert letters(path) == ["a>x", "b>z", "c>x", ">z", "d>z"]
    OutputCsv(path, 2, keeps=None).deliver([links_of("b", "y")], "a full run")
    assert letters(path) == ["b>y"]


def test_rows_are_the_same_by_page_and_folded_query(path: Path) -> None:
    """A page in another form of its URL or host, or on a mapped one; another query of the page is another row."""
    old = [
        "HTTPS://A.example:443/#top,Query  A,https://x.example/,",
        "https://staging.b.example/,query b,https://x.example/,",
        "http://www.c.example/index.html,query c,https://x.example/,",
    ]
    path.write_text("\n".join(["URL,Main Query,Link 1,Note", *old, ""]), encoding="utf-8")
    hosts = CanonicalHosts(host_map(["staging.b.example=b.example"]))
    given = [links_of("b", "y"), links_of("a", "y"), links_of("a", "z", query="else"), links_of("c", "z")]
    OutputCsv(path, 1, keeps=anything, hosts=hosts).deliver(given, "run")
    assert letters(path) == ["a>y", "b>y", "c>z", "a>z"]


def test_a_partial_run_loses_no_link_of_a_wider_file(path: Path) -> None:
    OutputCsv(path, 3, keeps=anything).deliver([links_of("a", "x", "y", "z")], "run")
    OutputCsv(path, 1, keeps=anything).deliver([links_of("b", "x")], "run")
    assert letters(path) == ["a>xyz", "b>x"]
    OutputCsv(path, 5, keeps=anything).deliver([links_of("c", "x")], "run")
    assert rows(path)[0][2:] == ["Link 1", "Link 2", "Link 3", "Link 4", "Link 5", "Note"]
    assert letters(path) == ["a>xyz", "b>x", "c>x"]


@pytest.mark.parametrize(
    ("content", "said", "left"),
    [
        (b"PK\x03\x04 workbook", "a zip archive", ["b>x"]),
        (b"Name,Price\nx,1\n", "no column", ["b>x"]),
        (b'URL,Main Query,Link 1\na,"', "row 2", ["b>x"]),
        (
            b"URL,Main Query,Link 1,Note,Done\nhttps://a.example/,q,https://x.example/,,yes\n",
            r"\(Done\)",
            ["a>x", "b>x"],
        ),
    ],
)
def test_a_damaged_file_or_columns_of_the_users_own_are_set_aside(
    path: Path, content: bytes, said: str, left: list[str]
) -> None:
    path.write_bytes(content)
    (sentence,) = OutputCsv(path, 1, keeps=anything).deliver([links_of("b", "x")], "run")
    (copy,) = [entry for entry in path.parent.iterdir() if entry != path]
    assert copy.read_bytes() == content
    assert re.search(said, sentence) and copy.name in sentence
    assert letters(path) == left


def test_a_file_saved_again_by_excel_is_still_merged(path: Path) -> None:
    """With semicolons and Windows-1252, as Excel saves it in Europe; a warning says so."""
    path.write_bytes("URL;Main Query;Link 1;Note\r\nhttps://a.example/;größe;/x;\r\n".encode("cp1252"))
    (said,) = OutputCsv(path, 1, keeps=anything).deliver([links_of("b", "x")], "run")
    assert rows(path)[1][1] == "größe" and "Windows-1252" in said


def test_a_result_that_is_open_elsewhere_or_cant_be_written_is_told(path: Path) -> None:
    """While Excel has the file open, the result goes to a dated file, which the message names."""

    def held(source: Path, target: Path) -> None:
        if re.fullmatch(r"[A-Za-z]+\.csv", target.name):
            raise PermissionError(13, "in use")
        source.replace(target)

    keep = partial(replace_whole, replace=held, pauses=())
    (sentence,) = OutputCsv(path, 1, keeps=None, write_whole=keep).deliver([links_of("a", "x")], "run")
    (landed,) = path.parent.iterdir()
    assert sentence.startswith("Output.csv is open in another program") and landed.name in sentence
    assert "the result is in" in ListCsv(path, REJECTED_ROWS, keep).write([])[0]
    path.mkdir()
    for keeps in (None, anything):
        with pytest.raises(OutputError):
            OutputCsv(path, 1, keeps).deliver([links_of("a", "x")], "run")


READ = (
    "Source,Target,Rank,Score,Tier,Anchor,Sentence,Suggested Wording,Why,Status,Type,Origin,Main Query,Model,"
    "Run,Link Id"
)


def test_links_show_the_figures_behind_a_score_on_demand(tmp_path: Path) -> None:
    """links.csv has a row for each link of a page: 4 decimals, an empty cell for a missing figure, no -0."""
    path, nan = tmp_path / "links.csv", float("nan")
    page = Source("https://a.example/", "https://a.example/", "q", None, True)
    serp = Link(Candidate("x", "https://x.example/", nan, -0.25, nan, 7), 1, "serp")
    near = Link(
        Candidate("y", "https://y.example/", -1.23456, 0.5, -0.00001, probability=0.125), 1, "semantic"
    )
    other = replace(page, query="=q")
    given = [Recommendation(page, (serp,)), Recommendation(other, (near,))]
    # No page can carry what is suggested for a query.
    given.append(Recommendation(Source("", "", "q", None, True), (near,)))
    texts = [
        "https://a.example/,https://x.example/,1,,,,,,,,,serp,q,local minilm,r1,",
        "https://a.example/,https://y.example/,1,,,,,,,,,semantic,'=q,local minilm,r1,",
    ]
    assert LinksCsv(path, "local minilm", keeps=None).deliver(given, "r1") == []
    assert [",".join(row) for row in rows(path)] == [READ, *texts]
    assert LinksCsv(path, "local minilm", keeps=None, figures=True).deliver(given, "r1") == []
    assert [",".join(row) for row in rows(path)] == [
        f"{READ},Serp Rank,Embedding Similarity,Lexical Score,Probability,Blend,Anchor Model,Anchor Confidence",
        f"{texts[0]},7,-0.2500,,,,,",
        f"{texts[1]},,0.5000,0.0000,0.1250,-1.2346,,",
    ]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("now", [True, False])
def test_figures_of_earlier_rows_stay_beside_those_of_new_ones(
    tmp_path: Path, before: bool, now: bool
) -> None:
    path = tmp_path / "links.csv"
    LinksCsv(path, "m", None, figures=before).deliver([links_of("a", "x")], "r1")
    assert LinksCsv(path, "m", anything, figures=now).deliver([links_of("b", "y")], "r2") == []
    header, *cells = rows(path)
    assert ("Blend" in header) == (before or now)
    figures = [dict(zip(header, row, strict=True)).get("Blend", "") != "" for row in cells]
    assert figures == [before, before or now]


def test_links_show_what_is_remembered_of_them(tmp_path: Path) -> None:
    """links.csv shows score, tier, type, status, the best or the editor's anchor, its sentence, id and reason."""
    path, page = tmp_path / "links.csv", Source("k", "https://a.example/", "q", None, True)
    links = [Link(Candidate(one, f"https://{one}.example/"), at, "serp") for at, one in enumerate("xy", 1)]
    edge = Edge("k", "x", "", "", strength=0.5, tier="sidebar", kind="contextual", status="accepted")
    edge = replace(edge, anchors=(Anchor("tea", "Tea draws."), Anchor("draws")), verdict="accepted", rank=1)
    edge = replace(edge, evidence=Evidence(4, 15, 2, 9, 0))
    known = {edge.id: edge, edge_id("k", "y"): replace(edge, target="y", anchor="=mine", anchors=())}

    def view_of(source: Source, link: Link) -> LinkView:
        return LinkView(known[edge_id(source.end, link.target.key)])

    LinksCsv(path, "m", None).deliver([Recommendation(page, tuple(links))], "r1", view_of)
    reason = "Accepted by an editor; very similar topic. "
    reason += "2 of its 15 nearest pages link there; no page of this section does yet."
    assert [[*row[3:11], row[-1]] for row in rows(path)[1:]] == [
        ["50", "sidebar", "tea", "Tea draws.", "", reason, "accepted", "contextual", edge_id("k", "x")],
        ["50", "sidebar", "'=mine", "", "", reason, "accepted", "contextual", edge_id("k", "y")],
    ]


def test_a_file_whose_score_meant_something_else_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("Source,Target,Score,Main Query\nhttps://a.example/,https://x.example/,4.5,q\n")
    (sentence,) = LinksCsv(path, "m", keeps=anything).deliver([links_of("b", "y")], "r2")
    assert "it has no column 'Why'" in sentence and [row[0] for row in rows(path)[1:]] == [
        "https://b.example/"
    ]


def test_links_of_a_source_are_replaced_together(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    first = [links_of("a", "x", "y"), links_of("b", "x", "y", "z"), links_of("c", "x")]
    LinksCsv(path, "m", keeps=anything).deliver(first, "r1")
    LinksCsv(path, "m", keeps=anything).deliver(
        [links_of("c"), links_of("b", "w", "v"), links_of("d", "x")], "r2"
    )
    short = [(row[0][8], row[1][8], row[2], row[14]) for row in rows(path)[1:]]
    assert short == [
        *(("a", "x", "1", "r1"), ("a", "y", "2", "r1"), ("b", "w", "1", "r2"), ("b", "v", "2", "r2")),
        ("d", "x", "1", "r2"),
    ]


def test_lists_are_replaced_whole(tmp_path: Path) -> None:
    """A run without items leaves only the header."""
    reject, link = Reject("main_queries.csv", 7, "nonsense", "not a full URL"), AddedLink("a", "b", "=1+1", 3)
    rule = ExcludedTarget("", "https://a.example/", Reason(NoTarget.EXCLUDED, "=x"))
    path = tmp_path / "list.csv"
    links, written = [link, replace(link, anchor="", place=0)], ["a,b,'=1+1,3", "a,b,,"]
    cases: list[tuple[Any, list[Any], list[str]]] = [
        (
            ListCsv(path, REJECTED_ROWS),
            [reject],
            ["Table,Row,URL,Reason", "main_queries.csv,7,nonsense,not a full URL"],
        ),
        (ListCsv(path, BACKTEST), links, ["Source,Target,Anchor,Place", *written]),
        (
            ListCsv(path, EXCLUDED_TARGETS),
            [rule],
            ["Source,Target,Reason", ",https://a.example/,excluded by =x"],
        ),
    ]
    for sink, items, lines in cases:
        for some in (items, []):
            assert sink.write(iter(some)) == []
            assert [",".join(row) for row in rows(path)] == lines[: 1 + len(some)]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_vectors_come_back_exactly(tmp_path: Path, kind: type[np.floating]) -> None:
    path = tmp_path / "vectorized_urls.csv"
    vectors: Vectors = np.random.default_rng(7).standard_normal((50, 64)).astype(kind)
    given = ((f"https://a.example/{i}", vector) for i, vector in enumerate(vectors))
    assert ListCsv(path, PAGE_VECTORS).write(given) == []
    header, *body = rows(path)
    assert header == ["URL", "Embedding"]
    assert [row[0] for row in body] == [f"https://a.example/{i}" for i in range(50)]
    assert np.array_equal(np.array([json.loads(cell) for _, cell in body]).astype(kind), vectors)
