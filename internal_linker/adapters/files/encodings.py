"""A file that should be text -> its encoding, found by reading all of it, or what it is instead."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from internal_linker.core.errors import InputError

_CHUNK = 1 << 20
_HEAD = 4096
_OTHER_FORMATS = (
    (b"PK\x03\x04", "an Excel workbook (.xlsx) or a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook (.xls)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF-", "a PDF"),
)
_WEB_PAGE = re.compile(rb"\s*<(!doctype html|html)", re.IGNORECASE)
# Bytes that no text holds; NUL is left out because broken exports do hold it.
_BINARY_BYTES = bytes(set(range(1, 32)) - set(b"\t\n\v\f\r\x1a\x1b")) + b"\x7f"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a file should be: its name in an error, the remedy where it is something else, whether it may be HTML."""

    name: str
    remedy: str
    html: bool = False


CSV = Shape("a CSV file", 'Open it in a spreadsheet program and save it as "CSV UTF-8".')


@dataclass(frozen=True, slots=True)
class Recognised:
    """A Python encoding, to open with errors="replace", and what a person should know, a sentence each."""

    encoding: str
    remarks: tuple[str, ...] = ()


def recognise(path: Path, shape: Shape = CSV) -> Recognised:
    """Find a file's encoding by reading all of it: one bad byte at the end decides as much as one in front.

    UTF-8 and UTF-16, with or without a byte order mark, else Windows-1252. A file that is UTF-8 but for
    a few bytes (cells cut off in the middle of a letter) stays UTF-8.

    Raises:
        InputError: it is not there, can't be read, is empty or is no text.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder, not {shape.name}. Name the file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file but a pipe or a device. Put {shape.name} in its place.")
    try:
        with path.open("rb") as file:
            return recognise_open(str(path), file, shape)
    except FileNotFoundError:
        raise InputError(f"{path} is not there. Put the file there, or correct its name.") from None
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> InputError:
    """The error for a file that the system won't let us read."""
    return InputError(
        f"{path} can't be read ({error.strerror or error}). Check its rights and close programs that use it."
    )


def recognise_open(path: str, file: BinaryIO, shape: Shape = CSV) -> Recognised:
    """As `recognise`, of what is open; `path` is what a person calls it."""
    head = file.read(_HEAD)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _utf16(path, file, "utf-16")
    if encoding := _utf16_without_mark(head):
        return _utf16(path, file, encoding)
    _refuse_other_formats(path, head, shape)
    marks = _nul_remark(path, file)
    if _decodes(file, "utf-8"):
        return Recognised("utf-8-sig", marks)
    letters, broken, undefined = _count_beyond_ascii(file)
    if letters > broken:
        remark = f"{path} holds bytes that are not valid UTF-8 ({broken}); they stand as \ufffd now. {shape.remedy}"
        return Recognised("utf-8-sig", (*marks, remark))
    lost = f", and {undefined} unknown characters stand as \ufffd" if undefined else ""
    remark = f"{path} is not UTF-8; it was read as Windows-1252{lost}. If letters look wrong: {shape.remedy}"
    return Recognised("cp1252", (*marks, remark))


def _utf16(path: str, file: BinaryIO, encoding: str) -> Recognised:
    if _decodes(file, encoding):
        return Recognised(encoding)
    return Recognised(encoding, (f"{path}: some characters are not valid UTF-16; they stand as \ufffd.",))


def _utf16_without_mark(head: bytes) -> str:
    """UTF-16 is evident where every second byte is often NUL (URLs, spaces) and the others are not."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    enough = max(4, len(head) // 10)
    if odd >= enough and odd > 20 * even:
        return "utf-16-le"
    return "utf-16-be" if even >= enough and even > 20 * odd else ""


def _refuse_other_formats(path: str, head: bytes, shape: Shape) -> None:
    found = next((what for mark, what in _OTHER_FORMATS if head.startswith(mark)), "")
    if _WEB_PAGE.match(head) and not shape.html:
        found = "a web page (often a log-in or error page saved in a table's place)"
    elif not found and len(head) - len(head.translate(None, _BINARY_BYTES)) > len(head) // 20:
        found = "no text"
    if found:
        raise InputError(f"{path} is {found}, not {shape.name}. {shape.remedy}")


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


def _nul_remark(path: str, file: BinaryIO) -> tuple[str, ...]:
    count = sum(chunk.count(0) for chunk in _chunks(file))
    return (f"{path} holds NUL characters ({count}); they were left out.",) if count else ()


def _decodes(file: BinaryIO, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for chunk in _chunks(file):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _count_beyond_ascii(file: BinaryIO) -> tuple[int, int, int]:
    """Read as UTF-8: letters beyond ASCII and bytes that are none; and bytes that Windows-1252 lacks."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    letters = broken = undefined = 0
    for chunk in chain(_chunks(file), [b""]):
        text = decoder.decode(chunk, final=not chunk)
        bad = len(re.findall("[\udc80-\udcff]", text))
        broken += bad
        letters += len(text) - len(text.encode("ascii", "ignore")) - bad
        undefined += sum(chunk.count(byte) for byte in b"\x81\x8d\x8f\x90\x9d")
    return letters, broken, undefined
