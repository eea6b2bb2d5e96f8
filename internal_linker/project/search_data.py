"""The stored search data of a site: as DataFrames, and what there is."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from internal_linker.model.results import Columns, Result
from internal_linker.model.search_data import SearchTable
from internal_linker.project.capabilities import capability
from internal_linker.project.options.imports import SearchDataOptions
from internal_linker.project.project import Project

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class SearchData(Result):
    """The search data of some days."""

    queries: "DataFrame"  # what each page earned from each query on each day; Google hides rare queries
    pages: "DataFrame"  # what each page earned on each day
    totals: "DataFrame"  # what the whole property earned on each day
    sessions: "DataFrame"  # the visits that began at each page on each day, from GA4
    sources: dict[str, str]  # where each table is from, by its name; tables without days are missing
    damaged: int = 0  # how many stored days could not be read

    def tables(self) -> dict[str, Columns]:
        """Return the tables `queries`, `pages`, `totals` and `sessions`."""
        return {name: {column: frame[column] for column in frame} for name, frame in self.frames.items()}

    @cached_property
    def frames(self) -> "dict[str, DataFrame]":
        """All tables as pandas DataFrames, by name."""
        return {table.value: getattr(self, table.value) for table in SearchTable}


@capability()
def search_data(project: Project, options: SearchDataOptions) -> SearchData:
    """Read the search data that imports stored.

    Returns:
        The DataFrames `.queries`, `.pages`, `.totals` and `.sessions`, which are in `.frames`, too, and `.sources`.

    Raises:
        ConfigurationError: the store can't be read.
    """
    with project.search_data(options.source) as store:
        frames = {table.value: store.read(table, options.since, options.until) for table in SearchTable}
        known = {table.value: store.sources(table) for table in SearchTable}
        sources = {name: options.source or next(iter(found)) for name, found in known.items() if found}
        sources = {name: one for name, one in sources.items() if one in known[name]}
        return SearchData(**frames, sources=sources, damaged=store.damaged)


@dataclass(frozen=True, slots=True)
class StoredTable:
    """The stored days of one kind of search data.

    Attributes:
        table: "queries" and "pages" are rows by query and page, "totals" those of the property, "sessions" visits.
        source: where they are from.
        days: how many days have rows.
        rows: how many rows.
        first, last: the first and the last day with rows.
    """

    table: str
    source: str
    days: int
    rows: int
    first: date
    last: date


def stored_search_data(project: Project) -> list[StoredTable]:
    """Return which search data are stored, by table and source."""
    with project.search_data() as store:
        places = [(table, source) for table in SearchTable for source in store.sources(table)]
    found = []
    for table, source in places:
        with project.search_data(source) as store:
            days = {day: one.rows for day, one in store.days(table).items() if one.rows}
        if days:
            found.append(
                StoredTable(table.value, source, len(days), sum(days.values()), min(days), max(days))
            )
    return found
