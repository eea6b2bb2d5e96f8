"""The store of runs: facts about the last runs of each site, and their links and near-duplicates, compressed."""

import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Row,
    Select,
    Table,
    delete,
    exists,
    func,
    select,
    update,
)

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
from internal_linker.core.records import Duplicate
from internal_linker.core.runs import (
    StoredList,
    Version,
    VersionRow,
    packed,
    packed_duplicate,
    unpacked,
    unpacked_duplicate,
    unpacked_list,
)
from internal_linker.core.sequences import batched

RUNS = Table(
    "runs",
    METADATA,
    Column("site", CheckedString(200), primary_key=True),
    Column("run", CheckedString(40), primary_key=True),
    Column("facts", CheckedText, nullable=False),
    # Orders the runs of a site, whatever the computers' clocks say.
    Column("sequence", CheckedInteger, nullable=False),
    Column("ended_at", Moment, nullable=False),
)
RUN_LINKS = Table(
    "run_links",
    METADATA,
    Column("site", CheckedString(200), primary_key=True),
    Column("run", CheckedString(40), primary_key=True),
    Column("part", CheckedInteger, primary_key=True),
    Column("content", CheckedBytes, nullable=False),
    Column("written_at", Moment, nullable=False),
)
# Runs to keep: half a year of weekly ones, at 20 bytes a link.
KEPT = 26
# A run a minute for thousands of years: a greater number is damaged.
_MOST_RUNS = 2**32
_TYPES = {"run": str, "at": str, "what": str, "encoder": str, "rows": int, "links": int, "facts": dict}
# What reading a damaged part may raise.
_DAMAGE = (TypeError, ValueError, LookupError, AttributeError, RecursionError, zlib.error)
# Rows per part: 1 MB of text, 100 KB compressed.
_ROWS = 1000


@dataclass(frozen=True, slots=True)
class _Part:
    """Some rows of a run; the first part also has the near-duplicates, if the run looked for them, and `matched`."""

    rows: Sequence[VersionRow]
    duplicates: Sequence[Duplicate] | None = None
    matched: Mapping[str, Any] | None = None


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
        if lacks(self._engine, RUNS):
            return []
        wanted = select(RUNS).where(RUNS.c.site == self._site)
        rows = transact(self._engine, lambda connection: connection.execute(wanted).all())
        rows = sorted(rows, key=lambda row: (_sequence(row), row.run or ""))
        versions = [read_version(row) for row in rows]
        note_damage(self._engine, RUNS, versions.count(None))
        return [one for one in versions if one is not None]

    def rows(self, run: str, *, damaged: bool = False) -> Iterator[VersionRow]:
        """Yield the links of a run that `versions` names, part by part.

        Args:
            run: the run's id.
            damaged: leave out parts that are damaged, and count them.

        Raises:
            ConfigurationError: some of the links are damaged.
        """
        for part in itertools.count():
            content = self._content(run, part)
            if content is None:
                return
            if found := _unpacked(content.content):
                yield from found.rows
            elif damaged:
                note_damage(self._engine, RUN_LINKS)
            else:
                raise unusable(self._engine, f"the links of run {run} are damaged")

    def lists(self, run: str) -> Iterator[StoredList]:
        """Yield the lists of a run that `versions` names; leave out parts that are damaged, and count them."""
        for content in self._parts(run):
            try:
                stored = json.loads(zlib.decompress(content))
                found = [*map(unpacked_list, stored if isinstance(stored, list) else stored["rows"])]
            except _DAMAGE:
                note_damage(self._engine, RUN_LINKS)
            else:
                yield from found

    def duplicates(self) -> Sequence[Duplicate] | None:
        """Return the near-duplicates that the newest run found; None if it did not look, or they are damaged."""
        versions = self.versions()
        content = self._content(versions[-1].run, 0) if versions else None
        found = _unpacked(content.content) if content else None
        if content and found is None:
            note_damage(self._engine, RUN_LINKS)
        return found.duplicates if found else None

    def matched(self, run: str) -> tuple[Mapping[str, Any], Sequence[Duplicate]] | None:
        """Return what `put` got as `matched`, with the near-duplicates; None if there is nothing, or it is damaged."""
        content = self._content(run, 0)
        found = _unpacked(content.content) if content else None
        if found is None or found.matched is None or found.duplicates is None:
            return None
        return found.matched, found.duplicates

    def put(
        self,
        version: Version,
        rows: Iterable[VersionRow],
        duplicates: Iterable[Duplicate] | None = None,
        *,
        matched: Mapping[str, Any] | None = None,
    ) -> None:
        """Store a run, and drop the oldest ones beyond `KEPT`; it appears once all of it is stored.

        Args:
            version: what the run was like.
            rows: its links.
            duplicates: the near-duplicates that it knows of; None: it knows nothing of them.
            matched: what a run on the same input needs besides; None: such a run matches all pages again.
        """

        def parts() -> Iterator[bytes]:
            batches = batched(rows, _ROWS)
            for part, some in enumerate(itertools.chain([next(batches, ())], batches)):
                stored: Any = [packed(row) for row in some]
                if part == 0 and duplicates is not None:
                    stored = {"rows": stored, "duplicates": [packed_duplicate(pair) for pair in duplicates]}
                    stored |= {"matched": matched} if matched else {}
                yield zlib.compress(json.dumps(stored).encode())

        self._put(version, parts())

    def put_again(self, version: Version, before: str, matched: Mapping[str, Any]) -> None:
        """Store a run with the links and near-duplicates of the run `before`, whose parts `is_whole` has seen."""

        def parts() -> Iterator[bytes]:
            for part, content in enumerate(self._parts(before)):
                stored = json.loads(zlib.decompress(content)) if part == 0 else None
                yield zlib.compress(json.dumps(stored | {"matched": matched}).encode()) if stored else content

        self._put(version, parts())

    def is_whole(self, version: Version) -> bool:
        """Return whether all links of a run are stored and undamaged, by the checksums of their parts."""
        count = 0
        for content in self._parts(version.run):
            try:
                zlib.decompress(content)
            except (TypeError, zlib.error):
                return False
            count += 1
        return count == max(1, -(-version.rows // _ROWS))

    def _parts(self, run: str) -> Iterator[bytes]:
        for part in itertools.count():
            content = self._content(run, part)
            if content is None:
                return
            yield content.content

    def _put(self, version: Version, parts: Iterable[bytes]) -> None:
        now = datetime.now(UTC)
        transact(self._engine, partial(self._drop, run=version.run))
        for part, content in enumerate(parts):
            row = {"site": self._site, "run": version.run, "part": part, "content": content}
            self._upsert(RUN_LINKS, row | {"written_at": now})
        row = {"site": self._site, "run": version.run, "facts": json.dumps(asdict(version)), "ended_at": now}
        transact(self._engine, partial(self._append, row=row))
        for old in self.versions()[:-KEPT]:
            transact(self._engine, partial(self._drop, run=old.run))

    def _content(self, run: str, part: int) -> Row[Any] | None:
        wanted = select(RUN_LINKS.c.content).where(
            RUN_LINKS.c.site == self._site, RUN_LINKS.c.run == run, RUN_LINKS.c.part == part
        )
        return transact(self._engine, partial(_first, wanted=wanted))

    def _upsert(self, table: Table, row: dict[str, object]) -> None:
        transact(self._engine, partial(upsert, table=table, rows=[row]))

    def _append(self, connection: Connection, row: Mapping[str, object]) -> None:
        before = connection.execute(select(RUNS.c.sequence).where(RUNS.c.site == self._site))
        upsert(connection, RUNS, [{**row, "sequence": max(map(_sequence, before), default=0) + 1}])

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
    return read_version(row) is not None


def mend_sequence(connection: Connection) -> None:
    """Let runs whose number is damaged count as the oldest."""
    number = RUNS.c.sequence
    damaged = (number < 0) | (number > _MOST_RUNS)
    if connection.dialect.name == "sqlite":
        damaged |= func.typeof(number) != "integer"
    connection.execute(update(RUNS).where(damaged).values(sequence=0))


def read_version(row: Row[Any]) -> Version | None:
    """Return the run of a row; None if it is damaged."""
    try:
        version = Version(**json.loads(row.facts))
    except (TypeError, ValueError, RecursionError):
        return None
    sound = all(isinstance(getattr(version, name), kind) for name, kind in _TYPES.items())
    return version if sound and version.run == row.run else None


def _sequence(row: Row[Any]) -> int:
    """Return the place of a run among those of its site, from 1; 0 if it is damaged."""
    return row.sequence if row.sequence is not None and 0 < row.sequence < _MOST_RUNS else 0


def _unpacked(content: bytes) -> _Part | None:
    """Read a part from its JSON: a list of rows, or an object of rows and near-duplicates; None if it is damaged."""
    try:
        stored = json.loads(zlib.decompress(content))
        if isinstance(stored, list):
            return _Part([*map(unpacked, stored)])
        pairs = [*map(unpacked_duplicate, stored["duplicates"])]
        return _Part([*map(unpacked, stored["rows"])], pairs, stored.get("matched"))
    except _DAMAGE:
        return None


def _first(connection: Connection, wanted: Select[Any]) -> Row[Any] | None:
    return connection.execute(wanted).one_or_none()
