"""Workbooks of results: a spreadsheet program shows any script, and writing takes bounded time."""

from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from internal_linker.model.results import Cell, Column, table_of
from internal_linker.sources.tables.xlsx_writer import write_xlsx

TEXTS = (
    "قهوهٔ دم‌کشیده، آرام",  # Persian, with a zero-width non-joiner
    "القهوة الباردة",
    "קפה קר",
    "水出しコーヒーの作り方",
    "☕️ 👩🏽‍🍳 cold brew",
    "=SUM(A1:A9)",
    "+1-800",
    "@user",
    "<b>&amp;",
)


def written(folder: Path, name: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Path:
    path = folder / "tables.xlsx"
    assert write_xlsx(path, [table_of(name, columns, rows)]) == []
    return path


def test_texts_of_any_script_come_back_as_they_are(tmp_path: Path) -> None:
    file = written(tmp_path, "Titles", [Column("title", "Title")], [(text,) for text in TEXTS])
    rows = CalamineWorkbook.from_path(file).get_sheet_by_name("Titles").to_python()
    assert [row[0] for row in rows] == ["Title", *TEXTS]


def test_links_can_be_clicked_and_are_no_formulas(tmp_path: Path) -> None:
    """A web page's URL becomes a link; a script, a file and a text too long for Excel stay texts."""
    urls = (
        "https://a.example/ü?q=1#x",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://a.example/" + "x" * 3000,
        "https://a.example/" + "\N{HOT BEVERAGE}" * 1500 + "\N{BAR CHART}" * 500,
    )
    columns = [Column("url", "URL", 40, "link")]
    book = openpyxl.load_workbook(written(tmp_path, "Links", columns, [(url,) for url in urls]))
    cells = [row[0] for row in book["Links"].iter_rows(min_row=2)]
    assert [cell.value for cell in cells] == list(urls)
    assert [bool(cell.hyperlink) for cell in cells] == [True, False, False, False, False]
    assert {cell.data_type for cell in cells} == {"s"}


def test_figures_are_numbers_and_what_is_none_is_empty(tmp_path: Path) -> None:
    columns = [Column("a", "A", 9, "score"), Column("b", "B", 9, "bar")]
    book = openpyxl.load_workbook(written(tmp_path, "Figures", columns, [(1.5, 2), (float("nan"), "")]))
    values = list(book["Figures"].iter_rows(min_row=2, values_only=True))
    assert values[0] == (1.5, 2)
    assert len(values) == 1 or values[1] == (None, None)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_sheet_of_few_rows_has_its_header_and_filter(rows: int, tmp_path: Path) -> None:
    file = written(tmp_path, "Few", [Column("a", "A"), Column("b", "B", look="bar")], [("x", 1)] * rows)
    sheet = openpyxl.load_workbook(file)["Few"]
    assert sheet.max_row == rows + 1
    assert sheet.auto_filter.ref == "A1:B2"
