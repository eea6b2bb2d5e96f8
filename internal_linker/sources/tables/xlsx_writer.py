"""Writing tables of results as sheets of .xlsx workbooks without formulas."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Self

import xlsxwriter
from xlsxwriter.url import Url

from internal_linker.model.results import Cell, ResultTable
from internal_linker.sources.tables.csv_writer import write_csv
from internal_linker.store.files.atomic import ReplaceBinary, remarks_on, replace_binary


class Marked(str):
    """A text of which a workbook shows the characters from `start` to `end` in bold."""

    __slots__ = ("end", "start")
    start: int
    end: int

    def __new__(cls, text: str, start: int, end: int) -> Self:
        """Mark a part of a text."""
        made = super().__new__(cls, text)
        made.start, made.end = start, end
        return made


# Rows per sheet below the header: Excel allows 1,048,576 with it.
MOST_ROWS = 1_048_575
# Excel's limits: characters of a cell and of an address, and links on a sheet.
_LONGEST, _LONGEST_URL, _MOST_LINKS = 32_767, 2_079, 65_530
_OPTIONS = {
    # Streams rows to the file: otherwise a site of 200,000 pages takes a gigabyte of memory.
    **{"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False},
    **{"strings_to_numbers": False, "nan_inf_to_errors": True},
}


def write_xlsx(
    path: Path,
    tables: Sequence[ResultTable],
    advance: Callable[[int], None] = lambda _: None,
    *,
    begin: Callable[[Any], None] = lambda _: None,
    write_whole: ReplaceBinary = replace_binary,
) -> list[str]:
    """Replace a workbook with a sheet for each table; return what was unusual, one sentence each.

    `advance` is called with the number of further rows written; `begin` adds sheets of other forms before the tables.

    Raises:
        OutputError: the file can't be written; an earlier file stays unchanged.
    """

    def body(file: BinaryIO) -> None:
        book = xlsxwriter.Workbook(file, _OPTIONS)
        begin(book)
        _add_sheets(book, tables, advance)
        book.close()

    landed = write_whole(path, body)
    remarks = [
        f"{path.name} has the first {MOST_ROWS:,} of {len(table):,} rows of {table.name}: a sheet can't have more."
        for table in tables
        if len(table) > MOST_ROWS
    ]
    return remarks + remarks_on(path, landed)


def write_tables(
    files: Path,
    tables: Mapping[str, ResultTable],
    workbook: str,
    sheets: Sequence[ResultTable],
    advance: Callable[[int], None],
) -> list[str]:
    """Write each table as a CSV file, and the sheets as one workbook; return what was unusual.

    `advance` is called with the number of further rows written.

    Raises:
        OutputError: a file can't be written; it stays as it was.
    """
    remarks = [remark for name, table in tables.items() for remark in write_csv(files / name, table, advance)]
    return remarks + write_xlsx(files / workbook, sheets, advance)


def _add_sheets(book: Any, tables: Iterable[ResultTable], advance: Callable[[int], None]) -> None:
    head, link = book.add_format({"bold": True, "bottom": 1}), book.get_default_url_format()
    bold = book.add_format({"bold": True})
    looks = {
        "score": book.add_format({"num_format": "0.000"}),
        "text": book.add_format({"text_wrap": True, "valign": "top"}),
    }
    for each in tables:
        sheet = book.add_worksheet(each.name)
        styles = [looks.get(column.look) for column in each.columns]
        for at, column in enumerate(each.columns):
            sheet.set_column(at, at, column.width, styles[at])
        sheet.freeze_panes(1, 1)
        put_row(sheet, 0, [column.header for column in each.columns], head)
        for at, column in enumerate(each.columns):
            if column.note:
                sheet.write_comment(0, at, column.note, {"x_scale": 2})
        last = _put_rows(sheet, each, styles, link, bold, advance)
        sheet.autofilter(0, 0, max(1, last), len(each.columns) - 1)
        for at, column in enumerate(each.columns):
            if column.look in ("bar", "score"):
                bounds = {"min_type": "num", "max_type": "num", "min_value": 0, "max_value": 1}
                bar = {"type": "data_bar", "bar_solid": True} | (bounds if column.look == "score" else {})
                sheet.conditional_format(1, at, max(1, last), at, bar)


def put_row(sheet: Any, at: int, cells: Sequence[Cell], style: Any = None) -> None:
    """Write a row of texts and numbers; NaN and infinity leave cells empty."""
    for column, cell in enumerate(cells):
        _put(sheet, at, column, cell, style)


def _put_rows(
    sheet: Any,
    table: ResultTable,
    styles: Sequence[Any],
    link: Any,
    bold: Any,
    advance: Callable[[int], None],
) -> int:
    at, linked = 0, 0
    # The same pages are in many rows, and checking a URL takes most of the time of writing it.
    urls: dict[Cell, Url | None] = {}
    links = [column.look == "link" for column in table.columns]
    for at, cells in enumerate(islice(table.rows(advance), MOST_ROWS), 1):
        for column, cell in enumerate(cells):
            if links[column] and cell not in urls:
                urls[cell] = _url(cell)
            if links[column] and linked < _MOST_LINKS and (url := urls[cell]):
                sheet.write_url(at, column, url, link)
                linked += 1
            else:
                _put(sheet, at, column, cell, styles[column], bold=bold)
    return at


def put_text(sheet: Any, at: int, column: int, text: str, style: Any = None) -> None:
    """Write a text as it is, cut to Excel's limit; an empty one leaves the cell empty."""
    text = _cut(text)
    if text.startswith("<r>") and text.endswith("</r>"):
        # The library would take the text for XML of its own.
        sheet.write_rich_string(at, column, text[0], text[1], text[2:], *filter(None, [style]))
    elif text:
        sheet.write_string(at, column, text, style)


def put_marked(sheet: Any, at: int, column: int, marked: Marked, *, bold: Any, style: Any = None) -> None:
    """Write a text with a part in bold, cut to Excel's limit."""
    text = _cut(marked)
    before, part, after = text[: marked.start], text[marked.start : marked.end], text[marked.end :]
    if not before and not after:
        # Excel's rich texts have two parts or more.
        before, part, after = "", part[:1], part[1:]
        runs = [bold, part, bold, after]
    else:
        runs = [*([before] if before else []), bold, part, *([after] if after else [])]
    if part and "" not in runs:
        sheet.write_rich_string(at, column, *runs, *filter(None, [style]))
    else:
        put_text(sheet, at, column, text, style)


def _cut(text: str) -> str:
    """Return a text within Excel's limit, which counts characters beyond U+FFFF as two."""
    if 2 * len(text) <= _LONGEST:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * _LONGEST].decode("utf-16-le", "ignore")


def _put(sheet: Any, at: int, column: int, cell: Cell, style: Any, *, bold: Any = None) -> None:
    if isinstance(cell, Marked):
        put_marked(sheet, at, column, cell, bold=bold, style=style)
    elif isinstance(cell, str):
        put_text(sheet, at, column, cell, style)
    elif isfinite(cell):
        sheet.write_number(at, column, cell, style)


def _url(cell: Cell) -> Url | None:
    if not isinstance(cell, str) or not cell[:8].lower().startswith(("http://", "https://")):
        return None
    # Excel counts characters beyond U+FFFF as two.
    if len(cell.encode("utf-16-le", "surrogatepass")) > 2 * _LONGEST_URL:
        return None
    url = Url(cell)
    url.text = cell
    return url
