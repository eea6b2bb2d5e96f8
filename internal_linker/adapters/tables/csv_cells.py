"""Filling single cells of a CSV file that a person keeps: all other bytes of the file stay as they are."""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from internal_linker.adapters.files.atomic import ReplaceBinary, remarks_on
from internal_linker.adapters.tables.csv_reader import CsvBody, CsvRecords

_LINE_END = re.compile(r"(?:\r\n|\r|\n)?\Z")


@dataclass(frozen=True, slots=True)
class NewCells:
    """What a file gets.

    Attributes:
        column: the position, from 0, of the column that is filled.
        fills: its new cells by the numbers of their rows, as `CsvRecords` counts them.
        header: the name of the column, if the file lacks it; "": it has one.
        rows: new rows below the others.
    """

    column: int
    fills: Mapping[int, str]
    header: str = ""
    rows: Sequence[Sequence[str]] = ()


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
        """Return None for a text with letters that the encoding lacks."""
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
    """Return a row's text with a new cell, for which a short row is made longer."""
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
    """Return cells as a line without its end."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator="").writerow(cells)
    return file.getvalue()
