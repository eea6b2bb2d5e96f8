"""A database of the present schema opens with all it holds; those of other versions and programs stay unchanged."""

import shutil
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.version import __version__
from internal_linker.store import schema
from internal_linker.store.engine import open_database
from tests.support import store_contents
from tests.support.small_project import REPOSITORY, command

RELEASED = REPOSITORY / "tests/released/4.sqlite3"
URL = "sqlite:///cache.sqlite3"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a database that an earlier program of the present schema wrote."""
    return Path(shutil.copy(RELEASED, tmp_path / "cache.sqlite3"))


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()


@pytest.mark.parametrize("read_only", [False, True])
def test_old_data_is_welcome(read_only: bool, old: Path) -> None:
    engine = open_database(URL, old.parent, read_only=read_only)
    store_contents.check(engine)
    engine.dispose()
    engine = open_database(URL, old.parent)
    store_contents.fill(engine)
    store_contents.check(engine)
    engine.dispose()


def test_a_new_database_has_the_columns_of_an_old_one(store_url: str, old: Path, tmp_path: Path) -> None:
    engines = [open_database(URL, old.parent), open_database(store_url, tmp_path)]
    assert shape(engines[0]) == shape(engines[1])
    for engine in engines:
        engine.dispose()


def shape(engine: Engine) -> dict[str, tuple[dict[str, bool], set[str], set[str | None]]]:
    """Return each table's columns with whether they are nullable, the primary key, and the names of indexes."""
    tables = inspect(engine)
    return {
        table: (
            {column["name"]: bool(column["nullable"]) for column in tables.get_columns(table)},
            set(tables.get_pk_constraint(table)["constrained_columns"]),
            {index["name"] for index in tables.get_indexes(table)},
        )
        for table in schema.METADATA.tables
    }


def test_runs_that_start_at_once_on_an_empty_database_all_come_in(store_url: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        engines = list(pool.map(lambda _: open_database(store_url, tmp_path), range(8)))
    store_contents.fill(engines[0])
    store_contents.check(engines[-1])
    for engine in engines:
        engine.dispose()


def test_a_server_keeps_what_a_file_keeps(postgres: str, tmp_path: Path) -> None:
    """All stores write to a PostgreSQL server and read from it; a command that only reads finds it all, too."""
    for read_only in (False, True):
        engine = open_database(postgres, tmp_path, read_only=read_only)
        if not read_only:
            store_contents.fill(engine)
        store_contents.check(engine)
        engine.dispose()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["DROP TABLE schema_versions"], r"schema 0\).* was not changed\. .*name another database"),
        (["UPDATE schema_versions SET version = 3"], r"schema 3\).* was not changed"),
        (
            ["INSERT INTO schema_versions VALUES (5, '9.9.9', '2030-01-01 00:00:00')"],
            rf"newer version .*9\.9\.9.*This is version {__version__}: update the program",
        ),
        (["DROP TABLE schema_versions", "DROP TABLE serp"], "another program"),
    ],
)
def test_another_version_is_refused_and_untouched(
    changes: Sequence[str], said: str, read_only: bool, old: Path
) -> None:
    """A file of another version or program is refused in a sentence that says what to do; its bytes stay."""
    execute(old, *changes)
    before = old.read_bytes()
    with pytest.raises(ConfigurationError, match=said):
        open_database(URL, old.parent, read_only=read_only)
    assert old.read_bytes() == before and [path.name for path in old.parent.iterdir()] == [old.name]


def test_a_command_says_so_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command on such a file exits with code 2 and a sentence, without a traceback."""
    (tmp_path / "files").mkdir()
    execute(tmp_path / "files/cache.sqlite3", "CREATE TABLE bookmarks (url TEXT)")
    assert command("history", "--project", str(tmp_path)) == 2
    assert "another program" in capsys.readouterr().err
