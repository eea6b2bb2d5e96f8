"""What the stored search data say of pages: how much they need links, what they would earn, how people find them."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.insight.main_queries import page_queries, site_names, without_names
from internal_linker.insight.needs import (
    WINDOW_DAYS,
    click_curve,
    clicks_to_gain,
    gains,
    last_day,
    last_days,
    page_needs,
)
from internal_linker.insight.page_keys import MatchedPages, match_pages
from internal_linker.match.url_dates import days
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.needs import PageNeeds
from internal_linker.model.records import Collected
from internal_linker.model.search_data import SearchTable, empty
from internal_linker.model.sequences import counted
from internal_linker.store.search_days import SearchDays
from internal_linker.text.brands import found_brands

if TYPE_CHECKING:
    from pandas import DataFrame

NO_DATA = (
    'priority = "search" has no effect: no search data of pages are stored. Import them first, or set priority to '
    '"none".'
)


def needs_of(store: SearchDays, collected: Collected) -> tuple[PageNeeds | None, str]:
    """Return the needs of the input's pages, and a sentence about their search data; None if there are no data."""
    matched = _matched(store, [page.key for page in collected.pages], collected.hosts)
    day = last_day(matched.rows) if matched else None
    if matched is None or day is None:
        return None, NO_DATA
    linking = {
        (link.source, link.target)
        for link in collected.live_links
        if link.followed and link.source != link.target
    }
    rows = collected.rows
    targets = [rows[target] for _, target in linking if target in rows]
    inlinks = np.bincount(np.array(targets, np.int64), minlength=len(collected.pages))
    published = days(page.key for page in collected.pages)
    needs = page_needs(_found(matched.rows, collected), rows, inlinks, published, day)
    return needs, _sentence(matched, f"{day}")


def query_gains(store: SearchDays, collected: Collected, keys: Sequence[str], most: int) -> "DataFrame":
    """Return the largest gains of pages from queries at better positions, by `gains`; none without search data."""
    matched = _matched(store, keys, collected.hosts)
    return gains(_found(matched.rows if matched else empty(SearchTable.PAGES), collected), most)


def queries_of(store: SearchDays, collected: Collected) -> Mapping[str, Sequence[str]]:
    """Return the queries by which people find each page, by its key, the most clicked first; none without data."""
    keys = [page.key for page in collected.pages]
    matched = _matched(store, keys, collected.hosts, [SearchTable.QUERIES])
    return page_queries(matched.rows, _names(collected)) if matched else {}


def _matched(
    store: SearchDays,
    keys: Sequence[str],
    hosts: CanonicalHosts,
    tables: Sequence[SearchTable] = (SearchTable.QUERIES, SearchTable.PAGES),
) -> MatchedPages | None:
    """Return the rows of the last weeks of the first of these tables that has any."""
    for table in tables:
        if stored := [day for day, kept in store.days(table).items() if kept.rows]:
            first = max(stored) - timedelta(days=WINDOW_DAYS - 1)
            return match_pages(table, last_days(store.read(table, first)), keys, hosts)
    return None


def _found(rows: "DataFrame", collected: Collected) -> "DataFrame":
    if "query" in rows:
        rows = without_names(rows, _names(collected))
    return clicks_to_gain(rows, click_curve(rows))


def _names(collected: Collected) -> Sequence[str]:
    pages = collected.pages
    return site_names((page.key for page in pages), found_brands([page.title for page in pages]))


def _sentence(matched: MatchedPages, day: str) -> str:
    told = f"{counted(len(matched.rows), 'row')} of {counted(matched.pages, 'page')} up to {day}"
    if matched.unknown_urls:
        told += (
            f"; {counted(matched.unknown_urls, 'URL')} with {counted(matched.unknown_count, 'click')} left out: not in "
            "the input"
        )
    return told
