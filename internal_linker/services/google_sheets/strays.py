"""Looks at a tab with our writes between them -> the cells of others that we hit, and what they held before."""

from collections.abc import Iterable, Mapping

from internal_linker.services.google_sheets.ranges import Cells, Grid, same_as

Place = tuple[int, int]


class Strays:
    """Knows, look by look, what the cells should hold that are not ours to write.

    Google writes to places, not to rows: where somebody moves rows or columns between our look and our write, cells
    of others are hit, and may move on before the next look. Such a cell is one that holds a text of ours and held
    another at the last look, where it stood then.
    """

    def __init__(self) -> None:
        self._true: Grid | None = None
        self._sent: set[str | float] = set()
        self._last: dict[Place, str | float] = {}
        self._rows: Mapping[int, int] = {}
        self._columns: Mapping[int, int] = {}
        self._moved = False
        self._before: Grid | None = None
        self.lost: set[int] = set()
        """Rows that are not known again, with a text of ours where their URL or query stood."""

    def sending(self, cells: Cells) -> None:
        """Note what is about to be written; a failed request may have been carried out all the same."""
        self._last = {**cells}
        self._sent.update(cells.values())

    def wrote(self, text: str) -> bool:
        """Whether a text is one of ours, and no empty one."""
        return bool(text) and text in self._sent

    def mended(self, now: Grid) -> tuple[Grid, dict[Place, str]]:
        """The tab as it would be without what we wrote into columns of others; and these cells, with their texts."""
        self._before, then = self._true, self._true
        if then is None or not self._sent:
            self._true = now
            return now, {}
        self._columns = same_as(now.column_names(), then.column_names())
        self._rows = self._same_rows(now, then)
        self._columns |= self._renamed(now, then)
        # For good: what moved once may wait for its turn over several looks.
        self._moved |= any(old != new for new, old in (*self._rows.items(), *self._columns.items()))
        self._moved |= len(now.rows) != len(then.rows)
        others = [column for column in range(1, now.width + 1) if column not in now.links]
        strays = self._hit(now, then, now.rows.keys() - self.lost, others)
        self._true = now.with_cells(strays)
        return self._true, strays

    def in_links(self, now: Grid, rows: Iterable[int]) -> dict[Place, str]:
        """The same for our columns in rows that get no links from this run; `now` is mended."""
        if self._before is None or not self._sent:
            return {}
        strays = self._hit(now, self._before, rows, [column for column in now.links if column <= now.width])
        self._true = now.with_cells(strays)
        return strays

    def _hit(self, now: Grid, then: Grid, rows: Iterable[int], columns: Iterable[int]) -> dict[Place, str]:
        cells, columns = {}, [*columns]
        for row in rows:
            for column in columns:
                text, held = now.text(row, column), then.text(self._rows.get(row), self._columns.get(column))
                if text != held and self._is_ours(row, column, text):
                    cells[row, column] = held
        return cells

    def _is_ours(self, row: int, column: int, text: str) -> bool:
        if self._last.get((row, column)) == text:
            return True
        # What we wrote may have moved on; an emptied cell tells nothing of where it came from.
        return self._moved and self.wrote(text)

    def _same_rows(self, now: Grid, then: Grid) -> dict[int, int]:
        """Number now -> number then: by URL and query, or the URL alone, or what stands in columns that we spared."""
        rows = same_as(now.row_names(), then.row_names())
        hit = {column for _, column in self._last}
        spared = [at for at in self._columns if at not in {*hit, *now.links, now.url, now.query}]
        for columns in ([at for at in self._columns if at == now.url], spared):
            ours, theirs = now.row_names(columns), then.row_names([self._columns[at] for at in columns])
            known = {*rows.values()}
            # Rows that are empty there are told apart by nothing but their order.
            left = {row: name for row, name in ours.items() if row not in rows and any(name[0][:-1])}
            rows |= same_as(left, {row: name for row, name in theirs.items() if row not in known})
        keys = [at for at in (now.url, now.query) if at is not None]
        self.lost |= {
            row for row in now.rows.keys() - rows.keys() if any(self.wrote(now.text(row, at)) for at in keys)
        }
        return rows

    def _renamed(self, now: Grid, then: Grid) -> dict[int, int]:
        """Number now -> number then, for columns of a new name that stand where they stood and hold what they held."""
        found, left, first = dict[int, int](), 0, 1
        taken = {*self._columns.values()}
        for column in range(1, now.width + 2):
            if column <= now.width and column not in self._columns:
                continue
            right = self._columns[column] if column <= now.width else then.width + 1
            free, between = range(first, column), range(left + 1, right)
            if len(free) == len(between) and not taken.intersection(between):
                found |= {
                    at: old
                    for at, old in zip(free, between, strict=True)
                    if self._holds_the_same(now, at, then, old)
                }
            left, first = right, column + 1
        return found

    def _holds_the_same(self, now: Grid, column: int, then: Grid, old: int) -> bool:
        """Save for what we wrote, and for a cell here and there that was edited meanwhile."""
        texts = [(now.text(row, column), then.text(before, old)) for row, before in self._rows.items()]
        return sum(text != held and not self.wrote(text) for text, held in texts) <= len(texts) / 5
