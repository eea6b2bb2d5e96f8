"""Caches and workbooks that are damaged, locked, newer or someone else's."""

import io
import random
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from tests.research.hostile.cases import Hostile, holds

CACHE, REVIEW = "files/cache.sqlite3", "files/review.xlsx"
# Values to put into every cell of one of our tables.
ODD = (
    *("NULL", "''", "'tea'", "x'00ff'", "-1", "1e308"),
    *("9223372036854775807", "'\ud7ff{[\"'", "zeroblob(100000)"),
)
TABLES = ("edges", "runs", "run_links", "join_blocks", "joins", "schema_versions")

_HOLDERS: list[sqlite3.Connection] = []


def databases() -> Iterator[Hostile]:
    """Yield damaged or foreign cache.sqlite3 files."""
    for name, content in {
        "no database": b"tea",
        "the first bytes of one": b"SQLite format 3\0",
        "a header and NULs": b"SQLite format 3\0" + b"\0" * 20_000,
        "NULs": b"\0" * 20_000,
        "a workbook": b"PK\x03\x04" + b"\0" * 100,
        "a web page": b"<!doctype html>",
        "nothing": b"",
    }.items():
        yield holds(name, CACHE, content)
    for share in (0.1, 0.5, 0.9, 0.99):
        yield _changed(f"cut at {share:.0%}", partial(_cut, share=share))
    for seed in range(20):
        yield _changed(f"noise {seed}", partial(_noise, seed=seed))
    yield _asked(
        "a foreign one", "DROP TABLE embeddings; DROP TABLE serp; CREATE TABLE customers (id INTEGER)"
    )
    yield _asked("a newer one", "INSERT INTO schema_versions VALUES (99, '99.0', '2036-01-01 00:00:00')")
    yield _asked("one whose tables are views", "DROP TABLE edges; CREATE VIEW edges AS SELECT 1 AS id")
    for table in TABLES:
        yield _asked(f"without {table}", f"DROP TABLE {table}")
        yield _asked(f"with an empty {table}", f"DELETE FROM {table}")
        for value in ODD:
            yield _filled(table, value)
    yield Hostile(f"{CACHE}: a folder", _folder, "cache.sqlite3")
    yield Hostile(f"{CACHE}: held by another program", _locked, "cache.sqlite3")
    yield Hostile(f"{CACHE}: beside a log of NULs", lambda project: _beside(project, "-wal", b"\0" * 5000))
    yield Hostile(
        f"{CACHE}: beside a journal of noise", lambda project: _beside(project, "-journal", b"\xd9" * 5000)
    )


def workbooks() -> Iterator[Hostile]:
    """Yield damaged or foreign review.xlsx files."""
    names = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{names}"><sheetData>{{}}</sheetData></worksheet>'
    cell = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>tea</t></is></c></row>'
    bomb = '<!DOCTYPE x [<!ENTITY a "tea">' + "".join(
        f'<!ENTITY {name} "{f"&{of};" * 10}">' for of, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    contents = {
        "a text": b"tea",
        "half a zip": _workbook(sheet.format(cell.format(1)))[:300],
        "an empty zip": _zip({}),
        "a zip of something": _zip({"tea.txt": "tea"}),
        "one without rows": _workbook(sheet.format("")),
        "one with a foreign header": _workbook(sheet.format(cell.format(1))),
        "one with rows far apart": _workbook(sheet.format(cell.format(1) + cell.format(1_048_576))),
        "one with a row that can't be": _workbook(sheet.format(cell.format(99_999_999))),
        "one with broken XML": _workbook(sheet.format(cell.format(1))[:150]),
        "one with a bomb of entities": _workbook(f"{bomb}]>{sheet.format('<row><c><v>&j;</v></c></row>')}"),
        "a bomb of zeros": _workbook(sheet.format(" " * 300_000_000)),
    }
    for name, content in contents.items():
        yield holds(name, REVIEW, content)
    yield Hostile(f"{REVIEW}: a folder", _no_workbook, "review.xlsx")


def one_sheet(*cells: str) -> bytes:
    """Return a workbook with one row of texts."""
    row = "".join(
        f'<c r="{letter}1" t="inlineStr"><is><t>{cell}</t></is></c>'
        for letter, cell in zip("ABCDEFGH", cells, strict=False)
    )
    names = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return _workbook(f'<worksheet xmlns="{names}"><sheetData><row r="1">{row}</row></sheetData></worksheet>')


def _changed(name: str, change: Callable[[bytes], bytes]) -> Hostile:
    def put(project: Path) -> None:
        path = project / CACHE
        path.write_bytes(change(path.read_bytes()))

    return Hostile(f"{CACHE}: {name}", put, "cache.sqlite3")


def _cut(raw: bytes, share: float) -> bytes:
    return raw[: int(len(raw) * share)]


def _noise(raw: bytes, seed: int) -> bytes:
    """Change some hundred bytes, sometimes including the header's."""
    dice, changed = random.Random(seed), bytearray(raw)
    for _ in range(200):
        changed[dice.randrange(0 if seed % 4 == 0 else 100, len(raw))] = dice.randrange(256)
    return bytes(changed)


def _asked(name: str, script: str) -> Hostile:
    def put(project: Path) -> None:
        with closing(sqlite3.connect(project / CACHE)) as file:
            file.executescript(script)
            file.commit()

    return Hostile(f"{CACHE}: {name}", put, "cache.sqlite3")


def _filled(table: str, value: str) -> Hostile:
    def put(project: Path) -> None:
        with closing(sqlite3.connect(project / CACHE)) as file:
            for _, column, _, _, _, key in file.execute(f"PRAGMA table_info({table})").fetchall():
                # Columns that must not be empty, or must be unique, reject such a value.
                if not key:
                    file.execute(f"UPDATE OR IGNORE {table} SET {column} = {value}")
            file.commit()

    return Hostile(f"{CACHE}: {table} full of {value[:20]}", put, "cache.sqlite3")


def _folder(project: Path) -> None:
    for path in (project / "files").glob("cache.sqlite3*"):
        path.unlink()
    (project / CACHE).mkdir()


def _no_workbook(project: Path) -> None:
    (project / REVIEW).unlink()
    (project / REVIEW).mkdir()


def _locked(project: Path) -> None:
    """Lock the database for the life of this process or of the connection."""
    holder = sqlite3.connect(project / CACHE)
    holder.execute("PRAGMA locking_mode=EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    _HOLDERS.append(holder)


def _beside(project: Path, suffix: str, content: bytes) -> None:
    (project / f"{CACHE}{suffix}").write_bytes(content)


def _zip(parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def _workbook(sheet: str) -> bytes:
    """Return a minimal workbook with one sheet that readers accept."""
    kinds, office = (
        "http://schemas.openxmlformats.org/package/2006",
        "http://schemas.openxmlformats.org/officeDocument/2006",
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    type_of = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    names = f'xmlns="{main}" xmlns:r="{office}/relationships"'
    book = f'<workbook {names}><sheets><sheet name="Review" sheetId="1" r:id="rId1"/></sheets></workbook>'
    return _zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{kinds}/content-types"><Override PartName="/xl/workbook.xml" '
            f'ContentType="{type_of}sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
            f'ContentType="{type_of}worksheet+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{kinds}/relationships"><Relationship Id="rId1" '
            f'Type="{office}/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{kinds}/relationships"><Relationship Id="rId1" '
            f'Type="{office}/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/workbook.xml": book,
            "xl/worksheets/sheet1.xml": sheet,
        }
    )
