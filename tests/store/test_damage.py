"""Rows of caches that can't be read are dropped and counted; one of decisions ends the command and names the backup."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, text

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.experiments import DrawnTarget
from internal_linker.model.records import FetchedPage
from internal_linker.model.search_data import SearchTable
from internal_linker.project.cache import verify_cache
from internal_linker.project.options.stores import VerifyCacheOptions
from internal_linker.project.project import open_project
from internal_linker.store.answers import SerpResultCache, StoredAnswers, StoredPages
from internal_linker.store.applied_links import AppliedLinks, Experiments
from internal_linker.store.databases import damage_met
from internal_linker.store.edges import EdgeStore
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import noted_damage, open_database
from internal_linker.store.neighbours import StoredJoins
from internal_linker.store.runs import RunStore
from internal_linker.store.search_days import SearchDays
from tests.store.test_applied_links import FORMER, WRITE
from tests.support import store_contents
from tests.support.builders import Letters, Told
from tests.support.small_project import command
from tests.support.store_contents import MARKET, PROMPT, QUERY, SITE, TEXTS, VERSION

FILE = "files/cache.sqlite3"
PAGE = FetchedPage("https://a.example/", {"etag": '"1"'}, b"<html>")
NOT_UTF8 = "CAST(x'80ff' AS TEXT)"


def fill(engine: Engine) -> None:
    store_contents.fill(engine)
    StoredPages(engine).put(PAGE)
    AppliedLinks(engine, SITE).begin([(WRITE, FORMER)])
    first, until = date(2026, 6, 1), date(2026, 6, 29)
    drawn = DrawnTarget(experiment="one", target="t", links=2, held=True, first=first, until=until)
    Experiments(engine, SITE).put([drawn])


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> Iterator[Engine]:
    opened = open_database(store_url, tmp_path)
    fill(opened)
    yield opened
    opened.dispose()


def execute(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


# What each store of a cache reads; it is empty or None if the row is missing.
CACHES: dict[str, Callable[[Engine], object]] = {
    "embeddings": lambda engine: EmbeddingCache(engine, "float16").get(Letters(), TEXTS[:1]),
    "serp": lambda engine: SerpResultCache(engine, 365_000).get([QUERY], MARKET),
    "answers": lambda engine: StoredAnswers(engine, "model", "v1").get(PROMPT),
    "fetched_pages": lambda engine: StoredPages(engine).get(PAGE.url),
    "joins": lambda engine: StoredJoins(engine).get("join"),
    "join_blocks": lambda engine: StoredJoins(engine).blocks("other"),
    "search_days": lambda engine: len(SearchDays(engine, SITE).read(SearchTable.PAGES)),
}


UNREADABLE_CACHES = (
    ("embeddings", "embeddings SET vector = '\\x00'"),
    ("embeddings", "embeddings SET dtype = 'float7'"),
    ("serp", "serp SET links = '[1'"),
    ("serp", "serp SET links = '{}'"),
    ("serp", "serp SET links = '[1]'"),
    ("fetched_pages", "fetched_pages SET body = '\\x00'"),
    ("fetched_pages", "fetched_pages SET headers = '[1]'"),
    ("joins", "join_chunks SET checksum = 'tea'"),
    ("joins", "joins SET texts = 7"),
    ("join_blocks", "join_blocks SET content = '\\x00'"),
    ("search_days", "search_days SET digest = 'tea'"),
    ("search_days", "search_days SET row_count = 4"),
)


def test_a_row_of_a_cache_is_missing(engine: Engine) -> None:
    assert noted_damage(engine) == {}
    for table, damage in UNREADABLE_CACHES:
        fill(engine)
        noted = noted_damage(engine).get(table, 0)
        assert CACHES[table](engine), damage
        execute(engine, f"UPDATE {damage}")
        assert not CACHES[table](engine), damage
        assert noted_damage(engine)[table] == noted + 1, damage


@pytest.mark.parametrize(
    ("table", "column"),
    [("serp", "links"), ("serp", "fetched_at"), ("answers", "answer"), ("embeddings", "vector")],
)
def test_a_cell_that_is_no_text_hides_no_other_row(table: str, column: str, tmp_path: Path) -> None:
    """SQLite returns bytes that are no text, and texts that are no time, as nothing: only their rows are missing."""
    engine = open_database("sqlite:///store.sqlite3", tmp_path)
    fill(engine)
    vector, cache = np.ones(26, np.float32), EmbeddingCache(engine, "float16")
    cache.put(Letters(), {"other": vector})
    execute(engine, f"UPDATE {table} SET {column} = {NOT_UTF8} WHERE rowid = 1")
    assert not CACHES[table](engine) and noted_damage(engine) == {table: 1}
    assert cache.get(Letters(), [TEXTS[0], "other"]).keys() >= {"other"}
    engine.dispose()


def test_a_vector_of_another_length_is_missing(tmp_path: Path) -> None:
    """Whatever dimensions the model's name promises, vectors count that are as long as most."""
    engine = open_database("sqlite:///store.sqlite3", tmp_path)
    fill(engine)
    execute(engine, "UPDATE embeddings SET vector = substr(vector, 1, 26) WHERE rowid = 3")
    assert EmbeddingCache(engine, "float16").get(Letters(), TEXTS).keys() == {*TEXTS} - {TEXTS[2]}
    assert noted_damage(engine) == {"embeddings": 1}
    engine.dispose()


# What each store of decisions reads.
DECISIONS: dict[str, Callable[[Engine], object]] = {
    "edges": lambda engine: [*EdgeStore(engine, SITE).each()],
    "runs": lambda engine: RunStore(engine, SITE).versions(),
    "run_links": lambda engine: [*RunStore(engine, SITE).rows("1")],
    "applied_links": lambda engine: AppliedLinks(engine, SITE).writes(),
    "drawn_targets": lambda engine: Experiments(engine, SITE).drawn(),
}


UNREADABLE_DECISIONS = (
    "edges SET facts = '{}'",
    "edges SET status = 'lost'",
    "edges SET verdict = 'lost'",
    "edges SET kind = 'lost'",
    "edges SET id = 'another'",
    "runs SET facts = '[]'",
    "runs SET run = 'another'",
    "run_links SET content = '\\x00'",
    "applied_links SET links = '{}'",
    "applied_links SET status = 'lost'",
    "drawn_targets SET until_day = 'tea'",
)


def test_a_row_of_decisions_ends_the_command(engine: Engine) -> None:
    """A decision that can't be read is no missing one: the error names the table and the backup."""
    remedy = "`store restore`" if engine.dialect.name == "sqlite" else "pg_restore"
    for damage in UNREADABLE_DECISIONS:
        table = damage.split()[0]
        fill(engine)
        assert DECISIONS[table](engine), damage
        execute(engine, f"UPDATE {damage}")
        with pytest.raises(ConfigurationError, match=rf"a row of {table} is damaged\)\. .*{remedy}"):
            DECISIONS[table](engine)
        execute(engine, f"DELETE FROM {table}")


def spoil(path: Path) -> None:
    """Overwrite pages in the middle of a file."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[8192:40960] = b"\xff" * 32768
    path.write_bytes(content)


def test_a_file_that_is_damaged_as_a_whole_ends_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is checked at the first row that can't be read, so that nothing goes on with what is left of it."""
    engine = open_project(tmp_path).databases.store()
    fill(engine)
    execute(engine, "UPDATE serp SET links = '{}'")
    execute(engine, "PRAGMA writable_schema = ON")
    execute(engine, "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'join_blocks'")
    engine.dispose()
    engine = open_project(tmp_path).databases.store()
    with pytest.raises(ConfigurationError, match=r"the file is damaged: .*`store restore`"):
        CACHES["serp"](engine)
    engine.dispose()
    spoil(tmp_path / FILE)
    assert command("cache", "verify", "--project", str(tmp_path)) == 2
    said = capsys.readouterr().err
    assert "`store restore` puts its newest backup back" in said and "Traceback" not in said


def test_a_repair_drops_rows_of_caches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`cache verify` counts damaged rows and changes nothing; `--repair` removes those that runs replace."""
    project = open_project(tmp_path)
    engine, where = project.databases.store(), ("--project", str(tmp_path))
    fill(engine)
    assert command("cache", "verify", *where) == 0
    assert "The cache is not damaged." in capsys.readouterr().out
    execute(engine, "UPDATE embeddings SET vector = x'00' WHERE rowid < 3")
    execute(engine, "UPDATE joins SET texts = 7")
    execute(engine, "UPDATE search_days SET digest = ''")
    for _ in "twice":
        assert command("cache", "verify", *where) == 3
    assert "damaged rows: 2 in embeddings, 1 in joins, 1 in search_days." in capsys.readouterr().err
    result = verify_cache(project, VerifyCacheOptions(), Told())
    assert not result.ok and result.to_frame().values.tolist()[0] == ["embeddings", 2]
    assert command("cache", "verify", "--repair", *where) == 0
    assert "Removed: 2 in embeddings, 1 in joins, 1 in search_days." in capsys.readouterr().out
    assert verify_cache(project, VerifyCacheOptions(), Told()).ok
    assert len(EmbeddingCache(engine, "float16").get(Letters(), TEXTS)) == len(TEXTS) - 2
    engine.dispose()


def test_a_repair_restores_the_newest_backup_with_all_decisions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A backup whose decisions can't be read is passed over; without a sound one, nothing is changed."""
    project, where = open_project(tmp_path), ("--project", str(tmp_path))
    engine = project.databases.store()
    fill(engine)
    execute(engine, "UPDATE runs SET facts = '{'")
    assert command("cache", "verify", "--repair", *where) == 3
    assert "there is no backup" in capsys.readouterr().err
    fill(engine)
    sound = project.databases.back_up(tmp_path / "files/backups/cache-20260101-000000.sqlite3")
    RunStore(engine, project.site).put(replace(VERSION, run="2"), [])
    execute(engine, "UPDATE runs SET facts = '{'")
    project.databases.back_up()
    engine.dispose()
    assert command("history", *where) == 2
    said = capsys.readouterr().err
    assert "a row of runs is damaged" in said and "`store restore`" in said
    assert command("cache", "verify", "--repair", *where) == 0
    assert f"restored from {sound}" in capsys.readouterr().out
    engine = project.databases.store()
    store_contents.check(engine)
    engine.dispose()


def test_a_run_says_what_it_replaced(tmp_path: Path) -> None:
    """Rows that a run replaces are a note; days of search data, which it can't fetch again, are a gap."""
    engine = open_project(tmp_path).databases.store()
    fill(engine)
    assert damage_met(engine) == ("", "")
    execute(engine, "UPDATE embeddings SET vector = x'00' WHERE rowid < 3")
    execute(engine, "UPDATE search_days SET digest = ''")
    EmbeddingCache(engine, "float16").get(Letters(), TEXTS)
    SearchDays(engine, SITE).read(SearchTable.PAGES)
    note, gap = damage_met(engine)
    assert note == "The cache had damaged rows, which were replaced: 2 in embeddings."
    assert gap.startswith("1 day of search data could not be read: import the data again")
    engine.dispose()


def test_a_copy_leaves_damaged_rows_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`store copy` copies what can be read, and counts what can't."""
    engine = open_project(tmp_path).databases.store()
    store_contents.fill(engine)
    execute(engine, f"UPDATE embeddings SET created_at = {NOT_UTF8} WHERE rowid < 3")
    engine.dispose()
    assert command("store", "copy", FILE, "copy.sqlite3", "--project", str(tmp_path)) == 0
    assert "20 rows: 18 copied, 0 already up to date, 2 damaged and left out" in capsys.readouterr().out


@pytest.mark.parametrize("url", ["postgresql+psycopg://ann@127.0.0.1:1/x", "sqlite:///files/cache.sqlite3"])
def test_no_advice_gives_the_cache_away(url: str, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / FILE).write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(ConfigurationError) as caught:
        open_database(url, tmp_path)
    said = str(caught.value)
    assert "move" not in said and "fetched again" not in said and "delete" not in said
    assert ("server runs" if "postgres" in url else "`store restore`") in said
