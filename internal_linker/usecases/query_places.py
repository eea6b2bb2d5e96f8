"""The places of main queries, files/main_queries.csv and the Sheet: which are empty, and filling those."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from internal_linker.adapters.files.atomic import KeepingOld
from internal_linker.adapters.tables.columns import Kind, QueryRows, columns_of, display, query_rows
from internal_linker.adapters.tables.csv_writer import NewCells, fill_cells, harmless, write_rows
from internal_linker.core.canonical_hosts import CanonicalHosts
from internal_linker.core.records import Table
from internal_linker.usecases.project import Project

if TYPE_CHECKING:
    from internal_linker.adapters.google_sheets.queries_tab import GoogleSheet

QUERIES_FILE = "main_queries.csv"


class QueryPlace(Protocol):
    """A place with the main queries of pages; pages have the keys of `CanonicalHosts.identity`."""

    name: str
    """What messages call it."""
    takes_new: bool
    """Whether pages without a row get one."""

    def look(self) -> QueryRows:
        """Return which pages have a main query, and which rows lack one."""

    def written(self, query: str) -> str:
        """Return how a query is written, which a spreadsheet program must not take for a formula; "": not at all."""

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty main queries, by page; return what could not be filled, one sentence each."""

    @property
    def copies(self) -> Sequence[str]:
        """The names of the copies of what was replaced."""


class QueriesFile:
    """files/main_queries.csv, of which only cells that are filled change.

    Args:
        project: whose file.
        hosts: the form in which the site writes its hosts.
        urls: the URL of each page, for new rows.
    """

    takes_new = True

    def __init__(self, project: Project, hosts: CanonicalHosts, urls: Mapping[str, str]) -> None:
        self._project, self._hosts, self._urls = project, hosts, urls
        self._keeping = KeepingOld()
        self.name = f"files/{QUERIES_FILE}"

    def look(self) -> QueryRows:
        """Read the file; see `QueryPlace`.

        Raises:
            InputError: it can't be read, or has no column of URLs.
        """
        return self._read()[1]

    def written(self, query: str) -> str:
        """Return the query, after an apostrophe if it begins like a formula."""
        return harmless(query)

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty main queries and add rows; the file is copied aside first.

        Raises:
            InputError: as in `look`.
            OutputError: the file can't be written; it stays as it was.
        """
        table, rows = self._read()
        # Cells beyond the header are somebody's, too.
        width = max([len(table.header), *(len(row) for _, row in table.rows)])
        at = width if rows.query is None else rows.query
        fills = {
            rows.empty[page]: self.written(query) for page, query in wanted.items() if page in rows.empty
        }
        added = []
        for page, query in wanted.items():
            if not any(page in has for has in (rows.empty, rows.blank, rows.queries)):
                line = [""] * (max(rows.url, at) + 1)
                line[rows.url], line[at] = self._urls.get(page, page), self.written(query)
                added.append(line)
        path, name = self._project.file(QUERIES_FILE), display(Kind.MAIN_QUERY)
        if path.exists():
            new = NewCells(at, fills, name if rows.query is None else "", added)
            remarks = fill_cells(path, new, self._keeping.binary)
        else:
            remarks = write_rows(path, table.header, added, self._keeping)
        spaces = [
            f"{self.name}, row {row}: its {name} stays as it is, because the cell has spaces. Empty the cell."
            for page, row in rows.blank.items()
            if page in wanted
        ]
        return [*spaces, *remarks]

    @property
    def copies(self) -> list[str]:
        """The names of the copies of the file."""
        return [copy.name for copy in self._keeping.copies]

    def _read(self) -> tuple[Table, QueryRows]:
        name = f"files/{QUERIES_FILE}"
        source = self._project.table(QUERIES_FILE, [])
        if source is None:
            table = Table(name, (display(Kind.URL), display(Kind.MAIN_QUERY)), [])
        else:
            stream = source.stream()
            columns_of(stream, [Kind.URL], [Kind.MAIN_QUERY])
            table = Table(name, stream.header, [(number, [*row]) for number, row in stream.rows])
        rows = query_rows(table.header, table.rows, _identities(self._hosts))
        assert rows, "the columns were looked for"
        return table, rows


class QueriesSheet:
    """The queries tab of the Sheet, in which only rows that are there are filled.

    Args:
        sheet: the tab.
    """

    takes_new = False
    copies: Sequence[str] = ()

    def __init__(self, sheet: "GoogleSheet") -> None:
        self._sheet = sheet
        self.name = sheet.name

    def look(self) -> QueryRows:
        """Read the tab; see `GoogleSheet.main_queries`."""
        rows = self._sheet.main_queries()
        self.name = self._sheet.name
        return rows

    def written(self, query: str) -> str:
        """Return the query, or "" if it begins like a formula: Google reads it as if it were typed."""
        from internal_linker.adapters.google_sheets.empty_queries import is_formula

        return "" if is_formula(query) else query

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty cells; see `GoogleSheet.fill_queries`."""
        return self._sheet.fill_queries(wanted)


def _identities(hosts: CanonicalHosts) -> Callable[[str], str]:
    return lambda url: hosts.identity(hosts.key(url))
