"""`store copy` moves a whole cache between databases and never overwrites newer data."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from internal_linker.model.records import SerpPage
from internal_linker.project.cache import copy_store
from internal_linker.project.options.stores import CopyStoreOptions
from internal_linker.project.project import open_project
from internal_linker.store.answers import SerpResultCache
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import open_database
from internal_linker.store.neighbours import StoredJoins
from tests.store.test_neighbours import neighbourhood, same
from tests.support.builders import US, Letters, Told
from tests.support.small_project import command, write_text

FILE = "sqlite:///files/cache.sqlite3"
ROWS = 1200  # more than two batches


@pytest.fixture(
    params=[
        "between files",
        pytest.param("to the server", marks=pytest.mark.long),
        pytest.param("from the server", marks=pytest.mark.long),
    ]
)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    if request.param == "between files":
        return FILE, "other/copy.sqlite3"
    server = str(request.getfixturevalue("postgres"))
    return (FILE, server) if request.param == "to the server" else (server, FILE)


class Cache:
    """A cache with its three stores."""

    def __init__(self, url: str, folder: Path) -> None:
        self.engine = open_database(url if "://" in url else f"sqlite:///{url}", folder)
        self.vectors = EmbeddingCache(self.engine, "float16")
        self.serp = SerpResultCache(self.engine, 7)
        self.joins = StoredJoins(self.engine)

    def fill(self, word: str = "first") -> None:
        self.vectors.put(Letters(), {f"h{n}": np.full(26, n % 7, np.float32) for n in range(ROWS)})
        for n in range(5):
            self.serp.put(f"q{n}", 1, US, SerpPage((word,), 1))
        self.joins.put("j", neighbourhood(3000, 200))
        self.joins.put_block("j", "b", neighbourhood().nearest)

    def answers(self) -> set[str]:
        return {page.links[0] for page in self.serp.get([f"q{n}" for n in range(5)], US).values()}


def copy(way: tuple[str, str], folder: Path) -> int:
    return command("store", "copy", *way, "--project", str(folder))


def test_everything_arrives_as_it_was(
    way: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The age of answers arrives, too, whatever the time zones of server and client."""
    monkeypatch.setenv("PGTZ", "Pacific/Auckland")
    old = Cache(way[0], tmp_path)
    old.fill()
    then = datetime.now(UTC) - timedelta(days=6.9)
    with old.engine.begin() as connection:
        at = then.replace(tzinfo=None) if connection.dialect.name == "sqlite" else then
        connection.execute(text("UPDATE serp SET fetched_at = :at"), {"at": str(at)})
    assert copy(way, tmp_path) == 0
    said = capsys.readouterr().out
    for line in (
        f"embeddings:     {ROWS} rows: {ROWS} copied, 0 already",
        "serp:           5 rows: 5 copied",
    ):
        assert line in said
    new = Cache(way[1], tmp_path)
    keys = [f"h{n}" for n in range(ROWS)]
    before, after = (cache.vectors.get(Letters(), keys) for cache in (old, new))
    assert before.keys() == after.keys() and all((before[key] == after[key]).all() for key in keys)
    assert new.answers() == old.answers() == {"first"}
    assert not SerpResultCache(new.engine, 6.8).get(["q0"], US)
    same(new.joins.get("j"), neighbourhood(3000, 200))
    assert new.joins.blocks("j") == {}, "work in progress stays where it is done"
    again = copy_store(open_project(tmp_path), CopyStoreOptions(source=way[0], destination=way[1]), Told())
    counts = {table: (rows, copied) for table, rows, copied in again.to_frame().values.tolist()}
    assert (counts["embeddings"], counts["runs"]) == ((ROWS, 0), (0, 0))


def test_of_two_answers_the_newer_stays(way: tuple[str, str], tmp_path: Path) -> None:
    old, new = Cache(way[0], tmp_path), Cache(way[1], tmp_path)
    old.fill("old")
    new.fill("new")
    new.joins.put("j", neighbourhood(4, 2, seed=1))
    old.serp.put("only here", 1, US, SerpPage(("kept",), 1))
    assert copy(way, tmp_path) == 0
    assert new.answers() == {"new"}
    assert new.serp.get(["only here"], US)
    same(new.joins.get("j"), neighbourhood(4, 2, seed=1))
    assert copy((way[1], way[0]), tmp_path) == 0
    assert old.answers() == {"new"}
    same(old.joins.get("j"), neighbourhood(4, 2, seed=1))


@pytest.mark.parametrize("given", ["files/none.sqlite3", "sqlite:///files/none.sqlite3", "sqlite://"])
def test_a_missing_source_is_refused(given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistyped FROM exits with code 3 and creates no file at FROM or TO."""
    assert copy((given, "files/new.sqlite3"), tmp_path) == 3
    said = capsys.readouterr().err
    assert "not found, or it contains no cache: check FROM" in said and (
        given == "sqlite://" or str(tmp_path) in said
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_an_empty_server_is_no_source(
    postgres: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A database without the tool's tables exits with code 3, and the message hides its password."""
    address = postgres.replace("postgres@", "postgres:pass-word-1@")
    assert copy((address, FILE), tmp_path) == 3
    said = "".join(capsys.readouterr())
    assert "postgresql+psycopg://postgres:***@" in said and "pass-word-1" not in said


def test_what_is_no_pair_of_caches_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two names of the same file, and a CSV file in place of a cache, exit with code 2."""
    Cache(FILE, tmp_path).fill()
    assert copy((FILE, "files/cache.sqlite3"), tmp_path) == 2
    assert "the same database" in capsys.readouterr().err
    write_text(tmp_path / "files/pages.csv", "URL,Title\n" * 100)
    assert copy(("files/pages.csv", FILE), tmp_path) == 2
    assert "can't be opened" in capsys.readouterr().err
