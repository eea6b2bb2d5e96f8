"""The embedding cache: vectors by model, dimensions, recipe and text hash, so that each text is encoded once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any

import numpy as np
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    Row,
    Table,
    func,
    not_,
    select,
    update,
)

from internal_linker.adapters.database.damage import damaged_time
from internal_linker.adapters.database.engine import (
    KEYS_A_QUERY,
    key_text,
    lacks,
    note_damage,
    transact,
    upsert,
)
from internal_linker.adapters.database.schema import (
    METADATA,
    CheckedBytes,
    CheckedInteger,
    CheckedString,
    Moment,
    Waste,
    latest_moment,
)
from internal_linker.core.arrays import Vectors
from internal_linker.core.ports import Encoder
from internal_linker.core.sequences import batched

EMBEDDINGS = Table(
    "embeddings",
    METADATA,
    Column("model", CheckedString(200), primary_key=True),
    Column("dimensions", CheckedInteger, primary_key=True),
    Column("recipe", CheckedString(100), primary_key=True),
    Column("text_hash", CheckedString(64), primary_key=True),
    Column("dtype", CheckedString(10), nullable=False),
    Column("vector", CheckedBytes, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("used_at", Moment),
)


_LONG_AGO = datetime.min.replace(tzinfo=UTC)
# Bytes per dimension.
_BYTES = {"float16": 2, "float32": 4}
# Days after which `used_at` is updated: weekly runs then write each row once a month.
_NOTED_DAYS = 30
# How many vectors to check for their length before checking all of them.
_SAMPLE = 300


class EmbeddingCache:
    """The vector cache in a database.

    Args:
        engine: from `open_database`.
        storage: "float16" or "float32", the dtype of new vectors; stored vectors keep theirs.
    """

    def __init__(self, engine: Engine, storage: str) -> None:
        self._engine, self.storage = engine, storage
        self._lengths: dict[tuple[str, int, str], int] = {}

    def get(self, encoder: Encoder, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the cached vectors by hash, (d,) float32 each; damaged ones are left out and counted."""
        if lacks(self._engine, EMBEDDINGS):
            return {}
        table = EMBEDDINGS.c
        columns = select(table.text_hash, table.dtype, table.vector)

        def read(connection: Connection) -> tuple[dict[str, Vectors], int]:
            found: dict[str, Vectors] = {}
            damaged = 0
            for first in range(0, len(hashes), KEYS_A_QUERY):
                query = columns.where(
                    table.model == _model(encoder),
                    table.dimensions == encoder.dimensions,
                    table.recipe == encoder.recipe,
                    table.text_hash.in_(hashes[first : first + KEYS_A_QUERY]),
                )
                for text_hash, dtype, content in connection.execute(query):
                    vector = read_vector(content, dtype)
                    if vector is None:
                        damaged += 1
                    else:
                        found[text_hash] = vector
            return found, damaged

        found, damaged = transact(self._engine, read)
        length = self._length(encoder, {*map(len, found.values())})
        sound = {key: vector for key, vector in found.items() if len(vector) == (length or len(vector))}
        note_damage(self._engine, EMBEDDINGS, damaged + len(found) - len(sound))
        return sound

    def put(self, encoder: Encoder, vectors: Mapping[str, Vectors]) -> None:
        """Insert or replace vectors; they are committed when this returns."""
        now = datetime.now(UTC)
        rows = [
            {
                "model": _model(encoder),
                "dimensions": encoder.dimensions,
                "recipe": encoder.recipe,
                "text_hash": text_hash,
                "dtype": self.storage,
                "vector": vector.astype(self.storage).tobytes(),
                "created_at": now,
                "used_at": now,
            }
            for text_hash, vector in vectors.items()
        ]
        transact(self._engine, lambda connection: upsert(connection, EMBEDDINGS, rows))

    def note_used(self, encoder: Encoder, hashes: Sequence[str]) -> None:
        """Record that the vectors of these hashes are in use today."""
        table, now = EMBEDDINGS.c, datetime.now(UTC)
        some = (
            update(EMBEDDINGS)
            .values(used_at=now)
            .where(
                table.model == _model(encoder),
                table.dimensions == encoder.dimensions,
                table.recipe == encoder.recipe,
                _last_used() < now - timedelta(days=_NOTED_DAYS),
            )
        )

        def write(connection: Connection) -> None:
            for part in batched(hashes, KEYS_A_QUERY):
                connection.execute(some.where(table.text_hash.in_(part)))

        transact(self._engine, write)

    def _length(self, encoder: Encoder, found: Set[int]) -> int:
        """Return the length that sound vectors of an encoder have, given those that were found; 0: any."""
        kind = (_model(encoder), encoder.dimensions, encoder.recipe)
        # Checking all vectors of a large site takes long, and nearly always they all have the same length.
        if not found or (kind not in self._lengths and len(found) == 1 and found == self._sampled(kind)):
            return 0
        if kind not in self._lengths:
            self._lengths[kind] = transact(self._engine, partial(_usual_length, kind=kind))
        return self._lengths[kind]

    def _sampled(self, kind: tuple[str, int, str]) -> Set[int]:
        return transact(self._engine, partial(_some_lengths, kind=kind))


def waste(before: datetime) -> list[Waste]:
    """Return the vectors of texts that no run has used since then."""
    return [Waste(EMBEDDINGS, _last_used() < before, func.length(EMBEDDINGS.c.vector))]


def read_vector(content: bytes | None, dtype: str | None) -> Vectors | None:
    """Return a vector, (d,) float32; None if it is damaged."""
    if content is None or dtype not in _BYTES or len(content) % _BYTES[dtype]:
        return None
    vector = np.frombuffer(content, dtype=dtype).astype(np.float32)
    return vector if len(vector) and np.isfinite(vector).all() else None


def soundness(engine: Engine) -> Callable[[Row[Any]], bool]:
    """Return the function that says whether a row of EMBEDDINGS can be read and is as long as others of its kind."""

    @cache
    def length(*kind: Any) -> int:
        return transact(engine, partial(_usual_length, kind=kind))

    def is_sound(row: Row[Any]) -> bool:
        vector = read_vector(row.vector, row.dtype)
        if vector is None or None in (row.model, row.dimensions, row.recipe):
            return False
        return len(vector) == (length(row.model, row.dimensions, row.recipe) or len(vector))

    return is_sound


def _usual_length(connection: Connection, kind: tuple[str, int, str]) -> int:
    """Return the length that most vectors of a model, its dimensions and recipe have; 0: none, or it varies.

    A server's model may have other dimensions than its name says. If the newest vectors have another length than most,
    the model has changed: then no vector counts as damaged.
    """
    table, size = EMBEDDINGS.c, func.length(EMBEDDINGS.c.vector)
    dated = not_(damaged_time(connection, table.created_at)) & (table.created_at < latest_moment())
    at = func.max(table.created_at).filter(dated)
    found = select(table.dtype, size, func.count(), at).where(*_of_kind(kind))
    counts = Counter[int]()
    latest: dict[int, datetime] = {}
    for dtype, bytes_, count, last in connection.execute(found.group_by(table.dtype, size)):
        length = _length_of(dtype, bytes_)
        counts[length] += count
        latest[length] = max(filter(None, (last, latest.get(length))), default=_LONG_AGO)
    usual = max(counts, key=counts.__getitem__, default=0)
    newest = max(counts, key=lambda length: (latest[length], counts[length]), default=0)
    return usual if newest == usual else 0


def _some_lengths(connection: Connection, kind: tuple[str, int, str]) -> set[int]:
    """Return the lengths of a sample of the vectors of a kind: those with the lowest hashes."""
    table = EMBEDDINGS.c
    some = select(table.dtype, func.length(table.vector)).where(*_of_kind(kind))
    return {_length_of(*row) for row in connection.execute(some.order_by(table.text_hash).limit(_SAMPLE))}


def _of_kind(kind: tuple[str, int, str]) -> list[ColumnElement[bool]]:
    columns = EMBEDDINGS.c.model, EMBEDDINGS.c.dimensions, EMBEDDINGS.c.recipe
    return [column == value for column, value in zip(columns, kind, strict=True)]


def _length_of(dtype: str | None, size: int | None) -> int:
    """Return the length of a vector of a number of bytes; 0 for none."""
    return size // _BYTES[dtype] if dtype in _BYTES and size else 0


def _last_used() -> ColumnElement[datetime]:
    return func.coalesce(EMBEDDINGS.c.used_at, EMBEDDINGS.c.created_at)


def _model(encoder: Encoder) -> str:
    """Return the model as part of a key: a server's model may have any name."""
    return key_text(encoder.model, 200)
