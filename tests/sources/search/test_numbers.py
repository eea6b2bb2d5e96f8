"""Numbers and days are read as people in five countries, and their programs, write them."""

import math
from datetime import date

import pytest

from internal_linker.sources.search.vocabulary import (
    Unclear,
    days_of,
    days_within,
    decimal_number,
    whole_number,
    zones_of,
)

FIRST = date(2026, 11, 1)


@pytest.mark.parametrize(
    "text",
    ["1234", "1,234", "1.234", "1 234", "1\u00a0234", "1\u202f234", "1'234", "1’234", "1234.0", " 1234,00 "],
)
def test_a_count_may_have_any_separator_of_thousands(text: str) -> None:
    assert whole_number(text) == 1234


@pytest.mark.parametrize("text", ["", "-3", "12,5", "1,23", "a", "1.23.456", "5 %", "1,234.567"])
def test_what_is_no_count_is_no_number(text: str) -> None:
    assert math.isnan(whole_number(text))


@pytest.mark.parametrize(
    ("text", "number"), [("3.4", 3.4), ("3,4", 3.4), ("12", 12.0), ("1.012,5", 1012.5), ("1,012.5", 1012.5)]
)
def test_a_position_may_have_a_decimal_comma(text: str, number: float) -> None:
    assert decimal_number(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-01", "20261101", "2026-11-01 00:00:00", "2026-11-01T00:00:00Z", "01.11.2026", "1.11.26"),
        *("Nov 1, 2026", "November 1, 2026", "1 nov. 2026", "1. November 2026", "1 de noviembre de 2026"),
        *("1 novembre 2026", "01-11-2026"),
    ],
)
def test_a_day_may_be_written_in_five_languages(text: str) -> None:
    assert days_of([text]) == {text: FIRST}


def test_months_that_share_letters_are_told_apart() -> None:
    texts = ["3 juin 2026", "3 juillet 2026", "3. März 2026", "3. Mai 2026", "3 août 2026", "3 gen 2026"]
    assert [day and day.month for day in days_of(texts).values()] == [6, 7, 3, 5, 8, 1]


def test_a_column_decides_which_number_is_the_month() -> None:
    """1/2/2026 is in January beside 1/13/2026, and in February beside 13/1/2026; alone it is refused."""
    assert days_of(["1/2/2026", "1/13/2026"])["1/2/2026"] == date(2026, 1, 2)
    assert days_of(["1/2/2026", "13/1/2026"])["1/2/2026"] == date(2026, 2, 1)
    with pytest.raises(Unclear, match="1/2/2026"):
        days_of(["1/2/2026"])


def test_what_is_no_day_is_none() -> None:
    assert [*days_of(["yesterday", "", "2026-02-30", "99", "Foo 1, 2026"]).values()] == [None] * 5


def test_time_zones_are_found() -> None:
    assert zones_of(["2026-11-01 05:00 UTC", "2026-11-01T05:00:00+01:00", "2026-11-01"]) == {"UTC", "+01:00"}


def test_a_period_has_two_days() -> None:
    """Explicit periods are read; words such as "Last 3 months" name no days."""
    assert days_within("2026-08-01 - 2026-10-31") == (date(2026, 8, 1), date(2026, 10, 31))
    assert days_within("Last 3 months") is None
