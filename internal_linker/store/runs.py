"""The store of runs: facts about the last runs of each site, and their links and near-duplicates, compressed."""

import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    Row,
    String,
    Table,
    Text,
    delete,
    exists,
    func,
    select,
)

from internal_linker.model.records import Duplicate
from internal_linker.model.runs import (
    StoredList,
    Version,
    VersionRow,
    pack_duplicate,
    pack_row,
    unpack_duplicate,
    unpack_list,
    unpack_row,
)
from internal_linker.model.sequences import batched
from internal_linker.store.engine import fetch, key_text, readable, transact, upsert
from internal_linker.store.schema import LASTING, METADATA, Moment, Waste

T = TypeVar("T")
RUNS = Table(
    "runs",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("run", String(40), primary_key=True),
    Column("facts", Text, nullable=False),
    # Orders the runs of a site, whatever the computers' clocks say.
    Column("sequence", Integer, nullable=False),
    Column("ended_at", Moment, nullable=False),
    info={LASTING: True},
)
RUN_LINKS = Table(
    "run_links",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("run", String(40), primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("written_at", Moment, nullable=False),
    info={LASTING: True},
)
# Runs to keep: half a year of weekly ones, at 20 bytes a link.
KEPT = 26
# Rows per part: 1 MB of text, 100 KB compressed.
_ROWS = 1000


class RunStore:
    """The links of a site's earlier runs in a database, which a team's sites may share."""

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def versions(self) -> Sequence[Version]:
        """Return the stored runs, the oldest first."""
        wanted = select(RUNS).where(RUNS.c.site == self._site).order_by(RUNS.c.sequence, RUNS.c.run)
        return [*readable(self._engine, RUNS, fetch(self._engine, RUNS, wanted), read_version)]

    def rows(self, run: str) -> Iterator[VersionRow]:
        """Yield the links of a run that `versions` names, part by part."""
        for rows, _ in self._parts(run, read_part):
            yield from rows

    def lists(self, run: str) -> Iterator[StoredList]:
        """Yield the lists of a run that `versions` names."""
        for some in self._parts(run, _lists):
            yield from some

    def duplicates(self) -> Sequence[Duplicate] | None:
        """Return the near-duplicates that the newest run found; None if it did not look."""
        versions = self.versions()
        first = next(self._parts(versions[-1].run, read_part), None) if versions else None
        return first[1] if first else None

    def put(
        self,
        version: Version,
        rows: Iterable[VersionRow],
        duplicates: Iterable[Duplicate] | None = None,
    ) -> None:
        """Store a run, and drop the oldest ones beyond `KEPT`; it appears once all of it is stored.

        With None as `duplicates`, it knows nothing of near-duplicates.
        """
        now, of_run = datetime.now(UTC), {"site": self._site, "run": version.run}
        transact(self._engine, partial(self._drop, run=version.run))
        batches = batched(rows, _ROWS)
        for part, some in enumerate(itertools.chain([next(batches, ())], batches)):
            stored: Any = [pack_row(row) for row in some]
            if part == 0 and duplicates is not None:
                stored = {"rows": stored, "duplicates": [pack_duplicate(pair) for pair in duplicates]}
            content = zlib.compress(json.dumps(stored).encode())
            row = {**of_run, "part": part, "content": content, "written_at": now}
            transact(self._engine, partial(upsert, table=RUN_LINKS, rows=[row]))
        row = {**of_run, "facts": json.dumps(asdict(version)), "ended_at": now}
        transact(self._engine, partial(self._append, row=row))
        for old in self.versions()[:-KEPT]:
            transact(self._engine, partial(self._drop, run=old.run))

    def _parts(self, run: str, read: Callable[[Row[Any]], T]) -> Iterator[T]:
        """Yield what `read` makes of the parts of a run, one of which is in memory at a time."""
        for number in itertools.count():
            at = RUN_LINKS.c
            wanted = select(RUN_LINKS).where(at.site == self._site, at.run == run, at.part == number)
            rows = fetch(self._engine, RUN_LINKS, wanted)
            if not rows:
                return
            yield from readable(self._engine, RUN_LINKS, rows, read)

    def _append(self, connection: Connection, row: Mapping[str, object]) -> None:
        last = connection.scalar(select(func.max(RUNS.c.sequence)).where(RUNS.c.site == self._site))
        upsert(connection, RUNS, [{**row, "sequence": (last or 0) + 1}])

    def _drop(self, connection: Connection, run: str) -> None:
        for table in (RUNS, RUN_LINKS):
            connection.execute(delete(table).where(table.c.site == self._site, table.c.run == run))


def waste(before: datetime) -> list[Waste]:
    """Return the links from before then of runs that were killed while they were being stored."""
    links = RUN_LINKS.c
    whole = exists().where(RUNS.c.site == links.site, RUNS.c.run == links.run)
    return [Waste(RUN_LINKS, ~whole & (links.written_at < before), func.length(links.content))]


def read_version(row: Row[Any]) -> Version:
    """Return the run of a row of RUNS."""
    version = Version(**json.loads(row.facts))
    if version.run != row.run:
        raise ValueError("another run")
    return version


def read_part(row: Row[Any]) -> tuple[list[VersionRow], list[Duplicate] | None]:
    """Return the rows of a row of RUN_LINKS, and the near-duplicates if it has them: the first part of a run may."""
    stored = json.loads(zlib.decompress(row.content))
    if isinstance(stored, list):
        return [*map(unpack_row, stored)], None
    return [*map(unpack_row, stored["rows"])], [*map(unpack_duplicate, stored["duplicates"])]


def _lists(row: Row[Any]) -> list[StoredList]:
    stored = json.loads(zlib.decompress(row.content))
    return [*map(unpack_list, stored if isinstance(stored, list) else stored["rows"])]
