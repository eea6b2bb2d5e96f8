"""A damaged cell ends no command: damaged rows are left out and counted, and `cache verify --repair` mends them."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import time_machine
from sqlalchemy import Engine, event

from internal_linker.adapters.database.edges import EdgeStore
from internal_linker.adapters.database.embeddings import EmbeddingCache
from internal_linker.adapters.database.engine import noted_damage, open_database
from internal_linker.adapters.database.fetched_pages import StoredPages
from internal_linker.adapters.database.llm_answers import StoredAnswers
from internal_linker.adapters.database.neighbours import StoredJoins
from internal_linker.adapters.database.runs import RunStore
from internal_linker.adapters.database.search_days import SearchDays
from internal_linker.adapters.database.serp_results import SerpResultCache
from internal_linker.core.arrays import Vectors
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.records import FetchedPage, SerpPage
from internal_linker.core.search_data import SearchTable
from internal_linker.usecases.cache import verify_cache
from internal_linker.usecases.databases import KEPT_DAYS
from internal_linker.usecases.options.stores import VerifyCacheOptions
from internal_linker.usecases.project import open_project
from tests.standins import OpenAIStandIn, SerperStandIn
from tests.support import store_contents
from tests.support.builders import Letters, Told
from tests.support.chats import Model
from tests.support.sites import make_project, sample_pages, use_standins
from tests.support.small_project import command, forget_settings
from tests.support.store_contents import EDGE, MARKET, PROMPT, QUERY, ROW, SITE, TEXTS, VERSION

FILE = "files/cache.sqlite3"
PAGE = FetchedPage("https://a.example/", {"etag": '"1"'}, b"<html>")
TABLES = (
    "embeddings",
    "serp",
    "answers",
    "joins",
    "join_chunks",
    "join_blocks",
    "search_days",
    "edges",
    "runs",
    "run_links",
)
VALUES = {
    "another text": "'tea'",
    "no text": "''",
    "bytes that are not UTF-8": "CAST(x'80ff' AS TEXT)",
    "bytes": "x'00ff'",
    "many bytes": "zeroblob(5000)",
    "a number": "7",
    "a huge number": "9223372036854775807",
    "a fraction": "-1e308",
    "a date that never was": "'2026-13-45 99:99:99.000000'",
    "the far future": "'2036-01-01 00:00:00.000000'",
    "other JSON": "'{\"a\":[1]}'",
}
PAGES = 12


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with rows in every table."""
    folder = tmp_path_factory.mktemp("whole")
    engine = open_database(f"sqlite:///{FILE}", folder)
    store_contents.fill(engine)
    StoredPages(engine).put(PAGE)
    engine.dispose()
    return folder / FILE


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as file:
        for statement in statements:
            file.execute(statement)
        file.commit()


def columns(path: Path, table: str) -> list[str]:
    with closing(sqlite3.connect(path)) as file:
        return [row[1] for row in file.execute(f"PRAGMA table_info({table})")]


def read_all(engine: Engine) -> None:
    """Read everything that any command reads."""
    EmbeddingCache(engine, "float16").get(Letters(), TEXTS)
    SerpResultCache(engine, 365_000).get([QUERY], MARKET)
    StoredAnswers(engine).get(Model(str), PROMPT)
    joins, edges, runs = StoredJoins(engine), EdgeStore(engine, SITE), RunStore(engine, SITE)
    joins.get("join")
    joins.blocks("other")
    edges.of_sources([EDGE.source])
    edges.by_id([EDGE.id])
    sorted(edge.rank for edge in edges.each(judged=True))
    sorted(edges.counts().items())
    for version in runs.versions():
        assert version.rows + version.links
        list(runs.rows(version.run, damaged=True))
    runs.duplicates()
    StoredPages(engine).get(PAGE.url)
    search = SearchDays(engine, SITE)
    search.sources(SearchTable.PAGES)
    search.days(SearchTable.PAGES)
    search.read(SearchTable.PAGES)


@pytest.mark.parametrize("first", range(len(VALUES)))
def test_damaged_cells_are_read_around_and_repaired(first: int, whole: Path, tmp_path: Path) -> None:
    """With a damaged cell in each table, every store reads and writes, and the repair leaves no damage."""
    cells = []
    for at, table in enumerate(TABLES):
        names = columns(whole, table)
        cells.append(
            (table, names[(first + at) % len(names)], [*VALUES.values()][(first + at) % len(VALUES)])
        )
    survives(cells, whole, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES)
def test_any_damaged_cell_is_read_around_and_repaired(table: str, whole: Path, tmp_path: Path) -> None:
    """Whatever stands in any column of any table, every store reads and writes, and the repair leaves no damage."""
    for column in columns(whole, table):
        for value in VALUES.values():
            survives([(table, column, value)], whole, tmp_path)


def survives(cells: Sequence[tuple[str, str, str]], whole: Path, folder: Path) -> None:
    """Read, write, tidy and repair copies of a database in which these columns of these tables have these values."""
    path, opened = folder / FILE, open_project(folder)
    path.parent.mkdir(exist_ok=True)
    damage = [f"UPDATE OR IGNORE {table} SET {column} = {value}" for table, column, value in cells]
    shutil.copy(whole, path)
    execute(path, *damage)
    engine = opened.databases.store()
    read_all(engine)
    store_contents.fill(engine)
    read_all(engine)
    opened.databases.tidy(engine, Letters(), TEXTS)
    engine.dispose()
    shutil.copy(whole, path)
    execute(path, *damage)
    verify_cache(opened, VerifyCacheOptions(repair=True), Told())
    assert verify_cache(opened, VerifyCacheOptions(), Told()).damaged == {}, cells


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a project with searches and embeddings after three runs, the last one of a part of its rows."""
    folder = make_project(tmp_path_factory.mktemp("site"), PAGES)
    urls = [page["URL"] for page in sample_pages(PAGES)]
    with (
        pytest.MonkeyPatch.context() as patch,
        OpenAIStandIn(dimensions=64) as openai,
        SerperStandIn(lambda words, _: urls[sum(map(ord, words)) % PAGES :][:3]) as serper,
    ):
        forget_settings(patch)
        use_standins(folder, openai=openai, serper=serper, settings={"embedding_provider": "openai"})
        assert [command("run", "--project", str(folder)) for _ in range(2)] == [0, 0]
        yield folder


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[pytest.mark.long] * (each != "bytes that are not UTF-8")) for each in VALUES],
)
def test_no_command_ends_on_damage(
    name: str, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a damaged row for each column of each table, all commands work, and the repaired cache is whole."""
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    for table in TABLES:
        for row, column in enumerate(columns(folder / FILE, table), 1):
            one = f"rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {row % 12})"
            execute(folder / FILE, f"UPDATE OR IGNORE {table} SET {column} = {VALUES[name]} WHERE {one}")
    where = ("--project", str(folder))
    url = sample_pages(PAGES)[0]["URL"]
    assert command("history", *where) == 0
    assert command("lookup", url, *where) in (0, 6)
    assert command("cache", "verify", *where) == 3
    assert command("run", *where) in (0, 6)
    assert command("run", "--only", url, *where) in (0, 6)
    assert command("cache", "verify", "--repair", *where) == 0
    capsys.readouterr()
    assert command("cache", "verify", *where) == 0
    assert "The cache is not damaged." in capsys.readouterr().out
    assert command("run", *where) == 0
    assert "damaged" not in "".join(capsys.readouterr())


def lengthened(vectors: dict[str, Vectors]) -> dict[str, Vectors]:
    return {text: np.concatenate([vector, vector]) for text, vector in vectors.items()}


def test_a_vector_of_another_length_is_encoded_again(tmp_path: Path) -> None:
    """A halved vector is missing, whatever dimensions the model's name promises; if the newest differ, all count."""
    engine = open_project(tmp_path).databases.store()
    cache, encoder = EmbeddingCache(engine, "float16"), Letters()
    cache.put(encoder, lengthened(store_contents.vectors()))
    execute(tmp_path / FILE, "UPDATE embeddings SET vector = substr(vector, 1, 52) WHERE rowid = 3")
    assert not cache.get(encoder, [TEXTS[2]])
    assert cache.get(encoder, TEXTS).keys() == set(TEXTS) - {TEXTS[2]}
    assert noted_damage(engine) == {"embeddings": 2}
    EmbeddingCache(engine, "float16").put(encoder, {"new": np.ones(7, np.float32)})
    assert len(EmbeddingCache(engine, "float16").get(encoder, [*TEXTS, "new"])) == len(TEXTS) + 1
    engine.dispose()


def test_not_every_stored_vector_is_checked_for_its_length(tmp_path: Path) -> None:
    """Vectors as long as a sample of the others are sound; for any other length, all vectors are checked."""
    engine, asked = open_project(tmp_path).databases.store(), list[str]()
    encoder, texts = Letters(), [f"{number:064}" for number in range(500)]
    EmbeddingCache(engine, "float16").put(encoder, dict.fromkeys(texts, np.ones(26, np.float32)))
    event.listen(engine, "before_cursor_execute", lambda *about: asked.append(about[2]))
    cache = EmbeddingCache(engine, "float16")
    assert len(cache.get(encoder, texts[:2])) == len(cache.get(encoder, texts[-2:])) == 2
    assert not any("GROUP BY" in statement for statement in asked)
    execute(
        tmp_path / FILE,
        f"UPDATE embeddings SET vector = substr(vector, 1, 26) WHERE text_hash = '{texts[-1]}'",
    )
    assert cache.get(encoder, texts[-2:]).keys() == {texts[-2]}
    assert any("GROUP BY" in statement for statement in asked)
    assert not EmbeddingCache(engine, "float16").get(encoder, texts[-1:])
    engine.dispose()


def test_decisions_come_back_from_a_backup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The repair restores links and runs from the newest sound backup, and sets aside those that no backup has."""
    opened = open_project(tmp_path)
    engine = opened.databases.store()
    store_contents.fill(engine)
    opened.databases.back_up()
    other = replace(EDGE, target="https://a.example/new")
    EdgeStore(engine, SITE).put([other])
    RunStore(engine, SITE).put(replace(VERSION, run="2"), [ROW])
    engine.dispose()
    execute(
        tmp_path / FILE,
        "UPDATE edges SET facts = 'tea'",
        "UPDATE runs SET facts = x'00' WHERE run = '1'",
        "UPDATE run_links SET content = x'00' WHERE run = '2'",
    )
    assert command("cache", "verify", "--repair", "--project", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "edges: 1 restored from a backup, 1 in no backup, moved to the table damaged_rows" in said
    assert "runs: 1 restored from a backup" in said
    engine = opened.databases.store()
    store_contents.check(engine)
    engine.dispose()
    with closing(sqlite3.connect(tmp_path / FILE)) as file:
        kept = file.execute("SELECT table_name, cells FROM damaged_rows ORDER BY table_name").fetchall()
    assert [table for table, _ in kept] == ["edges", "run_links", "runs"], "a run without its links is none"
    assert '"facts": "text 746561"' in kept[0][1] and other.id.encode().hex().upper() in kept[0][1]


def test_a_damaged_decision_is_not_overwritten(tmp_path: Path) -> None:
    """A row that a run writes in the place of a damaged one leaves the damaged one's bytes in damaged_rows."""
    engine = open_project(tmp_path).databases.store()
    edges = EdgeStore(engine, SITE)
    edges.put([EDGE])
    execute(tmp_path / FILE, "UPDATE edges SET verdict = 'lost'")
    assert edges.of_sources([EDGE.source]) == {} and noted_damage(engine) == {"edges": 1}
    edges.put([replace(EDGE, verdict="", status="proposed")])
    assert [edge.status for edge in edges.each()] == ["proposed"]
    engine.dispose()
    with closing(sqlite3.connect(tmp_path / FILE)) as file:
        (cells,) = file.execute("SELECT cells FROM damaged_rows").fetchone()
    assert EDGE.notes.encode().hex().upper() in cells


def test_a_run_tells_of_lost_decisions(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Damaged links end a run with gaps and the command that repairs them; damaged vectors are only noted."""
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    execute(folder / FILE, "UPDATE embeddings SET vector = x'00' WHERE rowid < 3")
    assert command("run", "--project", str(folder)) == 0
    assert "The cache had damaged rows, which were replaced: 2 in embeddings." in capsys.readouterr().out
    execute(folder / FILE, "UPDATE edges SET facts = '{' WHERE rowid < 3")
    assert command("run", "--project", str(folder)) == 6
    assert "left out: 2 in edges. `cache verify --repair` restores" in capsys.readouterr().out


def test_a_copy_leaves_damaged_rows_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`store copy` copies what can be read, and counts what can't."""
    engine = open_project(tmp_path).databases.store()
    store_contents.fill(engine)
    engine.dispose()
    execute(tmp_path / FILE, "UPDATE embeddings SET created_at = 7, vector = 'tea' WHERE rowid < 3")
    assert command("store", "copy", FILE, "copy.sqlite3", "--project", str(tmp_path)) == 0
    assert "20 rows: 18 copied, 0 already up to date, 2 damaged and left out" in capsys.readouterr().out


@pytest.mark.parametrize("url", ["postgresql+psycopg://ann@127.0.0.1:1/x", "sqlite:///files/cache.sqlite3"])
def test_no_advice_gives_the_cache_away(url: str, tmp_path: Path) -> None:
    """For a refused server and for a damaged file, the message advises nothing that loses decisions and runs."""
    (tmp_path / "files").mkdir()
    (tmp_path / FILE).write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(ConfigurationError) as caught:
        open_database(url, tmp_path)
    said = str(caught.value)
    assert "move" not in said and "fetched again" not in said and "delete" not in said
    assert ("server runs" if "postgres" in url else "`store restore`") in said


FUTURE = datetime(2036, 1, 1, tzinfo=UTC)


def test_results_from_the_future_are_not_believed(store_url: str, tmp_path: Path) -> None:
    """A search result of 2036 is fetched again; one of a clock that is minutes ahead is used."""
    engine = open_database(store_url, tmp_path)
    cache = SerpResultCache(engine, 365_000)
    for at, believed in ((FUTURE, False), (datetime.now(UTC) + timedelta(minutes=10), True)):
        with time_machine.travel(at):
            cache.put(QUERY, 1, MARKET, SerpPage(("https://a.example/",), 1))
        assert bool(cache.get([QUERY], MARKET)) is believed
    engine.dispose()


def test_rows_from_the_future_age_like_others(store_url: str, tmp_path: Path) -> None:
    """Of rows stored by a wrong clock, those in use stay, and the rest go when no run needed them for half a year."""
    opened = open_project(tmp_path)
    engine = open_database(store_url, tmp_path)
    withdrawn = replace(EDGE, target="gone", status="withdrawn", verdict="", notes="", anchor="")
    with time_machine.travel(FUTURE):
        EmbeddingCache(engine, "float16").put(Letters(), {"old": np.ones(26, np.float32)})
        StoredAnswers(engine).put(Model(str), "old", "{}")
        StoredJoins(engine).put("old", store_contents.joined())
        EdgeStore(engine, SITE).put([withdrawn])
        StoredPages(engine).put(replace(PAGE, url="https://a.example/old"))
    now = datetime.now(UTC)
    for later, kept in ((0, True), (KEPT_DAYS + 1, False)):
        with time_machine.travel(now + timedelta(days=later)):
            store_contents.fill(engine)
            EmbeddingCache(engine, "float16").put(Letters(), {"more": np.ones(26, np.float32)})
            for name in ("a", "b"):
                StoredAnswers(engine).put(Model(str), name, "{}")
                StoredJoins(engine).put(name, store_contents.joined())
                StoredPages(engine).put(replace(PAGE, url=f"https://a.example/{name}"))
                EdgeStore(engine, SITE).put([replace(EDGE, target=name)])
            opened.databases.tidy(engine, Letters(), TEXTS)
        assert bool(EmbeddingCache(engine, "float16").get(Letters(), ["old"])) is kept
        assert (StoredAnswers(engine).get(Model(str), "old") is not None) is kept
        assert (StoredJoins(engine).get("old") is not None) is kept
        assert (StoredPages(engine).get("https://a.example/old") is not None) is kept
        assert bool(EdgeStore(engine, SITE).by_id([withdrawn.id])) is kept
    engine.dispose()


def test_a_clock_that_is_behind_removes_nothing(store_url: str, tmp_path: Path) -> None:
    """If nearly all rows are from the future, this computer's clock is wrong: their times stay as they are."""
    engine = open_database(store_url, tmp_path)
    with time_machine.travel(FUTURE):
        store_contents.fill(engine)
    open_project(tmp_path).databases.tidy(engine, Letters(), TEXTS)
    with time_machine.travel(FUTURE):
        store_contents.check(engine)
    engine.dispose()


def test_a_copy_does_not_believe_the_future(tmp_path: Path) -> None:
    """Rows of 2036 replace none in the destination, and are replaced there."""
    for name, at in (("a", FUTURE), ("b", datetime.now(UTC))):
        engine = open_database(f"sqlite:///{name}.sqlite3", tmp_path)
        with time_machine.travel(at):
            SerpResultCache(engine, 7).put(QUERY, 1, MARKET, SerpPage((f"https://{name}.example/",), 1))
        engine.dispose()
    for source, destination in ("ab", "ba"):
        where = (f"{source}.sqlite3", f"{destination}.sqlite3", "--project", str(tmp_path))
        assert command("store", "copy", *where) == 0
        engine = open_database(f"sqlite:///{destination}.sqlite3", tmp_path)
        (page,) = SerpResultCache(engine, 7).get([QUERY], MARKET).values()
        assert page.links == ("https://b.example/",)
        engine.dispose()
