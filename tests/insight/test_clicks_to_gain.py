"""Clicks to gain: by page and query, in 28 days, at positions 4 to 20 only."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from internal_linker.insight.needs import ClickCurve, clicks_to_gain, gains, last_days
from internal_linker.model.search_data import SearchTable, empty

# 20% at position 1, then a point less at each.
CURVE = ClickCurve(np.arange(0.20, 0.0, -0.01), np.zeros(20, np.int64))
COLUMNS = ["date", "page", "query", "clicks", "impressions", "position"]


def rows(*some: tuple[str, str, str, int, int, float]) -> pd.DataFrame:
    found = pd.DataFrame(some, columns=COLUMNS)
    found["date"] = pd.to_datetime(found["date"])
    return found.astype({"page": "category", "query": "category"})


def test_a_gain_is_what_three_places_earn() -> None:
    """1,000 impressions at position 8 gain three points: 30 clicks. The mean position is weighted by impressions."""
    found = clicks_to_gain(
        rows(
            ("2026-11-01", "a", "tea", 10, 900, 7.5),
            ("2026-11-02", "a", "tea", 2, 100, 12.5),
            ("2026-11-02", "b", "tea", 2, 50, 4.5),
            ("2026-11-02", "b", "milk", 9, 90, 2.0),
            ("2026-11-02", "c", "tea", 0, 4000, 25.0),
        ),
        CURVE,
    )
    assert found[["page", "query", "clicks"]].values.tolist() == [["a", "tea", 12], ["b", "tea", 2]]
    assert found["position"].tolist() == pytest.approx([8.0, 4.5])
    assert found["gain"].tolist() == pytest.approx([30.0, 1.5])


def test_figures_are_those_of_28_days() -> None:
    """Data of 56 days count half; those of less than 28 days are not multiplied."""
    long = rows(("2026-09-01", "a", "x", 0, 500, 8.0), ("2026-10-26", "a", "x", 0, 500, 8.0))
    assert clicks_to_gain(long, CURVE)["gain"].tolist() == pytest.approx([15.0])
    assert clicks_to_gain(long[:1], CURVE)["gain"].tolist() == pytest.approx([15.0])


def test_rows_without_queries_count_as_well() -> None:
    """Rows by page, as exports have them, give gains without a query; no rows give none."""
    found = clicks_to_gain(rows(("2026-11-01", "a", "", 0, 1000, 8.0)).drop(columns="query"), CURVE)
    assert gains(found, 10)[["page", "query", "gain"]].round().to_numpy().tolist() == [["a", "", 30]]
    for table in (SearchTable.QUERIES, SearchTable.PAGES):
        assert gains(clicks_to_gain(empty(table), CURVE), 10).empty


def test_only_the_last_twelve_weeks_count() -> None:
    """Rows more than 84 days before the last one are left out."""
    some = rows(("2026-01-01", "old", "x", 0, 9, 8.0), ("2026-11-01", "a", "x", 0, 9, 8.0))
    assert last_days(some)["page"].tolist() == ["a"]
    assert last_days(some)["date"].max().date() == date(2026, 11, 1)


def test_gains_of_less_than_half_a_click_are_nobodys_work() -> None:
    some = rows(*(("2026-11-01", f"p{n}", "x", 0, n, 8.0) for n in (10, 20, 400, 300)))
    assert gains(clicks_to_gain(some, CURVE), 10)["page"].tolist() == ["p400", "p300", "p20"]
    assert gains(clicks_to_gain(some, CURVE), 1)["page"].tolist() == ["p400"]
