"""A workbook, however hostile, costs bounded memory and time and ends in a sentence, never the program."""

import re
import zipfile
from pathlib import Path

import psutil
import pytest
import xlsxwriter

from internal_linker.model.errors import InputError
from internal_linker.review.workbook import ReviewWorkbook
from internal_linker.sources.tables import xlsx_reader
from internal_linker.sources.tables.xlsx_reader import UnreadableWorkbook, XlsxTable, readable, worksheets

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
PREFIXED = 'xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
FAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576">{}</row>'


def made(path: Path, sheet: str, strings: str = "", part: str = "worksheets/sheet1.xml") -> Path:
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("[Content_Types].xml", f'<Types xmlns="{types}"/>')
        parts.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{RELATIONS}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        parts.writestr(
            "xl/workbook.xml",
            f'<workbook {MAIN} xmlns:r="{RELATIONS}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
            "</workbook>",
        )
        parts.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{relations}">'
            f'<Relationship Id="r1" Type="{RELATIONS}/worksheet" Target="{part}"/>'
            f'<Relationship Id="r2" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        )
        parts.writestr(f"xl/{part}", sheet)
        if strings:
            parts.writestr("xl/sharedStrings.xml", strings)
    return path


def sheet(rows: str) -> str:
    return f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>"


HOSTILE = {
    "far below, more than a sheet can have": sheet('<row r="99999999"><c r="A99999999"><v>1</v></c></row>'),
    "far": sheet(FAR.format('<c r="XFD1048576"><v>1</v></c>')),
}
IN_OTHER_WORDS = {
    "far, in small letters": sheet(FAR.format('<c r="xfd1048576"><v>1</v></c>')),
    "far, with a prefix": (
        f'<x:worksheet {PREFIXED}><x:sheetData><x:row r="1"><x:c r="A1"><x:v>1</x:v></x:c></x:row>'
        '<x:row r="1048576"><x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    ),
}


@pytest.fixture(autouse=True)
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_reader, "MOST_BYTES", 200_000_000)


@pytest.mark.parametrize(
    "xml",
    [*HOSTILE.values(), *(pytest.param(xml, marks=pytest.mark.long) for xml in IN_OTHER_WORDS.values())],
)
def test_a_far_cell_does_not_fill_the_memory(xml: str, tmp_path: Path) -> None:
    """Seventeen billion cells between two, however the far one is written, end in a sentence or are not read."""
    file = made(tmp_path / "far.xlsx", xml, part="elsewhere/s.xml")
    assert file.stat().st_size < 3_000
    # Some spellings are no cells to the library, which then reads the other one.
    rows, why = list[list[object]](), ""
    try:
        rows = [row for each in worksheets(file) for row in each.rows]
    except UnreadableWorkbook as error:
        why = str(error)
    assert sum(map(len, rows)) < 10 and (rows or re.search("of memory|damaged|5,000,000 cells", why))
    assert no_reader_is_left()


def no_reader_is_left() -> bool:
    return not any("xlsx" in " ".join(child.cmdline()) for child in psutil.Process().children())


def test_a_string_that_is_used_often_does_not_fill_the_memory(tmp_path: Path) -> None:
    cells = "".join(f'<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>' for row in range(1, 300_001))
    strings = f"<sst {MAIN}><si><t>{'tea ' * 8_000}</t></si></sst>"
    file = made(tmp_path / "often.xlsx", sheet(cells), strings)
    with pytest.raises(InputError, match="more than 200 MB of memory. Export it again as CSV"):
        XlsxTable(file, "often.xlsx").stream()


def test_a_reader_that_dies_is_a_damaged_file(tmp_path: Path) -> None:
    """A count of strings that makes the library panic ends in a sentence; so does review.xlsx in this state."""
    count = 9 * 10**18
    strings = f'<sst {MAIN} count="{count}" uniqueCount="{count}"><si><t>URL</t></si></sst>'
    file = made(tmp_path / "review.xlsx", sheet('<row r="1"><c r="A1" t="s"><v>0</v></c></row>'), strings)
    with pytest.raises(InputError, match=r"review\.xlsx"):
        ReviewWorkbook(file).read()
    with pytest.raises(InputError, match=r"review\.xlsx"):
        XlsxTable(file, "review.xlsx").stream()


def test_a_reader_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_reader, "MOST_SECONDS", 0.0)
    cells = "".join(f'<row r="{row}"><c r="A{row}"><v>{row}</v></c></row>' for row in range(1, 200_001))
    with (
        pytest.raises(InputError, match="takes more than 0 seconds"),
        readable(tmp_path / "slow.xlsx", "Wait."),
    ):
        worksheets(made(tmp_path / "slow.xlsx", sheet(cells)))


def test_rows_come_in_portions(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "many.xlsx") as book:
        rows = book.add_worksheet("Pages")
        rows.write_row(2, 1, ["URL", "Title"])
        for number in range(1_200):
            rows.write_row(3 + number, 1, [f"https://a.example/{number}", number])
    stream = XlsxTable(tmp_path / "many.xlsx", "many.xlsx").stream()
    assert stream.header == ("URL", "Title")
    found = list(stream.rows)
    assert len(found) == 1_200 and found[-1] == (1_203, ("https://a.example/1199", "1199"))
    some = XlsxTable(tmp_path / "many.xlsx", "many.xlsx").stream().rows
    next(iter(some))
    del some
    assert no_reader_is_left()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"%PDF-1.7", "is a PDF, not an Excel workbook. Export the table"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an old Excel workbook .* Open it in a spreadsheet"),
        (b"PK\x03\x04" + bytes(26) + b"word/document.xml", "is a Word document .* Export the table"),
        (b"PK\x03\x04" + bytes(26) + b"xl/workbook.xml", "is damaged or not an Excel file. Export it again"),
    ],
)
def test_what_is_only_called_xlsx_is_named(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "crawl.xlsx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        XlsxTable(path, "crawl").sheets()
