"""Reading .xlsx workbooks, each in a process of its own, which may neither fill the memory nor end the program."""

import pickle
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from internal_linker.model.cli_commands import needs_extra
from internal_linker.model.errors import InputError
from internal_linker.model.records import TableStream
from internal_linker.sources.tables.columns import Kind, find_column, names_columns
from internal_linker.store.files.encodings import CSV, HEAD, Shape, format_of, other_format

# Limits of the process that reads a workbook: bytes of memory, and seconds of processor time. Five million cells of a
# crawl take about half of each on a slow computer.
MOST_BYTES, MOST_SECONDS = 1_000_000_000, 60.0
# Seconds between two looks at that process, in which it takes up to some 50 MB more.
_LOOK_S = 0.02
# Decompressed bytes of a part of the workbook that are worth an attempt.
_MOST_PART_BYTES = 1_000_000_000
_CHILD = Path(__file__).with_name("xlsx_child.py")
# Rows of each sheet in which its header is looked for.
_HEAD_ROWS = 100
_DAMAGED = "it is damaged or not an Excel file"


class UnreadableWorkbook(ValueError):
    """The workbook can't be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A worksheet."""

    name: str
    column: int  # the first one with a cell, from 0
    # All rows from the first, each from that column on, with numbers and dates as such and "" for an empty
    # cell; none in an empty sheet.
    rows: list[list[Any]]


def worksheets(path: Path, *, most: int = 0) -> list[Sheet]:
    """Return the worksheets with their first `most` rows, or all (0); call it within `readable`.

    Raises:
        Unreadable: the file is no workbook, is damaged, or reading it exceeds a limit.
    """
    found: dict[str, Sheet] = {}
    for name, column, rows in _portions(path, most=most):
        found.setdefault(name, Sheet(name, column, [])).rows.extend(rows)
    return list(found.values())


@contextmanager
def readable(path: Path, remedy: str) -> Iterator[None]:
    """Translate the errors on reading a workbook into one sentence, and a second one on what to do.

    Raises:
        InputError: the block failed to read the file, or it is a pipe, which might never end.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is a pipe or a device, not a file. {remedy}")
    try:
        yield
    except UnreadableWorkbook as error:
        raise InputError(f"{path} can't be read: {error}. {remedy}") from None
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or _DAMAGED
        raise InputError(f"{path} can't be read: {why}. {remedy}") from None


Portion = tuple[str, int, list[list[Any]]]


def _portions(path: Path, *, sheet: str = "", most: int = 0) -> Iterator[Portion]:
    """Yield (sheet, its first column, some of its rows), read by another process; raise OSError if it can't start."""
    _refuse_bombs(path)
    with needs_extra("xlsx", "Reading an .xlsx file"):
        import python_calamine
    command = [sys.executable, "-I", "-S", str(_CHILD), str(Path(python_calamine.__file__).parents[1])]
    with subprocess.Popen(
        [*command, str(path), sheet, str(most)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    ) as child:
        watch = _Watch(child)
        try:
            assert child.stdout, "it is a pipe"
            while True:
                portion = pickle.load(child.stdout)
                if portion[0] is None:
                    break
                yield portion
        except (EOFError, pickle.UnpicklingError):
            # The process has died: of a limit, or of what it read.
            raise UnreadableWorkbook(watch.reason or _DAMAGED) from None
        finally:
            watch.end()
        if portion[1]:
            raise UnreadableWorkbook(portion[1])


class _Watch:
    """Ends a process that exceeds a limit; `reason` then says which one."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self.reason = ""
        self._child, self._ended = child, threading.Event()
        self._thread = threading.Thread(target=self._look, name="workbook", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._child.kill()
        self._thread.join()

    def _look(self) -> None:
        import psutil

        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self._child.pid)
            while not self._ended.wait(_LOOK_S):
                memory, times = process.memory_info().rss, process.cpu_times()
                if memory > MOST_BYTES:
                    self.reason = f"reading it takes more than {MOST_BYTES // 1_000_000:,} MB of memory"
                elif times.user + times.system > MOST_SECONDS:
                    self.reason = f"reading it takes more than {MOST_SECONDS:g} seconds"
                if self.reason:
                    self._child.kill()
                    return


def _refuse_bombs(path: Path) -> None:
    """Raise Unreadable for a workbook with a part that decompresses to more than the memory limit."""
    with zipfile.ZipFile(path) as parts:
        for part in parts.infolist():
            if part.file_size > _MOST_PART_BYTES:
                raise UnreadableWorkbook(
                    f"its part {part.filename} decompresses to more than {_MOST_PART_BYTES // 1_000_000:,} MB"
                )


_WORKBOOK = Shape("an Excel workbook", CSV.remedy, CSV.export)
_REMEDY = 'Export it again as CSV, or open it in a spreadsheet program and save it as "CSV UTF-8".'

Record = tuple[int, Sequence[str]]


class XlsxTable:
    """A StreamSource whose row numbers are those that Excel shows.

    The sheet is named in any case; "" is the first one with pages or links, else the first.
    """

    def __init__(self, path: Path, name: str, sheet: str = "") -> None:
        self.path, self.name, self._sheet = path, name, sheet
        self.remarks: tuple[str, ...] = ()
        """Sentences on sheets that are not read; available once the stream is open."""

    def stream(self) -> TableStream:
        """Open a sheet and return its header and its rows, without a title line above the header.

        Raises:
            InputError: the file is missing, damaged, too large, empty or not a workbook, or has no such sheet.
        """
        chosen, names = self.sheets()
        if not names:
            raise InputError(f"{self.path} is empty: add a header row and at least one row below it.")
        if not chosen:
            raise InputError(
                f"{self.path} has no sheet {self._sheet} with cells (it has: {', '.join(names)})."
            )
        if not self._sheet and len(names) > 1:
            others = ", ".join(name for name in names if name != chosen)
            self.remarks = (
                f"{self.path}: only the sheet {chosen} is read, not {others}. To read another one, use "
                "import --sheet.",
            )
        with readable(self.path, _REMEDY):
            records = _table_of(self._rows(chosen))
        _, header = next(records)
        return TableStream(self.name, tuple(cell.strip() for cell in header), records)

    def sheets(self) -> tuple[str, list[str]]:
        """Return the name of the sheet that `stream` reads, "" if there is none, and those of all sheets with cells.

        Raises:
            InputError: the file is missing, damaged, too large or not a workbook.
        """
        if not self.path.is_file():
            raise InputError(f"{self.path} not found: check the path.")
        with readable(self.path, _REMEDY):
            with self.path.open("rb") as file:
                head = file.read(HEAD)
            found = format_of(head)
            # A workbook is a zip, and may have a document in it.
            if found and not (head.startswith(b"PK") and (b"xl/" in head or found.kind != "document")):
                raise other_format(self.path, found, _WORKBOOK)
            return self._chosen()

    def _rows(self, sheet: str) -> Iterator[Record]:
        with readable(self.path, _REMEDY):
            portions = _portions(self.path, sheet=sheet)
            yield from _records(cells for _, _, rows in portions for cells in rows)

    def _chosen(self) -> tuple[str, list[str]]:
        chosen, names, fits = "", list[str](), False
        for sheet in worksheets(self.path, most=_HEAD_ROWS):
            header = next(_table_of(_records(sheet.rows)), None)
            if header is None:
                continue
            names.append(sheet.name)
            if self._sheet:
                if sheet.name.strip().casefold() == self._sheet.strip().casefold():
                    chosen = sheet.name
            elif not chosen or not fits:
                now = _has_pages_or_links(header[1])
                chosen, fits = (sheet.name, now) if not chosen or now else (chosen, fits)
        return chosen, names


def _table_of(records: Iterator[Record]) -> Iterator[Record]:
    """Yield the header and the rows of a sheet, without a title line such as the "All Inlinks" of older exports."""
    head = list(islice(records, 2))
    if len(head) == 2 and _is_title(head[0][1]) and names_columns(head[1][1]):
        del head[0]
    return chain(head, records)


def _has_pages_or_links(header: Sequence[str]) -> bool:
    return find_column(header, Kind.URL) is not None or (
        find_column(header, Kind.SOURCE) is not None and find_column(header, Kind.DESTINATION) is not None
    )


def _is_title(cells: Sequence[str]) -> bool:
    return sum(map(bool, cells)) == 1 and not names_columns(cells)


def _records(rows: Iterable[Sequence[Any]]) -> Iterator[Record]:
    for number, cells in enumerate(rows, 1):
        texts = tuple(map(_text, cells))
        if any(text and not text.isspace() for text in texts):
            yield number, texts


def _text(cell: Any) -> str:
    """Return a cell's text as Excel shows it: 200 for 200.0, TRUE for True."""
    if isinstance(cell, bool):
        return str(cell).upper()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
