"""URLs of search data are matched to the pages of a site, and nothing is lost silently."""

import pandas as pd
import pytest

from internal_linker.insight.page_keys import match_pages
from internal_linker.model.canonical_hosts import hosts_of
from internal_linker.model.search_data import SearchTable, empty, typed

KEYS = ["https://www.a.example/tea", "https://www.a.example/pots?size=2", "https://www.a.example/"]
HOSTS = hosts_of(KEYS)


def rows(*cells: tuple[str, str, int, int, float]) -> pd.DataFrame:
    found = pd.DataFrame(cells, columns=["page", "query", "clicks", "impressions", "position"])
    return typed(SearchTable.QUERIES, found.assign(date="2026-11-01"))


def test_spellings_of_a_url_become_one_row() -> None:
    """Rows of one page sum their counts, and weight their positions by impressions; other queries stay apart."""
    given = rows(
        ("http://a.example/tea/", "tea", 1, 10, 2.0),
        ("https://www.a.example/tea#:~:text=green", "tea", 2, 30, 6.0),
        ("https://www.a.example/tea?utm_source=x", "pot", 0, 5, 9.0),
        ("https://www.a.example/", "a", 4, 4, 1.0),
    )
    matched = match_pages(SearchTable.QUERIES, given, KEYS, HOSTS)
    found = matched.rows.sort_values(["page", "query"])[
        ["page", "query", "clicks", "impressions", "position"]
    ]
    assert sorted(map(tuple, found.to_numpy().tolist())) == [
        ("https://www.a.example/", "a", 4, 4, 1.0),
        ("https://www.a.example/tea", "pot", 0, 5, 9.0),
        ("https://www.a.example/tea", "tea", 3, 40, 5.0),
    ]
    assert (matched.pages, matched.spellings, matched.unknown_urls) == (2, 2, 0)
    assert {name: str(dtype) for name, dtype in matched.rows.dtypes.items()} == SearchTable.QUERIES.columns


def test_unknown_urls_are_counted_and_shown() -> None:
    given = rows(
        ("https://www.a.example/gone", "x", 3, 5, 1.0),
        ("https://www.a.example/gone", "y", 3, 5, 1.0),
        ("https://b.example/tea", "tea", 1, 9, 1.0),
        ("/tea", "tea", 9, 9, 1.0),
        ("https://www.a.example/pots?size=3", "pot", 0, 9, 1.0),
        ("https://www.a.example/pots?size=2", "pot", 1, 9, 1.0),
    )
    matched = match_pages(SearchTable.QUERIES, given, KEYS, HOSTS)
    assert matched.rows["page"].tolist() == ["https://www.a.example/pots?size=2"]
    assert (matched.unknown_urls, matched.unknown_count) == (4, 16)
    assert matched.unknown_examples == (
        "/tea",
        "https://www.a.example/gone",
        "https://b.example/tea",
        "https://www.a.example/pots?size=3",
    )


@pytest.mark.parametrize("table", [SearchTable.QUERIES, SearchTable.PAGES, SearchTable.SESSIONS])
def test_no_rows_are_no_pages(table: SearchTable) -> None:
    matched = match_pages(table, empty(table), KEYS, HOSTS)
    assert (matched.pages, matched.unknown_urls, len(matched.rows)) == (0, 0, 0)
    assert [*matched.rows.columns] == [*table.columns]


def test_sessions_are_summed() -> None:
    given = pd.DataFrame(
        [("https://a.example/tea", 5, 4, 1), ("http://www.a.example/tea/", 2, 1, 0)],
        columns=["page", "sessions", "engaged_sessions", "key_events"],
    )
    matched = match_pages(
        SearchTable.SESSIONS, typed(SearchTable.SESSIONS, given.assign(date="2026-11-01")), KEYS, HOSTS
    )
    assert matched.rows[["sessions", "engaged_sessions", "key_events"]].to_numpy().tolist() == [[7, 5, 1]]
