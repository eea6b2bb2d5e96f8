"""Uploaded files of an import: kept in the project until it is done, and judged by their content."""

import errno
import io
import json
import re
import secrets
import shutil
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.sequences import counted
from internal_linker.project.project import Project
from internal_linker.sources.search.tables import is_search_export
from internal_linker.sources.tables.csv_reader import CsvTable
from internal_linker.sources.tables.xlsx_reader import XlsxTable
from internal_linker.sources.web.saved_pages import MOST_BYTES as MOST_PAGE_BYTES
from internal_linker.sources.web.saved_pages import SUFFIXES
from internal_linker.store.files.encodings import CSV, WORD, other_format
from internal_linker.store.files.plain_text import shortened

Kind = Literal["csv", "xlsx", "pages", "search"]
# An export of some million rows; larger ones are imported on the command line, which copies nothing.
MOST_BYTES = 500_000_000
# Of a zip: decompressed bytes and files. A site of 100,000 pages of 50 kB each fits.
_MOST_PAGES_BYTES, _MOST_PAGES = 5_000_000_000, 200_000
# Of a zip's list of files, which is held in memory: bytes, and entries (a saved page often has a file beside it).
_MOST_LIST_BYTES, _MOST_ENTRIES = 100_000_000, 2 * _MOST_PAGES
_ENTRY = b"PK\x01\x02"
# Of all uploads of a project that wait for an import, as they are stored: two of the largest zips.
_MOST_WAITING_BYTES = 2 * _MOST_PAGES_BYTES
# An arriving file is compared with the room that is left so often.
_CHECKED_BYTES = 16_000_000
_FOLDER = "uploads"
_FACTS = "upload.json"
_ID = re.compile(r"[0-9a-f]{16}")
# Seconds after which an upload that nobody imported is deleted.
_FORGOTTEN_S = 86_400
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_ZIP, _OLD_EXCEL = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_HTML = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was uploaded for an import.

    Attributes:
        id: names it; 16 hexadecimal digits.
        name: the file's name as the user knows it; only shown, never used as a path.
        kind: a CSV file or a workbook of pages or links, saved pages, or exported search data.
        size: its bytes.
        stored: the bytes that it takes up, unpacked.
        sheets: the sheets of a workbook that have cells.
        sheet: the sheet that `import` would read.
        pages: the count of saved pages.
        left_out: files of a zip that are no pages, or too large.
    """

    id: str
    name: str
    kind: Kind
    size: int
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    pages: int = 0
    left_out: int = 0
    stored: int = 0


@dataclass
class Receiver:
    """Takes an upload piece by piece; `received` makes one."""

    _root: Path
    _file: BinaryIO
    _name: str
    _most: int
    upload: Upload | None = None  # the upload, once it is complete
    _size: int = 0

    def write(self, piece: bytes) -> None:
        """Store the next piece.

        Raises:
            InputError: the file is too large, or too much waits for an import.
            OutputError: the disk is full.
        """
        checked, self._size = self._size // _CHECKED_BYTES, self._size + len(piece)
        if self._size > self._most:
            raise InputError(
                f"{self._name} is larger than {self._most // 1_000_000:,} MB. Import it on the command line: "
                "internal-linker import FILE."
            )
        if self._size // _CHECKED_BYTES > checked:
            _require_room(self._root, len(piece))
        try:
            self._file.write(piece)
        except OSError as error:
            raise _unwritable(error) from None


@contextmanager
def received(project: Project, name: str, most: int = MOST_BYTES) -> Iterator[Receiver]:
    """Receive a file; when the block ends, the receiver's `upload` says what it is.

    The name is as the user knows it; the largest size is in bytes.

    Raises:
        InputError: the file is too large, too much waits for an import, or it is neither CSV, workbook, saved
            pages nor search data: then nothing is kept.
        OutputError: the folder can't be written.
    """
    root = project.file(_FOLDER)
    _forget(root)
    _require_room(root, 1)
    number, shown = (
        secrets.token_hex(8),
        shortened(PurePosixPath(name.replace("\\", "/")).name, 100) or "upload",
    )
    folder = root / number
    try:
        folder.mkdir(parents=True)
        file = (folder / "upload").open("xb")
    except OSError as error:
        raise _unwritable(error) from None
    try:
        with file:
            receiver = Receiver(root, file, shown, most)
            yield receiver
        size = (folder / "upload").stat().st_size
        upload = _judged(folder, Upload(number, shown, "csv", size, stored=size))
        (folder / _FACTS).write_text(json.dumps(asdict(upload)), encoding="utf-8")
        receiver.upload = upload
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def uploads(project: Project) -> list[Upload]:
    """Return the uploads that wait for an import, the oldest first."""
    return _uploads(project.file(_FOLDER))


def _uploads(root: Path) -> list[Upload]:
    found = []
    for facts in root.glob(f"*/{_FACTS}"):
        with suppress(OSError, ValueError, TypeError):  # deleted in the meantime, or of another version
            upload = Upload(**json.loads(facts.read_text(encoding="utf-8")))
            found.append((facts.stat().st_mtime_ns, replace(upload, sheets=tuple(upload.sheets))))
    return [upload for _, upload in sorted(found, key=itemgetter(0))]


def upload(project: Project, number: str) -> Upload:
    """Return one of the uploads.

    Raises:
        InputError: it isn't there any more.
    """
    known = {each.id: each for each in uploads(project)}
    if number not in known:
        raise InputError("The uploaded file is not there any more. Upload it again.")
    return known[number]


def path_of(project: Project, given: Upload) -> Path:
    """Return where an upload is: a file, or the folder of saved pages."""
    folder = project.file(_FOLDER) / given.id
    if given.kind == "search":
        return next(folder.glob("table.*"), folder / "table.csv")
    return folder / {"csv": "table.csv", "xlsx": "table.xlsx", "pages": "pages"}[given.kind]


def delete_uploads(project: Project, numbers: Sequence[str]) -> None:
    """Delete uploads; those that are not there any more are left alone."""
    for number in numbers:
        if _ID.fullmatch(number):
            shutil.rmtree(project.file(_FOLDER) / number, ignore_errors=True)


def _judged(folder: Path, given: Upload) -> Upload:
    """Return what an upload is, and put it where `path_of` looks for it."""
    path = folder / "upload"
    with path.open("rb") as file:
        head = file.read(4096)
    if head.startswith(_OLD_EXCEL):
        raise InputError(f"{given.name} is an old Excel file or protected. Save it as .xlsx or CSV UTF-8.")
    try:
        if head.startswith(_ZIP):
            return _judged_zip(folder, given)
        if _HTML.match(head):
            (folder / "pages").mkdir()
            path.rename(folder / "pages/page.html")
            return replace(given, kind="pages", pages=1)
        table = path.rename(folder / "table.csv")
        if is_search_export(table, folder):
            return replace(given, kind="search")
        CsvTable(table, given.name).stream()
    except OSError as error:
        raise _unwritable(error) from None
    return given


def _judged_zip(folder: Path, given: Upload) -> Upload:
    path = folder / "upload"
    try:
        with path.open("rb", buffering=0) as file, zipfile.ZipFile(_Archive(file, given.name)) as parts:
            workbook = "xl/workbook.xml" in parts.namelist()
            archive = not workbook and _may_be_search_data(parts)
            if "word/document.xml" in parts.namelist():
                raise other_format(given.name, WORD, CSV)
            if not (workbook or archive):
                given = _unpacked(parts, folder / "pages", given)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        # RuntimeError: a part is encrypted.
        raise InputError(
            f"{given.name} can't be unpacked: {shortened(str(error))}. Zip the files again."
        ) from None
    if archive:
        if is_search_export(table := path.rename(folder / "table.zip"), folder):
            return replace(given, kind="search")
        raise InputError(
            f"{given.name} has no search data in its tables. Upload tables of pages or links as CSV files, not zipped."
        )
    if not workbook:
        path.unlink()
        return given
    table = path.rename(folder / "table.xlsx")
    try:
        sheet, sheets = XlsxTable(table, given.name).sheets()
    except InputError as error:
        raise InputError(str(error).replace(str(table), given.name)) from None
    if is_search_export(table, folder):
        return replace(given, kind="search")
    if not sheets:
        raise InputError(f"{given.name} is empty: add a header row and at least one row below it.")
    return replace(given, kind="xlsx", sheet=sheet, sheets=tuple(sheets))


def _may_be_search_data(parts: zipfile.ZipFile) -> bool:
    """Return whether a zip has tables and no pages; they are unpacked to be judged, so they must not be too large."""
    files = [part for part in parts.infolist() if not part.is_dir()]
    suffixes = {PurePosixPath(part.filename).suffix.lower() for part in files}
    return (
        ".csv" in suffixes
        and not suffixes & set(SUFFIXES)
        and sum(part.file_size for part in files) <= MOST_BYTES
    )


def _unpacked(parts: zipfile.ZipFile, folder: Path, given: Upload) -> Upload:
    """Unpack the HTML files of a zip; the names in it lead to no place outside of the folder."""
    files = [part for part in parts.infolist() if not part.is_dir()]
    pages = [
        part
        for part in files
        if PurePosixPath(part.filename).suffix.lower() in SUFFIXES
        and not part.filename.startswith("__MACOSX/")
        and part.file_size <= MOST_PAGE_BYTES
    ]
    if not pages:
        raise InputError(
            f"{given.name} has no HTML files (.html, .htm, .xhtml). Upload a CSV or .xlsx file as it is."
        )
    total = sum(part.file_size for part in pages)
    if len(pages) > _MOST_PAGES or total > _MOST_PAGES_BYTES:
        raise InputError(
            f"{given.name} unpacks to {counted(len(pages), 'page')} of {total // 1_000_000:,} MB, more than "
            f"{_MOST_PAGES:,} pages or {_MOST_PAGES_BYTES // 1_000_000:,} MB. Unpack it, and import the folder on the "
            "command line."
        )
    _require_room(folder.parents[1], total)
    unpacked = 0
    for part in pages:
        try:
            # It removes drive letters, leading slashes and "..", and reads no more than the size that it declares.
            parts.extract(part, folder)
            unpacked += 1
        except OSError as error:
            if error.errno in _FULL:
                raise
    return replace(given, kind="pages", pages=unpacked, left_out=len(files) - unpacked, stored=total)


class _Archive(io.BufferedReader):
    """A zip whose list of files is bounded: zipfile reads it in one piece, and keeps all its entries.

    How many entries a zip declares binds nobody, so they are counted.
    """

    def __init__(self, file: io.FileIO, name: str) -> None:
        super().__init__(file)
        self._shown = name

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size <= _MOST_LIST_BYTES:
            piece = super().read(size)
            if piece.count(_ENTRY) <= _MOST_ENTRIES:
                return piece
        raise InputError(
            f"{self._shown} lists more than {_MOST_ENTRIES:,} files, or names that are too long. Zip only the HTML "
            "files, or unpack it, and import the folder on the command line."
        )


def _require_room(root: Path, more: int) -> None:
    """Refuse what would let the uploads that wait for an import, and those that arrive, take up too much."""
    used = sum(each.stored for each in _uploads(root))
    for arriving in root.glob("*/upload"):
        with suppress(FileNotFoundError):  # it has just arrived
            used += arriving.stat().st_size
    if used + more > _MOST_WAITING_BYTES:
        raise InputError(
            f"The uploads that wait for an import may take up {_MOST_WAITING_BYTES // 1_000_000:,} MB. Import or "
            "remove some, then upload the file again."
        )


def _forget(root: Path) -> None:
    """Delete uploads that nobody imported for a day."""
    with suppress(OSError):
        for folder in root.iterdir():
            if _ID.fullmatch(folder.name) and folder.stat().st_mtime < time.time() - _FORGOTTEN_S:
                shutil.rmtree(folder, ignore_errors=True)


def _unwritable(error: OSError) -> OutputError:
    return OutputError(
        f"The upload can't be stored in files/{_FOLDER} ({error.strerror or error}). Check the free space and the "
        "folder's permissions."
    )
