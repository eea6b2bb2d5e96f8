"""Writes CSV files in which no cell runs as a formula, or fills single cells of one, completely or not at all."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from internal_linker.model.results import Column, ResultTable
from internal_linker.sources.tables.csv_reader import CsvBody, CsvRecords
from internal_linker.store.files.atomic import ReplaceBinary, ReplaceWhole, remarks_on, replace_whole

Row = Sequence[str | int]

# Characters that spreadsheet programs treat as the start of a formula, also behind what they or an import skip; some
# accept the full-width ones, too.
_FORMULA = re.compile(
    r'[\s\x00-\x20"“”„«»\x7f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]'
)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def write_rows(
    path: Path,
    header: Sequence[str],
    rows: Iterable[Row],
    write_whole: ReplaceWhole,
    encoding: str = "utf-8-sig",
) -> list[str]:
    """Replace the file, with one row after the other; return what was unusual, one sentence each.

    Excel needs the byte order mark of the encoding "utf-8-sig"; other programs may fail on it.

    Raises:
        OutputError: the file can't be written; the earlier file stays as it was.
    """

    def body(file: TextIO) -> None:
        write_cells(file, chain([header], rows))

    return remarks_on(path, write_whole(path, body, encoding=encoding))


def write_cells(file: TextIO, rows: Iterable[Row]) -> None:
    """Write rows of cells as lines; no cell runs as a formula."""
    # Of a million cells, nearly all need no call.
    csv.writer(file, lineterminator="\r\n").writerows(
        [cell if isinstance(cell, int) or not cell or cell[:1].isalnum() else harmless(cell) for cell in row]
        for row in rows
    )


def defuse(cell: str) -> str:
    """Put `'` before a cell that a spreadsheet program would run as a formula; idempotent."""
    # The first test avoids the search for nearly all cells.
    return cell if cell[:1].isalnum() or not _FORMULA.match(cell) else "'" + cell


def decimal(value: float) -> str:
    """Format a number with four decimal places; "" for NaN."""
    return f"{value:z.4f}" if math.isfinite(value) else ""


def harmless(cell: str) -> str:
    """Put `'` before a cell that a spreadsheet program would run, unless it is a number."""
    return cell if _NUMBER.fullmatch(cell) else defuse(cell)


def write_csv(path: Path, table: ResultTable, advance: Callable[[int], None] = lambda _: None) -> list[str]:
    """Replace a file with a table, four decimal places per figure; return what was unusual, one sentence each.

    `advance` is called with the number of further rows written.

    Raises:
        OutputError: the file can't be written; the earlier file stays as it was.
    """
    header = [column.header for column in table.columns]
    return write_rows(path, header, map(plain_cells, table.rows(advance)), replace_whole)


def rows_of(columns: Sequence[Column], items: Iterable[Any]) -> Iterator[Row]:
    """Return a row of cells for each item."""
    return (plain_cells(column.read(item) for column in columns) for item in items)


def plain_cells(values: Iterable[Any]) -> Row:
    """Return the cells of values: four decimal places per figure, "" for None and NaN."""
    return [
        value if isinstance(value, str | int) else "" if value is None else decimal(value) for value in values
    ]


_LINE_END = re.compile(r"(?:\r\n|\r|\n)?\Z")


@dataclass(frozen=True, slots=True)
class NewCells:
    """What a file gets."""

    column: int  # the position, from 0, of the column that is filled
    fills: Mapping[int, str]  # its new cells by the numbers of their rows, as `CsvRecords` counts them
    header: str = ""  # the name of the column, if the file lacks it; "": it has one
    rows: Sequence[Sequence[str]] = ()  # new rows below the others


def fill_cells(path: Path, new: NewCells, write_whole: ReplaceBinary) -> list[str]:
    """Fill cells and add rows; return what was unusual, one sentence each.

    The file keeps its encoding, its separator, its line ends and its quotation marks. It becomes UTF-8 only if its
    encoding lacks letters of the new cells.

    Raises:
        InputError: the file can't be read.
        OutputError: it can't be written; it stays as it was.
    """
    source = CsvRecords(path, path.name)
    for _ in source.stream():
        pass
    body = source.body
    assert body, "the file was read"
    data = path.read_bytes()
    decode, encode = _codec(data, body.encoding)
    text = decode(data)
    changed, remarks = _changed(text, body, new), list[str]()
    if encode(text) == data and (encoded := encode(changed)) is not None:
        content = encoded
    else:
        content = changed.encode("utf-8-sig", "replace")
        remarks.append(
            f"files/{path.name} was not UTF-8 and is now, because its encoding lacks letters of the new cells."
        )

    def write(file: BinaryIO) -> None:
        file.write(content)

    return [*remarks, *remarks_on(path, write_whole(path, write))]


def _codec(data: bytes, encoding: str) -> tuple[Callable[[bytes], str], Callable[[str], bytes | None]]:
    """Return how to read and write the bytes of a file: its byte order mark and its broken bytes survive both."""
    wide = encoding.startswith("utf-16")
    if wide:
        name = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(data[:2], encoding)
    else:
        name = "utf-8" if encoding == "utf-8-sig" else encoding

    def encode(text: str) -> bytes | None:
        try:
            return text.encode(name, "surrogatepass" if wide else "surrogateescape")
        except UnicodeEncodeError:
            return None

    return lambda given: given.decode(name, "replace" if wide else "surrogateescape"), encode


def _changed(text: str, body: CsvBody, new: NewCells) -> str:
    lines = [*io.StringIO(text, newline="")]
    reader = csv.reader((line.replace("\0", "") for line in lines), delimiter=body.separator)
    parts, number, begin = list[str](), 0, 0
    for cells in reader:
        raw, begin = "".join(lines[begin : reader.line_num]), reader.line_num
        # Titles above the header have no number that counts.
        number = body.number if begin == body.lines else number + 1 if begin > body.lines else 0
        cell = (new.header if begin == body.lines else new.fills.get(number, "")) if number else ""
        parts.append(_with_cell(raw, cells, new.column, cell, body.separator) if cell else raw)
    end = _LINE_END.search("".join(lines[: body.lines]))
    line_end = (end[0] if end else "") or "\r\n"
    if new.rows and not _LINE_END.search(parts[-1])[0]:  # type: ignore[index]
        parts.append(line_end)
    return "".join([*parts, *(_line(row, body.separator) + line_end for row in new.rows)])


def _with_cell(raw: str, cells: Sequence[str], column: int, cell: str, separator: str) -> str:
    end = _LINE_END.search(raw)
    content, line_end = (raw[: end.start()], end[0]) if end else (raw, "")
    field = re.compile(rf'("(?:[^"]|"")*"[^{re.escape(separator)}]*|[^{re.escape(separator)}]*)')
    texts, at = list[str](), 0
    while found := field.match(content, at):
        texts.append(found[0])
        at = found.end() + 1
        if at > len(content):
            break
    wanted = [*cells, *[""] * (column + 1 - len(cells))]
    wanted[column] = cell
    texts += [""] * (len(wanted) - len(texts))
    texts[column] = _line([cell], separator)
    made = separator.join(texts)
    # NULs between quotation marks, which reading leaves out, end up here.
    is_same = [*csv.reader(io.StringIO(made.replace("\0", ""), newline=""), delimiter=separator)] == [wanted]
    return (made if is_same else _line(wanted, separator)) + line_end


def _line(cells: Sequence[str], separator: str) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator="").writerow(cells)
    return file.getvalue()
