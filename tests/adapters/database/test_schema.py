"""Databases of earlier versions are upgraded; those of newer versions and other programs are refused unchanged."""

import csv
import json
import shutil
import sqlite3
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, create_engine, inspect, text

from internal_linker.adapters.database import schema
from internal_linker.adapters.database.engine import open_database
from internal_linker.adapters.database.runs import RunStore
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.version import __version__
from tests.standins import SerperStandIn
from tests.support import store_contents
from tests.support.databases import statements
from tests.support.small_project import (
    REPOSITORY,
    TOPICS,
    URLS,
    command,
    forget_settings,
    make_project,
    write_text,
)

RELEASED = sorted((REPOSITORY / "tests/released").glob("*.sqlite3"))
NOW = len(schema._STEPS)
URL = "sqlite:///cache.sqlite3"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a folder with a database of the first version."""
    shutil.copy(RELEASED[0], tmp_path / "cache.sqlite3")
    return tmp_path


def versions(url: str) -> list[int]:
    """Return the schema versions that a database has reached."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = list(
            connection.execute(text("SELECT version FROM schema_versions ORDER BY version")).scalars()
        )
    engine.dispose()
    return found


def test_every_released_version_is_kept() -> None:
    """Each schema version has its file in tests/released."""
    assert [path.name for path in RELEASED] == [f"{version}.sqlite3" for version in range(NOW + 1)]


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
@pytest.mark.parametrize("read_only", [False, True])
def test_old_data_is_welcome(path: Path, read_only: bool, tmp_path: Path) -> None:
    """All data of a released version come back, new data can be added, and a second opening changes nothing."""
    shutil.copy(path, tmp_path / "cache.sqlite3")
    engine = open_database(URL, tmp_path, read_only=read_only)
    store_contents.check(engine)
    engine.dispose()
    file = f"sqlite:///{tmp_path}/cache.sqlite3"
    assert versions(file)[-1] == NOW
    before = versions(file)
    engine = open_database(URL, tmp_path)
    store_contents.fill(engine)
    store_contents.check(engine)
    engine.dispose()
    assert versions(file) == before


def test_a_new_database_has_the_columns_of_an_old_one(store_url: str, old: Path, tmp_path: Path) -> None:
    """A new database and an upgraded one have the same columns and primary keys."""
    engines = [open_database(URL, old), open_database(store_url, tmp_path)]
    assert shape(engines[0]) == shape(engines[1])
    for engine in engines:
        engine.dispose()


def shape(engine: Engine) -> dict[str, tuple[dict[str, bool], set[str]]]:
    """Return each table's columns with whether they are nullable, and the columns of its primary key."""
    tables = inspect(engine)
    return {
        table: (
            {column["name"]: bool(column["nullable"]) for column in tables.get_columns(table)},
            set(tables.get_pk_constraint(table)["constrained_columns"]),
        )
        for table in schema.METADATA.tables
    }


# Statements that take a server back from the present version to an earlier one.
BACK_TO_3 = ("DROP INDEX edges_judged", "UPDATE schema_versions SET version = 3")
BACK_TO_2 = (
    *BACK_TO_3[:1],
    "ALTER TABLE runs DROP COLUMN sequence",
    "UPDATE schema_versions SET version = 2",
)
BACK_TO_1 = (
    *BACK_TO_2[:2],
    "ALTER TABLE serp DROP COLUMN provider",
    "ALTER TABLE serp ADD PRIMARY KEY (query, page, market)",
    "UPDATE schema_versions SET version = 1",
)
BACK_TO_0 = (
    *BACK_TO_1,
    "ALTER TABLE embeddings DROP COLUMN used_at",
    "ALTER TABLE join_blocks DROP COLUMN created_at",
    "DROP TABLE schema_versions",
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("back", "reached"),
    [(BACK_TO_0, [NOW]), (BACK_TO_1, [1, NOW]), (BACK_TO_2, [2, NOW]), (BACK_TO_3, [3, NOW])],
)
def test_a_server_is_brought_up_to_date(
    back: Sequence[str], reached: list[int], postgres: str, tmp_path: Path
) -> None:
    """Several runs that start together upgrade a server, as they do a file."""
    engine = open_database(postgres, tmp_path)
    store_contents.fill(engine)
    new = shape(engine)
    engine.dispose()
    statements(postgres, *back)
    with ThreadPoolExecutor(4) as pool:
        engines = list(pool.map(lambda _: open_database(postgres, tmp_path), range(4)))
    store_contents.check(engines[0])
    assert shape(engines[0]) == new
    store_contents.fill(engines[0])
    for engine in engines:
        engine.dispose()
    assert versions(postgres) == reached


def test_several_runs_may_find_an_old_file_at_once(old: Path) -> None:
    """When several runs find an old file at once, one upgrades it and the others wait."""
    with ThreadPoolExecutor(4) as pool:
        engines = list(pool.map(lambda _: open_database(URL, old), range(4)))
    store_contents.check(engines[-1])
    for engine in engines:
        engine.dispose()
    assert versions(f"sqlite:///{old}/cache.sqlite3") == [NOW]


@pytest.mark.parametrize("version", range(NOW))
def test_a_step_that_breaks_off_leaves_the_old_version(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade that breaks off changes no table, and the next run repeats it."""
    path = tmp_path / "cache.sqlite3"
    shutil.copy(RELEASED[version], path)
    before = dump(path)

    def breaks(connection: Connection, there: Collection[str]) -> None:
        steps[version](connection, there)
        raise KeyboardInterrupt

    steps = schema._STEPS
    with monkeypatch.context() as patch:
        patch.setattr(schema, "_STEPS", (*steps[:version], breaks))
        with pytest.raises(KeyboardInterrupt):
            open_database(URL, tmp_path)
    assert dump(path) == before
    engine = open_database(URL, tmp_path)
    store_contents.check(engine)
    engine.dispose()


def dump(path: Path) -> list[str]:
    """Return all tables and rows of a file."""
    with sqlite3.connect(path) as file:
        return list(file.iterdump())


def test_runs_of_an_old_file_are_ordered_as_they_were_stored(tmp_path: Path) -> None:
    """A run of an old file that a wrong clock dated in the future is not the last one for ever."""
    shutil.copy(RELEASED[2], tmp_path / "cache.sqlite3")
    with sqlite3.connect(tmp_path / "cache.sqlite3") as file:
        for run, year in (("20360101-000000", 2036), ("20260105-030000", 2026)):
            facts = json.dumps(asdict(replace(store_contents.VERSION, run=run)))
            row = (store_contents.SITE, run, facts, f"{year}-01-05 03:00:00.000000")
            file.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", row)
    engine = open_database(URL, tmp_path)
    runs = RunStore(engine, store_contents.SITE)
    assert [one.run for one in runs.versions()] == ["1", "20360101-000000", "20260105-030000"]
    runs.put(replace(store_contents.VERSION, run="new"), [])
    assert [one.run for one in runs.versions()][-1] == "new"
    engine.dispose()


@pytest.mark.parametrize("path", RELEASED[:2], ids=lambda path: path.stem)
def test_search_results_of_an_old_file_are_not_paid_for_again(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored results without a provider count as Serper's: the first run after an update spends nothing."""
    forget_settings(monkeypatch)
    with SerperStandIn(lambda words, site: []) as serper:
        settings = {"serper_url": serper.url, "gl": "de", "max_serp_pages": 1}
        folder = make_project(tmp_path / "site", settings)
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        shutil.copy(path, folder / "files/cache.sqlite3")
        paid = [(f"site:www.tiny.example {slug.replace('-', ' ')}", json.dumps(URLS)) for slug in TOPICS]
        with sqlite3.connect(folder / "files/cache.sqlite3") as file:
            file.executemany("INSERT INTO serp VALUES (?, 1, 'de||', ?, datetime('now'))", paid)
        assert command("run", "--project", str(folder)) == 0
        assert serper.ledger == []
    with (folder / "files/links.csv").open(encoding="utf-8-sig", newline="") as file:
        links = list(csv.DictReader(file))
    assert len(links) == len(URLS) * 5 and {link["Origin"] for link in links} == {"serp"}


@pytest.mark.parametrize("read_only", [False, True])
def test_an_older_program_refuses_a_file_of_this_version(
    read_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older program refuses the file, names the program that made it, and leaves the file unchanged."""
    path = tmp_path / "cache.sqlite3"
    shutil.copy(RELEASED[-1], path)
    before = path.read_bytes()
    monkeypatch.setattr(schema, "_STEPS", schema._STEPS[:-1])
    with pytest.raises(ConfigurationError, match=r"was created by a newer version of this program \("):
        open_database(URL, tmp_path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_file_is_refused_and_untouched(read_only: bool, old: Path) -> None:
    """The error for a newer file names the version of the program that made it, and the file stays unchanged."""
    engine = open_database(URL, old)
    with engine.begin() as connection:
        connection.execute(
            text(f"INSERT INTO schema_versions VALUES ({NOW + 1}, '9.9.9', '2030-01-01 00:00:00')")
        )
    engine.dispose()
    before = (old / "cache.sqlite3").read_bytes()
    with pytest.raises(
        ConfigurationError,
        match=rf"newer version .*9\.9\.9.*This is version {__version__}: update the program",
    ):
        open_database(URL, old, read_only=read_only)
    assert (old / "cache.sqlite3").read_bytes() == before


@pytest.mark.parametrize("read_only", [False, True])
def test_another_programs_file_is_refused_and_untouched(read_only: bool, tmp_path: Path) -> None:
    """Another program's file is refused, and its bytes stay unchanged."""
    path = tmp_path / "cache.sqlite3"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="another program"):
        open_database(URL, tmp_path, read_only=read_only)
    assert path.read_bytes() == before


def test_a_command_says_so_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command on such a file exits with code 2 and a sentence, without a traceback."""
    forget_settings(monkeypatch)
    (tmp_path / "files").mkdir()
    with sqlite3.connect(tmp_path / "files/cache.sqlite3") as file:
        file.execute("CREATE TABLE bookmarks (url TEXT)")
    assert command("history", "--project", str(tmp_path)) == 2
    assert "another program" in capsys.readouterr().err
