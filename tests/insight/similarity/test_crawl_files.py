"""Crawls without contents are compared by their titles, from the project or straight from the crawler's export."""

import csv
import json
from pathlib import Path

import pytest

from tests.support.crawls import crawl, empty_project, imported, workbook
from tests.support.small_project import (
    SITE,
    TOPICS,
    URLS,
    command,
    make_project,
    snapshot,
    write_csv,
    write_settings,
)

TITLES = [slug.replace("-", " ").capitalize() for slug in TOPICS]
# As Screaming Frog's internal_html has them.
HEADER = ("Address", "Content Type", "Status Code", "Indexability", "Title 1", "H1-1")
ROWS = [
    (url, "text/html; charset=utf-8", "200", "Indexable", title, f"All about {title}")
    for url, title in zip(URLS, TITLES, strict=True)
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = empty_project(tmp_path / "project")
    write_settings(folder, {})
    return folder


def pairs_of(folder: Path) -> set[frozenset[str]]:
    with (folder / "files/pairs.csv").open(encoding="utf-8-sig", newline="") as file:
        return {frozenset((row["Page"], row["Match"])) for row in csv.DictReader(file)}


TEAS = {frozenset((one, other)) for one in URLS[:3] for other in URLS[:3] if one != other}


@pytest.mark.parametrize("by", ["title,h1", ""])
def test_a_crawl_without_contents_is_compared_by_what_it_has(
    by: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(project, crawl(tmp_path / "crawl.csv", HEADER, *ROWS)) == 0
    options = ("--by", by) if by else ()
    capsys.readouterr()
    assert command("pairs", "--project", str(project), "--min-similarity", "0.1", *options) == 0
    assert pairs_of(project) >= TEAS
    assert ("has no content, so pages are compared by title" in capsys.readouterr().err) is not bool(by)
    assert command("clusters", "--project", str(project), "--k", "2", *options) == 0


def test_a_column_that_is_empty_or_missing_is_told(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(url, "", title, "") for url, title in zip(URLS, TITLES, strict=True)]
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title", "H1", "Main Content"), *rows])
    assert command("pairs", "--project", str(project), "--min-similarity", "0.1") == 0
    assert pairs_of(project) >= TEAS
    assert "has no content, so pages are compared by h1" in capsys.readouterr().err
    write_csv(project / "files/urls_rawdata.csv", [("URL", "Title"), *zip(URLS, TITLES, strict=True)])
    for by, column in (("content", "Main Content"), ("title,h1", "H1")):
        assert command("pairs", "--project", str(project), "--by", by) == 3
        assert f"the header row has no column '{column}'" in capsys.readouterr().err
    links = crawl(tmp_path / "links.csv", ("Source", "Destination"), (URLS[0], URLS[1]))
    assert command("pairs", links, "--project", str(project)) == 3
    assert "links.csv: no table of pages" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["csv", pytest.param("xlsx", marks=pytest.mark.long)])
def test_an_export_is_compared_without_an_import(kind: str, project: Path, tmp_path: Path) -> None:
    make_project(project)
    before = snapshot(project)
    image = (f"{SITE}/a.png", "image/png", "200", "Indexable", "", "")
    pages = [HEADER, *ROWS[:4], image]
    path = tmp_path / f"internal_all.{kind}"
    exported = crawl(path, *pages) if kind == "csv" else workbook(path, pages)
    links = crawl(tmp_path / "all_inlinks.csv", ("Source", "Destination"), (URLS[0], URLS[1]))
    assert command("pairs", exported, links, "--project", str(project), "--min-similarity", "0.1") == 0
    assert {url for pair in pairs_of(project) for url in pair} <= set(URLS[:4])
    with (project / "files/pairs.csv").open(encoding="utf-8-sig", newline="") as file:
        linked = {row["Page"] for row in csv.DictReader(file) if row["Links To Match"] == "yes"}
    assert linked == {URLS[0]}
    after = snapshot(project)
    assert {name: after[name] for name in before} == before


def test_an_export_needs_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    crawl(tmp_path / "crawl.csv", HEADER, *ROWS, ("/no-address", "text/html", "200", "Indexable", "Tea", ""))
    assert command("clusters", "crawl.csv", "--k", "2", "--encoder", "lsa", "--json") == 0
    told = capsys.readouterr()
    assert {page["url"] for page in json.loads(told.out)["pages"]} == set(URLS)
    assert "crawl.csv: 1 row rejected: 1 because not a full URL" in told.err
    assert (tmp_path / "files/clusters.html").exists()
    assert not (tmp_path / "files/urls_rawdata.csv").exists()
