"""Empty main queries of the Sheet are filled, and no query of an editor is ever overwritten."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from internal_linker.adapters.google_sheets.empty_queries import MOST_ROWS
from internal_linker.core.errors import InputError
from tests.standins import GoogleStandIn, Reset
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
    """Rows without a query get theirs, whatever characters it has, and nothing else in the tab changes."""
    columns = google.tab("Main").columns
    assert fill(google) == []
    assert google.grid("Main") == FILLED and google.tab("Main").columns == columns
    google.forget()
    assert fill(google) == [] and google.calls(FILL) == [], "there is nothing left to fill"


def test_the_pages_of_the_tab_are_known(google: GoogleStandIn) -> None:
    """Pages with a query are distinguished from those without; if a page has several rows, one query is enough."""
    google.set_grid("Main", [*ROWS, [f"{SITE}c/", "other words"]])
    with closing(sheet(google)) as tab:
        rows = tab.main_queries()
    assert rows.queries == {f"{SITE}a": {"own words"}, f"{SITE}c": {"other words"}}
    assert rows.empty == {f"{SITE}b": 3}


def test_a_query_typed_just_before_the_write_stays(google: GoogleStandIn) -> None:
    """An editor types a query after the last reading, right before the request arrives: it stays, others are filled."""

    def type_query(values: list[list[str]]) -> list[list[str]]:
        return [*values[:2], [f"{SITE}b", "typed"], *values[3:]]

    before(google, FILL, edit(google, type_query))
    assert fill(google) == []
    assert google.grid("Main") == [*FILLED[:2], [f"{SITE}b", "typed"], *FILLED[3:]]


def test_rows_that_move_just_before_the_write_get_their_own_queries(google: GoogleStandIn) -> None:
    """An editor sorts the tab right before the request arrives: no page gets another one's query."""

    def move(values: list[list[str]]) -> list[list[str]]:
        return [HEADER, values[3], values[1], values[2], *values[4:]]

    before(google, FILL, edit(google, move))
    assert fill(google) == []
    assert google.grid("Main") == [HEADER, FILLED[3], FILLED[1], FILLED[2], FILLED[4]]


def test_a_row_inserted_above_just_before_the_write_does_no_harm(google: GoogleStandIn) -> None:
    """An editor inserts a row with a query of its own above the others."""
    new = [f"{SITE}new", "new words"]
    before(google, FILL, edit(google, lambda values: [HEADER, new, *values[1:]]))
    assert fill(google) == []
    assert google.grid("Main") == [HEADER, new, *FILLED[1:]]


def test_a_lost_answer_is_asked_for_again(google: GoogleStandIn) -> None:
    """A request whose answer is lost may have been carried out: the tab is read before it is sent again."""
    google.script(Reset(), on=FILL)
    assert fill(google) == []
    assert google.grid("Main") == FILLED


def test_many_rows_take_few_requests(google: GoogleStandIn) -> None:
    """A thousand pages are filled in two requests."""
    pages = [f"{SITE}{number}" for number in range(2 * MOST_ROWS)]
    google.set_grid("Main", [HEADER, *([page] for page in pages)])
    assert fill(google, {page: f"query {page[-3:]}" for page in pages}) == []
    assert len(google.calls(FILL)) == 2
    assert all(row[1] == f"query {row[0][-3:]}" for row in google.grid("Main")[1:])


def test_a_tab_without_the_column_is_refused(google: GoogleStandIn) -> None:
    """A tab without a column of main queries is left as it is, and the message names the column."""
    google.set_grid("Main", [["URL"], [f"{SITE}b"]])
    with pytest.raises(InputError, match=r"no column Main Query.*Add the column"):
        fill(google)
    assert google.grid("Main") == [["URL"], [f"{SITE}b"]]


def test_rows_that_do_not_keep_their_query_are_named(google: GoogleStandIn) -> None:
    """If somebody empties a cell again and again, the problem is reported with its row."""

    def empty_again(values: list[list[str]]) -> list[list[str]]:
        return [*values[:2], [f"{SITE}b"], *values[3:]]

    before(google, "^GET .*/values/", edit(google, empty_again), times=9)
    [problem] = fill(google)
    assert "row 3 did not take its main query" in problem
