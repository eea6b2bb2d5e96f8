"""Editors work on the tab Review during a write: each decision stays with its link, and refusals have a remedy."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from internal_linker.core.errors import CredentialsRefused, OutputError, ServiceError
from internal_linker.review.merge import COLUMNS
from tests.standins import GoogleStandIn
from tests.standins.google_token import EMAIL
from tests.support.reviews import APPEND, cells, ids, put, rearrange, review_tab, row, shown, verdict
from tests.support.sheets import READ, WRITE, before

A, B, C, D = (row(name) for name in "abcd")

# -- editors who act during a write ----------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda grid: [grid[0], *reversed(grid[1:])], id="sorted"),
        pytest.param(lambda grid: [[*line[:3], "own", *line[3:]] for line in grid], id="column inserted"),
        pytest.param(lambda grid: [list(reversed(line)) for line in grid], id="columns moved"),
        pytest.param(lambda grid: [grid[0], [], *grid[1:]], id="row inserted"),
    ],
)
@pytest.mark.parametrize("moment", ["before", READ, WRITE, APPEND])
def test_rows_and_columns_may_move(
    google: GoogleStandIn, moment: str, change: Callable[[list[list[Any]]], list[list[Any]]]
) -> None:
    """Whatever moves before or during the run, each cell ends in its row and column."""
    links = [row(name) for name in "abcdefgh"]
    review_tab(google).write(links)
    words = [
        ("Status", "rejected"),
        ("Anchor", "mine"),
        ("Notes", "n"),
        ("Status", "edited"),
        ("Anchor", "x"),
    ]
    for link, (column, word) in zip(links, words, strict=False):
        put(google, link, column, word)
    expected = _by_id(shown(google))
    if moment == "before":
        rearrange(google, change)()
    else:
        before(google, moment, rearrange(google, change))
    news = {"score": 0.9, "why": "better", "status": "live"}
    new = [row(name, anchor=f"new {name}", **news) for name in "abcdef"]
    assert review_tab(google).write([*new, row("y"), row("z")]) == []
    for link in new:
        told = {"Score": "90", "Why": "better", "Status": "live", "Written Status": "live"}
        if link.id[-1] in "cf":
            told |= {"Anchor": link.anchor, "Proposed Anchor": link.anchor}
        if link.id[-1] in "ad":
            del told["Status"], told["Written Status"]
        expected[link.id] |= told
    for name in "gh":
        del expected[row(name).id]
    expected |= _by_id([list(COLUMNS), cells(row("y")), cells(row("z"))])
    found = shown(google)
    assert _by_id(found) == expected
    assert len([line for line in found[1:] if set(line) - {"", "own"}]) == 8


def _by_id(grid: list[list[str]]) -> dict[str, dict[str, str]]:
    """Return our columns of each row that has an id, by id."""
    rows = [dict(zip(grid[0], line, strict=True)) for line in grid[1:]]
    return {line["Link ID"]: {name: line[name] for name in COLUMNS} for line in rows if line["Link ID"]}


def test_a_word_typed_during_the_write_stays(google: GoogleStandIn) -> None:
    """A status, an anchor and a note that an editor types between our read and our write stay."""
    review_tab(google).write([A, B, C])

    def type_it() -> None:
        put(google, B, "Status", "accepted")
        put(google, C, "Anchor", "mine")
        put(google, C, "Notes", "n")

    before(google, WRITE, type_it)
    assert review_tab(google).write([row("a", score=0.9), row("b", score=0.9), C]) == []
    assert [line[0] for line in shown(google)[1:]] == ["proposed", "accepted", "proposed"]
    assert (shown(google)[3][1], shown(google)[3][9]) == ("mine", "n")


def test_a_sort_right_before_rows_are_deleted_loses_no_row(google: GoogleStandIn) -> None:
    """After a sort right before a deletion, wrongly deleted rows come back with their edits; the right ones go."""
    links = [row(name) for name in "abcdef"]
    review_tab(google).write(links)
    put(google, links[5], "Notes", "precious")
    put(google, links[4], "Status", "accepted")
    before(google, APPEND, rearrange(google, lambda grid: [grid[0], *reversed(grid[1:])]))
    assert review_tab(google).write(links[2:]) == []
    assert sorted(ids(shown(google))) == [each.id for each in links[2:]]
    words = {each.id: each for each in review_tab(google).read()}
    assert (words[links[5].id].notes, words[links[4].id].status) == ("precious", "accepted")


def test_a_cell_that_does_not_keep_its_text_is_reported(google: GoogleStandIn) -> None:
    """A cell that an editor or a merge keeps changing is repaired a few times and then reported with its row."""
    review_tab(google).write([A, B])

    def meddle(grid: list[list[Any]]) -> list[list[Any]]:
        grid[1][8] = "mine!"
        return grid

    before(google, READ, rearrange(google, meddle), times=99)
    gaps = review_tab(google).write([row("a", why="new"), B])
    assert len(gaps) == 1 and "did not keep what was written: 2." in gaps[0]
    assert len(google.calls(WRITE)) <= 4


# -- refusals --------------------------------------------------------------------------------------


def test_a_viewer_is_told_to_become_editor(google: GoogleStandIn) -> None:
    """Without the right to edit, decisions are read, and writing says that the right is missing."""
    review_tab(google).write([A])
    google.shared_with[EMAIL] = "reader"
    assert review_tab(google).read() == [verdict(A)]
    with pytest.raises(CredentialsRefused, match=f"{re.escape(EMAIL)} may view .* Editor"):
        review_tab(google).write([A, B])


def test_a_protected_tab_is_named(google: GoogleStandIn) -> None:
    """An owner's protection of the tab has another message than a missing right, and the message names the tab."""
    review_tab(google).write([A])
    google.edit("addProtectedRange", protectedRange={"range": {"sheetId": google.tab("Review").sheet_id}})
    with pytest.raises(ServiceError, match=r"the tab Review are protected\. Allow .*Data > Protect sheets"):
        review_tab(google).write([A, B])
    assert ids(shown(google)) == [A.id]


def test_a_tab_that_vanishes_is_an_output_error(google: GoogleStandIn) -> None:
    """A tab deleted or renamed between read and write gives one sentence, and the next run creates a new tab."""
    review_tab(google).write([A])

    def delete() -> None:
        del google.spreadsheets[google.spreadsheet_id].tabs[1]

    before(google, WRITE, delete)
    with pytest.raises(OutputError, match="renamed or deleted during the run. Run again."):
        review_tab(google).write([row("a", why="new")])
    google.on_request = None
    assert review_tab(google).write([A]) == []
    assert ids(shown(google)) == [A.id]
