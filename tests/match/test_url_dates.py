"""Dates are read only from the path of a URL."""

from datetime import date

import numpy as np
import pytest

from internal_linker.match.url_dates import days, nearness

SITE = "https://www.a.example"


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("/2014/05/14/x", date(2014, 5, 14)),
        ("/2014/05/14/", date(2014, 5, 14)),
        ("/2014/05/14", date(2014, 5, 14)),
        ("/blog/2014/05/x", date(2014, 5, 15)),
        ("/2014/05", date(2014, 5, 15)),
        ("/2024-05-31-name", date(2024, 5, 31)),
        ("/2024-05-31_name", date(2024, 5, 31)),
        ("/2024-02-29/", date(2024, 2, 29)),
        ("/2014/05/14/?page=2", date(2014, 5, 14)),
        ("/2014/05/14?page=2", date(2014, 5, 14)),
        ("/2014/05/14.html", date(2014, 5, 14)),
    ],
)
def test_a_date_in_the_path_is_read(path: str, day: date) -> None:
    assert days([SITE + path]).tolist() == [day.toordinal()]


@pytest.mark.parametrize(
    "path",
    [
        "/tea/", "", "/2014/13/x", "/2014/00/x", "/2023/02/30/x", "/2014/5/14/x", "/2014/", "/2014/tea/",
        "/1899/05/14/", "/2100/05/14/", "/12014/05/14/", "/a2014/05/14/", "/2014/051/x",
        "/tea-2014-05-14", "/item/20140514", "/tea?since=/2014/05/14/", "/tea#/2014/05/14/",
    ],
)  # fmt: skip
def test_other_numbers_are_no_date(path: str) -> None:
    assert np.isnan(days([SITE + path])).all()


def test_nearness_is_the_same_both_ways_and_falls_with_the_distance() -> None:
    some = days([f"{SITE}/2014/05/01/", f"{SITE}/2014/05/20/", f"{SITE}/2016/01/01/", f"{SITE}/tea/"])
    table = np.stack([nearness(day, some) for day in some])
    np.testing.assert_array_equal(table, table.T)
    assert table[0, 0] > table[0, 1] > table[0, 2]
    assert np.isnan(table[3]).all() and np.isnan(table[:, 3]).all()
    assert np.isfinite(table[:3, :3]).all()
    fall = [float(nearness(0, np.array([gap]))[0] - nearness(0, np.array([gap + 7]))[0]) for gap in (0, 3650)]
    assert fall[0] > 50 * fall[1] > 0
