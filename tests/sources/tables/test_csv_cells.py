"""Cells of a person's CSV file are filled, and all its other bytes stay."""

from pathlib import Path

import pytest

from internal_linker.sources.tables.csv_reader import CsvRecords
from internal_linker.sources.tables.csv_writer import NewCells, fill_cells
from internal_linker.store.files.atomic import replace_binary

ODD = (
    "URL,Note,Main Query\r\n"
    "https://a.example/1,'=A1,\r\n"
    '"https://a.example/2","two\nlines, ""quoted""",""\n'
    "\n"
    "https://a.example/3,=1+1,=A1\r\n"
    "https://a.example/4\r\n"
    "https://a.example/5,  ,  ,beyond"
)
FILLED = (
    ODD.replace("'=A1,\r\n", "'=A1,tea pot\r\n")
    .replace('"""quoted"""'[1:-1] + '",""', '"""quoted"""'[1:-1] + '","a ""b"", c"')
    .replace("example/4\r\n", "example/4,,schön\r\n")
)


def filled(path: Path, data: bytes, new: NewCells) -> bytes:
    path.write_bytes(data)
    assert fill_cells(path, new, replace_binary) == []
    return path.read_bytes()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_only_filled_cells_change(tmp_path: Path, encoding: str) -> None:
    """Quotation marks, line ends, empty lines, formulas and spaces stay, in every encoding; short rows grow."""
    new = NewCells(2, {2: "tea pot", 3: 'a "b", c', 6: "schön"})
    assert filled(tmp_path / "x.csv", ODD.encode(encoding), new) == FILLED.encode(encoding)


def test_the_file_keeps_its_shape(tmp_path: Path) -> None:
    """Separator, Excel's own first line, the encoding and an open last line stay; new rows are written like others."""
    text = "sep=;\r\nURL;Note\r\nhttps://a.example/1;schöne Grüße aus München über Bäche\r\nhttps://a.example/2;ä;ö"
    new = NewCells(3, {2: "größer"}, "Main Query", [["https://a.example/3", "", "", "x;y"]])
    made = filled(tmp_path / "x.csv", text.encode("cp1252"), new).decode("cp1252")
    assert made == (
        "sep=;\r\nURL;Note;;Main Query\r\nhttps://a.example/1;schöne Grüße aus München über Bäche;;größer\r\n"
        'https://a.example/2;ä;ö\r\nhttps://a.example/3;;;"x;y"\r\n'
    )


def test_broken_bytes_stay(tmp_path: Path) -> None:
    data = "URL,Main Query,Größe\nhttps://a.example/1,,öäü \n".encode() + b"https://a.example/2,,cut \xc3\n"
    made = filled(tmp_path / "x.csv", data, NewCells(1, {2: "tea"}))
    assert made == data.replace(b"/1,,", b"/1,tea,")


def test_letters_that_the_encoding_lacks_make_it_utf8(tmp_path: Path) -> None:
    """The file becomes UTF-8 rather than lose letters, and a sentence says so."""
    path = tmp_path / "x.csv"
    path.write_bytes(
        "URL,Note,Main Query\r\nhttps://a.example/1,schöne Grüße aus München,\r\n".encode("cp1252")
    )
    (told,) = fill_cells(path, NewCells(2, {2: "תה ירוק"}), replace_binary)
    assert "was not UTF-8 and is now" in told
    assert [tuple(row) for _, row in CsvRecords(path).stream()][1][1:] == (
        "schöne Grüße aus München",
        "תה ירוק",
    )
