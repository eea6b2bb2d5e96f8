"""The places of main queries, files/main_queries.csv and the Sheet: which are empty, and filling those."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from internal_linker.adapters.files.atomic import KeepingOld
from internal_linker.adapters.tables.columns import Kind, columns_of, display
from internal_linker.adapters.tables.csv_writer import write_rows
from internal_linker.adapters.tables.query_rows import QueryRows, query_rows
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

    def look(self) -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
        """Return the main queries of the pages that have some, and the pages whose row has none."""

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty main queries, by page; return what could not be filled, one sentence each."""

    @property
    def copies(self) -> Sequence[str]:
        """The names of the copies of what was replaced."""


class QueriesFile:
    """files/main_queries.csv, whose other columns and rows stay as they are.

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

    def look(self) -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
        """Read the file; see `QueryPlace`.

        Raises:
            InputError: it can't be read, or has no column of URLs.
        """
        _, rows = self._read()
        return rows.queries, frozenset(rows.empty)

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty main queries and add rows; the file is copied aside first.

        Raises:
            InputError: as in `look`.
            OutputError: the file can't be written; it stays as it was.
        """
        table, rows = self._read()
        header = [*table.header]
        at = rows.query
        if at is None:
            at = len(header)
            header.append(display(Kind.MAIN_QUERY))
        fills = {rows.empty[page]: query for page, query in wanted.items() if page in rows.empty}
        lines = []
        for number, row in table.rows:
            line = [*row, *[""] * (len(header) - len(row))]
            if number in fills:
                line[at] = fills[number]
            lines.append(line)
        for page, query in wanted.items():
            if page not in rows.empty and page not in rows.queries:
                line = [""] * len(header)
                line[rows.url], line[at] = self._urls.get(page, page), query
                lines.append(line)
        return write_rows(self._project.file(QUERIES_FILE), header, lines, self._keeping)

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

    def look(self) -> tuple[Mapping[str, frozenset[str]], frozenset[str]]:
        """Read the tab; see `GoogleSheet.main_queries`."""
        rows = self._sheet.main_queries()
        self.name = self._sheet.name
        return rows.queries, frozenset(rows.empty)

    def fill(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty cells; see `GoogleSheet.fill_queries`."""
        return self._sheet.fill_queries(wanted)


def _identities(hosts: CanonicalHosts) -> Callable[[str], str]:
    return lambda url: hosts.identity(hosts.key(url))
