"""Detects the encoding of text files by reading all of each, or says what a file is instead."""

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from internal_linker.model.errors import InputError
from internal_linker.text.language import share_of

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

_CHUNK = 1 << 20
# Bytes from which a format is recognised.
HEAD = 4096
_ZIP, _OPEN_DOCUMENT = rb"PK\x03\x04", rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\."
_ZIP_PART = _ZIP + rb"(?:.*?" + _ZIP + rb")?.{26}"
_WEB_PAGE = re.compile(rb"\s*<(!doctype html|html)", re.IGNORECASE)
# Bytes that no text holds; NUL is left out because broken exports do hold it.
_BINARY_BYTES = bytes(set(range(1, 32)) - set(b"\t\n\v\f\r\x1a\x1b")) + b"\x7f"
_BEYOND_ASCII = bytes(range(128, 256))

_WESTERN = "cp1252"
# Python's name of each encoding that Excel and older programs save in: what people call it, and the languages it is
# used for. Of two for the same language the first is the more frequent one.
_ENCODINGS = {
    _WESTERN: ("Windows-1252", "af ca da de en es et eu fi fr ga gl id is it ms nl no pt sq sv"),
    "cp1250": ("Windows-1250", "bs cs hr hu pl ro sk sl sq"),
    "cp1251": ("Windows-1251", "be bg mk ru sr uk"),
    "cp1253": ("Windows-1253", "el"),
    "cp1254": ("Windows-1254", "az tr"),
    "cp1255": ("Windows-1255", "he"),
    "cp1256": ("Windows-1256", "ar fa ur"),
    "cp1257": ("Windows-1257", "et lt lv"),
    "cp1258": ("Windows-1258", "vi"),
    "cp874": ("Windows-874", "th"),
    "cp932": ("Shift_JIS", "ja"),
    "cp949": ("EUC-KR", "ko"),
    "gb18030": ("GB18030", "zh"),
    "cp950": ("Big5", "zh"),
    "koi8_r": ("KOI8-R", "bg ru"),
    "koi8_u": ("KOI8-U", "uk"),
    "iso8859_2": ("ISO-8859-2", "bs cs hr hu pl ro sk sl sq"),
    "iso8859_5": ("ISO-8859-5", "be bg mk ru sr uk"),
    "iso8859_6": ("ISO-8859-6", "ar"),
    "iso8859_7": ("ISO-8859-7", "el"),
    "iso8859_8": ("ISO-8859-8", "he"),
    "euc_jp": ("EUC-JP", "ja"),
}
_LANGUAGES = frozenset(" ".join(languages for _, languages in _ENCODINGS.values()).split())
# Bytes that end a piece of text in a table, in prose and in HTML, and that are never half a letter.
_ENDS = re.compile(rb'[\t\r\n,;.:!?"<>]')
# Bytes sampled from a file, and from each of its chunks, to detect the encoding.
_SAMPLE, _CHUNK_SAMPLE = 1 << 16, 1 << 13
# Fewer letters stay Windows-1252. Of 4,600 made tables of one to five rows in its languages, 1 was mistaken for another
# encoding with no such bound, of 3 letters; none is with it.
_FEW_LETTERS = 12
# How probable it must be, 0 to 1, that a text is in a language of its encoding. With 0.9 one of 2,800 tables of one to
# three rows in Windows-1252 was mistaken, and 4 of 210 of three rows in others were recognised that now are not.
_SURE = 0.95
# The share of a text's pieces that must be without a byte that the encoding lacks: a few may be damaged.
_FITTING = 0.95
# The control characters that ISO 8859 has in the place of letters of Windows: no text holds them.
_CONTROLS = re.compile("[\x80-\x9f]")
# The share of a decoded text that may look wrong to charset-normalizer. Its own 0.2 leaves out Persian with joiners.
_MESS = 0.6


@dataclass(frozen=True, slots=True)
class Shape:
    """What a file should be."""

    name: str  # its name in an error
    remedy: str  # what to do with a file that is something else
    # What to do with one that the remedy doesn't help, such as a PDF in a table's place; "": the same.
    export: str = ""
    html: bool = False  # whether it may be HTML


CSV = Shape(
    "a CSV file",
    'Open it in a spreadsheet program and save it as "CSV UTF-8".',
    'Export the table as "CSV UTF-8" and give that file.',
)


@dataclass(frozen=True, slots=True)
class Format:
    """A format that is neither text nor a table of it, by its first bytes."""

    mark: re.Pattern[bytes]  # what those bytes match
    name: str  # what people call a file of it
    # A spreadsheet program opens a "sheet", an "archive" holds other files, a "document" is neither.
    kind: Literal["sheet", "archive", "document"] = "document"


def _format(mark: bytes, name: str, kind: Literal["sheet", "archive", "document"] = "document") -> Format:
    return Format(re.compile(mark, re.DOTALL), name, kind)


WORD = _format(_ZIP_PART + b"word/", "a Word document (.docx)")
_FORMATS = (
    WORD,
    _format(_ZIP_PART + b"ppt/", "a PowerPoint presentation (.pptx)"),
    _format(_ZIP_PART + b"xl/", "an Excel workbook (.xlsx)", "sheet"),
    _format(_OPEN_DOCUMENT + b"spreadsheet", "an OpenDocument spreadsheet (.ods)", "sheet"),
    _format(_OPEN_DOCUMENT, "an OpenDocument file"),
    _format(rb"PK(\x03\x04|\x05\x06)", "a zip archive", "archive"),
    _format(rb"\x1f\x8b", "a gzip archive", "archive"),
    _format(
        rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Excel workbook (.xls), another old Office file, or a workbook with a password",
        "sheet",
    ),
    _format(rb"%PDF-", "a PDF"),
    _format(rb"\{\\rtf", "a rich text document (.rtf)"),
    _format(
        rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP|BM.{4}\0{4}|II\*\0|MM\0\*|.{4}ftyp(heic|heix|mif1|avif)",
        "a picture",
    ),
)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A Python encoding, to open with errors="replace", and what a person should know, one sentence each."""

    encoding: str
    remarks: tuple[str, ...] = ()


def recognise(path: Path, shape: Shape = CSV, name: str = "", head: int = 0) -> Recognised:
    """Find a file's encoding by reading all of it: one bad byte at the end decides as much as one in front.

    UTF-8 and UTF-16, with or without a byte order mark, else the encoding that `guess` finds. A file that is UTF-8 but
    for a few bytes (cells cut off in the middle of a letter) stays UTF-8.

    Args:
        name: the file's name in messages; "": its path.
        head: how many bytes to read, for callers that read only the beginning of the file; 0: all.

    Raises:
        InputError: the file is missing, can't be read, is empty or is not text.
    """
    name = name or str(path)
    if path.is_dir():
        raise InputError(f"{name} is a folder, not {shape.name}. Name the file in it.")
    if path.exists() and not path.is_file():
        raise InputError(f"{name} is a pipe or a device, not a file. Put {shape.name} there instead.")
    try:
        with path.open("rb") as file:
            return recognise_open(name, io.BytesIO(file.read(head)) if head else file, shape)
    except FileNotFoundError:
        raise InputError(f"{name} not found: check the path.") from None
    except OSError as error:
        raise unreadable(name, error) from error


def unreadable(path: Path | str, error: OSError) -> InputError:
    """Return the error for a file that the system doesn't let us read."""
    return InputError(
        f"{path} can't be read ({error.strerror or error}). Check its permissions and close programs that use it."
    )


def recognise_open(path: str, file: BinaryIO, shape: Shape = CSV) -> Recognised:
    """Find the encoding of an open file; `path` is its name in messages."""
    head = file.read(HEAD)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _utf16(path, file, "utf-16")
    if found_format := format_of(head):
        raise other_format(path, found_format, shape)
    if encoding := _utf16_without_mark(head):
        return _utf16(path, file, encoding)
    _refuse_binary(path, head, shape)
    if (nuls := _nuls(file, "utf-8")) is not None:
        return Recognised("utf-8-sig", _nul_remark(path, nuls))
    found = _read_bytes(file)
    marks = _nul_remark(path, found.nuls)
    if found.letters > found.broken:
        broken = f"{path} contains bytes that are not valid UTF-8 ({found.broken}); \ufffd replaces them."
        return Recognised("utf-8-sig", (*marks, f"{broken} {shape.remedy}"))
    encoding = guess(b"\n".join(found.sample))
    undefined = sum(text.count("\ufffd") for text in _decoded(file, encoding, "replace"))
    lost = f", and \ufffd replaces {undefined} unknown characters" if undefined else ""
    remark = f"{path} is not UTF-8; it was read as {_ENCODINGS[encoding][0]}{lost}."
    return Recognised(encoding, (*marks, f"{remark} Are some letters wrong? {shape.remedy}"))


def guess(data: bytes) -> str:
    """Return the Python encoding of a text that is not UTF-8; Windows-1252 where no other is sure.

    charset-normalizer says which encodings are possible. It takes most Western European texts for Central European
    ones, so the language decides among them: it must be one that the encoding is used for. What is ASCII between two
    commas, full stops or line breaks is passed over.
    """
    pieces = _telling(data, _SAMPLE)
    sample = b"\n".join(pieces)
    if sum(map(str.isalpha, sample.decode(_WESTERN, "replace"))) < _FEW_LETTERS:
        return _WESTERN
    for name in sorted(_possible(pieces), key=lambda name: name != _WESTERN):
        languages = _ENCODINGS[name][1].split()
        if share_of(sample.decode(name, "replace"), languages, _LANGUAGES) >= _SURE:
            return name
    return _WESTERN


def _possible(pieces: Sequence[bytes]) -> list[str]:
    """Return the encodings that pieces of a text may be in, those first whose result looks best."""
    # A fifth of a second, which a file in UTF-8 need not wait for.
    from charset_normalizer import from_bytes

    found: list[CharsetMatch] = []
    for name in _ENCODINGS:
        fitting = [piece for piece in pieces if _fits(piece, name)]
        if len(fitting) >= _FITTING * len(pieces):
            found += from_bytes(
                b"\n".join(fitting),
                threshold=_MESS,
                cp_isolation=[name],
                preemptive_behaviour=False,
                enable_fallback=False,
            )
    return [match.encoding for match in sorted(found)]


def _fits(piece: bytes, encoding: str) -> bool:
    try:
        return not _CONTROLS.search(piece.decode(encoding))
    except UnicodeDecodeError:
        return False


def _utf16(path: str, file: BinaryIO, encoding: str) -> Recognised:
    if _nuls(file, encoding) is not None:
        return Recognised(encoding)
    return Recognised(encoding, (f"{path}: some characters are not valid UTF-16; \ufffd replaces them.",))


def _utf16_without_mark(head: bytes) -> str:
    """Return whether a file is UTF-16: often every second byte is NUL (URLs, spaces) and the others are not."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    enough = max(4, len(head) // 10)
    if odd >= enough and odd > 20 * even:
        return "utf-16-le"
    return "utf-16-be" if even >= enough and even > 20 * odd else ""


def format_of(head: bytes) -> Format | None:
    """Return the format of a file that begins with `head`; None if it may be text."""
    return next((each for each in _FORMATS if each.mark.match(head)), None)


def other_format(path: Path | str, found: Format, shape: Shape) -> InputError:
    """Return the error for a file in a format that it should not have."""
    if found.kind == "archive":
        remedy = "Unpack it and give the file that is in it."
    else:
        remedy = shape.remedy if found.kind == "sheet" else shape.export or shape.remedy
    return InputError(f"{path} is {found.name}, not {shape.name}. {remedy}")


def _refuse_binary(path: str, head: bytes, shape: Shape) -> None:
    if _WEB_PAGE.match(head) and not shape.html:
        found = "a web page (often a log-in or error page saved in a table's place)"
        raise InputError(f"{path} is {found}, not {shape.name}. {shape.remedy}")
    if len(head) - len(head.translate(None, _BINARY_BYTES)) > len(head) // 20:
        raise InputError(f"{path} is a binary file, not {shape.name}. {shape.export or shape.remedy}")


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk


def _nul_remark(path: str, count: int) -> tuple[str, ...]:
    return (f"{path} contains {count} NUL characters, which were removed.",) if count else ()


def _decoded(file: BinaryIO, encoding: str, errors: str = "strict") -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    for chunk in chain(_chunks(file), [b""]):
        yield decoder.decode(chunk, final=not chunk)


def _nuls(file: BinaryIO, encoding: str) -> int | None:
    """Count the NUL characters of a file; None for a file that is not in this encoding."""
    try:
        return sum(text.count("\0") for text in _decoded(file, encoding))
    except UnicodeDecodeError:
        return None


@dataclass(slots=True)
class _Bytes:
    """A file read as UTF-8: non-ASCII letters, invalid bytes, NULs, and pieces that show its encoding."""

    letters: int = 0
    broken: int = 0
    nuls: int = 0
    sample: list[bytes] = field(default_factory=list)


def _read_bytes(file: BinaryIO) -> _Bytes:
    found, room = _Bytes(), _SAMPLE
    decoder = codecs.getincrementaldecoder("utf-8")("ignore")
    for chunk in chain(_chunks(file), [b""]):
        text = decoder.decode(chunk, final=not chunk)
        found.broken += len(chunk) - len(text.encode())
        found.letters += len(text) - len(chunk.translate(None, _BEYOND_ASCII))
        found.nuls += chunk.count(0)
        if room > 0:
            pieces = _telling(chunk, _CHUNK_SAMPLE)
            found.sample += pieces
            room -= sum(map(len, pieces))
    return found


def _telling(data: bytes, most: int) -> list[bytes]:
    """Return pieces of a text that are not ASCII, spread over all of it: about `most` bytes, or one longer piece."""
    pieces = _ENDS.split(data)
    if len(data) == _CHUNK:  # its ends may be those of half a letter
        pieces = pieces[1:-1]
    pieces = [piece for piece in pieces if not piece.isascii()]
    return pieces[:: 1 + sum(map(len, pieces)) // most]
