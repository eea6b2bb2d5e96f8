"""CSV files are read as common programs write them, and no written cell can run as a formula."""

import csv
import io
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.errors import InputError
from internal_linker.model.records import Table
from internal_linker.sources.tables.csv_reader import LONGEST_CELL, CsvTable
from internal_linker.sources.tables.csv_writer import defuse
from tests.support.builders import whole

ROWS = [
    ["URL", "Main Query", "Note"],
    ["https://a.example/", "Größe, klein; 5 €", 'two\nlines and "quotes"'],
    ["https://b.example/", "café\tau lait", ""],
]


def table_text(rows: list[list[str]], separator: str, end: str = "\r\n") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end).writerows(rows)
    return text.getvalue()


def read(folder: Path, content: bytes | str, encoding: str = "utf-8") -> tuple[Table, tuple[str, ...]]:
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    source = CsvTable(path)
    return whole(source), source.remarks


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_every_encoding_and_separator_gives_the_same_cells(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    table, remarks = read(tmp_path, table_text(ROWS, separator), encoding)
    assert [table.header, *(cells for _, cells in table.rows)] == [tuple(row) for row in ROWS]
    assert len(remarks) == (encoding == "cp1252")


def test_a_stream_gives_the_same_rows_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('A,B\n1,2\n,\n"x\ny",3\n4,"5\n', encoding="utf-8")
    stream = CsvTable(path).stream()
    assert (stream.name, stream.header) == ("table.csv", ("A", "B"))
    got = [(number, tuple(cells)) for number, cells in (next(stream.rows), next(stream.rows))]
    assert got == [(2, ("1", "2")), (4, ("x\ny", "3"))]
    with pytest.raises(InputError, match=r"table\.csv, row 5"):
        next(stream.rows)


def test_the_last_byte_counts_as_much_as_the_first(tmp_path: Path) -> None:
    """A file whose only non-ASCII letter comes after megabytes is still decoded correctly."""
    text = "URL,Main Query\n" + "https://a.example/,plain\n" * 20_000 + "https://z.example/,größe\n"
    assert read(tmp_path, text, "utf-8")[0].rows[-1] == (20_002, ("https://z.example/", "größe"))
    assert read(tmp_path, text, "cp1252")[0].rows[-1] == (20_002, ("https://z.example/", "größe"))


def test_the_first_bytes_tell_the_encoding_of_the_first_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("URL,Title\n/a,Tür\n".encode() + b"/b,x\n" * 100 + b"/c,T\xfcr\n" * 9)
    rows = [row for _, row in CsvTable(path, head=100).stream().rows]
    assert (rows[0], rows[-1]) == (["/a", "Tür"], ["/c", "T\ufffdr"])
    assert next(CsvTable(path).stream().rows)[1] == ["/a", "TÃ¼r"]


PERSIAN = ("https://a.example/", "قهوه دمی ☕")
PERSIAN_FILE = f"URL\tMain Query\r\n{PERSIAN[0]}\t{PERSIAN[1]}\r\n"


@pytest.mark.parametrize(
    ("content", "rows", "remark"),
    [
        # Cells are neither converted, trimmed, cut nor padded; only column names lose their spaces.
        (
            " URL ,Main Query,Note\n https://a.example/ ,007,1e5\n1\n1,2,3,4,5\n",
            [(2, (" https://a.example/ ", "007", "1e5")), (3, ("1",)), (4, ("1", "2", "3", "4", "5"))],
            "",
        ),
        (
            PERSIAN_FILE.encode() + "https://b.example/\tچای".encode()[:-1],
            [(2, PERSIAN), (3, ("https://b.example/", "چا\ufffd"))],
            "not valid UTF-8 (1)",
        ),
        (b"\xff\xfe" + PERSIAN_FILE.encode("utf-16-le"), [(2, PERSIAN)], ""),
        (
            b"\xff\xfe" + PERSIAN_FILE.encode("utf-16-le")[:-5],
            [(2, (PERSIAN[0], "قهوه دمی \ufffd"))],
            "not valid UTF-16",
        ),
        (
            b"\xfe\xff" + PERSIAN_FILE.encode("utf-16-be")[:-5],
            [(2, (PERSIAN[0], "قهوه دمی \ufffd"))],
            "not valid UTF-16",
        ),
        (
            b"URL,Main Query\nhttps://a.example/,caf\xe9 \x81\x9d\n",
            [(2, ("https://a.example/", "café \ufffd\ufffd"))],
            "Windows-1252, and \ufffd replaces 2 unknown characters",
        ),
        (b"URL,Main\0 Query\n/a,co\0ffee\n", [(2, ("/a", "coffee"))], "2 NUL characters, which were removed"),
        ('URL;"Main Query"\nhttps://a.example/;a,b,c,d\n', [(2, ("https://a.example/", "a,b,c,d"))], ""),
        # The title line of older crawl exports is skipped.
        ('"All Inlinks"\n"URL","Main Query"\n"a","b"\n', [(3, ("a", "b"))], ""),
    ],
)
def test_cells_and_what_is_said_of_them(
    tmp_path: Path, content: bytes | str, rows: list[tuple[int, tuple[str, ...]]], remark: str
) -> None:
    table, remarks = read(tmp_path, content)
    assert table.header[:2] == ("URL", "Main Query") and table.rows == rows
    assert remark in "".join(remarks) and bool(remark) == bool(remarks)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_carry_the_numbers_that_a_spreadsheet_shows(tmp_path: Path, end: str) -> None:
    """Row numbers count records from the header = 1: line breaks in cells don't count, empty lines do."""
    text = end.join(["URL,Note", f'https://a.example/,"one{end}two"', "", ",", "  ", "https://b.example/,x"])
    assert read(tmp_path, text)[0].rows == [
        (2, ("https://a.example/", f"one{end}two")),
        (6, ("https://b.example/", "x")),
    ]


@pytest.mark.parametrize(
    ("text", "header"),
    [
        *(
            (f"{line}\r\nURL;Title, short, long\r\nx;y\r\n", ("URL", "Title, short, long"))
            for line in ("sep=;", '"sep=;"', "SEP=;")
        ),
        (
            'URL;"Title, Subtitle, and\nmore, much more"\nx;a,b,c,d\n',
            ("URL", "Title, Subtitle, and\nmore, much more"),
        ),
        # A tie between separators goes to known column names.
        ("Größe, in cm;Address\n1;2\n", ("Größe, in cm", "Address")),
        ("Count\thttp,Note\n1,2\n", ("Count\thttp", "Note")),
        ("Seiten\nhttps://a.example/\n", ("Seiten",)),
    ],
)
def test_the_separator_is_found(tmp_path: Path, text: str, header: tuple[str, ...]) -> None:
    """Excel's `sep=;` line overrides what the header suggests, and is not a row."""
    table = read(tmp_path, text)[0]
    assert table.header == header and len(table.rows) == 1


def test_a_cell_of_a_megabyte_is_read(tmp_path: Path) -> None:
    """The csv module's limit of 128 KB for each cell doesn't apply."""
    cell = "word, " * 200_000
    assert read(tmp_path, f'URL,Content\nhttps://a.example/,"{cell}"\n')[0].rows[0][1][1] == cell
    # The C long of Windows ends here; a higher limit would crash on Windows only.
    assert LONGEST_CELL < 2**31


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *((content, "empty") for content in (b"", b"\xef\xbb\xbf", b"\n\r\n  \n,,\n", b";;\n;;\n")),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (bytes(range(256)) * 20, "binary file, not a CSV file"),
        *(
            (b'URL,Note\n/a,x\n/b,"open\n' + rest, "row 3: .* quotation mark")
            for rest in (b"b,c\nd,e\n", b"")
        ),
    ],
)
def test_what_is_no_table_is_named_with_a_remedy(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=f"table.csv.*{said}") as caught:
        read(tmp_path, content)
    assert re.search("CSV UTF-8|header row and at least one row below it|correct that row", str(caught.value))


def test_what_can_t_be_opened_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.csv not found"):
        CsvTable(tmp_path / "absent.csv").stream()
    with pytest.raises(InputError, match="is a folder"):
        CsvTable(tmp_path).stream()
    if os.name == "posix":
        (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
        with pytest.raises(InputError, match="can't be read"):
            CsvTable(tmp_path / "loop.csv").stream()


def test_a_cell_that_would_run_is_defused() -> None:
    for cell in ("=1+1", "+1", "-x", "@a", "\tx", "\rx", "\nx", "  =x", '"=x', "\u200f=x", "\uff1dx"):
        assert defuse(cell) == "'" + cell
    for cell in ("", "a=b", "https://a.example/?x=-1", "قهوه", "'=x", "[0.1, -2]", "\u200fقهوه"):
        assert defuse(cell) == cell


@given(st.text(st.sampled_from("=+-@\t\r\n \"'“”\u200f\u202e\u2067\ufeff\x00\u00a0aق1") | st.characters()))
def test_defusing_is_idempotent_and_leaves_nothing_dangerous(cell: str) -> None:
    once = defuse(cell)
    assert defuse(once) == once
    assert once in (cell, "'" + cell)
    assert not once.lstrip(' "“”\u200f\u202e\u2067\ufeff\x00\u00a0').startswith(tuple("=+-@\t\r\n"))


def test_a_table_has_one_name_in_all_messages(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    for content in (b"", b"PK\x03\x04", b'URL\n"https://a.example/', b"\n\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="^files/pages.csv") as caught:
            list(CsvTable(path, "files/pages.csv").stream().rows)
        assert str(tmp_path) not in str(caught.value)
    path.write_bytes("URL\nhttps://a.example/ü".encode("cp1252"))
    table = CsvTable(path, "files/pages.csv")
    table.stream()
    assert table.remarks[0].startswith("files/pages.csv is not UTF-8")
