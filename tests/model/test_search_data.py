"""Search data have fixed columns, and rows that can't be right are counted."""

from datetime import date

import pandas as pd
import pytest

from internal_linker.model.search_data import (
    RowProblem,
    SearchTable,
    empty,
    first_kept_day,
    sound_rows,
    typed,
)

GOOD = {"date": "2026-11-01", "page": "https://a.example/", "clicks": 1, "impressions": 9, "position": 3.5}


def pages(*changes: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([{**GOOD, **one} for one in changes])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"page": None}, RowProblem.TEXT),
        ({"page": " "}, RowProblem.TEXT),
        ({"clicks": "many"}, RowProblem.NUMBER),
        ({"position": float("inf")}, RowProblem.NUMBER),
        ({"impressions": None}, RowProblem.NUMBER),
        ({"clicks": -1}, RowProblem.NEGATIVE),
        ({"clicks": 0, "impressions": 0, "position": 0}, RowProblem.UNSEEN),
        ({"clicks": 10}, RowProblem.CLICKS),
        ({"position": 0}, RowProblem.POSITION),
    ],
)
def test_a_row_that_cannot_be_right_is_left_out_and_counted(
    change: dict[str, object], problem: RowProblem
) -> None:
    sound = sound_rows(SearchTable.PAGES, pages({}, change, {"clicks": "2"}))
    assert sound.left_out == {problem: 1}
    assert sound.rows["clicks"].tolist() == [1, 2]
    assert {name: str(dtype) for name, dtype in sound.rows.dtypes.items()} == SearchTable.PAGES.columns


def test_each_table_has_its_columns() -> None:
    """An empty table has the columns and dtypes of a full one; a frame that lacks one is refused."""
    for table in SearchTable:
        assert {name: str(dtype) for name, dtype in empty(table).dtypes.items()} == table.columns
    with pytest.raises(ValueError, match="rows of queries need the columns query"):
        typed(SearchTable.QUERIES, pages({}))
    with pytest.raises(ValueError, match="rows of pages lack values"):
        typed(SearchTable.PAGES, pages({"page": None}))


@pytest.mark.parametrize(
    ("today", "first"),
    [
        (date(2026, 11, 25), date(2025, 7, 25)),
        (date(2026, 4, 30), date(2024, 12, 28)),
        (date(2026, 5, 1), date(2025, 1, 1)),
    ],
)
def test_sixteen_months_are_kept(today: date, first: date) -> None:
    assert first_kept_day(today) == first
