"""Every store keeps fetched pages for the next import, and pruning removes those that no import needs."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from internal_linker.model.records import FetchedPage
from internal_linker.store.answers import StoredPages
from internal_linker.store.databases import prune
from internal_linker.store.engine import open_database

URL = "https://www.tiny.example/a/"
TAGGED = FetchedPage(URL, {"etag": 'W/"\u00fc\0"', "content-type": "text/html"}, "سبز".encode() * 1000)


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> Iterator[Engine]:
    opened = open_database(store_url, tmp_path)
    yield opened
    opened.dispose()


def test_a_page_comes_back_as_it_was_put(engine: Engine) -> None:
    cache, long = StoredPages(engine), URL + "x" * 5000
    cache.put(TAGGED)
    cache.put(FetchedPage(long, {}, b""))
    assert cache.get(URL) == FetchedPage(
        URL, {"etag": 'W/"\u00fc"', "content-type": "text/html"}, TAGGED.body
    )
    assert cache.get(long) == FetchedPage(long, {}, b"")
    cache.put(FetchedPage(URL, {}, b"new"))
    assert cache.get(URL) == FetchedPage(URL, {}, b"new")
    assert cache.get(URL + "b") is None


def test_what_nobody_needs_goes(engine: Engine) -> None:
    """Pruning removes pages that no import used for long and pages without a validator; the others stay."""
    cache, now = StoredPages(engine), datetime.now(UTC)
    cache.put(TAGGED)
    cache.put(FetchedPage(URL + "b", {"last-modified": "Wed, 01 Jul 2026 10:00:00 GMT"}, b"b"))
    cache.put(FetchedPage(URL + "c", {"content-type": "text/html"}, b"c"))

    def pruned(before: datetime) -> int:
        return sum(one.rows for one in prune(engine, before))

    assert pruned(now - timedelta(days=1)) == 1
    assert cache.get(URL + "c") is None and cache.get(URL) and cache.get(URL + "b")
    assert pruned(now + timedelta(days=1)) == 2
    assert cache.get(URL) is None
