"""The embedding cache: vectors by model, dimensions, recipe and text hash, so that each text is encoded once."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
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
    func,
    select,
    update,
)

from internal_linker.adapters.database.engine import KEYS_A_QUERY, key_text, lacks, transact, upsert
from internal_linker.adapters.database.schema import METADATA, Moment, Waste
from internal_linker.core.arrays import Vectors
from internal_linker.core.ports import Encoder
from internal_linker.core.sequences import batched

EMBEDDINGS = Table(
    "embeddings",
    METADATA,
    Column("model", String(200), primary_key=True),
    Column("dimensions", Integer, primary_key=True),
    Column("recipe", String(100), primary_key=True),
    Column("text_hash", String(64), primary_key=True),
    Column("dtype", String(10), nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("used_at", Moment),
)


# Days after which `used_at` is updated: weekly runs then write each row once a month.
_NOTED_DAYS = 30


class EmbeddingCache:
    """The vector cache in a database.

    Args:
        engine: from `open_database`.
        storage: "float16" or "float32", the dtype of new vectors; stored vectors keep theirs.
    """

    def __init__(self, engine: Engine, storage: str) -> None:
        self._engine, self.storage = engine, storage

    def get(self, encoder: Encoder, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the cached vectors by hash, (d,) float32 each; damaged ones are left out."""
        table = EMBEDDINGS.c
        columns = select(table.text_hash, table.dtype, table.vector)

        def read(connection: Connection) -> dict[str, Vectors]:
            found: dict[str, Vectors] = {}
            for first in range(0, len(hashes), KEYS_A_QUERY):
                query = columns.where(
                    table.model == _model(encoder),
                    table.dimensions == encoder.dimensions,
                    table.recipe == encoder.recipe,
                    table.text_hash.in_(hashes[first : first + KEYS_A_QUERY]),
                )
                for text_hash, dtype, content in connection.execute(query):
                    if (vector := read_vector(content, dtype)) is not None:
                        found[text_hash] = vector
            return found

        return {} if lacks(self._engine, EMBEDDINGS) else transact(self._engine, read)

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


def waste(before: datetime) -> list[Waste]:
    """Return the vectors of texts that no run has used since then."""
    return [Waste(EMBEDDINGS, _last_used() < before, func.length(EMBEDDINGS.c.vector))]


def read_vector(content: bytes, dtype: str) -> Vectors | None:
    """Return a vector, (d,) float32; None if it is damaged."""
    try:
        vector = np.frombuffer(content, dtype=dtype).astype(np.float32)
    except (TypeError, ValueError):  # SQLite accepts a value of any type that somebody puts there by hand
        return None
    return vector if len(vector) and np.isfinite(vector).all() else None


def is_sound(row: Row[Any]) -> bool:
    """Return whether a row of EMBEDDINGS can be read."""
    return read_vector(row.vector, row.dtype) is not None


def _last_used() -> ColumnElement[datetime]:
    return func.coalesce(EMBEDDINGS.c.used_at, EMBEDDINGS.c.created_at)


def _model(encoder: Encoder) -> str:
    """Return the model as part of a key: a server's model may have any name."""
    return key_text(encoder.model, 200)
