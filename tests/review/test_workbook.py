"""files/review.xlsx: a workbook that the tool writes and in which all input of editors survives."""

import datetime
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import openpyxl
import pytest
import xlsxwriter
from openpyxl.cell.rich_text import CellRichText, TextBlock
from python_calamine import CalamineWorkbook

from internal_linker.model.columns import ENGLISH, GERMAN
from internal_linker.model.edges import Status
from internal_linker.model.errors import InputError, OutputError
from internal_linker.model.ports import ReviewDesk
from internal_linker.review import workbook
from internal_linker.review.merge import row_key
from internal_linker.review.workbook import ReviewWorkbook
from tests.support.reviews import HEADERS, cells, row, verdict

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
    odd = row("odd", anchor="=1+1", sentence="a\x00b", source="https://shop.com/", score=float("nan"))
    desk: ReviewDesk = ReviewWorkbook(path)
    assert (desk.name, desk.read()) == ("review.xlsx", [])
    assert desk.write([A, odd]) == []
    assert shown(path) == [HEADERS, cells(A), [*cells(odd)[:2], "a b", *cells(odd)[3:]]]
    sheet = openpyxl.load_workbook(path)["Review"]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("C2", "A1:P3")
    assert {name for name, at in sheet.column_dimensions.items() if at.hidden} == {"M", "N", "O", "P"}
    rules = {str(each.sqref): each for each in sheet.data_validations.dataValidation}
    assert rules["A2:A3"].formula1 == '"' + ",".join(get_args(Status)) + '"'
    assert "0 to 100" in str(rules["G1"].prompt)
    (coloured,) = sheet.conditional_formatting
    assert str(coloured.sqref) == "H2:H3"
    assert [each.formula for each in coloured.rules] == [
        ['"in the text"'],
        ['"related box"'],
        ['"needs a look"'],
    ]
    assert (sheet["B3"].value, sheet["B3"].data_type, sheet["K3"].hyperlink) == ("=1+1", "s", None)
    assert sheet["B2"].number_format == "@"


def test_a_run_foresees_what_the_next_one_reads(path: Path) -> None:
    desk = ReviewWorkbook(path)
    assert desk.written() is None
    for rows in ([A, B, C], [B, row("c", score=0.9), D]):
        desk.write(rows)
        again = ReviewWorkbook(path)
        assert desk.written() == (again.state(), again.read())
        edit(path, A2="accepted", B3="mine", J4="ask Ann")
        desk = ReviewWorkbook(path)
    edit(path, J3=7)
    desk.write([B, row("c", score=0.9), D])
    assert desk.written() is None, "a number may be read as another text"


@pytest.mark.parametrize(
    "odd", ["  x", "x ", "_x0041_", "<r>x</r>", "a\u200cb", "=1+1", "2024", "'x", "\U0001f375", "True"]
)
def test_an_odd_text_is_foreseen_as_it_is_read_or_not_at_all(path: Path, odd: str) -> None:
    desk = ReviewWorkbook(path)
    desk.write([A, row("odd", anchor=odd, notes=odd)])
    again = ReviewWorkbook(path)
    assert desk.written() in (None, (again.state(), again.read()))


def test_a_file_that_was_saved_since_is_not_foreseen(path: Path) -> None:
    """Once an editor saved the file, its state is no longer the one in which it was written."""
    desk = ReviewWorkbook(path)
    desk.write([A])
    edit(path, A2="accepted")
    written = desk.written()
    assert written and written[0] != desk.state()


def test_words_come_back_and_stay(path: Path) -> None:
    ReviewWorkbook(path).write([A, B, C, D])
    edit(path, A2="accepted", B3="mine", J4="ask Ann", B5="2024")
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
    assert [(line[0], line[1], line[6], line[9]) for line in shown(path)[1:]] == [
        ("accepted", A.anchor, "90", ""),
        ("live", "mine", "90", ""),
        ("live", "new", "90", "ask Ann"),
        ("live", "2024", "90", ""),
        ("live", "new", "90", ""),
    ]


def test_a_workbook_that_editors_made_their_own(path: Path) -> None:
    ReviewWorkbook(path).write([A, B, C])
    book = openpyxl.load_workbook(path)
    sheet = book.active
    sheet.move_range("A4:P4", rows=1)
    sheet["B4"] = "a line of my own"
    sheet.insert_cols(3)
    sheet["C1"], sheet["C2"], sheet["C3"] = "Due", datetime.date(2026, 11, 22), 7
    book.save(path)
    assert ReviewWorkbook(path).write([row("c", score=0.9), B, D]) == []
    found = grid(path)
    assert found[0] == ["Status", "Anchor", "Due", *HEADERS[2:]]
    assert [line[13] for line in found[1:]] == [B.id, "", C.id, D.id]
    assert (found[1][2], found[2][1], found[3][7]) == (7, "a line of my own", 90)
    ReviewWorkbook(path).write([A, B])
    assert [line[13] for line in grid(path)[1:]] == [B.id, "", A.id]


def test_dates_of_the_editors_stay_dates(path: Path) -> None:
    ReviewWorkbook(path).write([A])
    edit(path, Q1="Due", Q2=datetime.date(2026, 11, 22), R1="Done", R2=True)
    ReviewWorkbook(path).write([A, B])
    due, done = grid(path)[1][16:]
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
        lambda path: edit(path, M1="Renamed"),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["empty", "text", "cut off", "foreign", "id column renamed", "folder"],
)
def test_a_file_that_can_not_be_used_is_left_as_it_is(path: Path, spoil: Any) -> None:
    ReviewWorkbook(path).write([A])
    spoil(path)
    content = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InputError, match=r"review\.xlsx .*Move it to another folder and run again"):
        ReviewWorkbook(path).read()
    with pytest.raises(OutputError, match=r"review\.xlsx .*Move it to another folder and run again"):
        ReviewWorkbook(path).write([B])
    assert (path.read_bytes() if path.is_file() else b"") == content


def test_a_file_damaged_anywhere_never_ends_in_more_than_a_sentence(path: Path) -> None:
    ReviewWorkbook(path).write([A, B])
    whole = path.read_bytes()
    for at in range(0, len(whole), 997):
        path.write_bytes(whole[:at] + b"\x00\xff" + whole[at + 2 :])
        with suppress(OutputError):
            ReviewWorkbook(path).write([A, B])


def test_a_workbook_that_excel_holds_open(path: Path) -> None:
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

    def filled(*args: Any, **more: Any) -> None:
        fill(*args, **more)
        next(left, lambda: None)()

    monkeypatch.setattr(workbook, "_fill", filled)


def test_what_an_editor_saves_during_the_write_is_merged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ReviewWorkbook(path).write([A, B])
    saving_while_written(monkeypatch, lambda: edit(path, A2="accepted"), lambda: edit(path, J3="ask Ann"))
    assert ReviewWorkbook(path).write([A, row("b", score=0.9), C]) == []
    assert [(line[0], line[6], line[9]) for line in shown(path)[1:]] == [
        ("accepted", "75", ""),
        ("proposed", "90", "ask Ann"),
        ("proposed", "75", ""),
    ]
    assert [each.name for each in path.parent.iterdir()] == ["review.xlsx"]


@pytest.mark.parametrize("damaged", [False, True])
def test_a_workbook_that_is_saved_again_and_again_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch, damaged: bool
) -> None:
    """A workbook that keeps changing, or is half saved, stays; the new one is beside it with all decisions read."""
    ReviewWorkbook(path).write([A, B])
    saves = [lambda at=at: edit(path, A2="accepted", J2=f"note {at}") for at in range(9)]
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
    ReviewWorkbook(path).write([A, B])
    edit(path, A2="rejected")
    saving_while_written(monkeypatch, path.unlink)
    assert ReviewWorkbook(path).write([A, B, C]) == []
    assert [line[0] for line in shown(path)[1:]] == ["rejected", "proposed", "proposed"]


def rich(path: Path) -> list[Any]:
    """Return the sentences with their formats, row by row."""
    sheet = openpyxl.load_workbook(path, rich_text=True)["Review"]
    return [cell.value for cell in sheet["C"][1:]]


def bold(cell: Any) -> list[tuple[str, bool]]:
    """Return the parts of a cell, and which of them are in bold."""
    if not isinstance(cell, CellRichText):
        return [(cell, False)]
    return [(str(part), isinstance(part, TextBlock) and bool(part.font.b)) for part in cell]


def test_the_anchor_is_in_bold_in_its_sentence(path: Path) -> None:
    texts = [
        ("part of an art fair of art", "art"),
        ('=HYPERLINK("x") with tea', "tea"),
        ("<r><t>tea</t></r>", "tea"),
        ("<r><t>x</t></r>", "none"),
        ("green tea", "green tea"),
        ("\u0686\u0627\u06cc \u0633\u0628\u0632 \U0001f375", "\u0633\u0628\u0632"),
        ("x" * 40_000 + " tea", "tea"),
    ]
    links = [row(str(at), sentence=text, anchor=anchor) for at, (text, anchor) in enumerate(texts)]
    assert ReviewWorkbook(path).write(links) == []
    shown_ = [bold(cell) for cell in rich(path)]
    assert ["".join(part for part, _ in parts) for parts in shown_] == [text[:32_767] for text, _ in texts]
    marked = [["".join(part for part, is_bold in parts if is_bold)] for parts in shown_]
    assert marked == [["art"], ["tea"], ["tea"], [""], ["green tea"], [texts[5][1]], [""]]
    assert shown_[0][0] == ("part of an ", False)
    assert [line[2] for line in grid(path)[1:]] == [text[:32_767] for text, _ in texts]
    before = path.read_bytes()
    assert [each.anchor for each in ReviewWorkbook(path).read()] == [anchor for _, anchor in texts]
    edit(path, B2="fair")
    assert path.read_bytes() != before
    ReviewWorkbook(path).write(links)
    assert ("fair", True) in bold(rich(path)[0])


OLDER = ("Status", "Anchor", "Sentence", "Source", "Target", "Score", "Tier", "Why", "Notes")


def test_an_older_workbook_gets_the_new_columns(path: Path) -> None:
    """Titles, section, whole scores and tiers in words come to a workbook of an earlier version; all else stays."""
    hidden = HEADERS[-4:]
    path.parent.mkdir()
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Review")
        sheet.write_row(0, 0, [*OLDER[:1], "Due", *OLDER[1:], *hidden])
        for at, link in enumerate([B, A], 1):
            texts = ["accepted", 7, link.anchor, link.sentence, link.source, link.target, 0.876, "inline"]
            key = row_key(link.source, link.target)
            sheet.write_row(at, 0, [*texts, "old", "mine", link.id, link.anchor, "proposed", key])
    titled = row("a", titles=("All teas", "=Kettles"), score=0.9)
    assert ReviewWorkbook(path).write([titled]) == []
    new = HEADERS[3:6]
    found = grid(path)
    assert found[0] == ["Status", "Due", "Anchor", "Sentence", *new, "Source", "Target", *OLDER[5:], *hidden]
    assert [line[:2] + line[4:7] + line[9:13] for line in found[1:]] == [
        ["accepted", 7, "", "", "", 87, "in the text", "old", "mine"],
        ["accepted", 7, "All teas", "=Kettles", "/", 90, "related box", A.why, "mine"],
    ]
    assert ReviewWorkbook(path).write([A]) == []
    assert grid(path)[2][4:6] == ["All teas", "=Kettles"]


def test_rows_stand_in_the_order_of_the_links_until_somebody_sorts_them(path: Path) -> None:
    """Later links come where they belong, rows of other links after their page's; a sort of an editor's stays."""
    ReviewWorkbook(path).write([B, A])
    edit(path, A3="accepted", J2="a note")
    other = row("d", source=A.source)
    assert ReviewWorkbook(path).write([C, A, other]) == []
    ids = [C.id, A.id, other.id, B.id]
    assert [line[12] for line in grid(path)[1:]] == ids
    book = openpyxl.load_workbook(path)
    rows = [[cell.value for cell in line] for line in book["Review"].iter_rows(min_row=2)]
    for at, line in enumerate(reversed(rows), 2):
        for column, value in enumerate(line, 1):
            book["Review"].cell(at, column).value = value
    book.save(path)
    for _ in range(2):
        ReviewWorkbook(path).write([C, A, other, row("e")])
        assert [line[12] for line in grid(path)[1:]] == [*reversed(ids), row("e").id]


@pytest.mark.parametrize("count", [200, pytest.param(20_000, marks=pytest.mark.long)])
def test_thousands_of_rows(count: int, path: Path) -> None:
    links = [row(f"{number:x}") for number in range(count)]
    ReviewWorkbook(path).write([*links[:-1], row(f"{count - 1:x}", status="rejected")])
    ReviewWorkbook(path).write(links)
    assert path.stat().st_size < 250 * count
    read = ReviewWorkbook(path).read()
    assert (len(read), read[-1].status) == (count, "rejected")
    with zipfile.ZipFile(path) as parts:
        assert not [name for name in parts.namelist() if "comments" in name]


def test_a_column_that_says_who_decided(path: Path) -> None:
    ReviewWorkbook(path).write([A])
    edit(path, Q1="Who", Q2="Ann", A2="accepted")
    for language in (ENGLISH, GERMAN):
        assert ReviewWorkbook(path, language).write([A, B]) == []
        assert grid(path)[0][16] == "Who"
        assert [each.by for each in ReviewWorkbook(path).read()] == ["Ann", "review.xlsx"]
