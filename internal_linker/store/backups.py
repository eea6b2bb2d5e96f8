"""Backups of an SQLite database: complete copies with their date in a folder beside it, made while others use it."""

import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from internal_linker.model.errors import InputError, OutputError
from internal_linker.store.files.atomic import dated_name, sync_file

# A weekly run does not start at the same second each week.
_DUE = timedelta(days=6)
_WEEKLY = "weekly"
_SIDE_FILES = ("-wal", "-shm", "-journal")


def folder_of(database: Path) -> Path:
    """Return the folder of a database's backups."""
    return database.with_name("backups")


def backups(database: Path, *, weekly: bool = False) -> list[Path]:
    """Return the backups in the database's folder, the newest first; a date in the future counts as the oldest.

    With `weekly`, only those that runs made.
    """
    kind = f"{_WEEKLY}-" if weekly else f"(?:{_WEEKLY}-)?"
    ours = re.compile(rf"{re.escape(database.stem)}-{kind}(\d{{8}}-\d{{6}}){re.escape(database.suffix)}")
    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y%m%d-%H%M%S}"
    found = []
    with suppress(OSError):
        for path in folder_of(database).iterdir():
            if (match := ours.fullmatch(path.name)) and path.is_file():
                found.append((match[1] <= tomorrow, match[1], path))
    return [path for _, _, path in sorted(found, reverse=True)]


def back_up_weekly(database: Path, keep: int) -> Path | None:
    """Back up the database if the last weekly backup is a week old, and remove the oldest beyond `keep`; 0: make none.

    Returns:
        The new backup; None if none was due.

    Raises:
        OutputError: there is no room for it, or it can't be written.
        InputError: the database is damaged as a whole.
    """
    if not keep or not database.is_file():
        return None
    newest = next(iter(backups(database, weekly=True)), None)
    if newest is not None and timedelta() <= _age(newest) < _DUE:
        return None
    needed = sum(path.stat().st_size for path in _with_side_files(database))
    free = shutil.disk_usage(database.parent).free
    if free < 2 * needed:
        raise OutputError(
            f"it needs {needed / 1e6:,.1f} MB, and the disk has only {free / 1e6:,.1f} MB left. Free some space, or "
            "set store_backups = 0."
        )
    made = back_up(database, folder_of(database) / _name(database, f"{_WEEKLY}-"))
    for old in backups(database, weekly=True)[keep:]:
        old.unlink(missing_ok=True)
    return made


def back_up(database: Path, to: Path | None = None) -> Path:
    """Copy a database that others may be using; the copy is one file, checked and complete, or there is none.

    Args:
        to: the copy's path, or a folder for it; None: the folder of backups.

    Raises:
        OutputError: the copy can't be written.
        InputError: there is no database, or it is damaged as a whole.
    """
    if not database.is_file():
        raise InputError(f"{database} not found: there is nothing to back up before the first run.")
    to = to or folder_of(database)
    to = to / _name(database) if to.is_dir() or to == folder_of(database) else to
    new = to.with_name(f".{to.name}.{uuid4().hex[:8]}.tmp")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        for left in to.parent.glob(f".{database.stem}-*.tmp"):
            left.unlink()
        _copy(database, new)
        sync_file(new)
        new.replace(to)
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            raise InputError(f"{database} is damaged ({error}), so no backup was made.") from None
        raise OutputError(f"{to} can't be written ({error}): check the folder and the free space.") from None
    finally:
        for path in _with_side_files(new):
            with suppress(OSError):
                path.unlink()
    return to


def restore(database: Path, backup: Path) -> Path | None:
    """Put a sound backup in the place of the database, if there is one; nobody else may use it.

    Returns:
        The dated name beside it that the present file got; None if there was none.

    Raises:
        OutputError: a file can't be written; the present database is in its place or under its dated name.
    """
    new, kept = database.with_name(f".{database.name}.{uuid4().hex[:8]}.tmp"), None
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        _copy(backup, new)
        sync_file(new)
        if database.exists():
            kept = dated_name(database)
            # The log belongs to its file: beside another one it would spoil that.
            for path in reversed(_with_side_files(database)):
                path.rename(kept.with_name(kept.name + path.name.removeprefix(database.name)))
        new.replace(database)
    except (OSError, sqlite3.Error) as error:
        raise OutputError(
            f"{database} can't be replaced ({error}): close other programs that use it."
        ) from None
    finally:
        for path in _with_side_files(new):
            with suppress(OSError):
                path.unlink()
    return kept


def _copy(database: Path, new: Path) -> None:
    address = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as old, closing(sqlite3.connect(new)) as copy:
        # A reader that others can't lock out: the library would wait for them without an end.
        old.execute("BEGIN")
        old.execute("SELECT count(*) FROM sqlite_master").fetchone()
        old.backup(copy)
        # One file, without a log beside it.
        copy.execute("PRAGMA journal_mode=DELETE")
        said = copy.execute("PRAGMA quick_check(1)").fetchone()
        if said is None or said[0] != "ok":
            raise sqlite3.DatabaseError(said[0] if said else "no answer")


def _with_side_files(database: Path) -> Sequence[Path]:
    paths = [database, *(database.with_name(database.name + suffix) for suffix in _SIDE_FILES)]
    return [path for path in paths if path.exists()]


def _name(database: Path, kind: str = "") -> str:
    return f"{database.stem}-{kind}{datetime.now(UTC):%Y%m%d-%H%M%S}{database.suffix}"


def _age(backup: Path) -> timedelta:
    made = datetime.strptime(backup.stem[-15:], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    return datetime.now(UTC) - made
