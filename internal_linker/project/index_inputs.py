"""What the index of a project depends on: its tables, its settings, and the program itself."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np

import internal_linker
from internal_linker.model.search_data import SearchTable
from internal_linker.model.version import __version__
from internal_linker.project.settings.link_rules import LINK_RULES_FILE, LINK_TARGETS_FILE
from internal_linker.project.settings.settings import EXCLUSIONS_FILE, Settings
from internal_linker.store.files.index_folder import FileDigests
from internal_linker.store.search_days import SearchDays

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from internal_linker.project.project import Project

_TABLES = ("urls_rawdata.csv", "main_queries.csv", "existing_links.csv")
_DIGESTS = "index/digests.json"
# What a run leaves beside the review.
_RESULTS = (
    *("Output.csv", "links.csv", "rejected_rows.csv"),
    *("excluded_targets.csv", "duplicates.csv", "orphans.csv"),
)


def inputs_digest(project: "Project", sheet: Callable[[], str] | None = None, *, writes: bool = True) -> str:
    """Return a digest of the content of all that the index depends on, besides vectors and editors' decisions.

    It is "" if a table or the Sheet can't be read, or a table is no plain file: a pipe, for example, can be read only
    once.

    Args:
        sheet: returns the digest of the Sheet, if the main queries come from there; None: they come from a file.
        writes: whether the digests of its tables may be kept in the folder of the index; see `FileDigests`.
    """
    digest, digests = blake2b(digest_size=16), FileDigests(project.file(_DIGESTS), writes=writes)
    # Keys are masked here.
    of_sheet = sheet() if sheet else "none"
    if not of_sheet:
        return ""
    parts = [__version__, sys.version, *_program(), project.settings.model_dump_json(), of_sheet]
    config = [project.root / name for name in (EXCLUSIONS_FILE, LINK_RULES_FILE, LINK_TARGETS_FILE)]
    files = [*(project.file(name) for name in _TABLES), *config]
    if any(file.exists() and not file.is_file() for file in files):
        return ""
    try:
        parts += [digests.digest_file(file) if file.exists() else "" for file in files]
    except OSError:
        # Whoever reads the table says what is wrong with it.
        return ""
    for part in parts:
        digest.update(f"{part}\n".encode())
    return digest.hexdigest()


def results_digest(project: "Project", engine: "Engine") -> str:
    """Return a digest of the files that a run writes for people, and of the search data."""
    digests = FileDigests(project.file(_DIGESTS), writes=True)
    names = [*_RESULTS, *(["vectorized_urls.csv"] if project.settings.write_vectors == "always" else [])]
    files = [project.file(name) for name in names]
    try:
        parts: list[object] = [digests.digest_file(file) if file.is_file() else "" for file in files]
    except OSError:
        # Nobody knows what it has: equal to nothing.
        return uuid4().hex
    parts.append(search_digest(SearchDays(engine, project.site)))
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def search_digest(stored: SearchDays) -> str:
    """Return a digest of the search data, by when each day was stored."""
    days = [(table, stored.sources(table), stored.days(table)) for table in SearchTable]
    return blake2b(repr(days).encode(), digest_size=16).hexdigest()


def inputs_status(root: Path, settings: Settings) -> tuple[tuple[str, int, int, int], ...]:
    """Return name, number, size and time of the files that answers depend on, for a process that stays.

    These are the tables, all files in config/, and the file of vectors or the folder of a model, if there is one.
    """
    files = [*(root / "files" / name for name in _TABLES), *sorted((root / "config").glob("*"))]
    if argument := settings.embedding_provider.partition(":")[2].strip():
        files += [root / argument, *sorted((root / argument).glob("*"))]
    found = list[tuple[str, int, int, int]]()
    for file in files:
        with suppress(FileNotFoundError, NotADirectoryError):
            status = file.stat()
            found.append((file.name, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


@cache  # what this process has loaded stays the same
def _program() -> Sequence[str]:
    """Return the state of the program's files and of what is installed: each may change words and numbers."""
    # The time of this folder changes with every package that is installed, updated or removed.
    found = [str(Path(np.__file__).parents[1].stat().st_mtime_ns)]
    # Sizes and times: a lookup ends before `program_digest` has read all files.
    package = Path(internal_linker.__file__).parent
    for file in sorted(package.rglob("*")):
        if file.suffix in (".py", ".json", ".txt"):
            status = file.stat()
            found.append(f"{file.relative_to(package)} {status.st_size} {status.st_mtime_ns}")
    return found
