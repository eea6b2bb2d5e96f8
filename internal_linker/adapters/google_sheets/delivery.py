"""Readings of a sheet's tab + the links wanted -> the cells to write, and what could not be placed."""

from collections.abc import Sequence

from internal_linker.adapters.google_sheets.ranges import Cells, chunks
from internal_linker.adapters.google_sheets.reconcile import Strays
from internal_linker.adapters.google_sheets.tables import Grid
from internal_linker.adapters.tables.columns import Kind
from internal_linker.core.errors import OutputError
from internal_linker.core.records import Recommendation

# Writes beyond those planned: one to place what editors moved meanwhile, for we do not fight with them or a merged
# cell; some more to take back what landed in cells of theirs.
_REPAIRS, _MENDS = 1, 6


class Delivery:
    """The recommendations of one run on their way into a tab that others may be editing.

    Each `compare` takes a fresh reading and says which cells to write now; rows are found by URL and
    query anew, so that a row that moved gets its links where it stands. Cells that we wrote a moment
    before a row or column moved, and that belong to somebody else, get the text back that they held.
    """

    def __init__(self, recommendations: Sequence[Recommendation], links: int) -> None:
        self._recommendations = recommendations
        self._links = links
        self._exact = {item.source.identity: item for item in reversed(recommendations)}
        self._strays = Strays()
        self._placed: dict[int, Recommendation] = {}
        self._owed: dict[tuple[int, int], str] = {}
        self._wrong: dict[tuple[int, int], str] = {}
        self._mends_left = _MENDS
        self.writes_left = -1
        """Requests that may still change the tab; -1 before the first reading."""

    def compare(self, values: Sequence[Sequence[str]], tab: str) -> tuple[Cells, Grid]:
        """The cells to write, the urgent ones first, and the reading, whose missing columns come first.

        Raises:
            OutputError: the tab has no column by which a row could be found.
        """
        now = Grid(values, self._links)
        if now.url is None and now.query is None:
            raise OutputError(
                f"{tab} has no column {Kind.URL} or {Kind.MAIN_QUERY} in row 1, so no link can be placed. "
                "Put the column names back and run again."
            )
        strays, _ = self._strays.mended(now)
        grid = Grid(now.with_cells(strays).values, self._links) if strays else now
        self._placed = self._places(grid)
        self._wrong = self._differences(now)
        self._owed = {
            (row, column): text
            for (row, column), text in strays.items()
            if row not in self._placed or column not in grid.links
        }
        if self.writes_left < 0:
            self.writes_left = sum(1 for _ in chunks(self._wrong)) + bool(now.missing) + _REPAIRS
        urgent = {**self._owed, **self._misplaced(now)}
        if urgent and not self.writes_left and self._mends_left:
            self._mends_left -= 1
            self.writes_left = 1
            return urgent, grid
        return {**urgent, **self._wrong}, grid

    def sending(self, cells: Cells) -> None:
        """Note what is about to be written."""
        self._strays.sending(cells)

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
        for row in sorted({row for row, _ in self._owed} | self._strays.lost):
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

    def _misplaced(self, now: Grid) -> dict[tuple[int, int], str]:
        """Those of the wrong cells that hold links of another row."""
        return {place: text for place, text in self._wrong.items() if self._strays.wrote(now.text(*place))}

    def _differences(self, grid: Grid) -> dict[tuple[int, int], str]:
        cells = {}
        for row, item in self._placed.items():
            texts = [link.target.url for link in item.links][: self._links]
            texts += [""] * (self._links - len(texts))
            for column, text in zip(grid.links, texts, strict=True):
                if grid.text(row, column) != text:
                    cells[row, column] = text
        return cells


def _name(item: Recommendation) -> str:
    source = item.source
    return f"{source.url} ({source.query})" if source.url and source.query else source.name
