"""Merging links into a review desk loses and changes no editor's input, whatever editors did to the desk."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.model.columns import LANGUAGES, REVIEW_KEYS
from internal_linker.model.edges import VERDICTS, Cells, Status
from internal_linker.review.merge import LONGEST_CELL, Board, clean, merge, same, verdicts
from internal_linker.sources.tables.columns import text_of
from tests.support.reviews import HEADERS, Row, row, verdict

WORDS = st.sampled_from(["", "mine", " ", "2024", "a anchor", "b anchor"])
LINKS = st.builds(
    row,
    st.sampled_from("abcde"),
    status=st.sampled_from(get_args(Status)),
    anchor=st.sampled_from(["a anchor", "b anchor", "mine", ""]),
    score=st.sampled_from([0.5, 0.87654, float("nan")]),
    notes=st.sampled_from(["", "kept"]),
)
EDITS = st.lists(
    st.one_of(
        st.tuples(
            st.just("type"),
            st.integers(0, 9),
            st.sampled_from(["Status", "Anchor", "Notes"]),
            st.text(max_size=3),
        ),
        st.tuples(
            st.just("type"),
            st.integers(0, 9),
            st.just("Status"),
            st.sampled_from([*get_args(Status), "Accepted ", "geändert"]),
        ),
        st.tuples(st.just("type"), st.integers(0, 9), st.just("Anchor"), WORDS),
        st.tuples(st.sampled_from(["delete", "copy", "up"]), st.integers(0, 9), st.just(""), st.just("")),
        st.tuples(st.sampled_from(["foreign", "column"]), st.integers(0, 9), st.just(""), WORDS),
    ),
    max_size=12,
)


def apply(board: Board, wanted: list[Row]) -> Board:
    """Return the board as a desk would be after the merge."""
    found = merge(board, wanted)
    rows: list[list[Any]] = []
    for at, line in enumerate(board.rows):
        if at not in found.removed:
            rows.append([*line, *[""] * (len(board.header) - len(line))])
            for name, cell in found.changes.get(at, {}).items():
                rows[-1][board.columns[name]] = cell
    for new in found.new:
        rows.append([""] * len(board.header))
        for name, cell in new.items():
            rows[-1][board.columns[name]] = cell
    return Board(board.header, rows)


def edited(board: Board, edits: list[tuple[str, int, str, str]]) -> Board:
    header, rows = list(board.header), [list(line) for line in board.rows]
    for kind, at, column, text in edits:
        if kind == "foreign":
            rows.insert(at, [text] * len(header))
            rows[min(at, len(rows) - 1)][header.index("Link ID")] = ""
        elif kind == "column":
            header.insert(at % len(header), "own")
            for line in rows:
                line.insert(at % (len(header) - 1), text)
        elif at < len(rows):
            if kind == "type":
                rows[at][header.index(column)] = text
            elif kind == "copy":
                rows.append(list(rows[at]))
            elif kind == "up":
                rows.insert(0, rows.pop(at))
            else:
                del rows[at]
    return Board(header, rows)


def words(board: Board) -> list[tuple[str, str, str, str]]:
    """Return the editors' input in each row: link id, status if not the tool's, own anchor, note."""
    found = []
    for at in range(len(board.rows)):
        status = board.status(at) if board.status(at) not in ("", "proposed", "live", "withdrawn") else ""
        anchor = board.text(at, "anchor").strip()
        own = anchor if anchor != board.text(at, "proposed").strip() else ""
        if status or own or board.text(at, "notes").strip():
            found.append((board.link_id(at), status, own, board.text(at, "notes")))
    return found


@given(st.lists(LINKS), EDITS, st.lists(LINKS))
def test_no_word_is_lost(first: list[Row], edits: list[tuple[str, int, str, str]], then: list[Row]) -> None:
    before = edited(apply(Board(HEADERS, []), first), edits)
    after = apply(before, then)
    said = words(before)
    # The new rows may add a decision from elsewhere or a first note, but never remove one.
    left = words(after)
    assert all(any(_kept(word, each) for each in left) for word in said)
    foreign = [list(map(text_of, line)) for at, line in enumerate(before.rows) if not before.link_id(at)]
    assert [
        list(map(text_of, line)) for at, line in enumerate(after.rows) if not after.link_id(at)
    ] == foreign
    ids = [after.link_id(at) for at in range(len(after.rows))]
    known = [before.link_id(at) for at in range(len(before.rows))]
    kept = [link for link in dict.fromkeys(known) if link in ids]
    assert {each.id for each in then} <= set(ids)
    assert [link for link in dict.fromkeys(ids) if link in known] == kept or len(set(known)) < len(known)
    assert all(
        link in {each.id for each in then} for link in ids[len(after.rows) - len(merge(before, then).new) :]
    )
    again = merge(after, then)
    assert (again.changes, again.removed, again.new) == ({}, [], [])


def _kept(word: tuple[str, ...], now: tuple[str, ...]) -> bool:
    return word[0] == now[0] and all(
        mine in ("", theirs) for mine, theirs in zip(word[1:], now[1:], strict=True)
    )


@given(st.lists(LINKS), EDITS)
def test_every_word_is_read(first: list[Row], edits: list[tuple[str, int, str, str]]) -> None:
    board = edited(apply(Board(HEADERS, []), first), edits)
    read = verdicts(board, "tab")
    for link, status, anchor, notes in words(board):
        if link:
            assert any(
                each.id == link
                and each.status == (status if status in VERDICTS else each.status)
                and anchor in ("", each.anchor.strip())
                and each.notes == notes
                for each in read
            )
    assert {each.id for each in read} == {board.link_id(at) for at in range(len(board.rows))} - {""}


def test_an_anchor_that_editors_accepted_is_theirs() -> None:
    board = apply(Board(HEADERS, []), [row("a"), row("b")])
    rows = [list(line) for line in board.rows]
    rows[0][0] = "accepted"
    after = apply(Board(HEADERS, rows), [row("a", anchor="new"), row("b", anchor="new")])
    assert [after.text(at, "anchor") for at in range(2)] == ["a anchor", "new"]


def test_an_anchor_of_an_editors_that_the_tool_proposes_later_stays_the_editors() -> None:
    rows = [list(line) for line in apply(Board(HEADERS, []), [row("a")]).rows]
    rows[0][1] = "mine"
    agreed = apply(Board(HEADERS, rows), [row("a", anchor="mine")])
    assert apply(agreed, [row("a", anchor="new")]).text(0, "anchor") == "mine"


def test_what_was_decided_elsewhere_reaches_the_row() -> None:
    """An anchor and a note from the terminal replace cells that nobody changed since they were read, and no others."""
    board = apply(Board(HEADERS, []), [row(name) for name in "abcd"])
    typed, late = Cells("proposed", "a anchor", ""), Cells("proposed", "old", "old note")
    rows = [list(line) for line in board.rows]
    rows[1][1], rows[1][9] = "old", "old note"
    rows[2][1], rows[2][9] = "newer", "newer note"
    rows[3][0] = "accepted"
    said = {"anchor": "typed", "notes": "ask Ann", "status": "edited"}
    wanted = [
        row("a", **said, proposed="a anchor", cells=typed),
        row("b", **said, proposed="b anchor", cells=late),
    ]
    wanted += [row("c", **said, proposed="c anchor", cells=late)]
    wanted += [row("d", **said, proposed="new", cells=Cells("accepted", "d anchor", ""))]
    after = apply(Board(HEADERS, rows), wanted)
    assert [
        [after.text(at, name) for name in ("status", "anchor", "notes", "proposed")] for at in range(4)
    ] == [
        ["edited", "typed", "ask Ann", "a anchor"],
        ["edited", "typed", "ask Ann", "b anchor"],
        ["edited", "newer", "newer note", "c anchor"],
        ["accepted", "typed", "ask Ann", "new"],
    ]
    assert merge(after, wanted).changes == {}


def test_rows_whose_visible_columns_were_sorted_alone() -> None:
    first = apply(Board(HEADERS, []), [row(name) for name in "abc"])
    rows = [list(line) for line in first.rows]
    rows[0][:2], rows[1][9] = ["accepted", "a anchor"], "b note"
    rows.append(["an editor's own line", *[""] * 15])
    wanted = [row(name, anchor="new", cells=Cells("proposed", f"{name} anchor")) for name in "abc"]
    by_id = {line[12]: [*line[:12], *line[13:]] for line in apply(Board(HEADERS, rows), wanted).rows}
    for order in ([1, 2, 0, 3], [3, 0, 1, 2], [2, 3, 1, 0]):
        sorted_apart = [[*rows[at][:12], *rows[to][12:]] for to, at in enumerate(order)]
        board = Board(HEADERS, sorted_apart)
        said = {
            each.id: (each.status, each.anchor, each.notes, each.proposed) for each in verdicts(board, "tab")
        }
        assert said == {
            row("a").id: ("accepted", "a anchor", "", "a anchor"),
            row("b").id: ("proposed", "b anchor", "b note", "b anchor"),
            row("c").id: ("proposed", "c anchor", "", "c anchor"),
        }
        after = apply(board, wanted)
        assert {line[12]: [*line[:12], *line[13:]] for line in after.rows} == by_id
        again = merge(Board(HEADERS, after.rows), wanted)
        assert (again.changes, again.removed, again.new) == ({}, [], [])


def test_a_source_that_somebody_rewrote_does_not_part_a_row_from_its_link() -> None:
    rows = [list(line) for line in apply(Board(HEADERS, []), [row("a"), row("b")]).rows]
    rows[0][10], rows[1][10] = "https://shop.com/other", "x"
    board = Board(HEADERS, rows)
    assert [board.link_id(at) for at in range(2)] == [row("a").id, row("b").id]


def test_columns_are_known_by_name() -> None:
    board = Board(["LINK_ID", " status ", None, "Own", "score"], [["x", "Live", 3]])
    assert (board.link_id(0), board.status(0), board.text(0, "score")) == ("x", "live", "")
    assert board.missing == [name for name in REVIEW_KEYS if name not in ("link_id", "status", "score")]
    told = {"proposed": None, "written": None, "unread": ("anchor", "notes")}
    assert verdicts(board, "tab") == [verdict(row("x", status="live", anchor=""), by="tab", id="x", **told)]


def test_a_status_is_read_in_any_language() -> None:
    """Also with letters and marks apart; any other text, such as a dash, is no status, and takes no decision back."""
    texts = ["Angenommen ", "gea\u0308ndert", "ACCEPTED", "-", ""]
    read = verdicts(Board(["Link ID", "Status"], [[str(at), text] for at, text in enumerate(texts)]), "tab")
    assert [each.status for each in read] == ["accepted", "edited", "accepted", "", ""]
    assert ["status" in each.unread for each in read] == [False, False, False, True, False]


@pytest.mark.parametrize(
    ("cell", "wanted", "equal"),
    [
        (0.75, 0.75, True),
        ("0.75", 0.75, True),
        (0.7501, 0.75, False),
        ("", 0.75, False),
        (None, "", True),
        (2024.0, "2024", True),
        (True, "TRUE", True),
        ("a ", "a", False),
    ],
)
def test_cells_are_compared_as_what_they_say(cell: Any, wanted: str | float, equal: bool) -> None:
    assert same(cell, wanted) is equal


@given(st.text())
def test_clean_texts_fit_any_cell(text: str) -> None:
    plain = clean(text + "x" * LONGEST_CELL + "\U0001f600\ud800")
    assert len(plain.encode("utf-16-le")) <= 2 * LONGEST_CELL
    assert clean(plain) == plain
    assert not any(ord(letter) < 32 for letter in plain)


def test_explanations_fit_excels_boxes() -> None:
    """Explanations fit Excel's limits: 255 characters and a title of 32."""
    for language in LANGUAGES.values():
        assert all(len(text) <= 255 for text in language.notes.values())
        assert all(len(text) <= 32 for text in language.headers.values())
