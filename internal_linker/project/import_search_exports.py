"""Import search data from exported files: recognise them, read them, and store their days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.model.canonical_hosts import origin_of
from internal_linker.model.columns import REJECTED_ROWS
from internal_linker.model.ports import Progress
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.search_data import SearchTable, first_kept_day
from internal_linker.model.sequences import counted
from internal_linker.model.urls import NormalForms
from internal_linker.project.capabilities import capability
from internal_linker.project.options.imports import ImportCommandOptions, SearchFilesOptions
from internal_linker.project.project import Project
from internal_linker.sources.search.exports import (
    SearchExports,
    is_period_source,
    read_exports,
    search_exports,
)
from internal_linker.sources.search.frames import Place
from internal_linker.sources.tables.columns import Kind, find_column
from internal_linker.sources.tables.lists_csv import ListCsv

if TYPE_CHECKING:
    from pandas import DataFrame

REJECTED = "rejected_search_rows.csv"


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Rows that an import has stored."""

    source: str  # where they are from, as the store names it
    table: SearchTable  # what the rows are
    rows: int  # how many
    days: int  # on how many days they are stored: sums over a period are stored on its last day
    first: date  # the first of these days
    last: date  # the last of these days
    replaced: int = 0  # how many rows were stored before of days that have fewer rows now
    replaced_days: int = 0  # how many days have fewer rows now

    @property
    def sums(self) -> bool:
        """Whether the rows are sums over the period that the source names, not of single days."""
        return is_period_source(self.source)


@dataclass(frozen=True, repr=False)
class SearchDataImported(Result):
    """The result of an import of search data."""

    stored: Sequence[StoredRows]  # what was stored
    # How many rows could not be used, by the reason
    rejected: Mapping[str, int] = field(default_factory=dict)
    # How many rows were left out on purpose, by the reason
    left_out: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, int] = field(default_factory=dict)  # other counts, by name
    remarks: Sequence[str] = ()  # what a person should know, one sentence each
    # The columns that were recognised: (table, what its rows are, figure, name)
    columns: Sequence[tuple[str, str, str, str]] = ()
    listed: bool = False  # whether rejected rows are listed in files/rejected_search_rows.csv
    gaps: Sequence[str] = ()  # what is missing because Google failed or refused, one sentence each

    def tables(self) -> dict[str, Columns]:
        """Return what was `stored`, and the `counts` of other rows."""
        counts = {f"rejected: {reason}": count for reason, count in self.rejected.items()}
        counts |= {f"left out: {reason}": count for reason, count in self.left_out.items()}
        counts |= self.facts
        return {
            "stored": columns_of(
                self.stored, "source", "table", "rows", "days", "first", "last", "replaced", "replaced_days"
            ),
            "counts": {"name": [*counts], "count": [*counts.values()]},
        }


def without_search_exports(
    options: ImportCommandOptions,
) -> tuple[ImportCommandOptions, list[Path]]:
    """Return the options without the files that have search data, and those files.

    If a column of URLs is named, all files are tables of pages.
    """
    exports = [] if options.url_column else search_exports(options.files)
    return replace(options, files=[path for path in options.files if path not in exports]), exports


@capability(positional=("files",))
def import_search_data(
    project: Project, options: SearchFilesOptions, progress: Progress
) -> SearchDataImported:
    """Store search data of exported files in place of earlier ones of their days, as the command `import` does.

    Returns:
        In `.stored` what was stored of each kind, in `.rejected` and `.left_out` how many rows were not, and the
        DataFrames `.frames["stored"]` and `.frames["counts"]`.

    Raises:
        InputError: a file can't be read or used; nothing is stored.
        StoreLost: the database became unreachable; days stored so far are complete.
    """
    return store_exports(project, read_exports(options.files, place_of(project), progress), progress)


def store_exports(project: Project, read: SearchExports, progress: Progress) -> SearchDataImported:
    """Store the days of exported files that were read, in place of earlier ones.

    Raises:
        StoreLost: the database became unreachable; days stored so far are complete.
    """
    noted = read.noted
    with project.lock():
        remarks = [*noted.remarks, *ListCsv(project.file(REJECTED), REJECTED_ROWS).write(noted.rejects)]
        stored = [
            each
            for (source, table), frame in read.frames.items()
            for each in store_days(project, source, table, frame, noted.left_out)
        ]
    remarks += [
        f"{each.table.capitalize()} ({each.source}): {_replaced(each)}" for each in stored if each.replaced
    ]
    for remark in remarks:
        progress.warn(remark)
    left_out = {reason: count for reason, count in noted.left_out.items() if count}
    facts = {name: count for name, count in noted.facts.items() if count}
    return SearchDataImported(
        stored,
        dict(noted.reasons.most_common()),
        left_out,
        facts,
        remarks,
        read.columns,
        listed=bool(noted.rejects),
    )


def _replaced(each: StoredRows) -> str:
    """Return what to know about stored rows that fewer rows replaced."""
    rows = counted(each.replaced, "row")
    if each.sums:
        return f"{rows} replaced by fewer rows. Sums of a period are replaced as a whole."
    return (
        f"{rows} of {counted(each.replaced_days, 'day')} replaced by fewer rows. A day is replaced as a whole, so "
        "import all files of a day together."
    )


def store_days(
    project: Project, source: str, table: SearchTable, frame: "DataFrame", left_out: dict[str, int]
) -> list[StoredRows]:
    """Replace the source's rows of each day; return what was stored, and count in `left_out` what is too old."""
    first = first_kept_day(datetime.now(UTC).date())
    old = frame["date"] < np.datetime64(first)
    if count := int(old.sum()):
        reason = f"older than sixteen months (before {first})"
        left_out[reason] = left_out.get(reason, 0) + count
        frame = frame[~old]
    if frame.empty:
        return []
    with project.search_data(source, read_only=False) as store:
        before = {day: one.rows for day, one in store.days(table).items()}
        replaced = list[int]()
        for moment, rows in frame.groupby("date", sort=True):
            day = moment.date()
            if len(rows) < before.get(day, 0):
                replaced.append(before[day])
            store.put(table, day, rows)
        store.prune(first)
    days = frame["date"]
    return [
        StoredRows(
            source,
            table,
            len(frame),
            int(days.nunique()),
            days.min().date(),
            days.max().date(),
            sum(replaced),
            len(replaced),
        )
    ]


def place_of(project: Project) -> Place:
    """Return the site whose pages count, as the settings and the project's pages name it."""
    site = project.site
    origin = _first_origin(project) or (f"https://{site}" if site else "")
    return Place(site, origin, project.settings.hosts.key)


def _first_origin(project: Project) -> str:
    """Return the scheme and host of the first page; "" without pages."""
    table = project.table("urls_rawdata.csv", [])
    if table is None:
        return ""
    stream, forms = table.stream(), NormalForms()
    at = find_column(stream.header, Kind.URL)
    urls = (row[at] for _, row in stream.rows if at is not None and at < len(row))
    return next((origin_of(forms[url]) for url in urls if forms[url]), "")
