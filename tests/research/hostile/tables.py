"""Damaged CSV files: encodings, shapes, and things that aren't files."""

import codecs
import csv
import gzip
import io
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.research.hostile.cases import Hostile, holds
from tests.support.small_project import SITE, TOPICS

PAGES, QUERIES, LINKS = "files/urls_rawdata.csv", "files/main_queries.csv", "files/existing_links.csv"
HEADERS = {
    PAGES: ("URL", "Title", "Main Content"),
    QUERIES: ("URL", "Main Query"),
    LINKS: ("Source", "Destination", "Anchor"),
}
ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-7"),
    *("cp1252", "cp1251", "cp037", "shift_jis", "gb18030", "big5", "euc-kr", "iso2022_jp", "koi8-r"),
    *("mac_roman", "iso8859-8", "cp1256", "tis-620"),
)
# How bytes get damaged in transit.
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda raw: raw,
    "without its last byte": lambda raw: raw[:-1],
    "with a NUL after every tenth byte": lambda raw: b"\0".join(
        raw[at : at + 10] for at in range(0, len(raw), 10)
    ),
    "behind two byte order marks": lambda raw: codecs.BOM_UTF8 * 2 + raw,
    "behind a foreign byte order mark": lambda raw: codecs.BOM_UTF16_BE + raw,
    "with control characters": lambda raw: raw.replace(b" ", b" \x01\x08\x1b[31m\x7f\x85"),
    "with half a surrogate pair": lambda raw: raw.replace(b"tea", b"t\xed\xa0\x80a"),
    "cut in the middle": lambda raw: raw[: len(raw) // 2],
}


def rows_of(file: str) -> list[tuple[str, ...]]:
    """Return a good table."""
    urls = [f"{SITE}/{slug}/" for slug in TOPICS]
    names = [slug.replace("-", " ") for slug in TOPICS]
    rows: dict[str, Sequence[tuple[str, ...]]] = {
        PAGES: list(zip(urls, names, TOPICS.values(), strict=True)),
        QUERIES: list(zip(urls, names, strict=True)),
        LINKS: list(zip(urls, reversed(urls), names, strict=True)),
    }
    return [HEADERS[file], *rows[file]]


def text_of(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    """Return a table as CSV text."""
    file = io.StringIO()
    csv.writer(file, delimiter=separator).writerows(rows)
    return file.getvalue()


def encodings() -> Iterator[Hostile]:
    """Yield every encoding in every kind of damage."""
    accented = [[cell.replace("tea", "té") for cell in row] for row in rows_of(PAGES)]
    for encoding in ENCODINGS:
        raw = text_of(accented).encode(encoding, "replace")
        for damage, do in DAMAGES.items():
            yield holds(f"{encoding} {damage}", PAGES, do(raw))


def shapes() -> Iterator[Hostile]:
    """Yield tables in every invalid shape."""
    for file, header in HEADERS.items():
        rows = rows_of(file)
        body, line = text_of(rows), ",".join(header)
        first = ",".join(rows[1])
        shaped: dict[str, str] = {
            "empty": "",
            "a byte order mark alone": "\ufeff",
            "a header alone": line,
            "no header": text_of(rows[1:]),
            "a header twice": f"{line}\n{body}",
            "repeated names": f"{line},{line}\n{first},{first}\n",
            "a name in each letter case": f"{line.upper()},{line.lower()}\n{first},{first}\n",
            "foreign names": body.replace(line, ",".join("abc"[: len(header)])),
            "short rows": text_of([rows[0], *(row[:1] for row in rows[1:])]),
            "long rows": text_of([rows[0], *((*row, *row, *row) for row in rows[1:])]),
            "rows of every length": text_of(
                [rows[0], *((*row, "x", "y")[:at] for at, row in enumerate(rows))]
            ),
            "empty cells": text_of([rows[0], *([""] * len(header) for _ in rows)]),
            "blank cells": text_of([rows[0], *([" \t\u200b\xa0"] * len(header) for _ in rows)]),
            "line breaks in every cell": text_of([[f"{cell}\r\n\n" for cell in row] for row in rows]),
            "a quotation mark that stays open": body.replace("tea", '"tea', 1),
            "a cell that stays open": f'{line}\n"{body}',
            "nothing but quotation marks": '"' * 10_001,
            "nothing but separators": "," * 10_000,
            "nothing but line breaks": "\r\n" * 10_000,
            "lone carriage returns": body.replace("\r\n", "\r"),
            "line separators of Unicode": body.replace("\r\n", "\u2028"),
            "tabs": text_of(rows, "\t"),
            "semicolons": text_of(rows, ";"),
            "bars": text_of(rows, "|"),
            "a separator line": f"sep=|\n{text_of(rows, '|')}",
            "a separator line that lies": f"sep=;\n{body}",
            "a separator line alone": "sep=,\n",
            "a title line": f"All Inlinks\n{body}",
            "ten title lines": f"{'A title' + chr(10)}" * 10 + body,
            "comments": f"# crawled on Monday\n{body}",
            "Markdown": "\n".join(f"| {' | '.join(row)} |" for row in rows),
            "JSON": '[{"URL": "https://a.example/", "Main Content": "tea"}]',
            "right-to-left marks": body.replace("tea", "\u202etea\u202c\u200f"),
            "private and unassigned characters": body.replace("tea", "\ue000\U000e0001\U0010ffff\ufffe"),
            "formulas": text_of([rows[0], *([f"=HYPERLINK({cell})" for cell in row] for row in rows[1:])]),
            "one row a thousand times": text_of([rows[0], *[rows[1]] * 1000]),
        }
        for name, text in shaped.items():
            yield holds(name, file, text)


def no_files() -> Iterator[Hostile]:
    """Yield things at a table's path that aren't files."""
    archive, packed = io.BytesIO(), text_of(rows_of(PAGES)).encode()
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("urls_rawdata.csv", packed)
    contents = {
        "a zip": archive.getvalue(),
        "half a zip": archive.getvalue()[:40],
        "a gzip": gzip.compress(packed),
        "a PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj",
        "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 20,
        "an old workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 5000,
        "a database": b"SQLite format 3\0" + b"\0" * 4000,
        "a program": b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20,
        "a web page": b"<!DOCTYPE html><html><title>Sign in</title></html>",
        "random bytes": bytes((at * 7919) % 251 for at in range(10_000)),
        "NULs": b"\0" * 10_000,
    }
    for file in HEADERS:
        for name, content in contents.items():
            yield holds(name, file, content)
        yield from _strange(file)


def _strange(file: str) -> Iterator[Hostile]:
    name = Path(file).name

    def folder(project: Path) -> None:
        (project / file).unlink(missing_ok=True)
        (project / file).mkdir(parents=True)

    def loop(project: Path) -> None:
        (project / file).unlink(missing_ok=True)
        (project / file).symlink_to(project / file)

    def nowhere(project: Path) -> None:
        (project / file).unlink(missing_ok=True)
        (project / file).symlink_to(project / "not there.csv")

    def pipe(project: Path) -> None:
        (project / file).unlink(missing_ok=True)
        os.mkfifo(project / file)

    yield Hostile(f"{file}: a folder", folder, name)
    if os.name == "posix":
        yield Hostile(f"{file}: a link to itself", loop, name)
        yield Hostile(f"{file}: a link to nothing", nowhere, name)
        yield Hostile(f"{file}: a pipe that nobody fills", pipe, name)
