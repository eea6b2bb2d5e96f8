"""The store of k-NN joins: results by name, in chunks, and the finished blocks of joins in progress."""

import hashlib
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    Row,
    String,
    Table,
    delete,
    func,
    literal,
    select,
)

from internal_linker.model.arrays import Nearest, Neighbourhood
from internal_linker.store.engine import (
    fetch,
    key_text,
    lacks,
    readable,
    transact,
    upsert,
)
from internal_linker.store.schema import METADATA, Moment, Waste

# A result is complete or absent: its one row here names a token, and chunks with that token never change.
JOINS = Table(
    "joins",
    METADATA,
    Column("name", String(200), primary_key=True),
    Column("token", String(32), nullable=False),
    Column("texts", Integer, nullable=False),
    Column("neighbours", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
)
JOIN_CHUNKS = Table(
    "join_chunks",
    METADATA,
    Column("token", String(32), primary_key=True),
    Column("chunk", Integer, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("checksum", String(64), nullable=False),
    Column("created_at", Moment, nullable=False),
)
JOIN_BLOCKS = Table(
    "join_blocks",
    METADATA,
    Column("name", String(200), primary_key=True),
    Column("block", String(200), primary_key=True),
    Column("texts", Integer, nullable=False),
    Column("neighbours", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("checksum", String(64), nullable=False),
    Column("created_at", Moment),
)
# Part of each checksum, so that a version with another format ignores the content.
_FORMAT = 1
# Bytes per chunk, some thousand texts: few statements, and little memory beside the result itself.
_CHUNK_BYTES = 4_000_000
_DIGEST = 16  # bytes


class StoredJoins:
    """The results of k-NN joins for the next run, and finished blocks of unfinished joins, by the join's name.

    Damaged content and content of another format read as missing.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, join: str) -> Neighbourhood | None:
        """Return the last complete result; None if there is none."""
        if lacks(self._engine, JOIN_CHUNKS):
            return None
        header = select(JOINS).where(JOINS.c.name == key_text(join, 200))
        rows = fetch(self._engine, JOINS, header)
        return next(readable(self._engine, JOINS, rows, partial(read_join, self._engine)), None)

    def put(self, join: str, neighbourhood: Neighbourhood) -> None:
        """Replace the join's last result and drop its blocks; the change is committed when this returns."""
        name, token, now = key_text(join, 200), uuid.uuid4().hex, datetime.now(UTC)
        texts, neighbours = neighbourhood.nearest.rows.shape

        def write(connection: Connection) -> None:
            for chunk, part in enumerate(_parts(neighbourhood)):
                content = _packed(part.digests, part.nearest)
                row = {"token": token, "chunk": chunk, "name": name, "content": content, "created_at": now}
                row["checksum"] = _checksum(token, chunk, texts, neighbours, content)
                upsert(connection, JOIN_CHUNKS, [row])
            header = {"name": name, "token": token, "texts": texts, "neighbours": neighbours}
            upsert(connection, JOINS, [header | {"created_at": now}])
            old = delete(JOIN_CHUNKS).where(JOIN_CHUNKS.c.name == name, JOIN_CHUNKS.c.token != token)
            connection.execute(old)
            connection.execute(delete(JOIN_BLOCKS).where(JOIN_BLOCKS.c.name == name))

        transact(self._engine, write)

    def blocks(self, join: str) -> Mapping[str, Nearest]:
        """Return the finished blocks by name."""
        wanted = select(JOIN_BLOCKS).where(JOIN_BLOCKS.c.name == key_text(join, 200))
        return dict(
            readable(
                self._engine,
                JOIN_BLOCKS,
                fetch(self._engine, JOIN_BLOCKS, wanted),
                lambda row: (row.block, read_block(row)),
            )
        )

    def put_block(self, join: str, block: str, nearest: Nearest) -> None:
        """Insert or replace a finished block; it is committed when this returns."""
        name, (texts, neighbours) = key_text(join, 200), nearest.rows.shape
        content = _packed(np.empty((texts, 0), np.uint8), nearest)
        row = {"name": name, "block": block, "texts": texts, "neighbours": neighbours, "content": content}
        checksum = _checksum(name, block, texts, neighbours, content)
        row |= {"checksum": checksum, "created_at": datetime.now(UTC)}
        transact(self._engine, lambda connection: upsert(connection, JOIN_BLOCKS, [row]))


def waste(before: datetime) -> list[Waste]:
    """Return the results and blocks from before then, such as another model's; runs compute them again if needed."""
    kept = select(JOINS.c.token).where(JOINS.c.created_at >= before)
    undated = JOIN_BLOCKS.c.created_at.is_(None)
    return [
        Waste(JOIN_CHUNKS, JOIN_CHUNKS.c.token.not_in(kept), func.length(JOIN_CHUNKS.c.content)),
        Waste(JOINS, JOINS.c.created_at < before, literal(0)),
        Waste(JOIN_BLOCKS, undated | (JOIN_BLOCKS.c.created_at < before), func.length(JOIN_BLOCKS.c.content)),
    ]


def read_join(engine: Engine, row: Row[Any]) -> Neighbourhood:
    """Return the result of a row of JOINS."""
    return transact(engine, lambda connection: _assembled(connection, row))


def read_block(row: Row[Any]) -> Nearest:
    """Return the block of a row of JOIN_BLOCKS."""
    content = _sound(row, row.name, row.block, row.texts, row.neighbours)
    return _unpacked(content, row.neighbours, 0)[1]


def _parts(whole: Neighbourhood) -> Iterator[Neighbourhood]:
    nearest = whole.nearest
    step = max(1, _CHUNK_BYTES // (_DIGEST + _bytes_a_text(nearest.rows.shape[1])))
    for first in range(0, len(whole.digests), step):
        some = slice(first, first + step)
        part = Nearest(nearest.rows[some], nearest.scores[some], nearest.floors[some])
        yield Neighbourhood(whole.digests[some], part)


def _assembled(connection: Connection, header: Row[Any]) -> Neighbourhood:
    texts, neighbours = header.texts, header.neighbours
    of_join = JOIN_CHUNKS.c.token == header.token
    # Checked first, so that a damaged header can't make the arrays below fill the memory.
    size = connection.execute(select(func.sum(func.length(JOIN_CHUNKS.c.content))).where(of_join)).scalar()
    if (size or 0) != texts * (_DIGEST + _bytes_a_text(neighbours)):
        raise ValueError("another size")
    digests = np.empty((texts, _DIGEST), np.uint8)
    nearest = Nearest(
        np.empty((texts, neighbours), np.int32),
        np.empty((texts, neighbours), np.float32),
        np.empty(texts, np.float32),
    )
    first = 0
    chunks = select(JOIN_CHUNKS).where(of_join).order_by(JOIN_CHUNKS.c.chunk)
    for row in connection.execute(chunks.execution_options(yield_per=1)):
        content = _sound(row, row.token, row.chunk, texts, neighbours)
        some_digests, some = _unpacked(content, neighbours, _DIGEST)
        here = slice(first, first := first + len(some.floors))
        digests[here], nearest.floors[here] = some_digests, some.floors
        nearest.rows[here], nearest.scores[here] = some.rows, some.scores
    return Neighbourhood(digests, nearest)


def _bytes_a_text(neighbours: int) -> int:
    return 8 * neighbours + 4


def _packed(digests: NDArray[np.uint8], nearest: Nearest) -> bytes:
    arrays = (
        digests,
        nearest.rows.astype("<i4", copy=False),
        nearest.scores.astype("<f4", copy=False),
        nearest.floors.astype("<f4", copy=False),
    )
    return b"".join(array.tobytes() for array in arrays)


def _unpacked(content: bytes, neighbours: int, digest: int) -> tuple[NDArray[np.uint8], Nearest]:
    """Return what `_packed` packed, as views; each text has `digest` bytes of digest."""
    texts = len(content) // (digest + _bytes_a_text(neighbours))
    lists = texts * neighbours
    rows_at = texts * digest
    scores_at, floors_at = rows_at + 4 * lists, rows_at + 8 * lists
    rows = np.frombuffer(content, "<i4", lists, rows_at).reshape(texts, neighbours)
    scores = np.frombuffer(content, "<f4", lists, scores_at).reshape(texts, neighbours)
    floors = np.frombuffer(content, "<f4", texts, floors_at)
    return np.frombuffer(content, np.uint8, rows_at).reshape(texts, digest), Nearest(rows, scores, floors)


def _sound(row: Row[Any], owner: str, part: int | str, texts: int, neighbours: int) -> bytes:
    content: bytes = row.content
    if row.checksum != _checksum(owner, part, texts, neighbours, content):
        raise ValueError("another checksum")
    return content


def _checksum(owner: str, part: int | str, texts: int, neighbours: int, content: bytes) -> str:
    digest = hashlib.sha256(f"{_FORMAT}|{owner}|{part}|{texts}|{neighbours}|".encode())
    digest.update(content)
    return digest.hexdigest()
