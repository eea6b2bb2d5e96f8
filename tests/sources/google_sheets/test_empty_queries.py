"""Empty main queries of the Sheet are filled, and no query of an editor is ever overwritten."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from internal_linker.model.errors import InputError
from internal_linker.sources.google_sheets.empty_queries import MOST_ROWS
from tests.standins import GoogleStandIn, Reset
from tests.standins.google_token import EMAIL
from tests.standins.grid import Cell, Formula
from tests.support.sheets import SITE, before, edit, sheet

FILL = "^POST .*:batchUpdate"
HEADER = ["URL", "Main Query", "Note"]
ROWS = [HEADER, [f"{SITE}a", "own words", "keep"], [f"{SITE}b"], [f"{SITE}c", "", "new"], ["no address"], []]
WANTED = {f"{SITE}b": "tea b", f"{SITE}c": 'the "c" = tea'}
FILLED = [
    HEADER,
    [f"{SITE}a", "own words", "keep"],
    [f"{SITE}b", "tea b"],
    [f"{SITE}c", 'the "c" = tea', "new"],
    ["no address"],
]


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    with GoogleStandIn({"Main": ROWS}) as google:
        yield google


def fill(google: GoogleStandIn, wanted: dict[str, str] | None = None) -> list[str]:
    with closing(sheet(google)) as tab:
        return tab.fill_queries(WANTED if wanted is None else wanted)


def test_empty_cells_are_filled(google: GoogleStandIn) -> None:
    """A request whose answer is lost may have been carried out: the tab is read before it is sent again."""
    columns = google.tab("Main").columns
    google.script(Reset(), on=FILL)
    assert fill(google) == []
    assert google.grid("Main") == FILLED and google.tab("Main").columns == columns
    google.forget()
    assert fill(google) == [] and google.calls(FILL) == [], "there is nothing left to fill"
    google.set_grid("Main", [["URL"], [f"{SITE}b"]])
    with pytest.raises(InputError, match=r"no column Main Query.*Add the column"):
        fill(google)
    assert google.grid("Main") == [["URL"], [f"{SITE}b"]]


def test_the_pages_of_the_tab_are_known(google: GoogleStandIn) -> None:
    google.set_grid("Main", [*ROWS, [f"{SITE}c/", "other words"]])
    with closing(sheet(google)) as tab:
        rows = tab.main_queries()
    assert rows.queries == {f"{SITE}a": {"own words"}, f"{SITE}c": {"other words"}}
    assert rows.empty == {f"{SITE}b": 3}


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (
            lambda values: [*values[:2], [f"{SITE}b", "typed"], *values[3:]],
            [*FILLED[:2], [f"{SITE}b", "typed"], *FILLED[3:]],
        ),
        (
            lambda values: [HEADER, values[3], values[1], values[2], *values[4:]],
            [HEADER, FILLED[3], FILLED[1], FILLED[2], FILLED[4]],
        ),
    ],
    ids=["a query is typed", "rows move"],
)
def test_what_an_editor_does_right_before_the_request_arrives_stays(
    google: GoogleStandIn, change: Callable[[list[list[str]]], list[list[str]]], after: list[list[str]]
) -> None:
    before(google, FILL, edit(google, change))
    assert fill(google) == []
    assert google.grid("Main") == after


def test_many_rows_take_few_requests(google: GoogleStandIn) -> None:
    pages = [f"{SITE}{number}" for number in range(2 * MOST_ROWS)]
    google.set_grid("Main", [HEADER, *([page] for page in pages)])
    assert fill(google, {page: f"query {page[-3:]}" for page in pages}) == []
    assert len(google.calls(FILL)) == 2
    assert all(row[1] == f"query {row[0][-3:]}" for row in google.grid("Main")[1:])


def test_rows_that_do_not_keep_their_query_are_named(google: GoogleStandIn) -> None:
    def empty_again(values: list[list[str]]) -> list[list[str]]:
        return [*values[:2], [f"{SITE}b"], *values[3:]]

    before(google, "^GET .*/values/", edit(google, empty_again), times=9)
    [problem] = fill(google)
    assert "row 3 did not take its main query" in problem


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Formula('=HYPERLINK("https://a.example","")'), "did not take its main query.*or has a formula"),
        ("  ", "stays as it is, because its cell has spaces"),
    ],
)
def test_a_cell_that_only_looks_empty_stays(google: GoogleStandIn, value: str, told: str) -> None:
    """A formula that shows nothing and a cell with spaces are an editor's: they stay, and their rows are named."""
    google.tab("Main").put(2, 1, Cell(value))
    [problem] = fill(google)
    assert re.search(f"row 3 {told}", problem)
    assert google.tab("Main").at(2, 1).value == value
    assert google.grid("Main")[3] == FILLED[3]


@pytest.mark.parametrize("typed", [Formula("=A3"), 7])
def test_what_is_typed_just_before_the_write_stays_as_it_is(google: GoogleStandIn, typed: Any) -> None:
    cell = Cell(typed, "a note", ({"startIndex": 0},))
    before(google, FILL, lambda: google.tab("Main").put(2, 1, cell))
    assert fill(google) == []
    assert google.tab("Main").at(2, 1) == cell and type(google.tab("Main").at(2, 1).value) is type(typed)


def test_a_query_that_came_into_another_row_is_replaced_only_where_it_still_is(google: GoogleStandIn) -> None:
    """Rows move before the first request; before the second, which takes a query back, an editor writes over it."""

    def act(request: Any) -> None:
        if not request.words.endswith(":batchUpdate"):
            return
        if len(google.calls(FILL)) == 0:
            edit(google, lambda values: [*values[:2], values[3], values[2], *values[4:]])()
        elif len(google.calls(FILL)) == 1:
            assert google.grid("Main")[2] == [f"{SITE}c", "tea b", "new"]
            edit(google, lambda values: [*values[:2], [f"{SITE}c", "typed", "new"], *values[3:]])()

    google.on_request = act
    assert fill(google) == []
    assert google.grid("Main")[2:4] == [[f"{SITE}c", "typed", "new"], [f"{SITE}b", "tea b"]]


def test_rows_that_move_before_each_request_are_named(google: GoogleStandIn) -> None:
    before(google, FILL, edit(google, lambda values: [HEADER, *values[:0:-1]]), times=99)
    problems = fill(google)
    rows = google.grid("Main")
    queries = set(WANTED.values())
    wrong = [
        at
        for at, (url, query, *_) in enumerate((row + [""] * 2 for row in rows), 1)
        if query in queries - {WANTED.get(url)}
    ]
    assert wrong and len(google.calls(FILL)) < 9
    assert all(any(problem.startswith(f"Row {at} has") for problem in problems) for at in wrong)
    assert [row[1:2] for row in rows if row[:1] == [f"{SITE}a"]] == [["own words"]]


def test_protected_rows_are_counted_and_others_filled(google: GoogleStandIn) -> None:
    """Google would refuse the whole request for one protected cell; a protection that lets the account edit is none."""
    box = {"sheetId": google.tab("Main").sheet_id, "startRowIndex": 2, "endRowIndex": 3}
    for allowed in ({"warningOnly": True}, {"editors": {"users": [EMAIL]}}):
        google.edit("addProtectedRange", protectedRange={"range": {"sheetId": box["sheetId"]}, **allowed})
    google.edit("addProtectedRange", protectedRange={"range": box, "editors": {"users": ["boss@a.example"]}})
    [problem] = fill(google)
    assert problem.startswith("1 empty main query of protected ranges, such as row 3, could not be filled.")
    assert f"Allow {EMAIL} to edit them" in problem
    assert google.grid("Main") == [*FILLED[:2], [f"{SITE}b"], *FILLED[3:]]


def test_a_query_never_becomes_a_formula(google: GoogleStandIn) -> None:
    """Google reads what it puts in as if it were typed: =1+1 is not sent, and 007, which becomes 7, is named."""
    assert fill(google, {f"{SITE}b": '=IMPORTXML("x")', f"{SITE}c": "tea c"}) == [
        f'{SITE}b: row 3 stays empty, because Google would take =IMPORTXML("x") for a formula. Type it after an '
        "apostrophe."
    ]
    assert "IMPORTXML" not in str([call.body for call in google.calls(FILL)])
    assert google.grid("Main")[2:4] == [[f"{SITE}b"], [f"{SITE}c", "tea c", "new"]]
    [problem] = fill(google, {f"{SITE}b": "007"})
    assert "row 3 has 7 and not 007" in problem
