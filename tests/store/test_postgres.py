"""PostgreSQL as a store: it keeps what its types refuse, and no error shows the password."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import inspect, make_url, text

from internal_linker.model.errors import ConfigurationError, ExitCode, StoreLost
from internal_linker.model.records import SerpMarket, SerpPage
from internal_linker.project.project import open_project
from internal_linker.store.answers import SerpResultCache
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import key_text, open_database, transact
from tests.support.builders import US, Letters
from tests.support.databases import statements
from tests.support.small_project import (
    command,
    finish,
    make_project,
    start,
    write_settings,
    write_text,
)

PASSWORD = "pass-word-1"


def others(url: str) -> str:
    """Return the URL of another database on the same server, from which a test can act on this one."""
    return make_url(url).set(database="postgres").render_as_string(hide_password=False)


def name(url: str) -> str:
    return str(make_url(url).database)


def close(url: str, *, allow: bool) -> None:
    """Cut all connections, as a restart does; with `allow` False the database refuses new ones."""
    statements(
        others(url),
        f"ALTER DATABASE {name(url)} ALLOW_CONNECTIONS {str(allow).lower()}",
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name(url)}'",
    )


# -- values that PostgreSQL refuses -------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "tea \0 pot",
        "half a pair \ud83d",
        "چای سبز " * 1000,
        "x" * 1501,
    ],
    ids=["NUL", "surrogate", "long Persian", "just too long"],
)
def test_an_answer_to_any_query_is_kept(store_url: str, tmp_path: Path, query: str) -> None:
    cache = SerpResultCache(open_database(store_url, tmp_path), 7)
    market = SerpMarket("serper", "us", location=query)
    for asked in (query, f"{query}."):
        cache.put(asked, 1, market, SerpPage(("a\0b", "\ud83d", asked), 1))
    assert key_text("چای سبز", 1500) == "چای سبز" and key_text("x" * 1500, 1500) == "x" * 1500
    found = cache.get([query, "tea", f"{query}."], market)
    assert found == {(asked, 1): SerpPage(("a\0b", "\ud83d", asked), 0) for asked in (query, f"{query}.")}


def test_a_model_of_any_name_is_kept(store_url: str, tmp_path: Path) -> None:
    """Vectors of a server's model come back, however long the model's name is."""
    cache, encoder = EmbeddingCache(open_database(store_url, tmp_path), "float32"), Letters()
    encoder.model = "models/" * 100
    cache.put(encoder, {"h": np.ones(26, np.float32)})
    assert cache.get(encoder, ["h"])["h"].tolist() == [1] * 26
    encoder.model += "v2"
    assert cache.get(encoder, ["h"]) == {}


# -- opening -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_reading_only_changes_nothing_on_a_server(postgres: str, tmp_path: Path) -> None:
    """A dry run on an empty server finds an empty cache and creates no table; a write is refused."""
    engine = open_database(postgres, tmp_path, read_only=True)
    assert SerpResultCache(engine, 7).get(["tea"], US) == {}
    with pytest.raises(ConfigurationError, match="read-only"):
        transact(engine, lambda connection: connection.execute(text("CREATE TABLE mine (id int)")))
    with engine.connect() as connection:
        assert inspect(connection).get_table_names() == []
    open_database(postgres, tmp_path).dispose()
    with pytest.raises(ConfigurationError, match="read-only"):
        SerpResultCache(engine, 7).put("tea", 1, US, SerpPage((), 1))


def test_a_cache_without_the_tables_of_later_versions_is_read(store_url: str, tmp_path: Path) -> None:
    """After an update, a dry run reads the old tables, although no run has created the new ones yet."""
    engine = open_database(store_url, tmp_path)
    SerpResultCache(engine, 7).put("tea", 1, US, SerpPage(("a",), 1))
    with engine.begin() as connection:
        for table in ("joins", "join_chunks", "join_blocks", "embeddings"):
            connection.execute(text(f"DROP TABLE {table}"))
    engine.dispose()
    engine = open_database(store_url, tmp_path, read_only=True)
    assert SerpResultCache(engine, 7).get(["tea"], US)
    assert EmbeddingCache(engine, "float16").get(Letters(), ["h"]) == {}


@pytest.mark.long
def test_another_encoding_is_refused_before_anything_is_paid(postgres: str, tmp_path: Path) -> None:
    latin = f"{name(postgres)}_latin"
    statements(others(postgres), f"CREATE DATABASE {latin} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        address = make_url(postgres).set(database=latin).render_as_string(hide_password=False)
        with pytest.raises(ConfigurationError, match="LATIN1: create the database with ENCODING 'UTF8'"):
            open_database(address, tmp_path)
    finally:
        statements(others(postgres), f"DROP DATABASE {latin}")


# -- the password ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://ann:{}@127.0.0.1:1/links",
        "postgresql+psycopg://ann:{}@127.0.0.1:port/links",
        "postgresql+psycopg://ann:x@{}@127.0.0.1:1/links",
        "postgresql+psycopg://ann:x/{}@127.0.0.1:1/links",
        "postgresql+psycopg://ann@127.0.0.1:1/links?password={}",
        "postgresql+psycopg:ann:{}@127.0.0.1/links",
        "ann:{}@127.0.0.1/links",
        "mysql://ann:{}@127.0.0.1/links",
        "postgresql+psycopg://ann:{}@127.0.0.1:1/links?no_such_option=1",
    ],
)
def test_no_error_shows_a_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"store_url: the database.*can't be opened") as caught:
        open_database(url.format(PASSWORD), tmp_path)
    assert PASSWORD not in str(caught.value)


def test_no_command_shows_a_password(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands end with code 2; neither they nor the log repeat a part of the password."""
    url = f"postgresql+psycopg://ann:x@{PASSWORD}@127.0.0.1:1/links"
    folder = make_project(tmp_path, {"store_url": url})
    where = ("--project", str(folder))
    assert command("run", *where) == command("check", *where) == 2
    assert command("store", "copy", url, "sqlite:///files/x.sqlite3", *where) == 2
    said = "".join(capsys.readouterr()) + (folder / "logfile.txt").read_text(encoding="utf-8")
    assert "can't be opened" in said and PASSWORD not in said


@pytest.mark.long
def test_the_password_has_a_file_of_its_own(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """config/store_password.txt or PGPASSWORD supplies a missing password; one in the address has priority."""
    folder = make_project(tmp_path, {"store_url": postgres})
    write_text(folder / "config/store_password.txt", f"{PASSWORD}\n")
    project = open_project(folder)
    assert project.databases.store().url.password == PASSWORD and PASSWORD in project.settings.secrets
    assert command("check", "--project", str(folder)) == 0
    said = capsys.readouterr().out
    assert f"Cache: postgresql+psycopg://postgres:***@/{name(postgres)} can be opened" in said
    assert PASSWORD not in said
    monkeypatch.setenv("PGPASSWORD", "pass-word-2")
    assert open_project(folder).databases.store().url.password == "pass-word-2"
    own = make_url(postgres).set(password="pass-word-3").render_as_string(hide_password=False)
    write_settings(folder, {"store_url": own})
    assert open_project(folder).databases.store().url.password == "pass-word-3"


# -- a lost connection -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_restart_of_the_server_loses_nothing(postgres: str, tmp_path: Path) -> None:
    cache = SerpResultCache(open_database(postgres, tmp_path), 7)
    cache.put("tea", 1, US, SerpPage(("a",), 1))
    close(postgres, allow=True)
    cache.put("tea", 2, US, SerpPage(("b",), 1))
    close(postgres, allow=True)
    assert len(cache.get(["tea"], US)) == 2


@pytest.mark.long
def test_a_server_that_is_gone_ends_the_work_with_a_clear_sentence(postgres: str, tmp_path: Path) -> None:
    """If the server stays away for 15 seconds, the work ends with code 4, and the database keeps its data."""
    cache = SerpResultCache(open_database(postgres, tmp_path), 7)
    cache.put("tea", 1, US, SerpPage(("a",), 1))
    close(postgres, allow=False)
    with pytest.raises(
        StoreLost,
        match=r"the connection to the database server was lost .* Run again when the server is back",
    ) as lost:
        cache.put("tea", 2, US, SerpPage(("b",), 1))
    assert lost.value.exit_code == ExitCode.SERVICE
    close(postgres, allow=True)
    assert cache.get(["tea"], US)


@pytest.mark.long
def test_the_extra_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """Without psycopg, the command exits with code 2 and says how to install it."""
    write_text(tmp_path / "psycopg/__init__.py", "raise ModuleNotFoundError(\"No module named 'psycopg'\")")
    code = "from internal_linker.store.engine import *; open_database('postgresql://x/y', Path())"
    paths = f"{tmp_path}:{Path(__file__).parents[2]}"
    _, _, err = finish(start("-c", code, cwd=tmp_path, PYTHONPATH=paths))
    assert (
        "PostgreSQL requires its driver. Install it: " in err and '-m pip install "psycopg[binary]>=' in err
    )


@pytest.mark.long
def test_times_mean_the_same_in_every_zone(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = ["Pacific/Auckland", "America/Los_Angeles"]
    for zone in zones:
        monkeypatch.setenv("PGTZ", zone)
        SerpResultCache(open_database(postgres, tmp_path), 7).put(zone, 1, US, SerpPage((), 1))
    ten_minutes = 10 / 60 / 24
    for zone in zones:
        monkeypatch.setenv("PGTZ", zone)
        assert len(SerpResultCache(open_database(postgres, tmp_path), ten_minutes).get(zones, US)) == 2
