"""A site whose URLs come in several forms, from the crawl to the review: one page is one page everywhere."""

import shutil
from pathlib import Path

import openpyxl
import pytest

from tests.support.sites import read_csv
from tests.support.small_project import HEADER, SITE, TOPICS, command, make_project, write_csv


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path, {"links_per_page": 2})


def do(project: Path, *arguments: str) -> int:
    return command(*arguments, "--project", str(project))


def links(project: Path) -> dict[str, list[str]]:
    rows = read_csv(project / "files/Output.csv")
    return {row["URL"]: [row["Link 1"], row["Link 2"]] for row in rows}


def write_site(project: Path, site: str) -> None:
    """Crawl the same pages under another scheme and host."""
    write_csv(
        project / "files/urls_rawdata.csv",
        [HEADER, *((f"{site}/{slug}/", slug.replace("-", " "), text) for slug, text in TOPICS.items())],
    )
    write_csv(project / "files/main_queries.csv", [("URL", "Main Query")])


def moved(ends: tuple[str, str]) -> tuple[str, str]:
    return ends[0].replace("http://", "https://www."), ends[1].replace("http://", "https://www.")


def review(project: Path) -> list[dict[str, object]]:
    rows = openpyxl.load_workbook(project / "files/review.xlsx").worksheets[0].iter_rows(values_only=True)
    header = [str(name) for name in next(rows)]
    return [dict(zip(header, row, strict=True)) for row in rows]


def judge(project: Path, **written: str) -> tuple[str, str]:
    """Write into the first row of files/review.xlsx as an editor; return its source and target."""
    path = project / "files/review.xlsx"
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    names = {cell.value: at for at, cell in enumerate(sheet[1], 1)}
    first = next(row for row in range(2, sheet.max_row + 1) if sheet.cell(row, 1).value == "proposed")
    for name, text in written.items():
        sheet.cell(first, names[name]).value = text
    book.save(path)
    return str(sheet.cell(first, names["Source"]).value), str(sheet.cell(first, names["Target"]).value)


def test_decisions_hold_when_the_site_moves_to_another_form(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rejected, edited and annotated links of an http:// crawl count for the https://www. pages, in the same rows."""
    write_site(project, "http://tiny.example")
    assert do(project, "run") == 0
    rejected = judge(project, Status="rejected", Notes="too far")
    edited = judge(project, Status="edited", Anchor="fresh tea")
    rows = len(review(project))
    write_site(project, SITE)
    assert do(project, "run") == 0
    found = {(str(row["Source"]), str(row["Target"])): row for row in review(project)}
    assert found[moved(rejected)]["Status"] == "rejected" and found[moved(rejected)]["Notes"] == "too far"
    assert found[moved(edited)]["Status"] == "edited" and found[moved(edited)]["Anchor"] == "fresh tea"
    assert not any(source.startswith("http://") for source, _ in found), "no row is left twice"
    assert len(found) == len(review(project)) and abs(len(found) - rows) <= 1
    assert moved(rejected)[1] not in links(project)[moved(rejected)[0]]
    assert moved(edited)[1] in links(project)[moved(edited)[0]]
    capsys.readouterr()
    # Without the index, nobody knows that nothing changed.
    shutil.rmtree(project / "files/index")
    assert do(project, "run") == 0
    again = {(str(row["Source"]), str(row["Target"])): row["Status"] for row in review(project)}
    assert again == {ends: row["Status"] for ends, row in found.items()}
    assert "1 rejected" in capsys.readouterr().out


def test_runs_in_two_forms_are_compared_and_put_back(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """diff sees the same pages, and rollback writes today's URLs and leaves out what was rejected since."""
    write_site(project, "http://tiny.example")
    assert do(project, "run") == 0
    write_site(project, SITE)
    assert do(project, "run") == 0
    before = links(project)
    capsys.readouterr()
    assert do(project, "history") == 0
    runs = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert do(project, "diff", *runs) == 0
    assert "0 differences" in capsys.readouterr().out
    source, target = judge(project, Status="rejected")
    assert do(project, "rollback", runs[0]) == 0
    assert links(project) == before | {
        source: [*(url for url in before[source] if url != target), ""],
    }
