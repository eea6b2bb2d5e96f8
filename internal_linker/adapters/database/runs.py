"""The store of runs: facts about the last runs of each site, and their links and near-duplicates, compressed."""

import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    Row,
    Select,
    String,
    Table,
    Text,
    delete,
    exists,
    func,
    select,
)

from internal_linker.adapters.database.engine import key_text, lacks, transact, unusable, upsert
from internal_linker.adapters.database.schema import METADATA, Moment, Waste
from internal_linker.core.records import Duplicate
from internal_linker.core.runs import (
    Version,
    VersionRow,
    packed,
    packed_duplicate,
    unpacked,
    unpacked_duplicate,
)
from internal_linker.core.sequences import batched

RUNS = Table(
    "runs",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("run", String(40), primary_key=True),
    Column("facts", Text, nullable=False),
    Column("ended_at", Moment, nullable=False),
)
RUN_LINKS = Table(
    "run_links",
    METADATA,
    Column("site", String(200), primary_key=True),
    Column("run", String(40), primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
    Column("written_at", Moment, nullable=False),
)
# Runs to keep: half a year of weekly ones, at 20 bytes a link.
KEPT = 26
# Rows per part: 1 MB of text, 100 KB compressed.
_ROWS = 1000


@dataclass(frozen=True, slots=True)
class _Part:
    """Some rows of a run; the first part also has the near-duplicates, if the run looked for them."""

    rows: Sequence[VersionRow]
    duplicates: Sequence[Duplicate] | None = None


class RunStore:
    """`ports.RunStore` in a database.

    Args:
        engine: from `open_database`.
        site: the site of the runs; a team's sites share a database.
    """

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def versions(self) -> Sequence[Version]:
        """Return the stored runs, the oldest first, without damaged rows."""
        wanted = select(RUNS.c.facts).where(RUNS.c.site == self._site).order_by(RUNS.c.ended_at, RUNS.c.run)

        def read(connection: Connection) -> list[Version]:
            return [*_versions(row.facts for row in connection.execute(wanted))]

        return [] if lacks(self._engine, RUNS) else transact(self._engine, read)

    def rows(self, run: str) -> Iterator[VersionRow]:
        """Yield the links of a run that `versions` names, part by part.

        Raises:
            ConfigurationError: some of the links are damaged.
        """
        for part in itertools.count():
            if (found := self._part(run, part)) is None:
                return
            yield from found.rows

    def duplicates(self) -> Sequence[Duplicate] | None:
        """Return the near-duplicates that the newest run found; None if it did not look for them.

        Raises:
            ConfigurationError: the run is damaged.
        """
        versions = self.versions()
        found = self._part(versions[-1].run, 0) if versions else None
        return found.duplicates if found else None

    def put(
        self, version: Version, rows: Iterable[VersionRow], duplicates: Iterable[Duplicate] | None = None
    ) -> None:
        """Store a run, and drop the oldest ones beyond `KEPT`; it appears once all of it is stored.

        Args:
            version: what the run was like.
            rows: its links.
            duplicates: the near-duplicates that it knows of; None: it knows nothing of them.
        """
        now = datetime.now(UTC)
        transact(self._engine, partial(self._drop, run=version.run))
        batches = batched(rows, _ROWS)
        for part, some in enumerate(itertools.chain([next(batches, ())], batches)):
            stored: Any = [packed(row) for row in some]
            if part == 0 and duplicates is not None:
                stored = {"rows": stored, "duplicates": [packed_duplicate(pair) for pair in duplicates]}
            content = zlib.compress(json.dumps(stored).encode())
            row = {"site": self._site, "run": version.run, "part": part, "content": content}
            self._upsert(RUN_LINKS, row | {"written_at": now})
        facts = json.dumps(asdict(version))
        self._upsert(RUNS, {"site": self._site, "run": version.run, "facts": facts, "ended_at": now})
        for old in self.versions()[:-KEPT]:
            transact(self._engine, partial(self._drop, run=old.run))

    def _part(self, run: str, part: int) -> _Part | None:
        wanted = select(RUN_LINKS.c.content).where(
            RUN_LINKS.c.site == self._site, RUN_LINKS.c.run == run, RUN_LINKS.c.part == part
        )
        found = transact(self._engine, partial(_first, wanted=wanted))
        if found is None:
            return None
        if (rows := _unpacked(found.content)) is None:
            raise unusable(self._engine, f"the links of run {run} are damaged")
        return rows

    def _upsert(self, table: Table, row: dict[str, object]) -> None:
        transact(self._engine, partial(upsert, table=table, rows=[row]))

    def _drop(self, connection: Connection, run: str) -> None:
        for table in (RUNS, RUN_LINKS):
            connection.execute(delete(table).where(table.c.site == self._site, table.c.run == run))


def waste(before: datetime) -> list[Waste]:
    """Return the links from before then of runs that were killed while they were being stored."""
    links = RUN_LINKS.c
    whole = exists().where(RUNS.c.site == links.site, RUNS.c.run == links.run)
    return [Waste(RUN_LINKS, ~whole & (links.written_at < before), func.length(links.content))]


def is_sound(row: Row[Any]) -> bool:
    """Return whether a row of RUN_LINKS can be read."""
    return _unpacked(row.content) is not None


def is_sound_run(row: Row[Any]) -> bool:
    """Return whether a row of RUNS can be read."""
    return any(_versions([row.facts]))


def _versions(texts: Iterable[str]) -> Iterator[Version]:
    """Yield the runs that can be read."""
    for text in texts:
        with suppress(TypeError, ValueError, RecursionError):
            yield Version(**json.loads(text))


def _unpacked(content: bytes) -> _Part | None:
    """Read a part from its JSON: a list of rows, or an object of rows and near-duplicates; None if it is damaged."""
    try:
        stored = json.loads(zlib.decompress(content))
        if isinstance(stored, list):
            return _Part([*map(unpacked, stored)])
        return _Part([*map(unpacked, stored["rows"])], [*map(unpacked_duplicate, stored["duplicates"])])
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError, zlib.error):
        return None


def _first(connection: Connection, wanted: Select[Any]) -> Row[Any] | None:
    return connection.execute(wanted).one_or_none()
