"""`cache verify` checks that the cache can be read, and `cache prune` removes what is no longer needed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, text

from internal_linker.project.cache import prune_cache
from internal_linker.project.options.stores import PruneCacheOptions
from internal_linker.project.project import open_project
from internal_linker.store.databases import KEPT_DAYS
from internal_linker.store.edges import EdgeStore
from internal_linker.store.embeddings import EmbeddingCache, note_used
from internal_linker.store.engine import open_database
from tests.standins import OpenAIStandIn
from tests.support import store_contents
from tests.support.builders import Letters
from tests.support.sites import make_project, use_standins
from tests.support.small_project import command
from tests.support.store_contents import EDGE, SITE, TEXTS

LONG_AGO = datetime.now(UTC) - timedelta(days=KEPT_DAYS + 10)
FILE = "files/cache.sqlite3"
OTHER = replace(EDGE, verdict="", status="withdrawn", notes="", anchor="")
EDGES_OF = [
    replace(OTHER, target="gone"),
    replace(OTHER, target="noted", notes="ask Ann"),
    replace(OTHER, target="reworded", anchor="my words"),
    replace(OTHER, target="live", status="live"),
    replace(OTHER, target="gone, too", encoder='"notes": no "anchor":'),
]


@pytest.fixture
def project(store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project whose store is full of old rows."""
    monkeypatch.setenv("INTERNAL_LINKER_STORE_URL", store_url)
    engine = open_database(store_url, tmp_path)
    store_contents.fill(engine)
    EdgeStore(engine, SITE).put(EDGES_OF)
    backdate(engine)
    engine.dispose()
    return tmp_path


def backdate(engine: Engine) -> None:
    """Set the times of all rows to half a year ago."""
    columns = {
        "embeddings": ("created_at", "used_at"),
        "serp": ("fetched_at",),
        "answers": ("created_at",),
        "joins": ("created_at",),
        "join_chunks": ("created_at",),
        "join_blocks": ("created_at",),
        "edges": ("updated_at",),
        "run_links": ("written_at",),
    }
    with engine.begin() as connection:
        for table, names in columns.items():
            for name in names:
                moment = LONG_AGO.strftime("%Y-%m-%d %H:%M:%S.000000")
                moment += "+00:00" if connection.dialect.name == "postgresql" else ""
                connection.execute(text(f"UPDATE {table} SET {name} = '{moment}'"))


def counts(project: Path) -> dict[str, int]:
    engine = open_project(project).databases.store()
    with engine.connect() as connection:
        tables = connection.execute
        found = {
            name: tables(text(f"SELECT count(*) FROM {name}")).scalar_one()
            for name in "embeddings serp answers joins join_chunks join_blocks edges run_links runs".split()
        }
    engine.dispose()
    return found


def test_what_nobody_needs_goes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`cache prune` changes nothing without --apply; with it, editors' decisions, live links and stored runs stay."""
    before = counts(project)
    assert command("cache", "prune", "--project", str(project)) == 0
    out = capsys.readouterr().out
    assert "embeddings: 20 rows" in out and "edges: 2 rows" in out and "--apply" in out
    assert counts(project) == before
    assert command("cache", "prune", "--apply", "--project", str(project)) == 0
    assert "Removed." in capsys.readouterr().out
    assert counts(project) == {
        **dict.fromkeys(before, 0),
        "edges": len(EDGES_OF) + 1 - 2,
        "run_links": 1,
        "runs": 1,
    }
    engine = open_project(project).databases.store()
    left = {edge.target: edge for edge in EdgeStore(engine, SITE).each()}
    engine.dispose()
    assert left.keys() == {EDGE.target, "noted", "reworded", "live"}
    assert (left["noted"].notes, left["reworded"].anchor) == ("ask Ann", "my words")
    assert command("cache", "prune", "--apply", "--project", str(project)) == 0
    assert "There is nothing to remove: runs used every row in the last 182 days." in capsys.readouterr().out


def test_what_was_needed_stays(project: Path) -> None:
    opened = open_project(project)
    engine = opened.databases.store()
    note_used(engine, Letters(), TEXTS[:5])
    engine.dispose()
    prune_cache(opened, PruneCacheOptions(apply=True))
    assert counts(project)["embeddings"] == 5
    result = prune_cache(opened, PruneCacheOptions(days=1))
    assert [rows for table, rows, _ in result.to_frame().values.tolist() if table == "embeddings"] == [0]
    assert (result.days, result.removed) == (1, False)


def test_a_use_is_noted_once_a_month(store_url: str, tmp_path: Path) -> None:
    """The cache records a vector's use at most once a month, because rewriting vectors is costly."""
    engine = open_database(store_url, tmp_path)
    store_contents.fill(engine)
    moments = "SELECT used_at FROM embeddings"
    with engine.connect() as connection:
        before = connection.execute(text(moments)).scalars().all()
    note_used(engine, Letters(), TEXTS)
    with engine.connect() as connection:
        assert connection.execute(text(moments)).scalars().all() == before
    engine.dispose()


def test_the_room_is_given_back(tmp_path: Path) -> None:
    opened = open_project(tmp_path)
    engine = opened.databases.store()
    many = {f"{n:064x}": np.ones(26, np.float32) for n in range(5_000)}
    EmbeddingCache(engine, "float32").put(Letters(), many)
    backdate(engine)
    engine.dispose()
    before = (tmp_path / FILE).stat().st_size
    prune_cache(opened, PruneCacheOptions(apply=True))
    assert (tmp_path / FILE).stat().st_size < before / 10


def test_a_whole_run_lets_go_of_what_no_run_needed(tmp_path: Path) -> None:
    """A whole run removes vectors that no run needed and keeps its own; a run of some rows removes nothing."""
    with OpenAIStandIn() as server:
        project = make_project(tmp_path, 6, {})
        use_standins(project, openai=server, settings={"embedding_provider": "openai"})
        engine = open_project(project).databases.store()
        EmbeddingCache(engine, "float16").put(Letters(), {"0" * 64: np.ones(26, np.float32)})
        backdate(engine)
        assert command("run", "--limit", "3", "--publish", "--project", str(project)) == 0
        assert counts(project)["embeddings"] == 7
        assert command("run", "--project", str(project)) == 0
        assert counts(project)["embeddings"] == 6
        engine.dispose()
