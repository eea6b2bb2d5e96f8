"""The store of k-NN joins: results by name, in chunks, and the finished blocks of joins in progress."""

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Row,
    Table,
    delete,
    func,
    literal,
    select,
)

from internal_linker.adapters.database.engine import key_text, lacks, transact, upsert
from internal_linker.adapters.database.schema import (
    METADATA,
    CheckedBytes,
    CheckedInteger,
    CheckedString,
    Moment,
    Waste,
)
from internal_linker.core.arrays import Nearest, Neighbourhood

# A result is complete or absent: its one row here names a token, and chunks with that token never change.
JOINS = Table(
    "joins",
    METADATA,
    Column("name", CheckedString(200), primary_key=True),
    Column("token", CheckedString(32), nullable=False),
    Column("texts", CheckedInteger, nullable=False),
    Column("neighbours", CheckedInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
)
JOIN_CHUNKS = Table(
    "join_chunks",
    METADATA,
    Column("token", CheckedString(32), primary_key=True),
    Column("chunk", CheckedInteger, primary_key=True),
    Column("name", CheckedString(200), nullable=False),
    Column("content", CheckedBytes, nullable=False),
    Column("checksum", CheckedString(64), nullable=False),
    Column("created_at", Moment, nullable=False),
)
JOIN_BLOCKS = Table(
    "join_blocks",
    METADATA,
    Column("name", CheckedString(200), primary_key=True),
    Column("block", CheckedString(200), primary_key=True),
    Column("texts", CheckedInteger, nullable=False),
    Column("neighbours", CheckedInteger, nullable=False),
    Column("content", CheckedBytes, nullable=False),
    Column("checksum", CheckedString(64), nullable=False),
    Column("created_at", Moment),
)
# Part of each checksum, so that a version with another format ignores the content.
_FORMAT = 1
# Bytes per chunk, some thousand texts: few statements, and little memory beside the result itself.
_CHUNK_BYTES = 4_000_000
_DIGEST = 16  # bytes


class StoredJoins:
    """`ports.JoinStore` in a database; damaged content and content of another format read as missing.

    Args:
        engine: from `open_database`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, join: str) -> Neighbourhood | None:
        """Return the last complete result; None if there is none."""
        if lacks(self._engine, JOINS) or lacks(self._engine, JOIN_CHUNKS):
            return None
        return transact(self._engine, lambda connection: _read(connection, key_text(join, 200)))

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
        if lacks(self._engine, JOIN_BLOCKS):
            return {}
        wanted = (
            select(JOIN_BLOCKS)
            .where(JOIN_BLOCKS.c.name == key_text(join, 200))
            .execution_options(yield_per=1)
        )

        def read(connection: Connection) -> dict[str, Nearest]:
            found = {}
            for row in connection.execute(wanted):
                if None in (row.texts, row.neighbours, row.content):
                    continue
                sound = _checksum(row.name, row.block, row.texts, row.neighbours, row.content)
                if sound == row.checksum:
                    found[row.block] = _unpacked(row.content, row.neighbours, 0)[1]
            return found

        return transact(self._engine, read)

    def put_block(self, join: str, block: str, nearest: Nearest) -> None:
        """Insert or replace a finished block; it is committed when this returns."""
        name, (texts, neighbours) = key_text(join, 200), nearest.rows.shape
        content = _packed(np.empty((texts, 0), np.uint8), nearest)
        row = {"name": name, "block": block, "texts": texts, "neighbours": neighbours, "content": content}
        row |= {
            "checksum": _checksum(name, block, texts, neighbours, content),
            "created_at": datetime.now(UTC),
        }
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


def soundness(engine: Engine) -> Callable[[Row[Any]], bool]:
    """Return the function that says whether the result of a row of JOINS can be read."""
    joins = StoredJoins(engine)
    return lambda row: joins.get(row.name) is not None


def is_sound_block(row: Row[Any]) -> bool:
    """Return whether a row of JOIN_BLOCKS can be read."""
    return bool(_checksum(row.name, row.block, row.texts, row.neighbours, row.content) == row.checksum)


def _parts(whole: Neighbourhood) -> Iterator[Neighbourhood]:
    nearest = whole.nearest
    step = max(1, _CHUNK_BYTES // (_DIGEST + _bytes_a_text(nearest.rows.shape[1])))
    for first in range(0, len(whole.digests), step):
        some = slice(first, first + step)
        part = Nearest(nearest.rows[some], nearest.scores[some], nearest.floors[some])
        yield Neighbourhood(whole.digests[some], part)


def _read(connection: Connection, name: str) -> Neighbourhood | None:
    header = connection.execute(select(JOINS).where(JOINS.c.name == name)).one_or_none()
    if header is None:
        return None
    try:
        return _assembled(connection, header.token, header.texts, header.neighbours)
    except (TypeError, ValueError):  # a damaged header
        return None


def _assembled(connection: Connection, token: str, texts: int, neighbours: int) -> Neighbourhood | None:
    chunks = select(JOIN_CHUNKS.c.chunk).where(JOIN_CHUNKS.c.token == token).order_by(JOIN_CHUNKS.c.chunk)
    size = select(func.sum(func.length(JOIN_CHUNKS.c.content))).where(JOIN_CHUNKS.c.token == token)
    # Checked first, so that a header changed by hand can't make the arrays below fill the memory.
    if (connection.execute(size).scalar() or 0) != texts * (_DIGEST + _bytes_a_text(neighbours)):
        return None
    digests = np.empty((texts, _DIGEST), np.uint8)
    nearest = Nearest(
        np.empty((texts, neighbours), np.int32),
        np.empty((texts, neighbours), np.float32),
        np.empty(texts, np.float32),
    )
    first = 0
    for chunk in connection.execute(chunks).scalars().all():
        this = (JOIN_CHUNKS.c.token == token) & (JOIN_CHUNKS.c.chunk == chunk)
        row = connection.execute(
            select(JOIN_CHUNKS.c.content, JOIN_CHUNKS.c.checksum).where(this)
        ).one_or_none()
        if (
            row is None
            or row.content is None
            or row.checksum != _checksum(token, chunk, texts, neighbours, row.content)
        ):
            return None
        some_digests, some = _unpacked(row.content, neighbours, _DIGEST)
        here = slice(first, first := first + len(some.floors))
        digests[here], nearest.floors[here] = some_digests, some.floors
        nearest.rows[here], nearest.scores[here] = some.rows, some.scores
    return Neighbourhood(digests, nearest)


def _bytes_a_text(neighbours: int) -> int:
    """Return the bytes of a text: a row and a score per neighbour, and the floor."""
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


def _checksum(owner: str, part: int | str, texts: int, neighbours: int, content: bytes) -> str:
    """Return a digest of the content, its format, its shape and its place in the store."""
    digest = hashlib.sha256(f"{_FORMAT}|{owner}|{part}|{texts}|{neighbours}|".encode())
    digest.update(content)
    return digest.hexdigest()
