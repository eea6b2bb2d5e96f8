"""Which pages of a table of main queries have one, and which rows lack one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from internal_linker.adapters.tables.columns import Kind, find_column


@dataclass(frozen=True, slots=True)
class QueryRows:
    """The rows of a table of main queries.

    Attributes:
        url: the position (from 0) of the column of URLs.
        query: that of the main queries; None: there is none.
        queries: the main queries of each page that has any, by its key.
        empty: the number of the first row with an empty cell of each page that has none, by its key.
        blank: the number of the first row of each page that has neither, but a cell of spaces, by its key.
        cells: page ("": none) and main query of each row, by its number; a cell of spaces as it is.
    """

    url: int
    query: int | None
    queries: Mapping[str, frozenset[str]]
    empty: Mapping[str, int]
    blank: Mapping[str, int]
    cells: Mapping[int, tuple[str, str]]


def query_rows(
    header: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], key_of: Callable[[str], str]
) -> QueryRows | None:
    """Return which pages have a main query; None without a column of URLs.

    Args:
        header: the names of the columns.
        rows: the rows with their numbers.
        key_of: returns the key of a URL; raises ValueError for a text that is none.
    """
    url, query = find_column(header, Kind.URL), find_column(header, Kind.MAIN_QUERY)
    if url is None:
        return None
    queries, empty, blank = dict[str, frozenset[str]](), dict[str, int](), dict[str, int]()
    cells = dict[int, tuple[str, str]]()
    for number, row in rows:
        cell = row[query] if query is not None and query < len(row) else ""
        text = cell.strip() or cell
        try:
            page = key_of(row[url] if url < len(row) else "")
        except ValueError:
            cells[number] = "", text
            continue
        cells[number] = page, text
        if text.strip():
            queries[page] = queries.get(page, frozenset()) | {text}
        else:
            (blank if text else empty).setdefault(page, number)
    empty = {page: row for page, row in empty.items() if page not in queries}
    blank = {page: row for page, row in blank.items() if page not in queries and page not in empty}
    return QueryRows(url, query, queries, empty, blank, cells)
