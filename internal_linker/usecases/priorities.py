"""Priorities: how much each page needs links, and what better positions would earn, from the stored search data."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.needs import PageNeeds, QueryGain
from internal_linker.core.ports import SearchStore
from internal_linker.core.records import Collected
from internal_linker.core.search_data import SearchTable
from internal_linker.core.sequences import counted
from internal_linker.matching.url_dates import days
from internal_linker.performance.main_queries import site_names, without_names
from internal_linker.performance.needs import (
    WINDOW_DAYS,
    click_curve,
    clicks_to_gain,
    gains,
    last_day,
    last_days,
    page_needs,
)
from internal_linker.performance.page_keys import MatchedPages, match_pages
from internal_linker.text.brands import found_brands

if TYPE_CHECKING:
    from pandas import DataFrame

NO_DATA = (
    'priority = "search" has no effect: no search data of pages are stored. Import them first, or set priority to '
    '"none".'
)


def needs_of(store: SearchStore, collected: Collected) -> tuple[PageNeeds | None, str]:
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


def query_gains(store: SearchStore, collected: Collected, keys: Sequence[str], most: int) -> list[QueryGain]:
    """Return the largest gains of pages from queries at better positions; none without search data."""
    matched = _matched(store, keys, collected.hosts)
    return gains(_found(matched.rows, collected), most) if matched else []


def _matched(store: SearchStore, keys: Sequence[str], hosts: CanonicalHosts) -> MatchedPages | None:
    """Return the rows of the last weeks by page and query; those by page if no others are stored."""
    for table in (SearchTable.QUERIES, SearchTable.PAGES):
        if stored := [day for day, kept in store.days(table).items() if kept.rows]:
            first = max(stored) - timedelta(days=WINDOW_DAYS - 1)
            return match_pages(table, last_days(store.read(table, first)), keys, hosts)
    return None


def _found(rows: "DataFrame", collected: Collected) -> "DataFrame":
    if "query" in rows:
        pages = collected.pages
        brands = found_brands([page.title for page in pages])
        rows = without_names(rows, site_names((page.key for page in pages), brands))
    return clicks_to_gain(rows, click_curve(rows))


def _sentence(matched: MatchedPages, day: str) -> str:
    told = f"{counted(len(matched.rows), 'row')} of {counted(matched.pages, 'page')} up to {day}"
    if matched.unknown_urls:
        told += (
            f"; {counted(matched.unknown_urls, 'URL')} with {counted(matched.unknown_count, 'click')} left out: not in "
            "the input"
        )
    return told
