"""Search data become arrays of pages and days."""

import numpy as np
import pandas as pd

from internal_linker.insight.impact.panel import panel_of
from internal_linker.insight.impact.records import Metric


def rows(*cells: tuple[str, str, int, int, float]) -> pd.DataFrame:
    frame = pd.DataFrame(cells, columns=["date", "page", "clicks", "impressions", "position"])
    return frame.assign(date=pd.to_datetime(frame["date"]), page=frame["page"].astype("category"))


def test_sums_of_whole_weeks() -> None:
    """Clicks and impressions are means of weeks; days without any row count as 0, and are counted."""
    panel = panel_of(
        rows(
            ("2026-01-01", "a", 2, 20, 3.0),
            ("2026-01-03", "a", 4, 10, 6.0),
            ("2026-01-14", "a", 8, 10, 1.0),
            ("2026-01-14", "b", 1, 10, 9.0),
        )
    )
    day = np.array([panel.first + 7])
    at = np.array([panel.pages.index("a")])
    assert panel.weekly(Metric.CLICKS, at, day, -1, 0) == [6]
    assert panel.weekly(Metric.CLICKS, at, day, -1, 1) == [7]
    assert panel.weekly(Metric.IMPRESSIONS, at, day, -1, 0) == [30]
    assert panel.weekly(Metric.POSITION, at, day, -1, 0) == [4.0]
    assert (panel.end - panel.first, panel.absent) == (14, 11)


def test_a_page_without_impressions_has_no_position() -> None:
    """It is unknown rather than 0, which would be better than the first position."""
    panel = panel_of(rows(("2026-01-01", "a", 2, 20, 3.0), ("2026-01-14", "b", 1, 10, 9.0)))
    at = np.array([panel.pages.index("b")])
    assert np.isnan(panel.weekly(Metric.POSITION, at, np.array([panel.first + 7]), -1, 0)).all()


def test_rows_of_one_page_and_day_are_summed() -> None:
    same = ("2026-01-01", "a", 1, 10, 1.0), ("2026-01-01", "a", 2, 30, 5.0)
    panel = panel_of(rows(*same, ("2026-01-07", "b", 0, 1, 1.0)))
    at, day = np.array([panel.pages.index("a")]), np.array([panel.first])
    assert panel.weekly(Metric.CLICKS, at, day, 0, 1) == [3]
    assert panel.weekly(Metric.POSITION, at, day, 0, 1) == [4.0]
