"""Proposed links by source, each with its status and what was known of it when it was proposed."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from math import isnan
from typing import Any

from sqlalchemy import Column, Connection, Engine, Row, Select, String, Table, Text, func, select

from internal_linker.edges import COPIES, Anchor, Cells, Edge, Status, source_id
from internal_linker.sequences import batched
from internal_linker.stores.database import (
    KEYS_A_QUERY,
    METADATA,
    Moment,
    key_text,
    lacks,
    transact,
    upsert,
)

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
)
_COLUMNS = ("status", "verdict", "kind", "last_run")
# What a version of the program doesn't know it leaves out, what is missing has its default.
_DEFAULTS = {one.name: one.default for one in fields(Edge) if one.name not in _COLUMNS}


class EdgeStore:
    """`ports.EdgeStore` in a database.

    Args:
        engine: from `open_database`.
        site: whose edges; a team's sites share a database.
    """

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def of_sources(self, sources: Iterable[str]) -> Mapping[str, Sequence[Edge]]:
        """All edges of these sources (normal forms or queries), by source."""
        wanted = {source_id(source): source for source in sources}
        found: dict[str, list[Edge]] = {}
        for some in batched(wanted, KEYS_A_QUERY):
            for edge in self._read(self._all.where(EDGES.c.source.in_(some))):
                found.setdefault(edge.source, []).append(edge)
        return found

    def by_id(self, ids: Iterable[str]) -> Mapping[str, Edge]:
        """The edges of these ids; unknown ones are left out."""
        found: dict[str, Edge] = {}
        for some in batched(ids, KEYS_A_QUERY):
            pairs = self._all.where(EDGES.c.source.in_({one[:10] for one in some}), EDGES.c.id.in_(some))
            found |= {edge.id: edge for edge in self._read(pairs)}
        return found

    def each(self, *statuses: Status, judged: bool = False) -> Iterator[Edge]:
        """The edges of the site, source by source; of these statuses, if any are named; `judged`: with a verdict.

        A source's edges are read together, so that they may be changed meanwhile.
        """
        wanted = select(EDGES.c.source).where(EDGES.c.site == self._site)
        wanted = wanted.where(EDGES.c.status.in_(statuses)) if statuses else wanted
        wanted = wanted.where(EDGES.c.verdict != "") if judged else wanted
        wanted = wanted.distinct().order_by(EDGES.c.source)
        for some in batched(self._rows(wanted), KEYS_A_QUERY):
            for edge in self._read(self._all.where(EDGES.c.source.in_([row.source for row in some]))):
                if (not statuses or edge.status in statuses) and (edge.verdict or not judged):
                    yield edge

    def put(self, edges: Sequence[Edge]) -> None:
        """Keep edges, new ones and changed ones; committed when this returns."""
        now = datetime.now(UTC)
        rows = [
            {"site": self._site, "source": (key := edge.id)[:10], "id": key, "updated_at": now}
            | {name: getattr(edge, name) for name in _COLUMNS}
            | {"facts": _text(edge)}
            for edge in edges
        ]
        transact(self._engine, lambda connection: upsert(connection, EDGES, rows))

    def counts(self) -> Mapping[Status, int]:
        """How many links of each status there are; pairs of nearly the same text are none."""
        some = select(EDGES.c.status, func.count().label("edges")).where(EDGES.c.site == self._site)
        some = some.where(EDGES.c.kind.not_in(COPIES))
        return {row.status: row.edges for row in self._rows(some.group_by(EDGES.c.status))}

    @property
    def _all(self) -> Select[Any]:
        return select(EDGES).where(EDGES.c.site == self._site).order_by(EDGES.c.source, EDGES.c.id)

    def _read(self, wanted: Select[Any]) -> list[Edge]:
        return [_edge(row) for row in self._rows(wanted)]

    def _rows(self, wanted: Select[Any]) -> list[Row[Any]]:
        def read(connection: Connection) -> list[Row[Any]]:
            return list(connection.execute(wanted))

        return [] if lacks(self._engine, EDGES) else transact(self._engine, read)


def _text(edge: Edge) -> str:
    facts = {name: getattr(edge, name) for name in _DEFAULTS}
    told = {name: value for name, value in facts.items() if value != _DEFAULTS[name] and not _none(value)}
    if edge.anchors:
        told["anchors"] = [
            [one.text, one.sentence, one.start, one.verbatim, one.asked] for one in edge.anchors
        ]
    if edge.cells != Cells():
        told["cells"] = [edge.cells.status, edge.cells.anchor, edge.cells.notes]
    # In ASCII: PostgreSQL keeps no NUL, and neither database half a pair of surrogates.
    return json.dumps(told, separators=(",", ":"))


def _none(value: object) -> bool:
    return isinstance(value, float) and isnan(value)


def _edge(row: Row[Any]) -> Edge:
    facts = {name: value for name, value in json.loads(row.facts).items() if name in _DEFAULTS}
    facts["anchors"] = tuple(Anchor(*one) for one in facts.get("anchors", ()))
    facts["formerly"] = tuple(facts.get("formerly", ()))
    facts["cells"] = Cells(*facts.get("cells", ()))
    return Edge(**facts, **{name: getattr(row, name) for name in _COLUMNS})
