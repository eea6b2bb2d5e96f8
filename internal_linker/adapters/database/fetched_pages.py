"""Pages by their URL as their servers gave them: what has not changed is not fetched again."""

import json
import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    LargeBinary,
    Row,
    String,
    Table,
    Text,
    and_,
    func,
    or_,
    select,
)

from internal_linker.adapters.database.engine import key_text, lacks, transact, upsert
from internal_linker.adapters.database.schema import METADATA, Moment, Waste
from internal_linker.core.records import FetchedPage

FETCHED_PAGES = Table(
    "fetched_pages",
    METADATA,
    Column("url", String(2000), primary_key=True),
    Column("headers", Text, nullable=False),
    # What a server is asked with whether its page has changed; without either, a page is of no use a second time.
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # by zlib
    Column("fetched_at", Moment, nullable=False),
)
_LONGEST_URL = 2000
# Bytes that a body may unpack to: more was never put.
_MOST_BYTES = 50_000_000


class StoredPages:
    """`fetched.PageCache` in a database.

    Args:
        engine: from `open_database`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, url: str) -> FetchedPage | None:
        """The page as it was fetched last; None where there is none, or a damaged one."""
        wanted = select(FETCHED_PAGES).where(FETCHED_PAGES.c.url == key_text(url, _LONGEST_URL))

        def read(connection: Connection) -> Row[Any] | None:
            return connection.execute(wanted).one_or_none()

        row = None if lacks(self._engine, FETCHED_PAGES) else transact(self._engine, read)
        return read_page(url, row) if row is not None else None

    def put(self, page: FetchedPage) -> None:
        """Keep a page in the place of what was fetched before; committed when this returns."""
        headers = {name: _storable(text) for name, text in page.headers.items()}
        row = {
            "url": key_text(page.url, _LONGEST_URL),
            "headers": json.dumps(headers),
            "etag": headers.get("etag", ""),
            "last_modified": headers.get("last-modified", ""),
            "body": zlib.compress(page.body),
            "fetched_at": datetime.now(UTC),
        }
        transact(self._engine, lambda connection: upsert(connection, FETCHED_PAGES, [row]))


def waste(before: datetime) -> list[Waste]:
    """Pages that no import has met since then, and those that can only be fetched anew."""
    table = FETCHED_PAGES.c
    rows = or_(table.fetched_at < before, and_(table.etag == "", table.last_modified == ""))
    return [Waste(FETCHED_PAGES, rows, func.length(table.body))]


def read_page(url: str, row: Row[Any]) -> FetchedPage | None:
    """The page of a row; None for a damaged one."""
    try:
        unpacking = zlib.decompressobj()
        body = unpacking.decompress(row.body, _MOST_BYTES)
        headers = json.loads(row.headers)
    except (TypeError, ValueError, RecursionError, zlib.error):
        return None
    sound = (
        unpacking.eof and isinstance(headers, dict) and all(isinstance(one, str) for one in headers.values())
    )
    return FetchedPage(url, headers, body) if sound else None


def is_sound(row: Row[Any]) -> bool:
    """Whether a row of FETCHED_PAGES can be read."""
    return read_page(row.url, row) is not None


def _storable(text: str) -> str:
    """PostgreSQL keeps no NUL, and neither database half a pair of surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
