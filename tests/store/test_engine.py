"""The caches in their database return what was paid for, and a broken file raises a clear error."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, update

from internal_linker.model.errors import ConfigurationError
from internal_linker.model.records import SerpPage
from internal_linker.store.answers import SerpResultCache
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import KEYS_A_QUERY, open_database
from internal_linker.store.schema import METADATA
from tests.support.builders import US, Letters

URL = "sqlite:///files/cache.sqlite3"
FILE = "files/cache.sqlite3"


def encoder(model: str = "m", dimensions: int = 3, recipe: str = "v1") -> Letters:
    one = Letters()
    one.model, one.dimensions, one.recipe = model, dimensions, recipe
    return one


def serp(engine: Engine, days: float = 7) -> SerpResultCache:
    return SerpResultCache(engine, days)


def answer(*links: str) -> SerpPage:
    return SerpPage(links, 1)


@pytest.mark.parametrize("storage", ["float16", "float32"])
def test_a_vector_comes_back_as_it_was(storage: str) -> None:
    """float32 storage keeps every bit, float16 keeps three digits, and both return float32."""
    cache = EmbeddingCache(open_database("sqlite://", Path()), storage)
    vector = np.array([0.1, -1, 1e-3, 0.333333], np.float32)
    cache.put(encoder(), {"h": vector})
    found = cache.get(encoder(), ["h", "absent"])
    assert list(found) == ["h"] and found["h"].dtype == np.float32
    np.testing.assert_allclose(found["h"], vector, atol=0 if storage == "float32" else 1e-3)


def test_what_is_kept_outlives_the_process(store_url: str, tmp_path: Path) -> None:
    first = open_database(store_url, tmp_path)
    EmbeddingCache(first, "float16").put(encoder(), {"h": np.array([0.5, 0, 1], np.float32)})
    serp(first).put("tea", 1, US, answer("a"))
    first.dispose()
    again = open_database(store_url, tmp_path)
    assert EmbeddingCache(again, "float32").get(encoder(), ["h"])["h"].tolist() == [0.5, 0, 1]
    assert serp(again).get(["tea"], US) == {("tea", 1): SerpPage(("a",), 0)}


def test_vectors_of_two_makers_are_never_mixed(store_url: str, tmp_path: Path) -> None:
    cache = EmbeddingCache(open_database(store_url, tmp_path), "float32")
    cache.put(encoder(), {"h": np.ones(3, np.float32)})
    for other in (encoder(model="n"), encoder(dimensions=4), encoder(recipe="v2")):
        assert cache.get(other, ["h"]) == {}
        cache.put(other, {"h": np.zeros(other.dimensions, np.float32)})
    assert cache.get(encoder(), ["h"])["h"].tolist() == [1, 1, 1]


def test_more_keys_than_a_query_takes_are_all_found(store_url: str, tmp_path: Path) -> None:
    cache, count = EmbeddingCache(open_database(store_url, tmp_path), "float16"), 2 * KEYS_A_QUERY + 1
    cache.put(encoder(), {f"h{n}": np.full(3, n, np.float32) for n in range(count)})
    found = cache.get(encoder(), [f"h{n}" for n in range(count)])
    assert [found[f"h{n}"][0] for n in range(count)] == list(range(count))
    cache.put(encoder(), {})
    assert cache.get(encoder(), []) == {}
    queries = [f"q{n}" for n in range(count)]
    results = serp(open_database(store_url, tmp_path))
    results.put(queries[-1], 1, US, answer("a"))
    assert list(results.get(queries, US)) == [(queries[-1], 1)]


def test_a_new_answer_replaces_the_old(store_url: str, tmp_path: Path) -> None:
    engine = open_database(store_url, tmp_path)
    vectors, results = EmbeddingCache(engine, "float32"), serp(engine)
    for value in (1, 2):
        vectors.put(encoder(), {"h": np.full(3, value, np.float32)})
        results.put("tea", 1, US, answer(f"link {value}"))
    assert vectors.get(encoder(), ["h"])["h"].tolist() == [2, 2, 2]
    assert results.get(["tea"], US) == {("tea", 1): SerpPage(("link 2",), 0)}


def test_answers_are_told_apart_by_query_page_and_market(store_url: str, tmp_path: Path) -> None:
    """An answer belongs to its query, page, market and provider; it costs no credit again, even if it is empty."""
    cache = serp(open_database(store_url, tmp_path))
    cache.put("tea", 1, US, answer("https://e.example/چای", "b"))
    cache.put("tea", 2, US, answer())
    cache.put("tea", 1, replace(US, gl="de"), answer("c"))
    cache.put("tea", 1, replace(US, provider="serpapi"), answer("d"))
    assert cache.get(["tea", "Tea", "coffee"], US) == {
        ("tea", 1): SerpPage(("https://e.example/چای", "b"), 0),
        ("tea", 2): SerpPage((), 0),
    }
    assert cache.get(["tea"], replace(US, provider="serpapi")) == {("tea", 1): SerpPage(("d",), 0)}
    assert cache.get(["tea"], replace(US, gl="fr")) == {}


def test_an_answer_is_used_until_it_is_too_old(store_url: str, tmp_path: Path) -> None:
    """An answer is used for the days of the setting, fractions included; with 0 days it is never used again."""
    engine = open_database(store_url, tmp_path)
    serp(engine).put("tea", 1, US, answer("a"))
    for days, hours, used in ((0, 0, False), (1, 0, True), (1, 23, True), (1, 25, False), (0.5, 13, False)):
        then = datetime.now(UTC) - timedelta(hours=hours)
        with engine.begin() as connection:
            connection.execute(update(METADATA.tables["serp"]).values(fetched_at=then))
        assert bool(serp(engine, days).get(["tea"], US)) is used
        assert serp(engine, days).get(["tea"], US, any_age=True)


def test_reading_only_creates_nothing(tmp_path: Path) -> None:
    """A dry run in a fresh folder creates no file or folder, and finds an empty cache; absolute paths stay."""
    engine = open_database(URL, tmp_path, read_only=True)
    assert EmbeddingCache(engine, "float16").get(encoder(), ["h"]) == {}
    assert serp(engine).get(["tea"], US) == {}
    assert list(tmp_path.iterdir()) == []
    open_database(f"sqlite:///{tmp_path.as_posix()}/elsewhere/cache.db", tmp_path / "project").dispose()
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


def test_reading_only_changes_nothing(tmp_path: Path) -> None:
    first = open_database(URL, tmp_path)
    serp(first).put("tea", 1, US, answer("a"))
    first.dispose()
    before = (tmp_path / FILE).read_bytes()
    engine = open_database(URL, tmp_path, read_only=True)
    assert serp(engine).get(["tea"], US)
    with pytest.raises(ConfigurationError):
        serp(engine).put("tea", 2, US, answer("b"))
    engine.dispose()
    assert (tmp_path / FILE).read_bytes() == before


def test_reading_only_takes_a_database_without_tables_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    other = sqlite3.connect(tmp_path / FILE)
    other.execute("PRAGMA journal_mode=WAL")
    other.execute("PRAGMA user_version=1")
    other.close()
    engine = open_database(URL, tmp_path, read_only=True)
    assert serp(engine).get(["tea"], US) == {}
    engine.dispose()
    other = sqlite3.connect(tmp_path / FILE)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == []
    other.close()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "content", [b"URL,Main Query\nhttps://e.example/,tea\n" * 50, b"SQLite format 3\x00" + b"\xff" * 4096]
)
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, content: bytes, read_only: bool) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"store_url: .*`store restore` puts its newest backup back"):
        open_database(URL, tmp_path, read_only=read_only)
    assert (tmp_path / FILE).read_bytes() == content


@pytest.mark.parametrize(
    "url", ["", "no url", "nosuchdb://x", "sqlite:///files", "postgresql+nosuchdriver://localhost/x"]
)
def test_an_address_that_can_not_work_is_a_configuration_error(tmp_path: Path, url: str) -> None:
    (tmp_path / "files").mkdir()
    with pytest.raises(ConfigurationError, match="store_url: "):
        open_database(url, tmp_path)


def in_threads(work: Sequence[Callable[[], None]]) -> list[BaseException]:
    problems: list[BaseException] = []

    def guarded(one: Callable[[], None]) -> None:
        try:
            one()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=guarded, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return problems


def test_threads_read_while_others_write(store_url: str, tmp_path: Path) -> None:
    """Two threads read while two write: nothing fails, no answer is incomplete, nothing is lost."""
    cache = serp(open_database(store_url, tmp_path))
    names = [f"q{n}" for n in range(10)]
    seen: list[tuple[tuple[str, int], SerpPage]] = []

    def write(page: int) -> None:
        for name in names:
            cache.put(name, page, US, answer(name, str(page)))

    def read() -> None:
        for _ in range(20):
            seen.extend(cache.get(names, US).items())

    assert in_threads([lambda: write(1), lambda: write(2), read, read]) == []
    assert all(page.links == (name, str(number)) for (name, number), page in seen)
    assert len(cache.get(names, US)) == 20


@pytest.mark.long
def test_a_second_process_waits_for_its_turn(tmp_path: Path) -> None:
    cache = serp(open_database(URL, tmp_path))
    other = sqlite3.connect(tmp_path / FILE, check_same_thread=False, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.2, lambda: other.execute("COMMIT")).start()
    cache.put("tea", 1, US, answer("a"))
    assert cache.get(["tea"], US)
    other.close()


@pytest.mark.long
def test_a_file_needs_nothing_of_a_server(tmp_path: Path) -> None:
    """A program with a file creates all tables without loading PostgreSQL's dialect, which takes long."""
    code = (
        "import sys; from pathlib import Path; import internal_linker.store.databases; "
        "from internal_linker.store.engine import open_database; "
        f"open_database({URL!r}, Path(sys.argv[1])); print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "sqlalchemy.dialects.sqlite" in loaded.stdout
    assert "sqlalchemy.dialects.postgresql" not in loaded.stdout
