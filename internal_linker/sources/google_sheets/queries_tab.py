"""The Sheet's tab with the main queries: reads its rows as a table, and writes links into columns of its own."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from hashlib import blake2b
from itertools import count
from typing import Any

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.cli_commands import command
from internal_linker.model.errors import InputError, OutputError, ServiceError
from internal_linker.model.ports import ViewOf
from internal_linker.model.reasons import FewLinks
from internal_linker.model.records import Recommendation, Table, TableStream, fold_query
from internal_linker.sources.google_sheets.client import GOOGLE
from internal_linker.sources.google_sheets.empty_queries import MOST_ROWS, Filling
from internal_linker.sources.google_sheets.reconcile import Reading, Writes
from internal_linker.sources.google_sheets.spreadsheet import (
    Cells,
    Spreadsheet,
    Tab,
    chunks,
    new_columns,
    new_header,
    tabs_of,
)
from internal_linker.sources.http.limits import FEW_ATTEMPTS, with_retries
from internal_linker.sources.tables.columns import (
    Kind,
    QueryRows,
    display,
    find_column,
    link_column,
    link_name,
    query_rows,
)

# Writes beyond those planned: one to place links again after editors moved rows, but no more, so as not to fight with
# editors or merged cells; and some to restore editors' cells that a write hit.
_REPAIRS, _CORRECTIONS = 1, 6


# Rows at the beginning of a tab among which the header is looked for.
_HEAD = 10
# The columns that identify rows.
_KEYS = (Kind.URL, Kind.MAIN_QUERY)
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def template_columns(links: int) -> list[str]:
    """Return the columns of a new tab: those that people fill in, then the given count of our own."""
    return [display(Kind.URL), display(Kind.MAIN_QUERY), *(link_name(rank) for rank in range(1, links + 1))]


def header_row(values: Sequence[Sequence[str]]) -> int | None:
    """Return the position, from 0, of the row with the column names, which may be below titles; None without one."""
    best, most = None, 0
    for at, row in enumerate(values[:_HEAD]):
        names = sum(find_column(row, kind) is not None for kind in _KEYS)
        if names < len(_KEYS) and any(map(_ADDRESS.match, map(str.strip, row))):
            break
        if names > most:
            best, most = at, names
    return best


def _bare_urls(values: Sequence[Sequence[str]]) -> int | None:
    """Return the only column with content, from 0, if its first cell is a URL; else None."""
    filled = {at for row in values for at, cell in enumerate(row) if cell.strip()}
    first = next((cell for row in values for cell in row if cell.strip()), "")
    return filled.pop() if len(filled) == 1 and _ADDRESS.match(first.strip()) else None


class Grid(Reading):
    """One reading of the tab, and the places of our columns in it."""

    def __init__(self, values: Sequence[Sequence[str]], links: int, hosts: CanonicalHosts) -> None:
        top = (header_row(values) or 0) + 1
        header = values[top - 1] if values else []
        self.url, self.query = (_from_one(find_column(header, kind)) for kind in _KEYS)
        found = {number: link_column(header, number) for number in range(1, links + 1)}
        self.missing = [link_name(number) for number, at in found.items() if at is None]
        """Our columns that the tab lacks; they go to the right of the filled range."""
        new = count(max(map(len, values), default=0) + 1)
        self.links = [next(new) if at is None else at + 1 for at in found.values()]
        both = [at for at in (self.url, self.query) if at is not None]
        super().__init__(values, top, [both, *([[self.url]] if self.url else [])], self.links)
        self.sources = {row: self._source(row, hosts) for row in self.rows if row > top}
        """The identity of each row's URL (as it stands if it isn't one) and its folded query."""

    def _source(self, row: int, hosts: CanonicalHosts) -> tuple[str, str]:
        url = self.text(row, self.url).strip()
        with suppress(ValueError):
            url = hosts.identity(hosts.key(url))
        return url, fold_query(self.text(row, self.query))


def _from_one(position: int | None) -> int | None:
    return None if position is None else position + 1


class Delivery:
    """The delivery of one run's recommendations into a tab that others may be editing.

    Each `compare` takes a new reading and returns the cells to write now. It finds rows by URL and query, so a row
    that moved gets its links in its new place; cells that a write hit by mistake get back their texts (`Writes`).
    """

    def __init__(self, recommendations: Sequence[Recommendation], links: int, hosts: CanonicalHosts) -> None:
        self._recommendations, self._links, self._hosts = recommendations, links, hosts
        self._exact = {self._identity(item): item for item in reversed(recommendations)}
        self.writes = Writes()
        self._placed: dict[int, Recommendation] = {}
        self._wrong: dict[tuple[int, int], str] = {}
        # Editors' cells that have one of our texts.
        self._owed: dict[tuple[int, int], str] = {}
        self._corrections_left = _CORRECTIONS
        self.writes_left = -1
        """The count of requests that may still change the tab; -1 before the first reading."""

    def compare(self, values: Sequence[Sequence[str]], tab: str) -> tuple[Cells, Grid]:
        """Return the cells to write, urgent ones first, and the reading; insert its missing columns before writing.

        Raises:
            OutputError: the tab has no column that identifies rows.
        """
        now = Grid(values, self._links, self._hosts)
        if now.url is None and now.query is None:
            raise OutputError(
                f"{tab} has no column {Kind.URL} or {Kind.MAIN_QUERY}, so no links can be written. "
                "Restore the column names and run again."
            )
        hit, _ = self.writes.compare(now)
        grid = Grid(now.changed(hit).values, self._links, self._hosts) if hit else now
        self._placed = self._places(grid)
        self._wrong = self._differences(grid, now)
        self._owed = {
            (row, column): text
            for (row, column), text in hit.items()
            if row not in self._placed or column not in grid.links
        }
        if self.writes_left < 0:
            self.writes_left = sum(1 for _ in chunks(self._wrong)) + bool(now.missing) + _REPAIRS
        # With the wrong cells that contain another row's links.
        misplaced = {
            place: text for place, text in self._wrong.items() if self.writes.wrote(now.text(*place))
        }
        urgent = {**self._owed, **misplaced}
        if urgent and not self.writes_left and self._corrections_left:
            self._corrections_left -= 1
            self.writes_left = 1
            return urgent, grid
        return {**urgent, **self._wrong}, grid

    def problems(self) -> list[str]:
        """Describe what the last reading showed to be missing or wrong, one sentence each."""
        placed = {self._identity(item) for item in self._placed.values()}
        wrong = {self._identity(self._placed[row]): row for row, _ in self._wrong if row in self._placed}
        sentences = []
        for item in self._recommendations:
            if (identity := self._identity(item)) not in placed:
                reason = "the Sheet no longer has a row for it."
            elif identity in wrong:
                row = wrong[identity]
                reason = f"row {row} did not keep them. Check whether it is merged or being edited."
            else:
                continue
            sentences.append(f"{_name(item)}: the links could not be written: {reason}")
        for row in sorted({row for row, _ in self._owed} | self.writes.lost):
            sentences.append(
                f"Row {row} could not be restored: it may contain another row's links, because rows "
                "moved while links were written. File > Version history shows its earlier content."
            )
        return sentences

    def _identity(self, item: Recommendation) -> tuple[str, str]:
        key, query = item.source.identity
        return self._hosts.identity(key), query

    def _places(self, grid: Grid) -> dict[int, Recommendation]:
        """Return the recommendation for each row.

        A row whose query was edited since the run read it gets a recommendation for its URL that has no row of its
        own. Recommendations that have a row never go to a second query, whose links may not be part of this run.
        """
        placed = {row: self._exact[key] for row, key in grid.sources.items() if key in self._exact}
        taken = {self._identity(item) for item in placed.values()}
        left: dict[str, list[Recommendation]] = {}
        for identity, item in self._exact.items():
            if identity not in taken and identity[0]:
                # `pop` takes them from the end: the first recommendation comes last.
                left.setdefault(identity[0], []).append(item)
        for row, (url, _) in grid.sources.items():
            if row not in placed and left.get(url):
                placed[row] = left[url].pop()
        return dict(sorted(placed.items()))

    def _differences(self, grid: Grid, now: Grid) -> dict[tuple[int, int], str]:
        cells = {}
        for row, item in self._placed.items():
            texts = [link.target.url for link in item.links][: self._links] or _no_links(item)
            texts += [""] * (self._links - len(texts))
            for column, text in zip(grid.links, texts, strict=True):
                if now.text(row, column) != text:
                    cells[row, column] = text
        return cells


def _no_links(item: Recommendation) -> list[str]:
    """Return the text for the first link's cell of a row whose page can't carry links; [] for any other row."""
    shortage = item.shortage
    if shortage is None or shortage.reason.kind is not FewLinks.NO_SOURCE:
        return []
    return [f"no links: {shortage.reason.detail}"]


def _name(item: Recommendation) -> str:
    source = item.source
    return f"{source.url} ({source.query})" if source.url and source.query else source.name


# For Refusals: our cells, and what to do about a tab that vanished.
_OURS = "cells of the columns Link 1, Link 2, ... are"
_TAB_REMEDY = "Check google_sheet_name in config/settings.toml and run again."


class GoogleSheet:
    """A StreamSource and LinkSink that contacts Google only when it is used; `tab` "" is the first tab.

    Raises:
        ConfigurationError: `service_account` is not a usable key.
    """

    remarks: Sequence[str] = ()

    def __init__(
        self,
        service_account: str,
        sheet_id: str,
        tab: str = "",
        *,
        api_url: str = GOOGLE,
        links_per_page: int,
        hosts: CanonicalHosts | None = None,
    ) -> None:
        self._spreadsheet = Spreadsheet(service_account, sheet_id, api_url, _OURS, _TAB_REMEDY)
        self._wanted, self._links, self._hosts = tab, links_per_page, hosts or CanonicalHosts()
        self._tab_number: int | None = None
        self._headed = False
        self.name = f"Google Sheet '{tab}'" if tab else "Google Sheet"

    def read(self) -> Table:
        """Read the tab: rows keep their numbers, and rows above the header and empty rows at the end are dropped.

        A tab with nothing but URLs needs no header.

        Raises:
            InputError: there is no such spreadsheet or tab, or it has no row that could be the header.
            ServiceError: Google refused or failed.
        """
        return self._table(self._find_tab(with_retries(self._spreadsheet.metadata)))

    def stream(self) -> TableStream:
        """Return the tab as a stream, read once, so that all get the same rows; raise the errors of `read`."""
        table = self._first
        if isinstance(table, Exception):
            raise table
        return TableStream(table.name, table.header, iter(table.rows))

    def digest(self) -> str:
        """Return a digest of all that `stream` says of URLs and main queries; "" if the tab can't be read."""
        table = self._first
        if isinstance(table, Exception):
            return ""
        places = [at for kind in _KEYS if (at := find_column(table.header, kind)) is not None]
        found = blake2b(repr([table.header[at] for at in places]).encode(), digest_size=16)
        for number, row in table.rows:
            found.update(repr((number, *(row[at] for at in places))).encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    @cached_property
    def _first(self) -> Table | InputError | ServiceError:
        try:
            return self.read()
        except (InputError, ServiceError) as error:
            return error

    def _table(self, tab: Tab, attempts: int | None = None) -> Table:
        values = with_retries(lambda: self._values(tab), attempts=attempts)
        while values and not any(map(str.strip, values[-1])):
            values.pop()
        top = header_row(values)
        if top is None and (at := _bare_urls(values)) is not None:
            header, below = [*[""] * at, display(Kind.URL)], 0
        else:
            header, below = (values[top or 0] if values else []), (top or 0) + 1
        if not any(map(str.strip, header)):
            raise InputError(
                f"{self.name}: row 1 is empty. Put the column names there, "
                f"such as {display(Kind.URL)} and {display(Kind.MAIN_QUERY)}; in an empty tab, "
                f"`{command('init --sheet')}` does it."
            )
        rows = [
            (number, row + [""] * (len(header) - len(row)))
            for number, row in enumerate(values[below:], start=below + 1)
        ]
        return Table(self.name, tuple(header), rows)

    def deliver(
        self, recommendations: Sequence[Recommendation], run_id: str, view_of: ViewOf | None = None
    ) -> list[str]:
        """Write the links of each source that is in the Sheet; return what could not be placed, one sentence each.

        Finds rows by URL and query right before each request and reads them back afterwards. Changes only our
        columns, and only cells whose text differs. The Sheet has no columns for `run_id` and what is stored.

        Raises:
            OutputError: the tab is gone, or has no column that identifies rows.
            ServiceError: Google refused or failed; rows written so far are complete.
        """
        ours = [item for item in recommendations if item.source.in_sheet]
        if not ours:
            return []
        try:
            tab = self._find_tab(with_retries(self._spreadsheet.metadata))
            delivery = Delivery(ours, self._links, self._hosts)
            # A retry reads the tab again before it writes: rows may have moved during the pause.
            while with_retries(lambda: self._look_and_write(tab, delivery)):
                pass
        except InputError as error:
            raise OutputError(str(error)) from None
        return delivery.problems()

    def check(self) -> list[str]:
        """Return facts that a person wants to know before the first run; change no cell.

        Tests the right to edit with an empty write. Google does not document that it refuses an empty write to
        viewers, so only a refusal counts as evidence.

        Raises:
            InputError, ServiceError: as in `read`, and if the account may only view.
        """
        metadata = with_retries(self._spreadsheet.metadata, attempts=FEW_ATTEMPTS)
        table = self._table(self._find_tab(metadata), FEW_ATTEMPTS)
        ranks = range(1, self._links + 1)
        missing = [link_name(rank) for rank in ranks if link_column(table.header, rank) is None]
        places = {kind: find_column(table.header, kind) for kind in (Kind.URL, Kind.MAIN_QUERY)}
        found = [f"{display(kind)} ({table.header[at]})" for kind, at in places.items() if at is not None]
        facts = [
            f"Service account: {self._spreadsheet.account}",
            f"Spreadsheet: {metadata['properties']['title']}",
            f"Tabs: {', '.join(tab.title for tab in tabs_of(metadata))}",
            f"{table.name}: {len(table.rows)} rows below the header",
            f"Columns recognised: {', '.join(found) or 'none'}",
            f"Link columns to be added: {', '.join(missing) or 'none'}",
        ]
        with_retries(lambda: self._spreadsheet.write(None, {}), attempts=FEW_ATTEMPTS)
        return [*facts, "Permission to edit: not refused (tested with an empty write)"]

    def write_header(self) -> bool:
        """Write the column names into the tab if it is empty; return whether it was.

        Raises:
            InputError: there is no such spreadsheet or tab.
            ServiceError: Google refused or failed.
        """
        tab = self._find_tab(with_retries(self._spreadsheet.metadata))
        # A retry reads the tab again: the first attempt may have been carried out.
        return with_retries(lambda: self._head(tab))

    def _head(self, tab: Tab) -> bool:
        if any(any(map(str.strip, row)) for row in self._values(tab)):
            return False
        self._spreadsheet.change(new_header(tab, template_columns(self._links)))
        return True

    def main_queries(self) -> QueryRows:
        """Return which pages have a main query in the tab, by the keys of `CanonicalHosts.identity`.

        Raises:
            InputError: the tab has no column of URLs or of main queries.
            ServiceError: Google refused or failed.
        """
        tab = self._find_tab(with_retries(self._spreadsheet.metadata))
        return self._query_rows(with_retries(lambda: self._values(tab)))

    def fill_queries(self, wanted: Mapping[str, str]) -> list[str]:
        """Fill empty main queries; return what could not be filled, one sentence each.

        A query that an editor types meanwhile stays, and rows may move: see `empty_queries`.

        Raises:
            InputError, ServiceError: as in `main_queries`; what was filled so far stays.
        """
        filling = Filling(wanted)
        # One request more for rows that moved just before they were to be filled.
        fills = -(-len(wanted) // MOST_ROWS) + _REPAIRS
        for sent in range(fills + _CORRECTIONS):
            if not with_retries(partial(self._fill_some, filling, more=sent < fills)):
                break
        tab = self._find_tab(with_retries(self._spreadsheet.metadata))
        rows = self._query_rows(with_retries(lambda: self._values(tab)))
        return [*filling.problems(tab, rows, self._spreadsheet.account)]

    def _fill_some(self, filling: Filling, *, more: bool) -> bool:
        """Read the tab and send what it lacks or has too much; return False if that is nothing."""
        tab = self._find_tab(self._spreadsheet.metadata())
        requests = filling.requests(tab, self._query_rows(self._values(tab)), more=more)
        if requests:
            self._spreadsheet.change(requests)
        return bool(requests)

    def _query_rows(self, values: Sequence[Sequence[str]]) -> QueryRows:
        hosts = self._hosts
        top = header_row(values) or 0
        header = values[top] if values else []
        rows = query_rows(
            header,
            enumerate(values[top + 1 :], top + 2),
            lambda url: hosts.identity(hosts.key(url)),
        )
        if rows is None or rows.query is None:
            raise InputError(
                f"{self.name} has no column {Kind.URL if rows is None else Kind.MAIN_QUERY}, so no main queries can "
                "be written. Add the column and run again."
            )
        return rows

    def close(self) -> None:
        """Close the connections."""
        self._spreadsheet.close()

    def _look_and_write(self, tab: Tab, delivery: Delivery) -> bool:
        """Read the tab and write the first part of what is wrong; return False if nothing is, or no write is left."""
        values = self._values(tab)
        if not self._headed and header_row(values) is None and (at := _bare_urls(values)) is not None:
            self._headed = True
            self._spreadsheet.change(new_header(tab, [*[""] * at, display(Kind.URL)]))
            return True
        cells, grid = delivery.compare(values, self.name)
        if not cells or not delivery.writes_left:
            return False
        if grid.missing:
            self._spreadsheet.change(new_columns(tab, len(grid.columns), grid.missing, top=grid.top - 1))
        else:
            part = next(chunks(cells))
            delivery.writes.sending(part)
            self._spreadsheet.write(tab, part)
        delivery.writes_left -= 1
        return True

    def _values(self, tab: Tab) -> list[list[str]]:
        return [[str(cell) for cell in row] for row in self._spreadsheet.values(tab)]

    def _find_tab(self, metadata: Mapping[str, Any]) -> Tab:
        """Find our tab; after the first reading by its number, so that renaming or moving the tab does no harm."""
        tabs = tabs_of(metadata)
        wanted = self._wanted.strip().casefold()
        fits = [tab for tab in tabs if tab.title == self._wanted]
        fits += [tab for tab in tabs if not wanted or tab.title.strip().casefold() == wanted]
        if self._tab_number is not None:
            fits = [tab for tab in tabs if tab.number == self._tab_number]
        if not fits:
            raise InputError(
                f"{self.name}: there is no such tab. The spreadsheet's tabs are: "
                f"{', '.join(tab.title for tab in tabs)}. "
                "Put one of these names into google_sheet_name in config/settings.toml."
            )
        self._tab_number = fits[0].number
        self.name = f"Google Sheet '{fits[0].title}'"
        return fits[0]
