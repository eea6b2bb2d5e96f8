"""`clusters`: groups of similar pages with names, hubs and missing links, without keys, from the project's tables."""

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from internal_linker.model.records import Duplicate
from internal_linker.model.runs import Version
from internal_linker.project.project import open_project
from internal_linker.store.runs import RunStore
from tests.support.small_project import (
    SITE,
    command,
    make_project,
    write_csv,
)

TOPICS = {
    "coffee": (
        "cold brew",
        "cold brew at home",
        "cold brew ratio",
        "cold brew in a jar",
        "cold brew or iced",
    ),
    "tea": ("green tea leaves", "black tea leaves", "white tea leaves", "tea leaves in a tin"),
    "tax": ("tax return for beginners", "tax return online", "tax return of last year"),
}


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def titled(folder: Path, *titles: str, langs: tuple[str, ...] = ()) -> Path:
    """Return a project of pages with these titles and no content."""
    make_project(folder)
    languages = langs or ("en",) * len(titles)
    pages = [
        (f"{SITE}/{at}/", title, "", lang)
        for at, (title, lang) in enumerate(zip(titles, languages, strict=True))
    ]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Lang"), *pages])
    return folder


def three_topics(folder: Path) -> Path:
    return titled(folder, *(title for titles in TOPICS.values() for title in titles))


def found(capsys: pytest.CaptureFixture[str], project: Path, *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert command("clusters", "--project", str(project), "--by", "title", "--json", *options) == 0
    # NaN is no JSON.
    answer: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    return answer


def test_pages_are_grouped_named_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV, workbook and JSON agree; of 2 to 8 clusters, three separate the topics best; a second run finds the same."""
    project = three_topics(tmp_path)
    sizes = {"cold brew": 5, "tea leaves": 4, "tax return": 3}
    answer = found(capsys, project, "--k", "3")
    assert {one["name"]: one["pages"] for one in answer["clusters"]} == sizes
    names = "clusters.csv", "cluster_links.csv", "clusters.xlsx", "clusters.html"
    assert answer["files"] == [f"files/{name}" for name in names]
    header, *rows = rows_of(project / "files/clusters.csv")
    assert header == ["Cluster", "Name", "Title", "URL", "Distance", "Hub"]
    told = {page["url"]: page for page in answer["pages"]}
    assert sorted(told) == sorted(row[3] for row in rows)
    for row in rows:
        page = told[row[3]]
        assert row[:3] == [str(page["cluster"]), page["name"], page["title"]]
        assert float(row[4]) == pytest.approx(page["distance"], abs=1e-4)
        assert row[5] == ("yes" if page["hub"] else "no")
    assert sum(row[5] == "yes" for row in rows) == 3
    book = openpyxl.load_workbook(project / "files/clusters.xlsx")
    assert book.sheetnames == ["Clusters", "Pages", "Missing links"]
    pages = [[cell.value for cell in row] for row in book["Pages"].iter_rows(min_row=2)]
    assert [row[1:4] for row in pages] == [row[1:4] for row in rows]
    assert [row[1].value for row in book["Clusters"].iter_rows(min_row=2)] == list(sizes)
    first = [(project / "files" / name).read_bytes() for name in names if "xlsx" not in name]
    assert command("clusters", "--project", str(project), "--by", "title", "--k", "2-8") == 0
    printed = capsys.readouterr()
    assert "3 chosen from 2 to 8 by silhouette" in printed.err and "Pages in no cluster: 0" in printed.out
    found(capsys, project, "--k", "3")
    assert [(project / "files" / name).read_bytes() for name in names if "xlsx" not in name] == first
    formulas = [f"{sign}{word} tea" for word in ("green", "black") for sign in ("=", "+", "-", "@")]
    found(capsys, titled(project, *formulas), "--k", "2")
    cells = [cell for name in names[:2] for row in rows_of(project / "files" / name) for cell in row if cell]
    assert not [cell for cell in cells if cell[0] in "=+-@"] and "'=green tea" in cells


def test_links_within_clusters_are_counted_and_missing_ones_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = three_topics(tmp_path)
    urls = [f"{SITE}/{at}/" for at in range(12)]
    links = [(urls[source], urls[0]) for source in (1, 2, 3)] + [(urls[0], urls[1]), (urls[5], urls[1])]
    write_csv(project / "files/existing_links.csv", [("Source", "Destination"), *links])
    answer = found(capsys, project, "--k", "3")
    coffee = answer["clusters"][0]
    assert (coffee["hub"], coffee["links"], coffee["density"]) == (urls[0], 4, 4 / 20)
    header, *rows = rows_of(project / "files/cluster_links.csv")
    assert header[:4] == ["Source", "Target", "Similarity", "Why"]
    missing = {(row[0], row[1]): row[3] for row in rows}
    assert not set(missing) & set(links) and len(missing) == len(rows)
    assert missing[urls[4], urls[0]] == "page to hub" and missing[urls[0], urls[2]] == "hub to page"
    # All other links of the cluster: beside the hub only the three nearest pages are left.
    inside = {pair for pair in product(urls[:5], repeat=2) if pair[0] != pair[1]}
    assert {pair for pair in missing if pair[0] in urls[:5]} == inside - set(links)
    assert coffee["missing"] == len(inside - set(links)) == 16
    # The last run's near-duplicates are not listed, in either direction.
    copies = urls[4], urls[0]
    opened = open_project(project)
    pairs = [Duplicate(one, other, 0.99, 0.98, 0.9) for one, other in (copies, (urls[0], f"{SITE}/gone/"))]
    RunStore(opened.databases.store(), opened.site).put(Version("1", "", "all rows", "", 0, 0), (), pairs)
    again = {(one["source"], one["target"]) for one in found(capsys, project, "--k", "3")["missing_links"]}
    assert {copies, copies[::-1]} & set(missing) and not {copies, copies[::-1]} & again
    assert len(again) >= len(missing) - 2


def test_communities_are_as_many_as_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pages unlike any other are in no community, are reported, and come last in the CSV; --k is rejected."""
    project = titled(tmp_path, *(title for titles in TOPICS.values() for title in titles), "zebra crossing")
    answer = found(capsys, project, "--method", "communities")
    assert [one["pages"] for one in answer["clusters"]] == [5, 4, 3]
    last = rows_of(project / "files/clusters.csv")[-1]
    assert last == ["", "", "zebra crossing", f"{SITE}/12/", "", "no"]
    assert answer["pages"][12]["cluster"] is None
    where = "clusters", "--project", str(project), "--by", "title", "--method", "communities"
    assert command(*where) == 0
    assert "Pages in no cluster: 1" in capsys.readouterr().out
    assert command(*where, "--k", "3") == 2
    assert command(*where, "--limit", "2", "--min-similarity", "1") == 3
    assert "Lower --min-similarity" in capsys.readouterr().err


def test_languages_are_grouped_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    titles = ["Vue API", "Vue API options", "Vue API props"] * 2
    project = titled(tmp_path, *titles, langs=("fa",) * 3 + ("ar",) * 3)
    pages = found(capsys, project, "--k", "2")["pages"]
    assert [page["cluster"] for page in pages] == [1, 1, 1, 2, 2, 2]
    assert len(found(capsys, project, "--k", "1")["clusters"]) == 2
    assert command("clusters", "--project", str(project), "--by", "title", "--k", "1") == 0
    assert "2 clusters instead of 1: each language has at least one" in capsys.readouterr().err


def test_pages_without_a_title_have_their_heading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = titled(tmp_path, "")
    rows = [("", "Cold brew at home"), ("", "Cold brew ratio"), ("", "Cold brew jar"), ("", "")]
    pages = [(f"{SITE}/{at}/", *row, "cold brew") for at, row in enumerate(rows)]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "H1", "Main Content"), *pages])
    answer = found(capsys, project, "--by", "h1", "--k", "1")
    assert answer["clusters"][0]["name"].startswith("Cold brew")
    assert [page["title"] for page in answer["pages"]] == [row[1] for row in rows]
    assert [page["cluster"] for page in answer["pages"]] == [1, 1, 1, None]
    assert command("clusters", "--project", str(project), "--by", "title") == 3
    assert "No page has any words to compare (--by title)" in capsys.readouterr().err


def test_a_wrong_option_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = three_topics(tmp_path)
    for option, value, said in (
        ("--k", "40-5", "--k 40-5: write a number, such as 12"),
        ("--k", "13", "--k 13: there are only 12 pages to group"),
        ("--method", "magic", "--method magic: choose kmeans or communities"),
        ("--by", "colour", "unknown field 'colour'"),
    ):
        assert command("clusters", "--project", str(project), "--by", "title", option, value) == 2
        assert said in capsys.readouterr().err
    assert not list((project / "files").glob("cluster*"))
