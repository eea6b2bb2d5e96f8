"""`pairs`: similar pages as CSV, workbook, JSON and matrix, without keys, from the project's tables."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest

from tests.support.small_project import (
    SITE,
    URLS,
    command,
    make_project,
    snapshot,
    write_csv,
    write_settings,
)

HEADER = ["Page", "Title", "Match", "Match Title", "Similarity", "Links To Match", "Linked From Match"]


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def titled(folder: Path, *titles: str, **settings: object) -> Path:
    """Return a project of pages with these titles and little content."""
    make_project(folder, settings)
    pages = [(f"{SITE}/{at}/", title, "") for at, title in enumerate(titles)]
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *pages])
    return folder


def test_each_pair_stands_in_the_files_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = make_project(tmp_path)
    links = [("Source", "Destination"), (URLS[0], URLS[2])]
    write_csv(project / "files/existing_links.csv", links)
    assert command("pairs", "--project", str(project), "--min-similarity", "0.1", "--max-per-page", "0") == 0
    header, *rows = rows_of(project / "files/pairs.csv")
    assert header == HEADER
    figures = [float(row[4]) for row in rows]
    assert figures == sorted(figures, reverse=True)
    assert min(figures) >= 0.1
    ends = [frozenset((row[0], row[2])) for row in rows]
    assert len(set(ends)) == len(ends) > 3
    (linked,) = (row for row in rows if {row[0], row[2]} == {URLS[0], URLS[2]})
    assert linked[5:] == ["yes", "no"]
    book = openpyxl.load_workbook(project / "files/pairs.xlsx")
    assert book.sheetnames == ["Pairs", "By page", "Orphaned content", "Histogram"]
    told = [[cell.value for cell in row] for row in book["Pairs"].iter_rows(min_row=2)]
    assert [row[:4] for row in told] == [row[:4] for row in rows]
    assert book["By page"].max_row == 2 * len(rows) + 1
    assert f"Pairs in files/pairs.csv: {len(rows)}" in capsys.readouterr().out
    asked = "--by", "title=1,content=3", "--min-similarity", "0.1"
    assert command("pairs", "--project", str(project), *asked) == 0
    header, *rows = rows_of(project / "files/pairs.csv")
    assert header[4:7] == ["Similarity", "Title Similarity", "Content Similarity"]
    for row in rows:
        mean, title, content = map(float, row[4:7])
        assert mean == pytest.approx((title + 3 * content) / 4, abs=2e-4)


Found = Callable[..., dict[str, Any]]


@pytest.fixture
def found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Found:
    """Return a function that answers what `pairs` by title finds."""

    def json_of(*options: str) -> dict[str, Any]:
        capsys.readouterr()
        assert command("pairs", "--project", str(tmp_path), "--by", "title", "--json", *options) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    return json_of


def test_titles_are_compared_without_their_brand(tmp_path: Path, found: Found) -> None:
    names = "Green tea", "Steam engines", "Tax returns", "Green tea pots"
    titled(tmp_path, *(f"{name} | Slow Kettle" for name in names))
    where = "--min-similarity", "0.5"
    answer = found(*where)
    assert answer["brands"] == ["Slow Kettle"]
    assert [(pair["title"], pair["match_title"]) for pair in answer["pairs"]] == [
        ("Green tea", "Green tea pots")
    ]
    assert answer["orphaned_content"] == [f"{SITE}/1/", f"{SITE}/2/"]
    assert len(found(*where, "--keep-brands")["pairs"]) > 1
    titled(tmp_path, "Green tea | Shop", "Green tea pots | Shop", "Water")
    assert found(*where, "--brand", "shop")["brands"] == ["shop"]


def test_the_packaged_model_knows_what_words_do_not_say(tmp_path: Path, found: Found) -> None:
    titled(tmp_path, "Cat food", "Feeding your kitten", "Mortgage rates")
    write_settings(tmp_path, {"embedding_provider": "auto"})
    (pair,) = found("--min-similarity", "0.4")["pairs"]
    assert (pair["title"], pair["match_title"]) == ("Cat food", "Feeding your kitten")
    assert found("--min-similarity", "0.4", "--encoder", "lsa")["pairs"] == []


def test_pages_that_no_link_may_lead_to_are_left_out_and_counted(tmp_path: Path, found: Found) -> None:
    make_project(tmp_path)
    pages = [(url, "Green tea", "Green tea leaves", "404" if url == URLS[-1] else "200") for url in URLS]
    write_csv(tmp_path / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Status Code"), *pages])
    answer = found()
    assert (answer["pages"], answer["left_out"]) == (5, {"status 404": 1})
    assert URLS[-1] not in {pair[end] for pair in answer["pairs"] for end in ("page", "match")}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("pairs --by body", "unknown field 'body'"),
        ("pairs --by title,", "unknown field ''"),
        ("pairs --by title=x", "'x' is not a number above 0"),
        ("pairs --by title=0", "'0' is not a number above 0"),
        ("pairs --by title,title", "'title' is given twice"),
        ("pairs --matryoshka 100000", "Choose an encoder, as in --encoder local"),
        ("clusters --by title --encoder local --matryoshka 100000", "has only 384 dimensions"),
        ("pairs --full-matrix xml", "choose one of csv, npy, parquet"),
    ],
)
def test_a_wrong_option_is_told_and_writes_nothing(
    options: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(make_project(tmp_path)).keys()
    assert command(*options.split(), "--project", str(tmp_path)) == 2
    assert said in capsys.readouterr().err
    assert not [
        name for name in snapshot(tmp_path).keys() - before if name.endswith((".csv", ".xlsx", ".html"))
    ]


def test_one_page_has_no_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("pairs", "--project", str(titled(tmp_path, "Green tea"))) == 3
    told = capsys.readouterr().err
    assert "files/urls_rawdata.csv: at least two pages are needed, and only 1 can be compared." in told


def test_the_default_is_a_list_worth_reading(
    tmp_path: Path, found: Found, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unless asked for more, a page has its two best matches, and the summary says how many pairs are left out."""
    project = titled(tmp_path, *(f"Green tea number {at}" for at in range(8)), "Black tea leaves", "Tea")
    few = found()
    book = openpyxl.load_workbook(project / "files/pairs.xlsx")
    pages = [row[0] for row in book["By page"].iter_rows(min_row=2, values_only=True)]
    assert max(map(pages.count, pages)) == 2
    every, more = (found("--max-per-page", "0", "--min-similarity", least) for least in ("0.6", "0.5"))
    assert len(few["pairs"]) + few["beyond_max_per_page"] == len(every["pairs"]) > len(few["pairs"])
    below = len(more["pairs"]) - len(every["pairs"])
    assert few["just_below_min_similarity"] == every["just_below_min_similarity"] == below > 0
    assert command("pairs", "--project", str(project), "--by", "title") == 0
    told = capsys.readouterr().out
    assert f"Pairs left out by --max-per-page 2: {few['beyond_max_per_page']}" in told
    assert f"Pairs just below --min-similarity 0.6 (from 0.5): {below}" in told


def test_similarities_within_and_across_sections(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_project(tmp_path)
    titles = {"tea": ["Green tea", "Green tea pots", "Green tea"], "tax": ["Tax return", "Tax return online"]}
    pages = [
        (f"{SITE}/{section}/{at}/", title, "")
        for section, of in titles.items()
        for at, title in enumerate(of)
    ]
    write_csv(tmp_path / "files/urls_rawdata.csv", [("URL", "Title", "Main Content"), *pages])
    asked = "--project", str(tmp_path), "--by", "title", "--max-per-page", "1"
    assert command("pairs", *asked) == 0
    told = capsys.readouterr().out
    assert "Median similarity across sections: 0.03" in told
    header, *bars = rows_of(tmp_path / "files/similarity_histogram.csv")
    assert header == ["From", "To", "Pairs Within Sections", "Pairs Across Sections"]
    assert (len(bars), float(bars[0][0]), float(bars[-1][1])) == (20, 0.0, 1.0)
    assert [sum(int(bar[at]) for bar in bars) for at in (2, 3)] == [3 + 1, 3 * 2]
    assert int(bars[-1][2]) == 1 and int(bars[0][3]) == 6


def test_all_similarities_can_be_had(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    project = make_project(tmp_path)
    for form in ("csv", "npy", "parquet"):
        assert command("pairs", "--project", str(project), "--full-matrix", form) == 0
    header, *rows = rows_of(project / "files/similarity.csv")
    matrix = np.load(project / "files/similarity.npy")
    assert header[1:] == [row[0] for row in rows] == URLS
    assert (project / "files/similarity.urls.txt").read_text("utf-8").splitlines() == URLS
    assert np.array([[float(cell) for cell in row[1:]] for row in rows]) == pytest.approx(matrix, abs=1e-4)
    table = parquet.read_table(project / "files/similarity.parquet")
    assert table["url"].to_pylist() == URLS
    assert np.array(table["similarity"].to_pylist()) == pytest.approx(matrix)
    assert np.diag(matrix) == pytest.approx(1.0, abs=1e-5)
