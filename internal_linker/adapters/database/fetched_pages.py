"""The page cache: fetched pages by URL with what is needed for conditional requests."""

import json
import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Row,
    Table,
    and_,
    func,
    or_,
    select,
)

from internal_linker.adapters.database.engine import key_text, lacks, transact, upsert
from internal_linker.adapters.database.schema import (
    METADATA,
    CheckedBytes,
    CheckedString,
    CheckedText,
    Moment,
    Waste,
)
from internal_linker.core.records import FetchedPage

FETCHED_PAGES = Table(
    "fetched_pages",
    METADATA,
    Column("url", CheckedString(2000), primary_key=True),
    Column("headers", CheckedText, nullable=False),
    # For conditional requests; a page that has neither can only be fetched again in full.
    Column("etag", CheckedText, nullable=False),
    Column("last_modified", CheckedText, nullable=False),
    Column("body", CheckedBytes, nullable=False),  # compressed by zlib
    Column("fetched_at", Moment, nullable=False),
)
_LONGEST_URL = 2000
# Bytes to which a body may decompress; larger bodies are never stored.
_MOST_BYTES = 50_000_000


class StoredPages:
    """`fetched.PageCache` in a database.

    Args:
        engine: from `open_database`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, url: str) -> FetchedPage | None:
        """Return the page as last fetched; None if it is missing or damaged."""
        wanted = select(FETCHED_PAGES).where(FETCHED_PAGES.c.url == key_text(url, _LONGEST_URL))

        def read(connection: Connection) -> Row[Any] | None:
            return connection.execute(wanted).one_or_none()

        row = None if lacks(self._engine, FETCHED_PAGES) else transact(self._engine, read)
        return read_page(url, row) if row is not None else None

    def put(self, page: FetchedPage) -> None:
        """Insert or replace a page; it is committed when this returns."""
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
    """Return the pages that no import has used since then, and those that conditional requests can't save."""
    table = FETCHED_PAGES.c
    rows = or_(table.fetched_at < before, and_(table.etag == "", table.last_modified == ""))
    return [Waste(FETCHED_PAGES, rows, func.length(table.body))]


def read_page(url: str, row: Row[Any]) -> FetchedPage | None:
    """Return the page of a row; None if it is damaged."""
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
    """Return whether a row of FETCHED_PAGES can be read."""
    return read_page(row.url, row) is not None


def _storable(text: str) -> str:
    """Drop NUL, which PostgreSQL rejects, and replace lone surrogates, which both databases reject."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
