"""The embedding cache: vectors by model, dimensions, recipe and text hash, so that each text is encoded once."""

from collections import Counter
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

from internal_linker.model.arrays import Vectors
from internal_linker.model.ports import Encoder
from internal_linker.model.sequences import batched
from internal_linker.store.engine import (
    KEYS_A_QUERY,
    fetch,
    key_text,
    note_damage,
    readable,
    transact,
    upsert,
)
from internal_linker.store.schema import METADATA, Moment, Waste

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
_DTYPES = ("float16", "float32")
# Days after which `used_at` is updated: weekly runs then write each row once a month.
_NOTED_DAYS = 30


class EmbeddingCache:
    """The vector cache in a database.

    New vectors have the dtype `storage`, "float16" or "float32"; stored vectors keep theirs.
    """

    def __init__(self, engine: Engine, storage: str) -> None:
        self._engine, self.storage = engine, storage

    def get(self, encoder: Encoder, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the cached vectors by hash, (d,) float32 each; damaged ones are left out and counted."""
        columns = select(EMBEDDINGS.c.text_hash, EMBEDDINGS.c.dtype, EMBEDDINGS.c.vector)
        known: dict[str, Vectors] = {}
        for some in batched(hashes, KEYS_A_QUERY):
            wanted = columns.where(*_of_encoder(encoder), EMBEDDINGS.c.text_hash.in_(some))
            rows = fetch(self._engine, EMBEDDINGS, wanted)
            known.update(
                readable(self._engine, EMBEDDINGS, rows, lambda row: (row.text_hash, read_vector(row)))
            )
        # A server's model may have other dimensions than its name says.
        lengths = Counter(map(len, known.values()))
        if len(lengths) > 1:
            length = max(lengths, key=lengths.__getitem__)
            note_damage(self._engine, EMBEDDINGS, len(known) - lengths[length])
            known = {key: vector for key, vector in known.items() if len(vector) == length}
        return known

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


def note_used(engine: Engine, encoder: Encoder, hashes: Sequence[str]) -> None:
    """Record that the vectors of these hashes are in use today."""
    now = datetime.now(UTC)
    unnoted = _last_used() < now - timedelta(days=_NOTED_DAYS)
    change = update(EMBEDDINGS).values(used_at=now).where(*_of_encoder(encoder), unnoted)

    def write(connection: Connection) -> None:
        for some in batched(hashes, KEYS_A_QUERY):
            connection.execute(change.where(EMBEDDINGS.c.text_hash.in_(some)))

    transact(engine, write)


def waste(before: datetime) -> list[Waste]:
    """Return the vectors of texts that no run has used since then."""
    return [Waste(EMBEDDINGS, _last_used() < before, func.length(EMBEDDINGS.c.vector))]


def read_vector(row: Row[Any]) -> Vectors:
    """Return the vector of a row of EMBEDDINGS, (d,) float32."""
    if row.dtype not in _DTYPES:
        raise ValueError("not a dtype")
    vector = np.frombuffer(row.vector, dtype=row.dtype).astype(np.float32)
    if not len(vector) or not np.isfinite(vector).all():
        raise ValueError("not a vector")
    return vector


def _of_encoder(encoder: Encoder) -> list[ColumnElement[bool]]:
    return [
        EMBEDDINGS.c.model == _model(encoder),
        EMBEDDINGS.c.dimensions == encoder.dimensions,
        EMBEDDINGS.c.recipe == encoder.recipe,
    ]


def _last_used() -> ColumnElement[datetime]:
    return func.coalesce(EMBEDDINGS.c.used_at, EMBEDDINGS.c.created_at)


def _model(encoder: Encoder) -> str:
    return key_text(encoder.model, 200)
