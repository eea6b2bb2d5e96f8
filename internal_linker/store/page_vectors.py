"""The page vectors on a PostgreSQL server with pgvector: a table with an HNSW index that any program can query."""

import hashlib
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    Row,
    String,
    Table,
    bindparam,
    delete,
    exists,
    func,
    select,
    text,
)
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import UserDefinedType

from internal_linker.model.arrays import Vectors
from internal_linker.model.ports import Progress
from internal_linker.model.sequences import batched, counted
from internal_linker.store.engine import key_text, transact, upsert
from internal_linker.store.runs import RUNS
from internal_linker.store.schema import LOCK_NUMBERS, Moment, Waste

_WRITING = LOCK_NUMBERS + 3
# The least version of pgvector that has halfvec.
_LEAST = (0, 7)
# An HNSW index of pgvector takes halfvec of at most so many dimensions.
_MOST_INDEXED = 4000
# PostgreSQL rejects keys of more than 2,700 bytes, the site among them.
_LONGEST_URL = 2000
# Rows that are formatted at once: 3 KB each with 384 dimensions.
_ROWS_A_BATCH = 1000
# With less memory than the graph needs, the server builds the index many times slower. A row takes its vector and 715
# bytes (pgvector 0.8.5).
_GRAPH_BYTES = 1000
_MOST_MEMORY_KB = 1024 * 1024


class _HalfVector(UserDefinedType[str]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec"


# It needs an extension, so it isn't among the tables that every database has.
PAGE_VECTORS = Table(
    "page_vectors",
    MetaData(),
    Column("site", String(200), primary_key=True),
    Column("url", String, primary_key=True),
    Column("model", String(200), nullable=False),
    Column("digest", String(32), nullable=False),
    Column("vector", _HalfVector, nullable=False),
    Column("updated_at", Moment, nullable=False),
)
_SERVER = text(
    "SELECT to_regtype('halfvec') IS NOT NULL AS has_type, "
    "(SELECT array_agg(attname::text) FROM pg_attribute "
    "WHERE attrelid = to_regclass('page_vectors') AND attnum > 0 AND NOT attisdropped) AS columns, "
    "(SELECT coalesce(bool_and(has_table_privilege(to_regclass('page_vectors')::oid, needed)), true) "
    "FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) needed) AS may_write, "
    "has_schema_privilege(current_schema(), 'CREATE') AS may_create_table, "
    "e.installed_version AS installed, e.default_version AS available, "
    "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user) "
    "OR (v.trusted AND has_database_privilege(current_database(), 'CREATE')) AS may_install "
    "FROM (SELECT) one LEFT JOIN pg_available_extensions e ON e.name = 'vector' "
    "LEFT JOIN pg_available_extension_versions v ON v.name = e.name AND v.version = e.default_version"
)
_MEMORY = text("SELECT setting::int FROM pg_settings WHERE name = 'maintenance_work_mem'")
_INDEXES = text(
    "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'page_vectors'"
)


class PageVectorTable:
    """The vectors of the pages of a site's last published run, for other programs; only in PostgreSQL."""

    def __init__(self, engine: Engine, site: str) -> None:
        self._engine, self._site = engine, key_text(site, 200)

    def publish(
        self, model: str, vectors: Mapping[str, Vectors], kept: Collection[str], progress: Progress
    ) -> None:
        """Replace the site's vectors as `refresh` does; a database that can't have the table gets none.

        Raises:
            ConfigurationError, StoreLost: the database failed, and has the vectors of the run before.
        """
        if self.prepare():
            progress.start("Page vectors", 0, "pages")
            written = self.refresh(model, vectors, kept)
            progress.finish(f"{counted(len(vectors), 'page')}, {written} written")

    def prepare(self) -> bool:
        """Create the extension and the table if they are missing; return whether vectors can be stored.

        Raises:
            ConfigurationError, StoreLost: the database failed.
        """
        return self._engine.dialect.name == "postgresql" and transact(self._engine, _prepared)

    def refresh(self, model: str, vectors: Mapping[str, Vectors], kept: Collection[str] = ()) -> int:
        """Replace the site's vectors: changed rows are written, and rows of other pages are removed, at once for
        others.

        Args:
            vectors: (d,) each, by URL.
            kept: URLs of pages without a vector whose rows stay, if they are of this model and length.

        Returns:
            The count of rows written.

        Raises:
            ConfigurationError, StoreLost: the database failed, and has the vectors of the run before.
        """
        work = partial(_refresh, site=self._site, model=key_text(model, 200), vectors=vectors, kept=kept)
        return transact(self._engine, work)


def problem(engine: Engine) -> str:
    """Return why a PostgreSQL database can't have the table, for people; "" if it can.

    Raises:
        ConfigurationError, StoreLost: the database failed.
    """
    return transact(engine, _problem)


def waste(engine: Engine, last_run_before: datetime) -> list[Waste]:
    """Return the vectors of sites that had no run since then."""
    if engine.dialect.name != "postgresql" or not transact(engine, _is_usable):
        return []
    at = PAGE_VECTORS.c
    recent = exists().where(RUNS.c.site == at.site, RUNS.c.ended_at >= last_run_before)
    return [Waste(PAGE_VECTORS, ~recent, func.pg_column_size(at.vector))]


def _is_usable(connection: Connection) -> bool:
    server = connection.execute(_SERVER).one()
    return server.columns is not None and not _problem_of(server)


def _problem(connection: Connection) -> str:
    return _problem_of(connection.execute(_SERVER).one())


def _problem_of(server: Row[Any]) -> str:
    version = server.installed or server.available
    if version is None:
        return "its server has no pgvector"
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < _LEAST:
        return f"pgvector {version} is older than {'.'.join(map(str, _LEAST))}"
    if server.installed and not server.has_type:
        return "the schema of pgvector is not in the user's search_path"
    if not server.installed and not server.may_install:
        return (
            "this user may not install pgvector: let an administrator execute CREATE EXTENSION vector in it"
        )
    if server.columns is None:
        return "" if server.may_create_table else "this user may not create tables"
    if not set(server.columns) >= set(PAGE_VECTORS.c.keys()):
        return "its table page_vectors has other columns: rename the table, or remove it"
    return (
        ""
        if server.may_write
        else "this user may not write to the table page_vectors: let its owner GRANT ALL on it"
    )


def _prepared(connection: Connection) -> bool:
    server = connection.execute(_SERVER).one()
    if _problem_of(server):
        return False
    if server.columns is None:
        connection.execute(select(func.pg_advisory_xact_lock(_WRITING)))
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(CreateTable(PAGE_VECTORS, if_not_exists=True))
    return True


def _refresh(
    connection: Connection, *, site: str, model: str, vectors: Mapping[str, Vectors], kept: Collection[str]
) -> int:
    # Of two runs that end at once, the second must see the first one's rows.
    connection.execute(select(func.pg_advisory_xact_lock(_WRITING)))
    length = len(next(iter(vectors.values()), ()))
    index = _index_name(site, length)
    # The index of another length refuses the new rows.
    for other in _indexes(connection, site) - {index} if length else ():
        connection.exec_driver_sql(f"DROP INDEX {other}")
    halves = {key_text(url, _LONGEST_URL): vector.astype(np.float16) for url, vector in vectors.items()}
    digests = {
        url: hashlib.blake2b(half.tobytes(), digest_size=16).hexdigest() for url, half in halves.items()
    }
    stored = _stored(connection, site)
    staying = {key_text(url, _LONGEST_URL) for url in kept}
    gone = [
        {"gone": url}
        for url, (of, _, of_length) in stored.items()
        if url not in halves and not (url in staying and of == model and of_length == (length or of_length))
    ]
    at = PAGE_VECTORS.c
    if gone:
        connection.execute(delete(PAGE_VECTORS).where(at.site == site, at.url == bindparam("gone")), gone)
    now = datetime.now(UTC)
    changed = [url for url, digest in digests.items() if stored.get(url) != (model, digest, length)]
    for some in batched(changed, _ROWS_A_BATCH):
        rows = [
            {
                "site": site,
                "url": url,
                "model": model,
                "digest": digests[url],
                "vector": _literal(halves[url]),
                "updated_at": now,
            }
            for url in some
        ]
        upsert(connection, PAGE_VECTORS, rows)
    if 0 < length <= _MOST_INDEXED and index not in _indexes(connection, site):
        _build_index(connection, index, site, len(halves), length)
    return len(changed)


def _stored(connection: Connection, site: str) -> dict[str, tuple[str, str, int]]:
    at = PAGE_VECTORS.c
    wanted = select(at.url, at.model, at.digest, func.vector_dims(at.vector)).where(at.site == site)
    return {url: (model, digest, length) for url, model, digest, length in connection.execute(wanted)}


def _literal(half: Vectors) -> str:
    """Return a float16 vector as pgvector reads it; five digits are enough for every number."""
    return f"[{','.join(['%.5g'] * len(half))}]" % tuple(half.tolist())


def _build_index(connection: Connection, name: str, site: str, rows: int, length: int) -> None:
    """Build the HNSW index of a site's vectors; other programs can read the table meanwhile."""
    needed = min(_MOST_MEMORY_KB, rows * (2 * length + _GRAPH_BYTES) // 1024)
    memory = connection.execute(_MEMORY).scalar_one()
    connection.exec_driver_sql(f"SET LOCAL maintenance_work_mem = {max(needed, memory)}")
    # Parallel workers share memory of which a container has 64 MB, unless told otherwise.
    connection.exec_driver_sql("SET LOCAL max_parallel_maintenance_workers = 0")
    # A percent sign would be taken for a parameter.
    literal = site.replace("'", "''").replace("%", "%%")
    connection.exec_driver_sql(
        f"CREATE INDEX {name} ON page_vectors USING hnsw ((vector::halfvec({length})) halfvec_cosine_ops) "
        f"WHERE site = '{literal}'"
    )


def _index_name(site: str, length: int) -> str:
    return f"{_index_prefix(site)}{length}"


def _index_prefix(site: str) -> str:
    return f"page_vectors_{hashlib.sha256(site.encode()).hexdigest()[:8]}_"


def _indexes(connection: Connection, site: str) -> set[str]:
    names = connection.execute(_INDEXES).scalars()
    return {name for name in names if name.startswith(_index_prefix(site))}
