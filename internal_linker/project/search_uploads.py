"""Import search data in the app: from uploads, Search Console and Google Analytics."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker
from internal_linker.project.import_analytics import import_analytics
from internal_linker.project.import_search_console import import_search_console
from internal_linker.project.import_search_exports import SearchDataImported, place_of, store_exports
from internal_linker.project.options.imports import AnalyticsOptions, SearchConsoleOptions
from internal_linker.project.project import Project
from internal_linker.project.uploads import Upload, delete_uploads, path_of, uploads
from internal_linker.sources.search.exports import SearchExports, read_exports

_ODD = re.compile(r"[^\w .()-]")
_CANCELLED = "The import was cancelled; days that were stored until then are kept."


@dataclass(frozen=True, slots=True)
class SearchImport:
    """What an import of search data did.

    Attributes:
        counts: names with counts.
        remarks: what a person should know, one sentence each.
        gaps: what is missing because Google failed or refused, one sentence each.
    """

    counts: Sequence[tuple[str, int]]
    remarks: Sequence[str]
    gaps: Sequence[str]


def import_search_data(
    project: Project,
    search_console: str,
    analytics: str,
    progress: Progress,
    should_stop: Stop = lambda: False,
) -> SearchImport:
    """Import the uploads with search data, and fetch those of the properties that are named.

    Raises:
        InternalLinkerError: something can't be read, used or fetched; what was stored before stays.
    """
    given = [one for one in uploads(project) if one.kind == "search"]
    if not (given or search_console or analytics):
        raise InputError("Nothing to import: upload a file with search data, or name a property.")
    stoppable = Tracker(progress, should_stop=should_stop, cancelled=_CANCELLED)
    counts, remarks, gaps = list[tuple[str, int]](), list[str](), list[str]()
    if given:
        _add(_from_uploads(project, given, stoppable), counts, remarks, gaps)
    if search_console:
        wanted = SearchConsoleOptions(property=search_console)
        fetched = import_search_console(project, wanted, stoppable)
        table = fetched.tables()["counts"]
        counts += [(str(name), int(count)) for name, count in zip(*table.values(), strict=True) if count]
        gaps += fetched.gaps
    if analytics:
        _add(
            import_analytics(project, AnalyticsOptions(property=analytics), stoppable), counts, remarks, gaps
        )
    return SearchImport(counts, remarks, gaps)


def _add(
    done: SearchDataImported, counts: list[tuple[str, int]], remarks: list[str], gaps: list[str]
) -> None:
    counts += [
        (f"rows: {one.table}{'' if one.sums else f' of {one.first} to {one.last}'} ({one.source})", one.rows)
        for one in done.stored
    ]
    counts += [
        (f"rows replaced by fewer: {one.table} ({one.source})", one.replaced)
        for one in done.stored
        if one.replaced
    ]
    table = done.tables()["counts"]
    counts += [(str(name), int(count)) for name, count in zip(*table.values(), strict=True)]
    remarks += done.remarks
    gaps += done.gaps


def _from_uploads(project: Project, given: Sequence[Upload], progress: Progress) -> SearchDataImported:
    """Import uploads together: the table of dates of an export says which days its other tables are of."""
    with TemporaryDirectory(dir=project.file("uploads")) as name:
        folder = Path(name)
        try:
            paths = [_named(path_of(project, one), folder, one.name) for one in given]
            read = read_exports(paths, place_of(project), progress)
        except InputError as error:
            raise InputError(_without(folder, str(error))) from None
        done = store_exports(project, _told(read, folder), progress)
    delete_uploads(project, [one.id for one in given])
    return done


def _named(path: Path, folder: Path, name: str) -> Path:
    """Put a file into a folder under its own name, as far as that can be a file's name."""
    stem = _ODD.sub("_", name).removesuffix(path.suffix) or "export"
    place = folder / f"{stem}{path.suffix}"
    number = 1
    while place.exists():
        number += 1
        place = folder / f"{stem} ({number}){path.suffix}"
    try:
        os.link(path, place)
    except OSError:  # a file system without links
        shutil.copyfile(path, place)
    return place


def _told(read: SearchExports, folder: Path) -> SearchExports:
    """Return what was read, with files named as they were uploaded."""
    noted = read.noted
    noted.rejects[:] = [replace(one, table=_without(folder, one.table)) for one in noted.rejects]
    noted.remarks[:] = [_without(folder, one) for one in noted.remarks]
    return read


def _without(folder: Path, text: str) -> str:
    return text.replace(f"{folder}{os.sep}", "")
