"""Vectors by model, dimensions, recipe and text hash: a text is encoded once, whatever page it stands on."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
from sqlalchemy import Column, Connection, Engine, Integer, LargeBinary, String, Table, select

from internal_linker.arrays import Vectors
from internal_linker.ports import Encoder
from internal_linker.stores.database import (
    KEYS_A_QUERY,
    METADATA,
    Moment,
    key_text,
    lacks,
    transact,
    upsert,
)

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
)


class EmbeddingCache:
    """The vector cache in a database.

    Args:
        engine: from `open_database`.
        storage: "float16" or "float32": how new vectors are kept; old ones are read as they are.
    """

    def __init__(self, engine: Engine, storage: str) -> None:
        self._engine, self.storage = engine, storage

    def get(self, encoder: Encoder, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """The vectors that are there, (d,) float32 each."""
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
                for text_hash, dtype, blob in connection.execute(query):
                    found[text_hash] = np.frombuffer(blob, dtype=dtype).astype(np.float32)
            return found

        return {} if lacks(self._engine, EMBEDDINGS) else transact(self._engine, read)

    def put(self, encoder: Encoder, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors; committed when this returns."""
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
            }
            for text_hash, vector in vectors.items()
        ]
        transact(self._engine, lambda connection: upsert(connection, EMBEDDINGS, rows))


def _model(encoder: Encoder) -> str:
    """A server's model may have any name."""
    return key_text(encoder.model, 200)
