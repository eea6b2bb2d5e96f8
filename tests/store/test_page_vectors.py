"""Page vectors for other programs: a table of a PostgreSQL database with an HNSW index of pgvector."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import create_engine, make_url, text

from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import ExitCode
from internal_linker.model.runs import Version
from internal_linker.project.project import open_project
from internal_linker.store import page_vectors
from internal_linker.store.engine import open_database
from internal_linker.store.page_vectors import PageVectorTable
from internal_linker.store.runs import RunStore
from tests.standins import OpenAIStandIn
from tests.support import small_project
from tests.support.databases import statements
from tests.support.sites import make_project, sample_pages, use_standins
from tests.support.small_project import command, write_csv

pytestmark = pytest.mark.long
SITE = "tea's 100%.example"
PAGES = 30
HEADER = ("URL", "Title", "Main Content")


def rows(
    url: str, query: str = "SELECT url, model, vector::text, xmin::text FROM page_vectors"
) -> Sequence[Any]:
    """Execute SQL as another program does."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = connection.execute(text(query)).all()
    engine.dispose()
    return found


def stored(url: str) -> Mapping[str, Vectors]:
    return {page: np.array(vector.strip("[]").split(","), float) for page, _, vector, _ in rows(url)}


def indexes(url: str) -> Sequence[str]:
    found = rows(url, "SELECT indexdef FROM pg_indexes WHERE tablename = 'page_vectors' ORDER BY indexname")
    return [definition for (definition,) in found if "hnsw" in definition]


def vectors(count: int, length: int = 8, seed: int = 0) -> dict[str, Vectors]:
    """Return random unit vectors by URL."""
    drawn = np.random.default_rng(seed).normal(size=(count, length)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return {f"https://tea.example/{at}": row for at, row in enumerate(drawn)}


def table_of(url: str, folder: Path, site: str = SITE) -> PageVectorTable:
    return PageVectorTable(open_database(url, folder), site)


@pytest.fixture
def table(postgres: str, tmp_path: Path) -> PageVectorTable:
    """Return the prepared table of a site in an empty database."""
    made = table_of(postgres, tmp_path)
    assert made.prepare()
    return made


# -- what is written ---------------------------------------------------------------------------------


def test_only_changed_rows_are_written(table: PageVectorTable, postgres: str) -> None:
    pages = vectors(20)
    assert table.refresh("m", pages) == 20
    halves = {url: vector.astype(np.float16) for url, vector in stored(postgres).items()}
    assert halves.keys() == pages.keys()
    assert all(np.array_equal(halves[url], pages[url].astype(np.float16)) for url in pages)
    before = {row.url: row for row in rows(postgres)}
    assert table.refresh("m", pages) == 0 and {row.url: row for row in rows(postgres)} == before
    first, second, *_ = pages
    pages[first] = vectors(1, seed=1)[first]
    del pages[second]
    assert table.refresh("m", pages) == 1
    after = {row.url: row for row in rows(postgres)}
    assert after.keys() == pages.keys() and {url for url in after if after[url] != before[url]} == {first}


def test_a_page_whose_vector_failed_keeps_that_of_the_run_before(
    table: PageVectorTable, postgres: str
) -> None:
    """A failed service removes no row, not even if it failed for all pages; another model's rows go."""
    pages = vectors(5)
    table.refresh("m", pages)
    assert table.refresh("m", {}, pages) == 0 and len(stored(postgres)) == 5 and len(indexes(postgres)) == 1
    first, *others = pages
    table.refresh("m", {first: pages[first]}, others)
    assert len(stored(postgres)) == 5
    table.refresh("m2", {first: pages[first]}, others)
    assert [(row.url, row.model) for row in rows(postgres)] == [(first, "m2")]


def test_another_encoder_replaces_all_rows_and_the_index(table: PageVectorTable, postgres: str) -> None:
    """Vectors of another length replace the old ones and their index; more than 4,000 dimensions have none."""
    for length, has_index in ((8, True), (12, True), (4001, False), (4000, True)):
        assert table.refresh("m", vectors(3, length)) == 3
        assert [f"halfvec({length})" in one for one in indexes(postgres)] == [True] * has_index
        assert {len(one) for one in stored(postgres).values()} == {length}


def test_runs_that_end_at_once_do_not_mix(table: PageVectorTable, postgres: str, tmp_path: Path) -> None:
    given = [vectors(300 + 10 * seed, seed=seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        written = threads.map(lambda pages: table_of(postgres, tmp_path).refresh("m", pages), given)
        assert len([*written]) == 4
    found = stored(postgres)
    (last,) = [pages for pages in given if pages.keys() == found.keys()]
    assert all(np.allclose(found[url], last[url], atol=1e-3) for url in found) and len(indexes(postgres)) == 1


def test_sites_share_the_table(table: PageVectorTable, postgres: str, tmp_path: Path) -> None:
    table.refresh("m", vectors(5))
    other = table_of(postgres, tmp_path, "coffee.example")
    assert other.prepare() and other.refresh("m", vectors(4, 12)) == 4
    assert table.refresh("m", vectors(3)) == 0 and other.refresh("m", {}) == 0
    assert len(stored(postgres)) == 3 and len(indexes(postgres)) == 2


def test_the_index_answers_the_documented_query(table: PageVectorTable, postgres: str) -> None:
    table.refresh("m", vectors(2000, 64))
    query = documented("https://tea.example/7", SITE.replace("'", "''"))
    plan = "\n".join(line for (line,) in rows(postgres, f"EXPLAIN {query}"))
    assert re.search(r"Index Scan using page_vectors_\w{8}_64 on page_vectors", plan)


def test_a_vector_of_a_text_takes_the_place_of_a_page(table: PageVectorTable, postgres: str) -> None:
    pages = vectors(50, 64)
    table.refresh("m", pages)
    asked = vectors(1, 64, seed=9)["https://tea.example/0"]
    query = documented("none", SITE.replace("'", "''"))
    query = re.sub(r"\(\s+SELECT .*?'none'\)", f"'{[*map(float, asked)]}'", query, flags=re.DOTALL)
    exact = sorted(pages, key=lambda url: -float(pages[url] @ asked))[:5]
    assert "SELECT vector" not in query and [row.url for row in rows(postgres, query)] == exact


def test_a_site_without_runs_is_pruned(table: PageVectorTable, postgres: str, tmp_path: Path) -> None:
    """Vectors of a site that had no run for the given time go; those of a site with a recent run stay."""
    store = open_project(small_project.make_project(tmp_path, {"store_url": postgres})).databases
    table.refresh("m", vectors(3))
    RunStore(open_database(postgres, tmp_path), SITE).put(
        Version("1", "2026-01-01", "all rows", "", rows=0, links=0), ()
    )
    other = table_of(postgres, tmp_path, "coffee.example")
    other.refresh("m", vectors(2))
    assert ("page_vectors", 2) in [(one.table, one.rows) for one in store.prune(30, apply=False)]
    assert ("page_vectors", 2) in [(one.table, one.rows) for one in store.prune(30, apply=True)]
    assert rows(postgres, "SELECT DISTINCT site FROM page_vectors") == [(SITE,)]


# -- servers without the extension -------------------------------------------------------------------


def test_a_user_who_may_not_create_the_extension_goes_without(postgres: str, tmp_path: Path) -> None:
    """Without the right to install pgvector, nothing is created; once it is installed, the table is."""
    statements(
        postgres,
        "DROP ROLE IF EXISTS guest",
        "CREATE ROLE guest LOGIN",
        "GRANT ALL ON SCHEMA public TO guest",
    )
    try:
        guest = make_url(postgres).set(username="guest").render_as_string(hide_password=False)
        engine = open_database(guest, tmp_path)
        assert "let an administrator execute CREATE EXTENSION vector" in page_vectors.problem(engine)
        assert not PageVectorTable(engine, SITE).prepare()
        statements(postgres, "CREATE EXTENSION vector")
        assert not page_vectors.problem(engine) and PageVectorTable(engine, SITE).prepare()
        assert PageVectorTable(engine, SITE).refresh("m", vectors(3)) == 3
        statements(postgres, "REVOKE INSERT ON page_vectors FROM guest")
        assert "may not write to the table page_vectors" in page_vectors.problem(engine)
        assert page_vectors.waste(engine, datetime.now(UTC)) == []
        engine.dispose()
    finally:
        statements(postgres, "DROP OWNED BY guest", "DROP ROLE guest")


def test_a_table_of_another_program_is_left_alone(postgres: str, tmp_path: Path) -> None:
    """A table of the same name with other columns is neither written nor pruned, and `problem` names it."""
    statements(
        postgres, "CREATE TABLE page_vectors (site text)", "INSERT INTO page_vectors VALUES ('theirs')"
    )
    engine = open_database(postgres, tmp_path)
    assert "page_vectors has other columns" in page_vectors.problem(engine)
    assert not PageVectorTable(engine, SITE).prepare() and page_vectors.waste(engine, datetime.now(UTC)) == []
    assert rows(postgres, "SELECT site FROM page_vectors") == [("theirs",)]


@pytest.mark.parametrize(
    ("installed", "available", "said"),
    [
        ("NULL", "NULL", "its server has no pgvector"),
        ("'0.5.1'", "'0.5.1'", "pgvector 0.5.1 is older than 0.7"),
        ("'0.8.0'", "'0.8.0'", "not in the user's search_path"),
    ],
)
def test_an_unusable_extension_is_named(
    postgres: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    installed: str,
    available: str,
    said: str,
) -> None:
    """No extension, an old one, and one in a hidden schema: nothing is created, and the reason is said."""
    answer = (
        f"SELECT false AS has_type, NULL::text[] AS columns, true AS may_write, "
        f"true AS may_create_table, true AS may_install, {installed} AS installed, {available} AS available"
    )
    monkeypatch.setattr(page_vectors, "_SERVER", text(answer))
    engine = open_database(postgres, tmp_path)
    assert said in page_vectors.problem(engine) and not PageVectorTable(engine, SITE).prepare()
    assert rows(postgres, "SELECT to_regclass('page_vectors')")[0][0] is None


# -- whole runs --------------------------------------------------------------------------------------


def run(project: Path, *arguments: str) -> int:
    return command(*arguments, "--project", str(project))


def test_a_run_writes_what_the_documented_query_reads(
    postgres: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The SQL of docs/scaling.md finds the pages that an exact computation finds; runs write changed pages only."""
    project = make_project(tmp_path, PAGES)
    with OpenAIStandIn(dimensions=64) as openai:
        use_standins(project, openai=openai, settings={"store_url": postgres})
        assert run(project, "check") == 0
        assert "Page vectors: other programs can query the table page_vectors" in capsys.readouterr().out
        assert run(project, "run") == 0
        assert re.search(rf"Page vectors: +{PAGES} pages, {PAGES} written", capsys.readouterr().out)
        pages = stored(postgres)
        assert len(pages) == PAGES and len(indexes(postgres)) == 1
        at = next(iter(pages))
        (site,) = {row.site for row in rows(postgres, "SELECT site FROM page_vectors")}
        found = [row.url for row in rows(postgres, documented(at, site))]
        exact = sorted(pages.keys() - {at}, key=lambda one: -float(pages[one] @ pages[at]))
        assert found == exact[:5]
        changed = sample_pages(PAGES)[1:]
        changed[0]["Main Content"] += " And a word about lavender."
        write_csv(
            project / "files/urls_rawdata.csv", [HEADER, *([row[name] for name in HEADER] for row in changed)]
        )
        assert run(project, "run", "--limit", "5") == 0 and stored(postgres).keys() == pages.keys()
        assert run(project, "run") == 0
        assert re.search(rf"Page vectors: +{PAGES - 1} pages, 1 written", capsys.readouterr().out)
        assert len(stored(postgres)) == PAGES - 1
        # The vectors of LSA mean nothing after the run.
        use_standins(project, settings={"store_url": postgres, "embedding_provider": "lsa"})
        assert run(project, "run", "--accept-drift") == 0 and stored(postgres) == {}


def test_a_table_that_cannot_be_written_is_a_gap(
    postgres: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table_of(postgres, tmp_path).prepare()
    statements(postgres, "ALTER TABLE page_vectors ADD CHECK (url = '')")
    project = make_project(tmp_path, PAGES)
    with OpenAIStandIn(dimensions=64) as openai:
        use_standins(project, openai=openai, settings={"store_url": postgres})
        assert run(project, "run") == ExitCode.GAPS
    assert (
        "The table page_vectors still has the vectors of an earlier run: store_url" in capsys.readouterr().out
    )
    assert (project / "files/Output.csv").is_file()


def documented(page: str, site: str) -> str:
    """Return the query of docs/scaling.md for a page of a site with vectors of 64 numbers."""
    docs = (Path(__file__).parents[2] / "docs/scaling.md").read_text(encoding="utf-8")
    query = re.search(r"```sql\n(SELECT url.*?)```", docs, re.DOTALL)
    assert query
    return (
        query[1]
        .replace("https://example.com/blog/tea/", page)
        .replace("example.com", site)
        .replace("384", "64")
    )
