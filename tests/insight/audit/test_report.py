"""The report shows what the audit found, loads nothing from outside, and runs nothing from a title."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from internal_linker.insight.audit.records import Audit, Rule
from internal_linker.insight.audit.report import html as pages
from internal_linker.insight.audit.report.html import change, write_report
from internal_linker.insight.html.document import ReportFile, number
from internal_linker.model.errors import OutputError
from tests.support.audits import audit, audited

EVIL = (
    "<script>document.title = 'pwned'</script>",
    "</script><script>document.title = 'pwned'</script>",
    "<img src=x onerror=\"document.title = 'pwned'\">",
    "<!--<script>",
    "{{ 7 * 7 }} {% raw %}",
    "]]>",
    "\u202e\u200fعنوان\x00",
    "\ud800",
)
TITLES = st.lists(st.one_of(st.sampled_from(EVIL), st.text(st.characters(exclude_categories=()))), min_size=1)


def written(folder: Path, found: Audit) -> Path:
    path = folder / "audit.html"
    file = ReportFile(path, now=lambda: datetime(2026, 11, 22, tzinfo=UTC))
    assert write_report(file, found) == []
    return path


def parsed(path: Path) -> LexborHTMLParser:
    return LexborHTMLParser(path.read_text("utf-8"))


def data_of(document: LexborHTMLParser) -> dict[str, Any]:
    script = document.css_first("script#data")
    assert script is not None
    found: dict[str, Any] = json.loads(script.text())
    return found


def cells(document: LexborHTMLParser, section: str) -> list[list[str]]:
    """Return the texts of a section's tables, row by row."""
    return [
        [" ".join(cell.text().split()) for cell in row.css("th, td")]
        for row in document.css(f"#{section} tr")
    ]


def test_the_tables_say_what_the_audit_found(tmp_path: Path) -> None:
    found = audit(60)
    document = parsed(written(tmp_path, found))
    figures = cells(document, "figures")[1:]
    assert [row[:3] for row in figures] == [
        [one.name, number(one.before, one.decimals), number(one.after, one.decimals)]
        for one in found.summary.itertuples()
    ]
    size = len(found.section_matrix.names)
    matrices = [row[1:] for row in cells(document, "between") if row[0].startswith("/")]
    both = [*found.section_matrix.before.tolist(), *found.section_matrix.after.tolist()]
    assert matrices == [[number(count) for count in row] for row in both]
    assert len(matrices) == 2 * size
    whole = [row for row in cells(document, "sections") if row[1:2] == ["all"]]
    assert [sum(int(row[at]) for row in whole) for at in (2, 3, 4)] == [
        60,
        len(found.before.orphans),
        len(found.after.orphans),
    ]
    assert sum(int(row[1]) for row in cells(document, "strength")[1:]) == found.histogram[1].sum()


def test_orphans_come_with_their_sources_those_that_stay_first(tmp_path: Path) -> None:
    urls = [f"https://www.slowkettle.example/{name}" for name in ("", "a", "b", "c", "d", "e", "f")]
    offered = [((0, 2), 3.0), ((1, 2), 5.0), ((3, 2), 4.0), ((4, 2), 1.0), ((0, 5), 2.0)]
    found = audited(urls, list("homABCDEF")[2:9], [(0, 1), (1, 0), (0, 4), (0, 3)], offered)
    rows = pages.orphans(found)
    assert [(urls[row][-1], found.after.inlinks[row]) for row, _ in rows] == [("f", 0), ("b", 4), ("e", 1)]
    assert [urls[page][-1] for page in rows[1][1]] == ["a", "c", "/"]
    shown = cells(parsed(written(tmp_path, found)), "orphans")
    assert "stays" in shown[1][2]
    assert "stays" not in shown[2][2]


def test_long_lists_are_cut_and_say_so(tmp_path: Path) -> None:
    found = audit(400)
    document = parsed(written(tmp_path, found))
    assert len(cells(document, "orphans")) == pages.MOST_ORPHANS + 1
    text = " ".join(document.body.text().split()) if document.body else ""
    assert (
        f"{pages.MOST_ORPHANS} of {len(found.before.orphans)} pages that no other page links to; all are in"
        in text
    )
    counts = {rule: len(those) for rule, those in found.by_rule.items()}
    assert sum(counts.values()) == len(found.findings)
    assert f"The first {pages.MOST_FINDINGS} of {counts[Rule.ORPHAN]}; all are in files/audit.xlsx" in text


def test_sections_and_clusters_beyond_the_first_go_together() -> None:
    names = [f"/s{row % 40}" for row in range(400)]
    found = replace(audit(400), sections=names, clusters=[f"cluster {row % 37}" for row in range(400)])
    tiles = pages.tiles(found)
    assert len(tiles) <= len(found.section_matrix.names)
    assert sum(tile["value"] for tile in tiles) == 400
    assert all(sum(part["value"] for part in tile["children"]) == tile["value"] for tile in tiles)
    assert all(len(tile["children"]) <= 13 for tile in tiles)


def test_the_curve_of_an_even_site_is_the_diagonal() -> None:
    even, one = audit(50).before.pagerank * 0 + 0.02, audit(50).before.pagerank * 0
    one[7] = 1.0
    assert all(held == pytest.approx(share, abs=0.01) for share, held in pages.concentration(even))
    assert [held for share, held in pages.concentration(one) if share >= 2] == [100.0] * 99


def test_tiers_count_the_new_links(tmp_path: Path) -> None:
    """Every new link is in exactly one tier; a score at a threshold belongs to the tier above."""
    found = audit(60)
    weights, (inline, sidebar, review) = found.candidates.weights, found.tiers
    assert inline <= (weights >= 0.8).sum() and review == (weights < 0.65).sum()
    assert sidebar == len(weights) - inline - review >= ((weights >= 0.65) & (weights < 0.8)).sum()
    body = parsed(written(tmp_path, found)).body
    text = " ".join(body.text().split()) if body else ""
    assert f"Of the {len(weights)} proposed links that don’t exist yet:" in text
    for told in (
        f"{inline} in the text (from 80)",
        f"{sidebar} related box (from 65)",
        f"{review} needs a look",
    ):
        assert told in text
    assert f"Links today: {found.counted_today}." in text and f"after adoption: {found.counted_new}." in text


def loads_nothing(document: LexborHTMLParser) -> bool:
    """Return whether no element or style names another file, and the policy allows two scripts and no loading."""
    assert document.css("link, img, iframe, object, embed, base, source, [src], [srcset], form") == []
    assert {node.tag for node in document.css("[href]")} == {"a"}
    style, *scripts = (node.text() for node in document.css("style, script"))
    assert "url(" not in style and "@import" not in style
    policy = document.css_first("meta[http-equiv]").attributes["content"] or ""  # type: ignore[union-attr]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts[1:]]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    titles = document.css(".title")
    assert titles and all(node.attributes["dir"] == "auto" for node in titles)
    assert all(node.attributes["dir"] == "ltr" for node in document.css(".url"))
    return len(digests) == 2


def test_the_report_loads_nothing_and_says_whence_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, audit(60))
    assert loads_nothing(parsed(path))
    text = path.read_text("utf-8")
    assert "Created on 2026-11-22." in text and "run 2026-11-20 0930" in text
    # The licences of ECharts and d3 require their notices.
    assert "The Apache Software Foundation" in text and "Mike Bostock" in text
    assert "Licensed to the Apache Software Foundation (ASF)" in text
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(OutputError, match=r"folder\.html can't be written"):
        write_report(ReportFile(tmp_path / "folder.html"), audit(2))


@given(titles=TITLES)
def test_no_title_becomes_markup(titles: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    found = audit(max(len(titles), 2))
    titles = [*titles, *found.titles[len(titles) :]]
    names = dict(zip(dict.fromkeys(found.clusters), titles, strict=False))
    clusters = [names.get(each, each) for each in found.clusters]
    document = parsed(
        written(tmp_path_factory.mktemp("report"), replace(found, titles=titles, clusters=clusters))
    )
    assert len(document.css("script")) == 3
    assert document.css("img, [onerror]") == []
    treemap = data_of(document)["treemap"]
    assert isinstance(treemap, list) and treemap


def test_an_address_that_could_run_is_no_link(tmp_path: Path) -> None:
    found = audit(3)
    evil = ["javascript:alert(1)", "data:text/html,x", found.urls[2]]
    document = parsed(written(tmp_path, replace(found, urls=evil)))
    links = {node.attributes["href"] or "" for node in document.css("a")}
    assert all(link.startswith(("#", "https://www.slowkettle.example/")) for link in links)
    assert "javascript:alert(1)" in (document.body.text() if document.body else "")


def test_a_site_without_links_has_a_report(tmp_path: Path) -> None:
    document = parsed(written(tmp_path, audited(["https://a.example/0", "https://a.example/1"], ["", ""])))
    text = " ".join((document.body.text() if document.body else "").split())
    assert "No links are proposed" in text
    assert data_of(document)["proposed"] is False
    assert document.css_first("#histogram") is None


def test_figures_are_written_for_people() -> None:
    assert (number(1234.5, 2), number(float("nan")), number(-0.001, 1)) == ("1,234.50", "none", "0.0")
    told = [change(*ends) for ends in ((1000, 3500, 0), (0.5, 0.25, 2), (1, 1.001, 2), (float("nan"), 1.0))]
    assert told == ["+2,500", "-0.25", "", ""]
