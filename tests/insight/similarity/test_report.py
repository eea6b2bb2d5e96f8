"""The page of clusters shows what was found, loads nothing from outside, and runs nothing from a title."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from selectolax.lexbor import LexborHTMLParser

from internal_linker.insight.html.document import ReportFile
from internal_linker.insight.similarity.cluster_records import MissingLinks, PageMap, SiteClusters
from internal_linker.insight.similarity.report.html import (
    MOST_BRANCHES,
    MOST_LEAVES,
    MOST_LINKS,
    MOST_PAGES,
    write_report,
)
from tests.insight.audit.test_report import TITLES, data_of, loads_nothing, parsed

SITE = "https://www.slowkettle.example"


def clusters(sizes: Sequence[int], titles: Sequence[str] = (), urls: Sequence[str] = ()) -> SiteClusters:
    """Return clusters of this many pages, named by their titles, each without the links from its first page."""
    n = sum(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    titles = [*titles, *(f"Page {row}" for row in range(len(titles), n))]
    urls = urls or [f"{SITE}/{row}/" for row in range(n)]
    hubs = np.searchsorted(labels, np.arange(len(sizes)))
    targets = np.setdiff1d(np.arange(n), hubs)
    names = [f"{titles[hub]} {at}" for at, hub in enumerate(hubs.tolist())]
    found = pd.DataFrame({"number": range(1, len(sizes) + 1), "name": names, "pages": sizes, "links": 2})
    found = found.assign(
        hub=[urls[hub] for hub in hubs],
        hub_title=[titles[hub] for hub in hubs],
        density=[float("nan") if size == 1 else 0.25 for size in sizes],
        missing=found["pages"] - 1,
        distance=0.5,
        computed=names,
    )
    missing = MissingLinks(hubs[labels[targets]], targets, np.zeros(len(targets), np.int64), 0)
    return SiteClusters(
        site="www.slowkettle.example",
        by="compared by title, grouped by k-means",
        urls=urls,
        titles=titles,
        labels=labels,
        distances=np.linspace(0, 1, n, dtype=np.float32),
        clusters=found,
        hubs=hubs,
        missing=missing,
        similarities=np.full(len(targets), 0.625, np.float32),
    )


def on_a_circle(found: SiteClusters, drawn: int = 10_000) -> PageMap:
    """Return the first pages on a circle."""
    rows = np.arange(min(len(found.urls), drawn))
    return PageMap(rows, np.column_stack([np.cos(rows), np.sin(rows)]))


def written(folder: Path, found: SiteClusters, drawn: int = 10_000) -> Path:
    path = folder / "clusters.html"
    file = ReportFile(path, now=lambda: datetime(2026, 11, 22, tzinfo=UTC))
    assert write_report(file, found, on_a_circle(found, drawn)) == []
    return path


def text_of(document: LexborHTMLParser) -> str:
    return " ".join(document.body.text().split()) if document.body else ""


def test_the_tables_say_what_was_found(tmp_path: Path) -> None:
    document = parsed(written(tmp_path, clusters([4, 3, 1])))
    rows = [
        [" ".join(cell.text().split()) for cell in row.css("th, td")] for row in document.css("#clusters tr")
    ]
    assert rows[1][:6] == ["1 · Page 0 0", "4", "2", "0.250", "3", "0.500"]
    assert rows[3][3] == "none" and len(rows) == 4
    parts = document.css("#pages details")
    assert [len(part.css("table:first-of-type tbody tr .url")) > 0 for part in parts] == [True] * 3
    assert "hub" in parts[0].text() and "0.625" in parts[0].text() and "hub to page" in parts[0].text()
    assert "Created on 2026-11-22. 8 pages in 3 clusters, compared by title, grouped by k-means." in text_of(
        document
    )


def test_long_lists_are_cut_and_say_so(tmp_path: Path) -> None:
    document = parsed(written(tmp_path, clusters([400, 300]), drawn=500))
    text, data = text_of(document), data_of(document)
    assert f"The {MOST_PAGES} of 400 pages that are nearest to the centre." in text
    assert f"The first {MOST_LINKS} of 399 missing links; all are in files/cluster_links.csv." in text
    assert "The map shows 500 of 700 pages" in text and len(data["dots"]) == 500
    assert [len(branch["leaves"]) + branch["more"] for branch in data["branches"]] == [400, 300]
    assert max(len(branch["leaves"]) for branch in data["branches"]) <= MOST_LEAVES + 1
    many = parsed(written(tmp_path, clusters([1] * (MOST_BRANCHES + 20))))
    assert f"The {MOST_BRANCHES} largest clusters are drawn." in text_of(many)
    assert len(data_of(many)["branches"]) == MOST_BRANCHES == len(many.css("#branch option")) - 1


def test_the_page_loads_nothing(tmp_path: Path) -> None:
    document = parsed(written(tmp_path, clusters([5, 4], ["کتاب‌ها", "コーヒー豆", "Tea"])))
    assert loads_nothing(document)
    assert "Licensed to the Apache Software Foundation (ASF)" in text_of(document)


@settings(max_examples=30)
@given(titles=TITLES)
def test_no_title_becomes_markup(titles: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    found = clusters([len(titles), 2], titles)
    document = parsed(written(tmp_path_factory.mktemp("page"), found))
    assert len(document.css("script")) == 3
    assert document.css("img, [onerror]") == []
    assert len(data_of(document)["dots"]) == len(titles) + 2


def test_an_endless_title_is_cut(tmp_path: Path) -> None:
    sizes = []
    for title in ("Tea", "T" * 1_000_000):
        found = clusters([3], [title] * 3)
        named = replace(found, clusters=found.clusters.assign(name="Tea"))
        sizes.append(written(tmp_path, named).stat().st_size)
    assert sizes[1] - sizes[0] < 20_000


def test_an_address_that_could_run_is_no_link(tmp_path: Path) -> None:
    urls = ["javascript:alert(1)", "data:text/html,x", f"{SITE}/2/"]
    document = parsed(written(tmp_path, clusters([3], urls=urls)))
    links = {node.attributes["href"] or "" for node in document.css("a")}
    assert all(link.startswith(("#", f"{SITE}/")) for link in links)
    assert [dot[5] for dot in data_of(document)["dots"]] == ["", "", f"{SITE}/2/"]
