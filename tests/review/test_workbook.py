"""files/review.xlsx: a workbook that the tool writes and in which all input of editors survives."""

import datetime
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from python_calamine import CalamineWorkbook

from internal_linker.core.errors import InputError, OutputError
from internal_linker.core.ports import ReviewDesk
from internal_linker.review import workbook
from internal_linker.review.merge import COLUMNS, STATUSES
from internal_linker.review.workbook import ReviewWorkbook
from tests.support.reviews import cells, row, verdict

A, B, C, D = (row(name) for name in "abcd")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "files" / "review.xlsx"


def grid(path: Path) -> list[list[Any]]:
    return CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python(skip_empty_area=False)


def shown(path: Path) -> list[list[str]]:
    return [[f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in line] for line in grid(path)]


def edit(path: Path, **cells: Any) -> None:
    """Change cells and save, as an editor does in another program."""
    book = openpyxl.load_workbook(path)
    for place, value in cells.items():
        book.active[place] = value
    book.save(path)


def other_workbook(path: Path) -> None:
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Sums").write(0, 0, "x")


def test_a_new_workbook_has_all_that_an_editor_needs(path: Path) -> None:
    """A new workbook has drop-down, frozen header, filter, colours, hidden columns, notes, no formulas or links."""
    odd = row("odd", anchor="=1+1", sentence="a\x00b", source="https://shop.com/", score=float("nan"))
    desk: ReviewDesk = ReviewWorkbook(path)
    assert (desk.name, desk.read()) == ("review.xlsx", [])
    assert desk.write([A, odd]) == []
    assert shown(path) == [list(COLUMNS), cells(A), [*cells(odd)[:2], "a b", *cells(odd)[3:]]]
    sheet = openpyxl.load_workbook(path)["Review"]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("C2", "A1:M3")
    assert {name for name, at in sheet.column_dimensions.items() if at.hidden} == {"J", "K", "L", "M"}
    rules = {str(each.sqref): each for each in sheet.data_validations.dataValidation}
    assert rules["A2:A3"].formula1 == '"' + ",".join(STATUSES) + '"'
    assert "0 to 1" in str(rules["F1"].prompt)
    (coloured,) = sheet.conditional_formatting
    assert str(coloured.sqref) == "F2:F3"
    assert [each.formula for each in coloured.rules[1:]] == [["0.8"], ["0.65"], ["0.65"]]
    assert (sheet["B3"].value, sheet["B3"].data_type, sheet["D3"].hyperlink) == ("=1+1", "s", None)
    assert sheet["B2"].number_format == "@"


def test_words_come_back_and_stay(path: Path) -> None:
    """A saved status, anchor and note are read, and they stay after the next run beside new figures."""
    ReviewWorkbook(path).write([A, B, C, D])
    edit(path, A2="accepted", B3="mine", I4="ask Ann", B5="2024")
    said = [verdict(each, "review.xlsx") for each in (A, B, C, D)]
    desk = ReviewWorkbook(path)
    read = desk.read()
    assert [(each.id, each.status, each.anchor, each.notes) for each in read] == [
        (A.id, "accepted", A.anchor, ""),
        (B.id, "proposed", "mine", ""),
        (C.id, "proposed", C.anchor, "ask Ann"),
        (D.id, "proposed", "2024", ""),
    ]
    assert {each.by for each in read} == {said[0].by}
    new = [row(name, score=0.9, anchor="new", status="live") for name in "abcde"]
    assert desk.write(new) == []
    assert [(line[0], line[1], line[5], line[8]) for line in shown(path)[1:]] == [
        ("accepted", A.anchor, "0.9", ""),
        ("live", "mine", "0.9", ""),
        ("live", "new", "0.9", "ask Ann"),
        ("live", "2024", "0.9", ""),
        ("live", "new", "0.9", ""),
    ]


def test_a_workbook_that_editors_made_their_own(path: Path) -> None:
    """The editors' row order, their columns with numbers and dates, and their own rows survive a run."""
    ReviewWorkbook(path).write([A, B, C])
    book = openpyxl.load_workbook(path)
    sheet = book.active
    sheet.move_range("A4:M4", rows=1)
    sheet["B4"] = "a line of my own"
    sheet.insert_cols(3)
    sheet["C1"], sheet["C2"], sheet["C3"] = "Due", datetime.date(2026, 11, 22), 7
    book.save(path)
    assert ReviewWorkbook(path).write([row("c", score=0.9), B, D]) == []
    found = grid(path)
    assert found[0] == ["Status", "Anchor", "Due", *COLUMNS[2:]]
    assert [line[10] for line in found[1:]] == [B.id, "", C.id, D.id]
    assert (found[1][2], found[2][1], found[3][6]) == (7, "a line of my own", 0.9)
    ReviewWorkbook(path).write([A, B])
    assert [line[10] for line in grid(path)[1:]] == [B.id, "", A.id]


def test_dates_of_the_editors_stay_dates(path: Path) -> None:
    """Dates in a column of the editors stay dates and don't become text."""
    ReviewWorkbook(path).write([A])
    edit(path, N1="Due", N2=datetime.date(2026, 11, 22), O1="Done", O2=True)
    ReviewWorkbook(path).write([A, B])
    due, done = grid(path)[1][13:]
    assert str(due).startswith("2026-11-22") and not isinstance(due, str)
    assert done is True


def test_what_a_new_file_can_not_hold_is_kept_in_a_copy(path: Path) -> None:
    """Other sheets, comments and formulas go to a dated copy, which the message mentions once."""
    ReviewWorkbook(path).write([A])
    book = openpyxl.load_workbook(path)
    book.create_sheet("My own")["A1"] = "x"
    book.active["B2"].comment = openpyxl.comments.Comment("why not?", "Ann")
    book.save(path)
    (remark,) = ReviewWorkbook(path).write([A, B])
    (copy,) = [each for each in path.parent.iterdir() if each != path]
    assert copy.name in remark
    assert openpyxl.load_workbook(copy)["Review"]["B2"].comment.text == "why not?"
    assert ReviewWorkbook(path).write([A, B]) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("Status,Anchor\n"),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        other_workbook,
        lambda path: edit(path, J1="Renamed"),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["empty", "text", "cut off", "foreign", "id column renamed", "folder"],
)
def test_a_file_that_can_not_be_used_is_left_as_it_is(path: Path, spoil: Any) -> None:
    """An unusable workbook stays unchanged, and reading and writing say what to do."""
    ReviewWorkbook(path).write([A])
    spoil(path)
    content = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InputError, match=r"review\.xlsx .*Move it to another folder and run again"):
        ReviewWorkbook(path).read()
    with pytest.raises(OutputError, match=r"review\.xlsx .*Move it to another folder and run again"):
        ReviewWorkbook(path).write([B])
    assert (path.read_bytes() if path.is_file() else b"") == content


def test_a_file_damaged_anywhere_never_ends_in_more_than_a_sentence(path: Path) -> None:
    """Whichever byte is damaged, the workbook is read or refused with an OutputError."""
    ReviewWorkbook(path).write([A, B])
    whole = path.read_bytes()
    for at in range(0, len(whole), 97):
        path.write_bytes(whole[:at] + b"\x00\xff" + whole[at + 2 :])
        with suppress(OutputError):
            ReviewWorkbook(path).write([A, B])


def test_a_workbook_that_excel_holds_open(path: Path) -> None:
    """While Excel has the workbook open, the result goes to a dated file that the message names."""
    ReviewWorkbook(path).write([A])
    old = path.read_bytes()

    def held(source: Path, target: Path) -> None:
        if target == path:
            raise PermissionError(13, "in use")
        source.replace(target)

    (remark,) = ReviewWorkbook(path, replace=held, pauses=()).write([A, B])
    (spare,) = [each for each in path.parent.iterdir() if each != path]
    assert "open in another program" in remark and spare.name in remark
    assert path.read_bytes() == old
    assert len(grid(spare)) == 3


def saving_while_written(monkeypatch: pytest.MonkeyPatch, *saves: Callable[[], object]) -> None:
    """Let an editor save the workbook while the tool writes it, each time in the next of these ways."""
    left, fill = iter(saves), workbook._fill

    def filled(*args: Any) -> None:
        fill(*args)
        next(left, lambda: None)()

    monkeypatch.setattr(workbook, "_fill", filled)


def test_what_an_editor_saves_during_the_write_is_merged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions saved while the new workbook is being written are in it, beside its new links."""
    ReviewWorkbook(path).write([A, B])
    saving_while_written(monkeypatch, lambda: edit(path, A2="accepted"), lambda: edit(path, I3="ask Ann"))
    assert ReviewWorkbook(path).write([A, replace(B, score=0.9), C]) == []
    assert [(line[0], line[5], line[8]) for line in shown(path)[1:]] == [
        ("accepted", "0.75", ""),
        ("proposed", "0.9", "ask Ann"),
        ("proposed", "0.75", ""),
    ]
    assert [each.name for each in path.parent.iterdir()] == ["review.xlsx"]


@pytest.mark.parametrize("damaged", [False, True])
def test_a_workbook_that_is_saved_again_and_again_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    """A workbook that keeps changing, or is half saved, stays; the new one is beside it with all decisions read."""
    ReviewWorkbook(path).write([A, B])
    saves = [lambda at=at: edit(path, A2="accepted", I2=f"note {at}") for at in range(9)]
    saving_while_written(
        monkeypatch, *([saves[0], lambda: path.write_bytes(b"PK half")] if damaged else saves)
    )
    (remark,) = ReviewWorkbook(path).write([A, B, C])
    (spare,) = [each for each in path.parent.iterdir() if each != path]
    assert "review.xlsx was being saved by another program" in remark and spare.name in remark
    assert [line[0] for line in shown(spare)[1:]] == ["accepted", "proposed", "proposed"]
    assert path.read_bytes() == b"PK half" if damaged else "note 3" in str(shown(path))


def test_a_workbook_that_is_gone_during_the_write_comes_back_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workbook that vanishes while the new one is being written loses no decision that was read from it."""
    ReviewWorkbook(path).write([A, B])
    edit(path, A2="rejected")
    saving_while_written(monkeypatch, path.unlink)
    assert ReviewWorkbook(path).write([A, B, C]) == []
    assert [line[0] for line in shown(path)[1:]] == ["rejected", "proposed", "proposed"]


@pytest.mark.parametrize("count", [1_000, pytest.param(20_000, marks=pytest.mark.long)])
def test_thousands_of_rows(count: int, path: Path) -> None:
    """Thousands of rows are written, read and rewritten without loss, in a file small enough to mail."""
    links = [row(f"{number:x}") for number in range(count)]
    ReviewWorkbook(path).write([*links[:-1], replace(links[-1], status="rejected")])
    ReviewWorkbook(path).write(links)
    assert path.stat().st_size < 250 * count
    read = ReviewWorkbook(path).read()
    assert (len(read), read[-1].status) == (count, "rejected")
    with zipfile.ZipFile(path) as parts:
        assert not [name for name in parts.namelist() if "comments" in name]
