"""Backups of the cache: one a week, four of them, complete and restorable while others use the cache."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from sqlalchemy import Engine

from internal_linker.project.project import Project, open_project
from internal_linker.store.edges import EdgeStore
from internal_linker.store.run_queue import file_lock
from tests.support import store_contents
from tests.support.small_project import command, make_project, write_settings
from tests.support.store_contents import EDGE, SITE

FILE = "files/cache.sqlite3"
SUNDAY = datetime(2026, 11, 1, 3, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a project whose cache has rows in every table."""
    opened = open_project(tmp_path)
    engine = opened.databases.store()
    store_contents.fill(engine)
    engine.dispose()
    return opened


def checked(project: Project) -> None:
    engine: Engine = project.databases.store()
    store_contents.check(engine)
    engine.dispose()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "files/backups").iterdir())


def test_runs_make_a_backup_a_week_and_keep_four(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_project(tmp_path)
    where, databases = ("--project", str(folder)), open_project(folder).databases
    with time_machine.travel(SUNDAY, tick=False) as clock:
        with monkeypatch.context() as patch:
            usage = shutil.disk_usage(folder)
            databases.store().dispose()
            patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
            assert command("run", *where) == 0
        said = capsys.readouterr().out
        assert (
            "The weekly backup of the cache was not made: it needs 0." in said and "store_backups = 0" in said
        )
        assert not (folder / "files/backups").exists()
        assert command("run", *where) == 0
        assert names(folder) == ["cache-weekly-20261101-030000.sqlite3"]
        for week in range(1, 5):
            clock.move_to(SUNDAY + timedelta(weeks=week, minutes=-week))
            assert databases.back_up_weekly()
            clock.shift(timedelta(days=4))
            assert not databases.back_up_weekly()
    dates = ["20261108-025900", "20261115-025800", "20261122-025700", "20261129-025600"]
    assert names(folder) == [f"cache-weekly-{date}.sqlite3" for date in dates]


def test_a_backup_from_the_future_hinders_none(project: Project, tmp_path: Path) -> None:
    """A backup that a wrong clock dated in the future is no reason to make none."""
    with time_machine.travel(SUNDAY + timedelta(days=3650)):
        assert project.databases.back_up_weekly()
    with time_machine.travel(SUNDAY):
        assert project.databases.back_up_weekly()
    assert len(names(tmp_path)) == 2


def test_backups_can_be_switched_off(tmp_path: Path) -> None:
    """With store_backups = 0 a run makes none."""
    databases = open_project(make_project(tmp_path, {"store_backups": 0})).databases
    databases.store().dispose()
    assert databases.back_up_weekly() is None and not (tmp_path / "files/backups").exists()


def test_a_backup_is_whole_while_others_write(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM edges")
        assert command("store", "backup", "copy.sqlite3", "--project", str(tmp_path)) == 0
    path = Path("copy.sqlite3")
    shutil.move(path, tmp_path / path)
    assert "backed up to copy.sqlite3." in capsys.readouterr().out
    assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.sqlite3", "files"]
    (tmp_path / FILE).unlink()
    assert command("store", "restore", str(tmp_path / path), "--project", str(tmp_path)) == 0
    checked(project)


def test_the_newest_sound_backup_is_restored(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without FROM, the newest backup that is sound takes the place of the damaged cache, which stays beside it."""
    where = ("--project", str(tmp_path))
    for day in range(2):
        with time_machine.travel(SUNDAY + timedelta(days=day)):
            assert command("store", "backup", *where) == 0
    newest = max((tmp_path / "files/backups").iterdir())
    newest.write_bytes(newest.read_bytes()[:9000])
    engine = project.databases.store()
    EdgeStore(engine, SITE).put([replace(EDGE, target="https://a.example/lost")])
    engine.dispose()
    (tmp_path / FILE).write_bytes(b"damaged")
    assert command("history", *where) == 2
    said = capsys.readouterr().err
    assert "`store restore` puts its newest backup back" in said
    Path(f"{tmp_path / FILE}-wal").write_bytes(b"a log that belongs to it")
    assert command("store", "restore", *where) == 0
    assert "20261101-030000" in capsys.readouterr().out
    checked(project)
    (kept,) = (tmp_path / "files").glob("cache ????-??-?? ????.sqlite3")
    assert kept.read_bytes() == b"damaged"
    assert Path(f"{kept}-wal").read_bytes() == b"a log that belongs to it"


def test_damage_is_never_backed_up_or_restored(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cache that is damaged as a whole pushes out no sound backup; a damaged file is not restored."""
    where = ("--project", str(tmp_path))
    assert command("store", "backup", *where) == 0
    before = names(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray((tmp_path / FILE).read_bytes())
    content[8192:40960] = b"\xff" * 32768
    (tmp_path / FILE).write_bytes(content)
    assert command("store", "backup", *where) == 3
    assert "is damaged" in capsys.readouterr().err and names(tmp_path) == before
    shutil.copy(tmp_path / FILE, tmp_path / "bad.sqlite3")
    assert command("store", "restore", str(tmp_path / "bad.sqlite3"), *where) == 3
    assert "Nothing was restored: " in capsys.readouterr().err
    assert command("store", "restore", str(tmp_path / "none.sqlite3"), *where) == 3
    assert "none.sqlite3 not found" in capsys.readouterr().err
    assert (tmp_path / FILE).read_bytes() == content


def test_a_run_is_not_disturbed(project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ("--project", str(tmp_path))
    assert command("store", "backup", *where) == 0
    assert project.databases.file
    lock = file_lock(project.databases.file)
    assert lock.take()
    assert command("store", "restore", *where) == 5
    lock.release()
    with project.lock():
        assert command("store", "restore", *where) == 5
    assert command("store", "restore", *where) == 0


def test_a_server_has_its_own_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For PostgreSQL, the message names the tool; without a cache, there is nothing to back up."""
    assert command("store", "backup", "--project", str(tmp_path)) == 3
    assert "nothing to back up before the first run" in capsys.readouterr().err
    write_settings(make_project(tmp_path), {"store_url": "postgresql+psycopg://ann@localhost/x"})
    assert command("store", "backup", "--project", str(tmp_path)) == 2
    assert "pg_dump" in capsys.readouterr().err
