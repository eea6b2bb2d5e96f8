"""The link graph: proposed links by source, each with its status and the facts known when it was proposed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import compress
from math import isnan, nan
from operator import attrgetter, ne
from typing import Any, get_args

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Index,
    Row,
    Select,
    String,
    Table,
    Text,
    bindparam,
    func,
    literal_column,
    select,
    update,
)

from internal_linker.model.edges import COPIES, VERDICTS, Anchor, Cells, Edge, EdgeKind, Status, source_id
from internal_linker.model.evidence import Evidence
from internal_linker.model.sequences import batched
from internal_linker.store.engine import KEYS_A_QUERY, fetch, key_text, readable, transact, upsert
from internal_linker.store.schema import LASTING, METADATA, WHERE, Moment, Waste

EDGES = Table(
    "edges",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("source", String(10), primary_key=True),
    Column("id", String(20), primary_key=True),
    Column("status", String(10), nullable=False),
    Column("verdict", String(10), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("last_run", String(40), nullable=False),
    Column("facts", Text, nullable=False),
    Column("updated_at", Moment, nullable=False),
    info={LASTING: True},
)
# SQLite finds that an index serves a condition only if both are written with the same constant.
_JUDGED = EDGES.c.verdict != literal_column("''")
Index("edges_judged", EDGES.c.site, EDGES.c.source, info={WHERE: _JUDGED})
_COLUMNS = ("status", "verdict", "kind", "last_run")
# A version of the program leaves out facts that it doesn't know; missing ones have their defaults.
_DEFAULTS = {one.name: one.default for one in fields(Edge) if one.init and one.name not in _COLUMNS}
_VALUES = attrgetter(*_DEFAULTS)
_STATUSES = frozenset(get_args(Status))
_VERDICTS, _KINDS = {"", *VERDICTS}, frozenset(get_args(EdgeKind))
_FLOATS = [name for name, default in _DEFAULTS.items() if isinstance(default, float)]
_JSON = json.JSONEncoder(separators=(",", ":"))


def _anchor(values: Sequence[Any]) -> Anchor:
    # Earlier versions knew less, and most anchors have no more than a quality.
    text, sentence, start, verbatim, asked = values[:5]
    rest: tuple[Any, ...] = *values[5:], *(None, "", "", None, False)[len(values) - 5 :]
    quality, wording, model, confidence, is_query = rest
    quality = nan if quality is None else quality
    return Anchor(text, sentence, start, verbatim, asked, quality, wording, model, confidence, is_query)


# JSON turns these into lists.
_READ: Mapping[str, Callable[[Any], Any]] = {
    "anchors": lambda all_: tuple(map(_anchor, all_)),
    "placed": _anchor,
    "formerly": tuple,
    "cells": lambda three: Cells(*three),
    "former_ids": tuple,
    "evidence": Evidence.unpack,
}


class EdgeStore:
    """A site's proposed links and their history in a database, which a team's sites may share.

    Without `writes`, for a trial, nothing is stored; without `recalls`, for a rehearsal, no source has links from
    earlier runs.
    """

    def __init__(self, engine: Engine, site: str, *, writes: bool = True, recalls: bool = True) -> None:
        self._engine, self._site = engine, key_text(site, 200)
        self._writes, self._recalls = writes, recalls
        # When stored edges were written: before `state` was first asked, and by this store.
        self._before: frozenset[datetime] | None = None
        self._times: set[datetime] = set()

    def rehearsing(self) -> "EdgeStore":
        """Return a store of the same decisions that has no links of earlier runs and stores nothing."""
        return EdgeStore(self._engine, self._site, writes=False, recalls=False)

    def of_sources(self, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        """Return all edges of these sources (normal forms or queries), by source."""
        wanted = {source_id(source): source for source in sources if self._recalls}
        found: dict[str, list[Edge]] = {}
        for some in batched(wanted, KEYS_A_QUERY):
            for edge in self._read(self._all.where(EDGES.c.source.in_(some))):
                found.setdefault(edge.source, []).append(edge)
        return found

    def by_id(self, ids: Iterable[str]) -> Mapping[str, Edge]:
        """Return the edges of these ids; unknown ids are left out."""
        found: dict[str, Edge] = {}
        for some in batched(ids, KEYS_A_QUERY):
            wanted = frozenset(some)
            # Only by source: given sources and ids, SQLite looks up every pair of the two lists.
            rows = self._rows(self._all.where(EDGES.c.source.in_({one[:10] for one in wanted})))
            found |= {edge.id: edge for edge in self._edges(row for row in rows if row.id in wanted)}
        return found

    def each(self, *statuses: Status, judged: bool = False, besides: str = "") -> Iterator[Edge]:
        """Yield the edges of the site, source by source; those received may be changed, as one query reads each source.

        Args:
            statuses: only edges with these statuses; none: all.
            judged: only edges that an editor decided.
            besides: only edges that this run did not propose; "": all.
        """
        some: list[ColumnElement[bool]] = [EDGES.c.status.in_(statuses)] if statuses else []
        some += [_JUDGED] if judged else []
        some += [EDGES.c.last_run != besides] if besides else []
        sources = select(EDGES.c.source).where(EDGES.c.site == self._site, *some)
        for rows in batched(self._rows(sources.distinct().order_by(EDGES.c.source)), KEYS_A_QUERY):
            yield from self._read(self._all.where(EDGES.c.source.in_([row.source for row in rows]), *some))

    def judged_since(self, ids: Iterable[str], since: datetime) -> frozenset[str]:
        """Return the ids of the edges from the same sources that have a decision and were stored after this time."""
        found = set[str]()
        for some in batched(dict.fromkeys(one[:10] for one in ids), KEYS_A_QUERY):
            near = (EDGES.c.site == self._site) & EDGES.c.source.in_(some) & _JUDGED
            found.update(
                row.id for row in self._rows(select(EDGES.c.id).where(near & (EDGES.c.updated_at > since)))
            )
        return frozenset(found)

    def put(self, edges: Sequence[Edge]) -> None:
        """Insert or replace edges; all is committed when this returns."""
        if not self._writes:
            return
        now = self._now()
        rows = [
            {
                "site": self._site,
                "source": edge.id[:10],
                "id": edge.id,
                "status": edge.status,
                "verdict": edge.verdict,
                "kind": edge.kind,
                "last_run": edge.last_run,
                "facts": _text(edge),
                "updated_at": now,
            }
            for edge in edges
        ]
        transact(self._engine, lambda connection: upsert(connection, EDGES, rows))

    def confirm(self, ids: Sequence[str], run: str) -> None:
        """Store that a run proposed these edges again, with nothing else changed; committed when this returns."""
        some = EDGES.c
        wanted = (some.site == self._site) & (some.source == bindparam("of")) & (some.id == bindparam("edge"))
        now = self._now()
        rows = [{"of": one[:10], "edge": one} for one in ids]

        def write(connection: Connection) -> None:
            connection.execute(update(EDGES).where(wanted).values(last_run=run, updated_at=now), rows)

        if rows and self._writes:
            transact(self._engine, write)

    def state(self) -> str:
        """Return a digest that any change of a stored edge changes: each has the time at which it was written.

        It is "" once somebody else has written edges since it was first asked for.
        """
        columns = [EDGES.c[name] for name in ("updated_at", *_COLUMNS)]
        size = func.sum(func.length(EDGES.c.facts))
        wanted = select(*columns, func.count(), size).where(EDGES.c.site == self._site).group_by(*columns)
        groups = [tuple(row) for row in self._rows(wanted)]
        times = frozenset(group[0] for group in groups)
        if self._before is None:
            self._before = times
        if not times <= self._before | self._times:
            return ""
        told = "\n".join(sorted(map(repr, groups)))
        return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def times(self) -> Mapping[datetime, int]:
        """Return when the stored edges were last written, with the count of those that were written then."""
        at = EDGES.c.updated_at
        wanted: Select[Any] = select(at, func.count().label("edges"))
        rows = self._rows(wanted.where(EDGES.c.site == self._site).group_by(at))
        return {row.updated_at: row.edges for row in rows}

    def written(self, times: Iterable[datetime]) -> Iterator[Edge]:
        """Yield the edges that were last written at one of these times."""
        for some in batched(times, KEYS_A_QUERY):
            yield from self._read(self._all.where(EDGES.c.updated_at.in_(some)))

    def _now(self) -> datetime:
        now = datetime.now(UTC)
        self._times.add(now)
        return now

    def counts(self) -> Mapping[Status, int]:
        """Count the links of each status; near-duplicate pairs are not links."""
        some = select(EDGES.c.status, func.count().label("edges")).where(EDGES.c.site == self._site)
        some = some.where(EDGES.c.kind.not_in(COPIES))
        rows = self._rows(some.group_by(EDGES.c.status))
        return {row.status: row.edges for row in rows if row.status in _STATUSES}

    @property
    def _all(self) -> Select[Any]:
        columns = (EDGES.c[name] for name in ("id", "facts", *_COLUMNS))
        return select(*columns).where(EDGES.c.site == self._site).order_by(EDGES.c.source, EDGES.c.id)

    def _read(self, wanted: Select[Any]) -> list[Edge]:
        return [*self._edges(self._rows(wanted))]

    def _edges(self, rows: Iterable[Row[Any]]) -> Iterator[Edge]:
        return readable(self._engine, EDGES, rows, read_edge)

    def _rows(self, wanted: Select[Any]) -> Sequence[Row[Any]]:
        return fetch(self._engine, EDGES, wanted)


def waste(before: datetime) -> list[Waste]:
    """Return the links withdrawn before then that no editor ever changed or annotated."""
    some = EDGES.c
    untouched = some.facts.not_like('%"notes":%') & some.facts.not_like('%"anchor":%') & (some.verdict == "")
    gone = (some.status == "withdrawn") & (some.updated_at < before)
    return [Waste(EDGES, gone & untouched, func.length(some.facts))]


def read_edge(row: Row[Any]) -> Edge:
    """Return the edge of a row of EDGES."""
    # A run reads all edges, so what this costs is multiplied.
    facts = json.loads(row.facts)
    if not facts.keys() <= _DEFAULTS.keys():
        facts = {name: value for name, value in facts.items() if name in _DEFAULTS}
    for name, read in _READ.items():
        if name in facts:
            facts[name] = read(facts[name])
    edge = Edge(**facts, status=row.status, verdict=row.verdict, kind=row.kind, last_run=row.last_run)
    if (
        edge.id != row.id
        or edge.status not in _STATUSES
        or edge.verdict not in _VERDICTS
        or edge.kind not in _KINDS
    ):
        raise ValueError("not an edge")
    return edge


def _text(edge: Edge) -> str:
    values = _VALUES(edge)
    known = dict(compress(zip(_DEFAULTS, values, strict=True), map(ne, values, _DEFAULTS.values())))
    for name in _FLOATS:
        # NaN differs from itself, too.
        if isnan(known.get(name, 0.0)):
            del known[name]
    if edge.anchors:
        known["anchors"] = [_packed(one) for one in edge.anchors]
    if "evidence" in known:
        known["evidence"] = edge.evidence.pack()
    if "placed" in known:
        known["placed"] = _packed(edge.placed)
    if edge.cells != Cells():
        known["cells"] = [edge.cells.status, edge.cells.anchor, edge.cells.notes]
    # As ASCII, because PostgreSQL rejects NUL and both databases reject lone surrogates.
    return _JSON.encode(known)


def _packed(anchor: Anchor) -> list[object]:
    quality = None if isnan(anchor.quality) else anchor.quality
    packed = [anchor.text, anchor.sentence, anchor.start, anchor.verbatim, anchor.asked, quality]
    more = [anchor.wording, anchor.model, anchor.confidence, anchor.is_query]
    return [*packed, *more] if anchor.wording or anchor.model or anchor.is_query else packed
