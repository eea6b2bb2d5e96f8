"""The fast reader of rows by columns reads what the plain one reads, and refuses what that one refuses."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from internal_linker.model.errors import InputError
from internal_linker.model.records import TableStream
from internal_linker.sources.tables import csv_reader
from internal_linker.sources.tables.csv_reader import CsvRecords, csv_blocks, stream_blocks

# What broken exports are made of, the commonest several times.
PIECES = (
    *("a", "b c", "é", "1", " ", "'", "\\", "\u2028", "\x85", "\x0b", "\ufeff"),
    *('"', '""', '"x"', '"a\nb"', ",", ";", "\t", "\n", "\n", "\r\n", "\r", "\0"),
)
Row = tuple[int, bool, tuple[str, ...]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.csv"


def bad_file(seed: int) -> bytes:
    """Return a csv file with a header of three columns and random rows."""
    dice = random.Random(seed)
    separator, end = dice.choice(",;\t"), dice.choice(("\n", "\r\n"))
    above = dice.choice(("", f"sep={separator}\n", "All Inlinks\n"))
    rows = "".join(dice.choice((*PIECES, *separator * 6)) for _ in range(dice.randrange(60)))
    encoding = dice.choice(("utf-8", "utf-8-sig", "cp1252", "utf-16"))
    return f"{above}{separator.join(('Date', 'Page', 'Clicks'))}{end}{rows}".encode(encoding, "replace")


def rows_of(path: Path, *, fast: bool) -> list[Row] | str:
    """Return number, length and cells of each row; the message of the error if the file is refused."""

    def found() -> Iterator[Row]:
        source = CsvRecords(path, "export.csv")
        records = source.stream()
        _, header = next(records)
        table = TableStream(source.name, tuple(header), records)
        assert source.body
        for block in csv_blocks(table, source.body) if fast else stream_blocks(table):
            cells = zip(*block.columns, strict=True)
            for number, beyond, row in zip(block.numbers, block.beyond, cells, strict=True):
                yield int(number), bool(beyond), row

    try:
        return [*found()]
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("rows_a_block", [3, 100_000])
def test_bad_files_are_read_as_by_the_plain_reader(
    path: Path, monkeypatch: pytest.MonkeyPatch, rows_a_block: int
) -> None:
    monkeypatch.setattr(csv_reader, "_ROWS", rows_a_block)
    refused = longer = 0
    for seed in range(120):
        path.write_bytes(bad_file(seed))
        plain = rows_of(path, fast=False)
        assert rows_of(path, fast=True) == plain, f"seed {seed}: {path.read_bytes()!r}"
        refused += isinstance(plain, str)
        longer += not isinstance(plain, str) and any(beyond for _, beyond, _ in plain)
    assert refused > 5 and longer > 5, "the files are bad enough"


def test_bad_rows_far_below_are_read_as_by_the_plain_reader(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows above a bad one, which the fast reader has passed on already, are there once."""
    monkeypatch.setattr(csv_reader, "_ROWS", 1_000)
    rows = [f"2026-11-01,/{at},{at}" for at in range(2_500)]
    for bad in ('2026-11-01,/long,1,,,"far, beyond"', "2026-11-01,/nul\0,1", '2026-11-01,"/unclosed,1'):
        path.write_text(
            "\n".join(["Date,Page,Clicks", *rows, bad, *rows[:9], ""]), encoding="utf-8", newline=""
        )
        found = rows_of(path, fast=True)
        if isinstance(found, str):
            assert "unclosed" in bad and "row 2502: the file ends inside a cell" in found
        else:
            assert [number for number, _, _ in found] == list(range(2, 2_512))
            assert sum(beyond for _, beyond, _ in found) == ("beyond" in bad)


def test_short_and_long_rows_have_all_columns(path: Path) -> None:
    path.write_text("Date,Page\n1\n1,2,3\n1,2,,\n1,2,, \n1,2,,,5\n", encoding="utf-8")
    assert rows_of(path, fast=True) == [
        (2, False, ("1", "", "")),
        (3, True, ("1", "2", "3")),
        (4, False, ("1", "2", "")),
        (5, False, ("1", "2", "")),
        (6, True, ("1", "2", "")),
    ]
    path.write_text('Date,Page\n1,2\n1,"', encoding="utf-8")
    for fast in (True, False):
        assert "row 3: the file ends inside a cell. A quotation mark" in str(rows_of(path, fast=fast))
