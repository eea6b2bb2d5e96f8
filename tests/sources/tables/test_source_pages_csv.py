"""source_pages.csv keeps which file is which page, and what a person writes into it."""

from pathlib import Path

import pytest

from internal_linker.model.errors import InputError
from internal_linker.sources.tables.lists_csv import SourcePagesCsv

URL = "https://example.com/a/"


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Pages with a file are read back, whatever their names are; pages without one, and a missing table, give none."""
    table = SourcePagesCsv(tmp_path / "source_pages.csv")
    assert table.read() == {}
    table.write(
        [(URL, "=a, b.md", "its path"), (f"{URL}b", "متن.md", ""), (f"{URL}c", "", "no file was found")]
    )
    assert table.read() == {URL: "=a, b.md", f"{URL}b": "متن.md"}


def test_rows_of_a_person(tmp_path: Path) -> None:
    path = tmp_path / "source_pages.csv"
    path.write_text(f"file;note;page url\ndocs\\a.md;x;{URL}\n./b.md;;{URL}b\n;;\n", encoding="utf-8")
    assert SourcePagesCsv(path).read() == {URL: "docs/a.md", f"{URL}b": "b.md"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Page URL,File\nexample.com,a.md\n", "row 2: not a full URL: .* Correct the page's URL"),
        ("Page URL,Path\nx,y\n", "no column 'File'"),
        ("URL,File\nx,y\n", "no column 'Page URL'"),
        (f"Page URL,File\n{URL},a.md\n{URL},b.md\n", "row 3: .* has another file in a row above"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "source_pages.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        SourcePagesCsv(path).read()
