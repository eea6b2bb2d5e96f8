"""What was put on the site and what is held back: written texts with their former content, and experiments."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, get_args

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    Row,
    String,
    Table,
    Text,
    delete,
    func,
    select,
    update,
)

from internal_linker.model.applied_links import PageWrite, WriteStatus, content_hash
from internal_linker.model.experiments import DrawnTarget
from internal_linker.store.engine import (
    UNREADABLE,
    fetch,
    key_text,
    readable,
    transact,
    unusable,
    upsert,
)
from internal_linker.store.schema import LASTING, METADATA, Moment, Waste

APPLIED_LINKS = Table(
    "applied_links",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("application", String(40), primary_key=True),
    # Orders the writes of a site, whatever the computers' clocks say.
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("page", Text, nullable=False),
    Column("page_url", Text, nullable=False),
    Column("home", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("links", Text, nullable=False),  # JSON: a list of ids
    Column("former", LargeBinary, nullable=False),  # compressed by zlib
    Column("hash_before", String(32), nullable=False),
    Column("hash_after", String(32), nullable=False),
    Column("who", Text, nullable=False),
    Column("status", String(10), nullable=False),
    Column("written_at", Moment, nullable=False),
    info={LASTING: True},
)
_STATUSES = frozenset(get_args(WriteStatus))
# Bytes to which a text may decompress; larger texts are never written.
_MOST_BYTES = 50_000_000
# All but the former texts, which are only read one by one.
_LISTED = [column for column in APPLIED_LINKS.c if column.name != "former"]


class AppliedLinks:
    """The writes of a site in a database, which a team's sites may share."""

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def writes(self, *, application: str = "", page: str = "") -> Sequence[PageWrite]:
        """Return the writes, the oldest first: all, or only those of one `apply` or of one page (its key)."""
        some: list[ColumnElement[bool]] = [APPLIED_LINKS.c.site == self._site]
        some += [APPLIED_LINKS.c.application == application] if application else []
        some += [APPLIED_LINKS.c.page == page] if page else []
        wanted = select(*_LISTED).where(*some)
        wanted = wanted.order_by(APPLIED_LINKS.c.number, APPLIED_LINKS.c.application)
        return [*readable(self._engine, APPLIED_LINKS, fetch(self._engine, APPLIED_LINKS, wanted), _write)]

    def version(self) -> Sequence[tuple[str, int, int]]:
        """Return what changes whenever a write does: of each status, how many there are and the last one's number.

        Reading it takes far less than reading all writes. A status is never taken again, so no version comes back.
        """
        some = APPLIED_LINKS.c
        wanted = select(some.status, func.count().label("writes"), func.max(some.number).label("last")).where(
            some.site == self._site
        )
        wanted = wanted.group_by(some.status).order_by(some.status)
        rows = fetch(self._engine, APPLIED_LINKS, wanted)
        return [(str(row.status), row.writes, row.last) for row in rows]

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
        wanted = select(APPLIED_LINKS).where(*self._is(write))
        try:
            (row,) = fetch(self._engine, APPLIED_LINKS, wanted)
            return _former(row)
        except UNREADABLE:
            raise unusable(self._engine, f"the former text of {write.page_url} is damaged") from None

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


def read_write(row: Row[Any]) -> PageWrite:
    """Return the write of a row of APPLIED_LINKS, whose former text must be readable, too."""
    _former(row)
    return _write(row)


def _write(row: Row[Any]) -> PageWrite:
    links = json.loads(row.links)
    if row.status not in _STATUSES or not isinstance(links, list):
        raise ValueError("not a write")
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


def _former(row: Row[Any]) -> bytes:
    unpacking = zlib.decompressobj()
    former = unpacking.decompress(row.former, _MOST_BYTES)
    if not unpacking.eof or content_hash(former) != row.hash_before:
        raise ValueError("another text")
    return former


def _storable(text: str) -> str:
    """Escape what a path can hold and a database rejects: NUL, and the lone surrogates of undecodable bytes."""
    return text.replace("\0", "").encode("utf-8", "backslashreplace").decode()


DRAWN_TARGETS = Table(
    "drawn_targets",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("experiment", String(40), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("target", Text, nullable=False),
    Column("links", Integer, nullable=False),
    Column("held", Integer, nullable=False),
    Column("first_day", String(10), nullable=False),
    Column("until_day", String(10), nullable=False),
    Column("drawn_at", Moment, nullable=False),
    info={LASTING: True},
)


class Experiments:
    """The experiments of a site in a database, which a team's sites may share."""

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def drawn(self) -> Sequence[DrawnTarget]:
        """Return all targets that were ever drawn, the earliest experiment first."""
        at = DRAWN_TARGETS.c
        wanted = (
            select(DRAWN_TARGETS)
            .where(at.site == self._site)
            .order_by(at.first_day, at.experiment, at.number)
        )
        return [
            *readable(self._engine, DRAWN_TARGETS, fetch(self._engine, DRAWN_TARGETS, wanted), read_drawn)
        ]

    def put(self, drawn: Sequence[DrawnTarget]) -> None:
        """Store the targets of one experiment; committed when this returns."""
        now = datetime.now(UTC)
        rows = [
            {
                "site": self._site,
                "experiment": one.experiment,
                "number": number,
                "target": one.target,
                "links": one.links,
                "held": int(one.held),
                "first_day": one.first.isoformat(),
                "until_day": one.until.isoformat(),
                "drawn_at": now,
            }
            for number, one in enumerate(drawn)
        ]
        transact(self._engine, lambda connection: upsert(connection, DRAWN_TARGETS, rows))

    def release(self, today: date) -> None:
        """End all experiments today: the links that they held back may go live."""
        at, day = DRAWN_TARGETS.c, today.isoformat()
        running = (at.site == self._site) & (at.until_day > day)

        def end(connection: Connection) -> None:
            connection.execute(update(DRAWN_TARGETS).where(running).values(until_day=day))

        transact(self._engine, end)


def read_drawn(row: Row[Any]) -> DrawnTarget:
    """Return the target of a row of DRAWN_TARGETS."""
    return DrawnTarget(
        experiment=row.experiment,
        target=row.target,
        links=row.links,
        held=bool(row.held),
        first=date.fromisoformat(row.first_day),
        until=date.fromisoformat(row.until_day),
    )
