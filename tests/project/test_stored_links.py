"""Stored links in memory: lists by filters, details of links and pages, always as the store has them."""

import csv
import sqlite3
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from internal_linker.model.edges import Anchor
from internal_linker.model.evidence import Evidence
from internal_linker.model.progress import Tracker as Notes
from internal_linker.project.link_lists import LinkFilter, write_links
from internal_linker.project.project import open_project
from internal_linker.project.site_texts import MOST_SHOWN
from internal_linker.project.stored_links import LinkNotFound, StoredLinks
from internal_linker.review.rows import by_page
from tests.support.linked_site import EDGES, PERSIAN, SCRIPT, key, make_linked, url
from tests.support.small_project import write_csv


@pytest.fixture
def links(tmp_path: Path) -> StoredLinks:
    return StoredLinks(make_linked(tmp_path / "site"), Notes())


def put(links: StoredLinks, *edges: object) -> None:
    with open_project(links.root).graph(read_only=False) as (store, _):
        store.put(edges)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (LinkFilter(), 7),
        (LinkFilter(section="/blog"), 5),
        (LinkFilter(include=("/shop",)), 2),
        (LinkFilter(exclude=("/shop", "/blog/green")), 3),
        (LinkFilter(include=("/blog",), exclude=("/blog/black",)), 3),
        (LinkFilter(tier="inline"), 3),
        (LinkFilter(origin="serp"), 0),
        (LinkFilter(status="waiting"), 7),
        (LinkFilter(status="accepted"), 0),
        (LinkFilter(text="CLAY pot"), 4),
        (LinkFilter(text="قوری"), 1),
        (LinkFilter(source=key("blog/green")), 2),
        (LinkFilter(source="unknown"), 0),
    ],
)
def test_filters_take_their_links(links: StoredLinks, wanted: LinkFilter, count: int) -> None:
    assert links.part(wanted).total == count


def test_a_list_is_cut_after_it_is_sorted(links: StoredLinks) -> None:
    """Parts of a list follow each other in one order; by default in that of the review."""
    whole = [row.id for row in links.part(LinkFilter()).rows]
    assert [row.id for at in range(0, 7, 3) for row in links.part(LinkFilter(), at, 3).rows] == whole
    assert whole == [edge.id for edge in by_page(EDGES)]
    late = [
        replace(edge, evidence=Evidence(last_resort=2)) for edge in EDGES if edge.source == EDGES[0].source
    ]
    put(links, *late)
    now = [next((each for each in late if each.id == edge.id), edge) for edge in EDGES]
    assert [row.id for row in links.part(LinkFilter()).rows] == [edge.id for edge in by_page(now)] != whole
    best = links.part(LinkFilter(order="score", descending=True)).rows
    assert [row.score for row in best] == [90, 80, 80, 70, 60, 50, 30]


def test_what_others_store_is_seen(links: StoredLinks) -> None:
    assert links.part(LinkFilter()).total == 7
    put(links, replace(EDGES[0], status="accepted", verdict="accepted", by="Sheet"))
    assert [row.by for row in links.part(LinkFilter(status="accepted")).rows] == ["Sheet"]
    new = replace(EDGES[1], target=key("shop/tin"), target_url=url("shop/tin"))
    put(links, new, replace(new, target=key("blog/persian"), kind="duplicate"))
    assert links.part(LinkFilter()).total == 8
    with sqlite3.connect(links.root / "files/cache.sqlite3") as store:
        store.execute("DELETE FROM edges WHERE id = ?", (new.id,))
    assert links.part(LinkFilter()).total == 7
    write_csv(
        links.root / "files/urls_rawdata.csv",
        [("URL", "Title", "Main Content"), (url("blog/green"), "New", "x")],
    )
    assert {row.source_title for row in links.part(LinkFilter(source=key("blog/green"))).rows} == {"New"}


def test_a_link_has_its_place(links: StoredLinks) -> None:
    detail = links.detail(EDGES[0].id)
    passage = detail.passage
    assert (passage.before, passage.lead, passage.anchor) == (
        "Steep green tea in soft water. ",
        "A ",
        "clay pot",
    )
    assert (passage.rest, passage.after) == (" keeps it warm.", " Enjoy.")
    assert not detail.warning and detail.others[0].warning == "not in the text"
    assert detail.target_lines.startswith("A clay pot keeps the water hot. Ours")
    assert (detail.source_links, detail.target_links) == (1, 0)
    persian = links.detail(EDGES[4].id)
    assert persian.passage.anchor == "قوری سفالی" and persian.row.source_title == PERSIAN
    assert links.detail(EDGES[1].id).row.target_title == SCRIPT


def test_words_are_looked_for_in_the_page(links: StoredLinks) -> None:
    placed = links.place(EDGES[0].id, "soft  water")
    assert (placed.text, placed.warning, placed.passage.anchor) == ("soft water", "", "soft water")
    assert "not in the text" in links.place(EDGES[0].id, "no such words").warning
    with pytest.raises(LinkNotFound):
        links.place("0" * 20, "water")


def test_words_are_looked_for_where_they_were_selected(links: StoredLinks) -> None:
    first, second = (links.place(EDGES[0].id, "it", near) for near in (0, 55))
    text = "All about it.\nSteep green tea in soft water. A clay pot keeps it warm. Enjoy."
    assert (first.start, second.start) == (text.index("it"), text.rindex("it"))
    assert second.end == second.start + 2 and second.passage.rest == " warm."


def test_a_page_is_read_with_the_places_of_its_links(links: StoredLinks) -> None:
    """Its text comes by paragraphs, with where links stand and where new text fits; rejected links are last.

    Links that it has are known by all places that may be theirs, the longer of two that overlap.
    """
    has = [(url("blog/green"), url("shop/tin"), words) for words in ("pot", "clay pot", "it")]
    write_csv(links.root / "files/existing_links.csv", [("Source", "Destination", "Anchor"), *has])
    put(
        links,
        replace(EDGES[0], status="rejected", verdict="rejected"),
        replace(EDGES[1], anchors=(Anchor("Black tea", "All about it.", 0, verbatim=False, quality=0.0),)),
    )
    found = links.reading(key("blog/green"))
    text = "All about it.\nSteep green tea in soft water. A clay pot keeps it warm. Enjoy."
    assert [text[each.start :].startswith(each.text) for each in found.paragraphs] == [True, True]
    assert not found.is_cut and not any(each.is_heading for each in found.paragraphs)
    assert [(each.row.id, each.start, each.end) for each in found.links] == [
        (EDGES[1].id, 0, 0),
        (EDGES[0].id, text.index("clay pot"), text.index("clay pot") + 8),
    ]
    assert [text[each.start : each.end] for each in found.linked] == ["it", "clay pot", "it"]
    assert {(each.url, each.title[:7]) for each in found.linked} == {(url("shop/tin"), "Tea Tea")}
    assert links.reading("unknown").paragraphs == []


def test_a_long_page_is_cut_and_its_headings_are_known(links: StoredLinks) -> None:
    body = "# Pots\n" + "Clay keeps the water hot for a long time.\n" * 8_000
    pages = [("URL", "Title", "Main Content"), (url("shop/pot"), "Pots", body)]
    write_csv(links.root / "files/urls_rawdata.csv", pages)
    found = links.reading(key("shop/pot"))
    assert found.is_cut and found.paragraphs[0].is_heading and not found.paragraphs[1].is_heading
    assert sum(len(each.text) + 1 for each in found.paragraphs) == MOST_SHOWN + 1


def test_a_page_has_links_in_both_directions(links: StoredLinks) -> None:
    """A page, by URL or key, comes with proposed and existing links both ways, reasons, and a tree of five by five."""
    page = links.page("www.links.example/blog/green")
    assert [row.target for row in page.outbound] == [key("shop/pot"), key("blog/black")]
    assert [row.source for row in page.inbound] == [key("shop/tin"), key("blog/black")]
    assert set(page.reasons) == {row.id for row in (*page.outbound, *page.inbound)}
    assert [end.anchor for end in (*page.links, *page.linked_from)] == ["tin", "green tea"]
    assert [[leaf.key for leaf in node.children] for node in page.tree.children] == [
        [key("shop/tin")],
        [key("shop/pot"), key("blog/green")],
    ]
    with pytest.raises(LinkNotFound, match="neither in your pages"):
        links.page("https://elsewhere.example/")


def test_a_site_without_pages_has_its_links(links: StoredLinks) -> None:
    (links.root / "files/urls_rawdata.csv").unlink()
    found = links.part(LinkFilter())
    assert found.total == 7 and "urls_rawdata.csv not found" in found.problem
    assert links.detail(EDGES[0].id).passage.anchor == "clay pot"
    assert links.place(EDGES[0].id, "water").warning == ""


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_file_has_the_filtered_links(links: StoredLinks, tmp_path: Path, kind: str) -> None:
    put(links, replace(EDGES[0], notes="=1+1"))
    file = tmp_path / f"links.{kind}"
    write_links(links.filtered(LinkFilter(section="/blog")), file, kind)  # type: ignore[arg-type]
    if kind == "csv":
        rows = [*csv.reader(file.read_text(encoding="utf-8-sig").splitlines())]
        assert "'=1+1" in rows[1] + rows[2] + rows[3] + rows[4]
    else:
        sheet = openpyxl.load_workbook(file).active
        rows = [[cell.value for cell in row] for row in sheet.rows]
        assert all(cell.data_type != "f" for row in sheet.rows for cell in row)
    assert len(rows) == 6 and rows[0][:2] == ["Source", "Source Title"]
