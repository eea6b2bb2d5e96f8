"""The store of applied links: each text that was written, with its former content, so that it can be taken back."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import Column, ColumnElement, Connection, Engine, Row, Table, delete, func, select, update

from internal_linker.adapters.database.engine import key_text, lacks, note_damage, transact, unusable, upsert
from internal_linker.adapters.database.schema import (
    METADATA,
    CheckedBytes,
    CheckedInteger,
    CheckedString,
    CheckedText,
    Moment,
    Waste,
)
from internal_linker.core.applied_links import PageWrite, WriteStatus, content_hash

APPLIED_LINKS = Table(
    "applied_links",
    METADATA,
    Column("site", CheckedString(200), primary_key=True),
    Column("application", CheckedString(40), primary_key=True),
    # Orders the writes of a site, whatever the computers' clocks say.
    Column("number", CheckedInteger, primary_key=True, autoincrement=False),
    Column("page", CheckedText, nullable=False),
    Column("page_url", CheckedText, nullable=False),
    Column("home", CheckedText, nullable=False),
    Column("place", CheckedText, nullable=False),
    Column("links", CheckedText, nullable=False),  # JSON: a list of ids
    Column("former", CheckedBytes, nullable=False),  # compressed by zlib
    Column("hash_before", CheckedString(32), nullable=False),
    Column("hash_after", CheckedString(32), nullable=False),
    Column("who", CheckedText, nullable=False),
    Column("status", CheckedString(10), nullable=False),
    Column("written_at", Moment, nullable=False),
)
_STATUSES = frozenset(get_args(WriteStatus))
# Bytes to which a text may decompress; larger texts are never written.
_MOST_BYTES = 50_000_000
# All but the former texts, which are only read one by one.
_LISTED = [column for column in APPLIED_LINKS.c if column.name != "former"]


class AppliedLinks:
    """The writes of a site in a database; reading skips damaged rows and counts them.

    Args:
        engine: from `open_database`.
        site: the site of the writes; a team's sites share a database.
    """

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def writes(self, *, application: str = "", page: str = "") -> Sequence[PageWrite]:
        """Return the writes, the oldest first.

        Args:
            application: only those of one `apply`; "": of all.
            page: only those of one page, by its key; "": of all.
        """
        if lacks(self._engine, APPLIED_LINKS):
            return []
        some: list[ColumnElement[bool]] = [APPLIED_LINKS.c.site == self._site]
        some += [APPLIED_LINKS.c.application == application] if application else []
        some += [APPLIED_LINKS.c.page == page] if page else []
        wanted = select(*_LISTED).where(*some)
        wanted = wanted.order_by(APPLIED_LINKS.c.number, APPLIED_LINKS.c.application)
        rows = transact(self._engine, lambda connection: connection.execute(wanted).all())
        found = [*map(read_write, rows)]
        note_damage(self._engine, APPLIED_LINKS, found.count(None))
        return [one for one in found if one is not None]

    def version(self) -> Sequence[tuple[str, int, int]]:
        """Return what changes whenever a write does: of each status, how many there are and the last one's number.

        Reading it takes far less than reading all writes. A status is never taken again, so no version comes back.
        """
        if lacks(self._engine, APPLIED_LINKS):
            return ()
        some = APPLIED_LINKS.c
        wanted = select(some.status, func.count(), func.max(some.number)).where(some.site == self._site)
        wanted = wanted.group_by(some.status).order_by(some.status)
        rows = transact(self._engine, lambda connection: connection.execute(wanted).all())
        return tuple((str(status), count, number) for status, count, number in rows)

    def begin(self, writes: Sequence[tuple[PageWrite, bytes]]) -> list[PageWrite]:
        """Store writes that are about to happen, each with the former text; return them with their numbers.

        They are committed when this returns, so that a process that is killed later loses no former text.
        """
        former = [zlib.compress(text) for _, text in writes]

        def add(connection: Connection) -> list[PageWrite]:
            of_site = APPLIED_LINKS.c.site == self._site
            last = connection.execute(select(func.max(APPLIED_LINKS.c.number)).where(of_site)).scalar() or 0
            numbered = [replace(write, number=last + at) for at, (write, _) in enumerate(writes, 1)]
            rows = [
                {**self._row(write), "former": text} for write, text in zip(numbered, former, strict=True)
            ]
            upsert(connection, APPLIED_LINKS, rows)
            return numbered

        return transact(self._engine, add)

    def mark(self, writes: Sequence[PageWrite], status: WriteStatus) -> None:
        """Store what became of writes."""

        def change(connection: Connection) -> None:
            for write in writes:
                connection.execute(update(APPLIED_LINKS).where(*self._is(write)).values(status=status))

        if writes:
            transact(self._engine, change)

    def forget(self, writes: Sequence[PageWrite]) -> None:
        """Remove writes that never happened."""

        def remove(connection: Connection) -> None:
            for write in writes:
                connection.execute(delete(APPLIED_LINKS).where(*self._is(write)))

        if writes:
            transact(self._engine, remove)

    def former(self, write: PageWrite) -> bytes:
        """Return the text as it was before a write, byte by byte.

        Raises:
            ConfigurationError: the row is damaged.
        """
        wanted = select(APPLIED_LINKS.c.former).where(*self._is(write))
        content = transact(self._engine, lambda connection: connection.execute(wanted).scalar())
        if (former := _unpacked(content, write.hash_before)) is None:
            raise unusable(self._engine, f"the former text of {write.page_url} is damaged")
        return former

    def _is(self, write: PageWrite) -> list[ColumnElement[bool]]:
        some = APPLIED_LINKS.c
        return [
            some.site == self._site,
            some.application == write.application,
            some.number == write.number,
        ]

    def _row(self, write: PageWrite) -> dict[str, Any]:
        texts = {
            name: _storable(getattr(write, name)) for name in ("page", "page_url", "home", "place", "status")
        }
        return {
            **texts,
            "site": self._site,
            "application": write.application,
            "number": write.number,
            "links": json.dumps(list(write.links)),
            "hash_before": write.hash_before,
            "hash_after": write.hash_after,
            "who": _storable(write.by),
            "written_at": write.at,
        }


def waste(before: datetime) -> list[Waste]:
    """Return the writes from before then that were undone: what they replaced is in its place again."""
    some = APPLIED_LINKS.c
    rows = (some.status == "undone") & (some.written_at < before)
    return [Waste(APPLIED_LINKS, rows, func.length(some.former))]


def is_sound(row: Row[Any]) -> bool:
    """Return whether a row of APPLIED_LINKS can be read, with its former text."""
    write = read_write(row)
    return write is not None and _unpacked(row.former, write.hash_before) is not None


def read_write(row: Row[Any]) -> PageWrite | None:
    """Return the write of a row; None if it is damaged."""
    if any(getattr(row, column.name) is None for column in _LISTED) or row.status not in _STATUSES:
        return None
    try:
        links = json.loads(row.links)
    except (ValueError, RecursionError):
        return None
    if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
        return None
    return PageWrite(
        application=row.application,
        number=row.number,
        page=row.page,
        page_url=row.page_url,
        home=row.home,
        place=row.place,
        links=tuple(links),
        hash_before=row.hash_before,
        hash_after=row.hash_after,
        by=row.who,
        at=row.written_at,
        status=row.status,
    )


def _unpacked(content: Any, expected: str) -> bytes | None:
    """Return the bytes of a stored text; None if it is not the one with this hash."""
    unpacking = zlib.decompressobj()
    try:
        former = unpacking.decompress(content, _MOST_BYTES)
    except (TypeError, zlib.error):
        return None
    return former if unpacking.eof and content_hash(former) == expected else None


def _storable(text: str) -> str:
    """Escape what a path can hold and a database rejects: NUL, and the lone surrogates of undecodable bytes."""
    return text.replace("\0", "").encode("utf-8", "backslashreplace").decode()
