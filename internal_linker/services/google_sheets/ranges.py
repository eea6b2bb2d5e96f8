"""Readings of a sheet's tab + the links wanted -> the ranges to write, and what could not be placed."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from internal_linker.errors import OutputError
from internal_linker.headers import Kind, find_column, fold_header, link_column, link_name
from internal_linker.records import Recommendation, fold_query
from internal_linker.urls import normal_form

Cells = Mapping[tuple[int, int], str | float]
"""Texts and numbers by row and column, both from 1."""
Name = tuple[tuple[str, ...], int]
"""What a row or column is known by wherever it moves: its texts, and which of several with these it is."""

# Google advises against requests above 2 MB; the rest is left for the frame around the data.
MAX_BYTES = 1_500_000
# Each range is located and checked on its own, so that thousands of tiny ones would time out.
MAX_RANGES = 500
# Skipping up to so many cells with null costs fewer bytes than the frame of one more range.
MAX_GAP = 8


class Grid:
    """One reading of a tab, and where our columns stand in it; rows and columns count from 1."""

    def __init__(self, values: Sequence[Sequence[str]], links: int) -> None:
        self.values = values
        self.header = list(values[0]) if values else []
        self.width = max(map(len, values), default=0)
        self.url = _from_one(find_column(self.header, Kind.URL))
        self.query = _from_one(find_column(self.header, Kind.MAIN_QUERY))
        found = {number: link_column(self.header, number) for number in range(1, links + 1)}
        self.missing = [link_name(number) for number, at in found.items() if at is None]
        """Our columns that are not there; they would stand right of all that is filled."""
        new = iter(range(self.width + 1, self.width + len(self.missing) + 1))
        self.links = [next(new) if at is None else at + 1 for at in found.values()]
        self.rows = {row: self._key(row) for row in range(2, len(values) + 1)}

    def text(self, row: int | None, column: int | None) -> str:
        """What a cell shows, "" outside of what is filled."""
        if row is None or column is None or row > len(self.values) or column > len(self.values[row - 1]):
            return ""
        return self.values[row - 1][column - 1]

    def row_names(self, columns: Sequence[int] | None = None) -> dict[int, Name]:
        """What each row is known by: its URL and query, or else what stands in these columns."""
        if columns is None:
            return named(self.rows.items())
        texts = {row: tuple(self.text(row, column) for column in columns) for row in self.rows}
        alike = Counter(texts.values())
        # Among rows that look alike only the order is left, which tells nothing once one came or went.
        return named((row, (*cells, str(alike[cells]))) for row, cells in texts.items())

    def column_names(self) -> dict[int, Name]:
        """What each column is known by."""
        texts = [fold_header(text) for text in self.header]
        texts += [""] * (self.width - len(texts))
        return named((column, (text,)) for column, text in enumerate(texts, start=1))

    def _key(self, row: int) -> tuple[str, str]:
        """A row's URL in its normal form (as it stands where it has none), and its query folded."""
        url = self.text(row, self.url).strip()
        with suppress(ValueError):
            url = normal_form(url)
        return url, fold_query(self.text(row, self.query))


class Delivery:
    """The recommendations of one run on their way into a tab that others may be editing.

    Each `compare` takes a fresh reading and says which cells to write now; rows are found by URL and
    query anew, so that a row that moved gets its links where it stands. Cells that we wrote a moment
    before a row or column moved, and that now belong to somebody else, get their first text back.
    """

    def __init__(self, recommendations: Sequence[Recommendation], links: int) -> None:
        self._recommendations = recommendations
        self._links = links
        self._exact = {item.source.identity: item for item in reversed(recommendations)}
        self._first: Grid | None = None
        self._written: dict[tuple[int, int], str | float] = {}
        self._placed: dict[int, Recommendation] = {}
        self._strays: dict[tuple[int, int], str] = {}
        self._wrong: dict[tuple[int, int], str] = {}
        self._lost: set[int] = set()
        self._keys_mended = False
        self.writes_left = -1
        """Requests that may still change the tab; -1 before the first reading."""

    def compare(self, values: Sequence[Sequence[str]], tab: str) -> tuple[Cells, Grid]:
        """The cells to write, the urgent ones first, and the reading, whose missing columns come first.

        Raises:
            OutputError: the tab has no column by which a row could be found.
        """
        grid = Grid(values, self._links)
        if grid.url is None and grid.query is None:
            raise OutputError(
                f"{tab} has no column {Kind.URL} or {Kind.MAIN_QUERY} in row 1, so no link can be placed. "
                "Put the column names back and run again."
            )
        self._placed = self._places(grid)
        self._wrong = self._differences(grid)
        if self.writes_left < 0:
            # One write more than planned, to mend once what editors moved meanwhile.
            self.writes_left = sum(1 for _ in chunks(self._wrong)) + bool(grid.missing) + 1
        if self._first is None or not self._written:
            self._first = grid
        self._strays = self._remarks_on(self._first, grid)
        if not self._keys_mended and any(column in (grid.url, grid.query) for _, column in self._strays):
            # What a row wants is known again only once its own URL and query are back.
            self._keys_mended = True
            self.writes_left += 1
            return self._strays, grid
        return {**self._strays, **self._wrong}, grid

    def sending(self, cells: Cells) -> None:
        """Note what is about to be written; a failed request may have been carried out all the same."""
        self._written.update(cells)

    def problems(self) -> list[str]:
        """What the last reading showed to be missing or wrong, one sentence each."""
        placed = {item.source.identity for item in self._placed.values()}
        wrong = {self._placed[row].source.identity: row for row, _ in self._wrong if row in self._placed}
        sentences = []
        for item in self._recommendations:
            if (identity := item.source.identity) not in placed:
                reason = "the Sheet has no row for it any more."
            elif identity in wrong:
                reason = f"row {wrong[identity]} does not keep them. Is it merged, or being edited?"
            else:
                continue
            sentences.append(f"{_name(item)}: the links could not be placed: {reason}")
        for row in sorted({row for row, _ in self._strays} | self._lost):
            sentences.append(
                f"Row {row} could not be placed back: it may hold links of another row, which moved while we "
                "wrote. File > Version history shows what stood there."
            )
        return sentences

    def _places(self, grid: Grid) -> dict[int, Recommendation]:
        """Which row gets which links.

        A row whose query was edited since it was read takes what is left over for its URL; what has a
        row of its own is never handed to a second query, whose links may not be part of this run.
        """
        placed = {row: self._exact[key] for row, key in grid.rows.items() if key in self._exact}
        taken = {item.source.identity for item in placed.values()}
        left: dict[str, list[Recommendation]] = {}
        for identity, item in self._exact.items():
            if identity not in taken and identity[0]:
                # The first one last, to be popped first.
                left.setdefault(identity[0], []).append(item)
        for row, (url, _) in grid.rows.items():
            if row not in placed and left.get(url):
                placed[row] = left[url].pop()
        return dict(sorted(placed.items()))

    def _differences(self, grid: Grid) -> dict[tuple[int, int], str]:
        cells = {}
        for row, item in self._placed.items():
            texts = [link.target.url for link in item.links][: self._links]
            texts += [""] * (self._links - len(texts))
            for column, text in zip(grid.links, texts, strict=True):
                if grid.text(row, column) != text:
                    cells[row, column] = text
        return cells

    def _remarks_on(self, first: Grid, now: Grid) -> dict[tuple[int, int], str]:
        """Cells of others that hold exactly what we wrote there, with the text that they had at first."""
        hit = {
            place: text
            for place, text in self._written.items()
            if now.text(*place) == text and not (place[0] in self._placed and place[1] in now.links)
        }
        columns = same_as(now.column_names(), first.column_names())
        over = {column for _, column in hit}
        keys_hit = bool(over & {now.url, now.query})
        if keys_hit:
            # A URL or query that we overwrote names no row any more; all else that stands there does.
            kept = [at for at in columns if at not in over and at not in now.links]
            rows = same_as(now.row_names(kept), first.row_names([columns[at] for at in kept]))
        else:
            rows = same_as(now.row_names(), first.row_names())
        # A row that is new had nothing there; one that is not known again is left for a person to mend.
        self._lost = {row for (row, _), text in hit.items() if keys_hit and text and row not in rows}
        cells = {}
        for (row, column), text in hit.items():
            earlier = first.text(rows.get(row), columns.get(column))
            if earlier != text and row not in self._lost:
                cells[row, column] = earlier
        return cells


def chunks(cells: Cells) -> Iterator[Cells]:
    """Cut the cells, in their order, into parts that fit one request each; a row is never cut."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    by_row: dict[int, dict[tuple[int, int], str | float]] = {row: {} for row in rows}
    for place, text in cells.items():
        by_row[place[0]][place] = text
    while rows:
        take = len(rows)
        while True:
            part = {place: text for row in rows[:take] for place, text in by_row[row].items()}
            blocks = ranges(part)
            size = len(json.dumps([block for _, _, block in blocks]))
            share = min(MAX_BYTES / size, MAX_RANGES / len(blocks))
            if share >= 1 or take == 1:
                break
            take = max(1, min(take - 1, int(take * share)))
        yield part
        rows = rows[take:]


def ranges(cells: Cells) -> list[tuple[int, int, list[list[str | float | None]]]]:
    """Blocks to write as (top row, left column, rows of texts): None where a cell is to be left alone."""
    columns = sorted({column for _, column in cells})
    found = []
    for left, right in _runs(columns, 1):
        rows = sorted({row for row, column in cells if left <= column <= right})
        for top, bottom in _runs(rows, MAX_GAP):
            block = [
                [cells.get((row, column)) for column in range(left, right + 1)]
                for row in range(top, bottom + 1)
            ]
            found.append((top, left, block))
    return found


def _runs(numbers: Sequence[int], gap: int) -> list[tuple[int, int]]:
    """Ascending numbers -> first and last of each run whose neighbours are at most `gap` apart."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number - runs[-1][1] <= gap:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def named(keyed: Iterable[tuple[int, tuple[str, ...]]]) -> dict[int, Name]:
    """Rows or columns by number and texts -> what each is known by, the order telling equal ones apart."""
    seen: dict[tuple[str, ...], int] = {}
    names = {}
    for number, texts in keyed:
        seen[texts] = seen.get(texts, 0) + 1
        names[number] = texts, seen[texts]
    return names


def same_as(now: Mapping[int, Name], then: Mapping[int, Name]) -> dict[int, int]:
    """Number now -> number then, for what is known by the same name in both."""
    numbers = {name: number for number, name in then.items()}
    return {number: numbers[name] for number, name in now.items() if name in numbers}


def _from_one(position: int | None) -> int | None:
    return None if position is None else position + 1


def _name(item: Recommendation) -> str:
    source = item.source
    return f"{source.url} ({source.query})" if source.url and source.query else source.name
