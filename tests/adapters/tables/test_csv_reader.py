"""CSV files are read as common programs write them, and no written cell can run as a formula."""

import csv
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.adapters.tables.csv_reader import LONGEST_CELL, CsvTable
from internal_linker.adapters.tables.csv_writer import defuse
from internal_linker.core.errors import InputError
from internal_linker.core.records import Table
from tests.support.builders import whole

ROWS = [
    ["URL", "Main Query", "Note"],
    ["https://a.example/", "Größe, klein; 5 €", 'two\nlines and "quotes"'],
    ["https://b.example/", "café\tau lait", ""],
]
PERSIAN = [["URL", "Main Query"], ["https://a.example/", "قهوه دمی ☕"]]


def table_text(rows: list[list[str]], separator: str, end: str = "\r\n") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end).writerows(rows)
    return text.getvalue()


def read(folder: Path, content: bytes | str, encoding: str = "utf-8") -> tuple[Table, tuple[str, ...]]:
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    source = CsvTable(path)
    return whole(source), source.remarks


def problem(folder: Path, content: bytes | str) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, content)
    assert "table.csv" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_every_encoding_and_separator_gives_the_same_cells(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    """UTF-8, UTF-16 and Windows-1252 with comma, semicolon or tab are detected automatically."""
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
    """With `head`, only the beginning of the file decides; without it, all of the file does."""
    path = tmp_path / "t.csv"
    path.write_bytes("URL,Title\n/a,Tür\n".encode() + b"/b,x\n" * 100 + b"/c,T\xfcr\n" * 9)
    rows = [row for _, row in CsvTable(path, head=100).stream().rows]
    assert (rows[0], rows[-1]) == (["/a", "Tür"], ["/c", "T\ufffdr"])
    assert next(CsvTable(path).stream().rows)[1] == ["/a", "TÃ¼r"]


def test_one_cut_letter_does_not_spoil_a_utf8_file(tmp_path: Path) -> None:
    """A cell cut in the middle of a letter loses that letter with a warning, and the rest stays UTF-8."""
    table, remarks = read(
        tmp_path, table_text(PERSIAN, ",").encode() + "https://b.example/,چای".encode()[:-1]
    )
    assert [cells[1] for _, cells in table.rows] == ["قهوه دمی ☕", "چا\ufffd"]
    assert "not valid UTF-8 (1)" in remarks[0]


def test_windows_1252_with_undefined_bytes_is_read_and_reported(tmp_path: Path) -> None:
    """Bytes that Windows-1252 doesn't define become replacement characters, and a warning counts them."""
    table, remarks = read(tmp_path, b"URL,Main Query\nhttps://a.example/,caf\xe9 \x81\x9d\n")
    assert table.rows == [(2, ("https://a.example/", "café \ufffd\ufffd"))]
    assert "Windows-1252, and \ufffd replaces 2 unknown characters" in remarks[0]
    assert "CSV UTF-8" in remarks[0]


def test_damaged_utf16_is_read_and_reported(tmp_path: Path) -> None:
    """A UTF-16 file of either byte order, cut in the middle of a character, is read to its end, with a warning."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        whole_file = mark + table_text(PERSIAN, "\t").encode(encoding)
        assert read(tmp_path, whole_file)[0].rows == [(2, tuple(PERSIAN[1]))]
        table, remarks = read(tmp_path, whole_file[:-5])
        assert table.rows[0][1][0] == "https://a.example/" and "not valid UTF-16" in remarks[0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_carry_the_numbers_that_a_spreadsheet_shows(tmp_path: Path, end: str) -> None:
    """Row numbers count records from the header = 1: line breaks in cells don't count, empty lines do."""
    text = end.join(["URL,Note", f'https://a.example/,"one{end}two"', "", ",", "  ", "https://b.example/,x"])
    assert read(tmp_path, text)[0].rows == [
        (2, ("https://a.example/", f"one{end}two")),
        (6, ("https://b.example/", "x")),
    ]


def test_cells_stay_as_they_are_and_header_names_are_stripped(tmp_path: Path) -> None:
    """Cells are neither converted nor trimmed; only column names lose their spaces."""
    table, _ = read(tmp_path, " URL ,Count\thttp,Note\n https://a.example/ ,007,1e5\n1\n1,2,3,4,5\n")
    assert table.header == ("URL", "Count\thttp", "Note")
    assert table.rows[0] == (2, (" https://a.example/ ", "007", "1e5"))
    assert [len(cells) for _, cells in table.rows[1:]] == [1, 5], "no row is cut or padded"


def test_nul_characters_are_left_out_and_reported(tmp_path: Path) -> None:
    """NUL characters of a broken export are removed, and a warning counts them."""
    table, remarks = read(tmp_path, b"URL,Main\0 Query\nhttps://a.example/,co\0ffee\n")
    assert (table.header, table.rows) == (("URL", "Main Query"), [(2, ("https://a.example/", "coffee"))])
    assert "2 NUL characters, which were removed" in remarks[0]


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;"])
def test_excels_own_separator_line_is_obeyed(tmp_path: Path, line: str) -> None:
    """Excel's `sep=;` line overrides what the header suggests, and is not a row."""
    table, _ = read(tmp_path, f"{line}\r\nURL;Title, short, long\r\nhttps://a.example/;x\r\n")
    assert table == Table("table.csv", ("URL", "Title, short, long"), [(2, ("https://a.example/", "x"))])


def test_the_separator_is_judged_outside_quotes(tmp_path: Path) -> None:
    table, _ = read(tmp_path, 'URL;"Title, Subtitle, and\nmore, much more"\nhttps://a.example/;a,b,c,d\n')
    assert table.header[0] == "URL"
    assert table.rows == [(2, ("https://a.example/", "a,b,c,d"))]


def test_a_tie_between_separators_goes_to_known_column_names(tmp_path: Path) -> None:
    assert read(tmp_path, "Größe, in cm;Address\n1;2\n")[0].header == ("Größe, in cm", "Address")


def test_the_title_line_of_older_crawl_exports_is_skipped(tmp_path: Path) -> None:
    table, _ = read(tmp_path, '"All Inlinks"\n"Type","Source","Destination"\n"Hyperlink","a","b"\n')
    assert table.header == ("Type", "Source", "Destination")
    assert table.rows == [(3, ("Hyperlink", "a", "b"))]


def test_a_table_of_one_column_is_a_table(tmp_path: Path) -> None:
    assert read(tmp_path, "Seiten\nhttps://a.example/\n")[0] == Table(
        "table.csv", ("Seiten",), [(2, ("https://a.example/",))]
    )


def test_a_cell_of_a_megabyte_is_read(tmp_path: Path) -> None:
    """The csv module's limit of 128 KB for each cell doesn't apply."""
    cell = "word, " * 200_000
    assert read(tmp_path, f'URL,Content\nhttps://a.example/,"{cell}"\n')[0].rows[0][1][1] == cell
    # The C long of Windows ends here; a higher limit would crash on Windows only.
    assert LONGEST_CELL < 2**31


@pytest.mark.parametrize("rest", ["b,c\nd,e\n", ""])
def test_a_quotation_that_never_closes_is_an_error_with_its_row(tmp_path: Path, rest: str) -> None:
    message = problem(tmp_path, f'URL,Note\nhttps://a.example/,x\nhttps://b.example/,"open\n{rest}')
    assert "row 3" in message
    assert "quotation mark" in message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\n\r\n  \n,,\n", "empty"),
        (b";;\n;;\n", "empty"),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (bytes(range(256)) * 20, "binary file, not a CSV file"),
    ],
)
def test_other_kinds_of_files_are_named_with_a_remedy(tmp_path: Path, content: bytes, said: str) -> None:
    message = problem(tmp_path, content)
    assert said in message
    assert "CSV UTF-8" in message or "header row and at least one row below it" in message


def test_a_missing_file_and_a_folder_are_input_errors(tmp_path: Path) -> None:
    """A missing path and a folder raise an InputError that says which of the two it is."""
    with pytest.raises(InputError, match=r"absent\.csv not found"):
        CsvTable(tmp_path / "absent.csv").stream()
    with pytest.raises(InputError, match="is a folder"):
        CsvTable(tmp_path).stream()


@pytest.mark.skipif(
    os.name != "posix", reason="a link that leads to itself can be made everywhere on POSIX only"
)
def test_an_unreadable_file_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "loop.csv"
    path.symlink_to(path)
    with pytest.raises(InputError, match="can't be read"):
        CsvTable(path).stream()


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-x", "@a", "\tx", "\rx", "\nx", "  =x", '"=x', "\u200f=x", "\uff1dx"]
)
def test_a_cell_that_would_run_is_defused(cell: str) -> None:
    assert defuse(cell) == "'" + cell


@pytest.mark.parametrize(
    "cell", ["", "a=b", "https://a.example/?x=-1", "قهوه", "'=x", "[0.1, -2]", "\u200fقهوه"]
)
def test_a_harmless_cell_is_left_as_it_is(cell: str) -> None:
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
