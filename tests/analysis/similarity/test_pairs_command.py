"""`pairs`: similar pages as CSV, workbook, JSON and matrix, without keys, from the project's tables."""

import csv
import json
from pathlib import Path

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


def test_titles_are_compared_without_their_brand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "Green tea", "Steam engines", "Tax returns", "Green tea pots"
    project = titled(tmp_path, *(f"{name} | Slow Kettle" for name in names))
    where = "--project", str(project), "--by", "title", "--json", "--min-similarity", "0.5"
    assert command("pairs", *where) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["brands"] == ["Slow Kettle"]
    assert [(pair["title"], pair["match_title"]) for pair in found["pairs"]] == [
        ("Green tea", "Green tea pots")
    ]
    assert found["orphaned_content"] == [f"{SITE}/1/", f"{SITE}/2/"]
    assert command("pairs", *where, "--keep-brands") == 0
    assert len(json.loads(capsys.readouterr().out)["pairs"]) > 1
    project = titled(tmp_path, "Green tea | Shop", "Green tea pots | Shop", "Water")
    assert command("pairs", *where, "--brand", "shop") == 0
    assert json.loads(capsys.readouterr().out)["brands"] == ["shop"]


def test_a_field_that_was_named_is_compared(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    assert (
        command("pairs", "--project", str(project), "--by", "title=1,content=3", "--min-similarity", "0.1")
        == 0
    )
    header, *rows = rows_of(project / "files/pairs.csv")
    assert header[4:7] == ["Similarity", "Title Similarity", "Content Similarity"]
    for row in rows:
        mean, title, content = map(float, row[4:7])
        assert mean == pytest.approx((title + 3 * content) / 4, abs=2e-4)


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("body", "unknown field 'body'"),
        ("title,", "unknown field ''"),
        ("title=x", "'x' is not a number above 0"),
        ("title=0", "'0' is not a number above 0"),
        ("title,title", "'title' is given twice"),
    ],
)
def test_a_wrong_field_is_named(
    by: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path)
    before = snapshot(project).keys()
    assert command("pairs", "--project", str(project), "--by", by) == 2
    assert said in capsys.readouterr().err
    assert snapshot(project).keys() - before <= {"files/.internal_linker.lock", "logfile.txt"}


def test_the_packaged_model_knows_what_words_do_not_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = titled(tmp_path, "Cat food", "Feeding your kitten", "Mortgage rates")
    write_settings(project, {"embedding_provider": "auto"})
    where = "--project", str(project), "--by", "title", "--json", "--min-similarity", "0.4"
    assert command("pairs", *where) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert (pair["title"], pair["match_title"]) == ("Cat food", "Feeding your kitten")
    assert command("pairs", *where, "--encoder", "lsa") == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == []


def test_the_default_is_a_list_worth_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = titled(
        tmp_path, *(f"Green tea number {number}" for number in range(8)), "Black tea leaves", "Tea"
    )
    assert command("pairs", "--project", str(project), "--by", "title", "--json") == 0
    few = json.loads(capsys.readouterr().out)
    book = openpyxl.load_workbook(project / "files/pairs.xlsx")
    pages = [row[0] for row in book["By page"].iter_rows(min_row=2, values_only=True)]
    assert max(map(pages.count, pages)) == 2
    ask = "--by", "title", "--max-per-page", "0", "--json", "--min-similarity"
    counts = {}
    for least in ("0.6", "0.5"):
        assert command("pairs", "--project", str(project), *ask, least) == 0
        counts[least] = json.loads(capsys.readouterr().out)
    assert len(few["pairs"]) + few["beyond_max_per_page"] == len(counts["0.6"]["pairs"]) > len(few["pairs"])
    below = len(counts["0.5"]["pairs"]) - len(counts["0.6"]["pairs"])
    assert below > 0
    assert few["just_below_min_similarity"] == counts["0.6"]["just_below_min_similarity"] == below
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


def test_dimensions_that_nothing_has_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = make_project(tmp_path)
    assert command("pairs", "--project", str(project), "--matryoshka", "100000") == 2
    assert "Choose an encoder, as in --encoder local" in capsys.readouterr().err
    asked = "--by", "title", "--encoder", "local", "--matryoshka", "100000"
    assert command("clusters", "--project", str(project), *asked) == 2
    assert "has only 384 dimensions" in capsys.readouterr().err


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


def test_a_matrix_in_a_wrong_form_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path)
    assert command("pairs", "--project", str(project), "--full-matrix", "xml") == 2
    told = capsys.readouterr().err
    assert "choose one of csv, npy, parquet" in told
    assert "Input:" not in told


def test_pages_that_no_link_may_lead_to_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make_project(tmp_path)
    pages = [(url, "Green tea", "Green tea leaves", "200") for url in URLS[:-1]]
    gone = URLS[-1], "Green tea", "Green tea leaves", "404"
    write_csv(
        project / "files/urls_rawdata.csv", [("URL", "Title", "Main Content", "Status Code"), *pages, gone]
    )
    assert command("pairs", "--project", str(project), "--by", "title", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pages"] == 5
    assert found["left_out"] == {"status 404": 1}
    assert URLS[-1] not in {pair[end] for pair in found["pairs"] for end in ("page", "match")}


def test_one_page_has_no_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = titled(tmp_path, "Green tea")
    assert command("pairs", "--project", str(project)) == 3
    assert (
        "files/urls_rawdata.csv: at least two pages are needed, and only 1 can be compared."
        in capsys.readouterr().err
    )


def test_no_cell_of_the_files_is_a_formula(tmp_path: Path) -> None:
    project = titled(tmp_path, "=1+1 green tea", "@green tea +1", '=HYPERLINK("http://evil.example")')
    assert command("pairs", "--project", str(project), "--by", "title", "--min-similarity", "0.1") == 0
    texts = [cell for row in rows_of(project / "files/pairs.csv") for cell in row]
    assert "'=1+1 green tea" in texts
    sheet = openpyxl.load_workbook(project / "files/pairs.xlsx")["By page"]
    cells = [cell for row in sheet.iter_rows(min_row=2) for cell in row]
    assert {cell.data_type for cell in cells} == {"s", "n"}
    assert {cell.hyperlink.target for cell in cells if cell.hyperlink} >= {f"{SITE}/0/", f"{SITE}/1/"}
    assert sheet.freeze_panes == "B2"
    assert sheet.auto_filter.ref
