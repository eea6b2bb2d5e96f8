"""Two looks at a tab, with a write of ours between them -> which row and column of one is which of the other."""

from bisect import bisect_left
from collections.abc import Collection, Mapping

from internal_linker.adapters.google_sheets.tables import Table, same_as

# A text that more rows have tells nothing of one.
_FEW = 10


class Recognition:
    """Rows and columns that are known again: their numbers now, with their numbers then.

    Args:
        now: the new look.
        true: the one before, as it would have been without cells that we wrote by mistake.
        wanted: the same with all that we wanted to write since.
        sent: all texts that we ever wrote.
        named: those that we wrote where rows tell which they are.
        appended: by the first of the tab's keys, the rows of `wanted` that we put at its end.

    Attributes:
        columns: by their names, or, renamed, by their places and texts.
        rows: by the tab's keys, or by all that we did not write.
        shifted: those of them that we appended just when columns moved.
    """

    def __init__(
        self,
        now: Table,
        true: Table,
        wanted: Table,
        sent: Collection[str],
        named: Collection[str],
        appended: Mapping[str, int],
    ) -> None:
        self._now, self._true, self._wanted, self._sent = now, true, wanted, sent
        self.columns = same_as(now.column_names(), true.column_names())
        self.rows: dict[int, int] = {}
        self._name_rows(named)
        self.rows |= self._alike()
        # What we wrote there ourselves is a name, too, where nothing speaks against it.
        self._name_rows(())
        self.shifted = self._shifted(appended)
        self.rows |= self.shifted
        self.columns |= self._renamed()

    def has_moved(self, deleted: Collection[int]) -> bool:
        """Whether anything stands elsewhere than it would if only these rows had gone."""
        gone = sorted(deleted)
        if any(new != old for new, old in self.columns.items()):
            return True
        if len(self._now.numbers) != len(self._wanted.numbers) - len(gone):
            return True
        return any(new != old - bisect_left(gone, old) for new, old in self.rows.items())

    def _name_rows(self, doubtful: Collection[str]) -> None:
        """Enter rows by the tab's keys, but for those whose key says nothing else than these texts."""
        now, then, rows = self._now, self._wanted, self.rows
        untold = {"", *doubtful}
        for columns in now.keys:
            if len(rows) < len(now.numbers) and self.columns.keys() >= {*columns}:
                ours, theirs = now.row_names(columns), then.row_names([self.columns[at] for at in columns])
                known = {*rows.values()}
                # Rows that are empty there are told apart by nothing but their order.
                told = {row: name for row, name in ours.items() if not {*name.texts[:-1]} <= untold}
                left = {row: name for row, name in told.items() if row not in rows}
                rows |= same_as(left, {row: name for row, name in theirs.items() if row not in known})

    def _alike(self) -> dict[int, int]:
        """Number now -> number then, for rows that hold more texts of one row than of any other."""
        now, then = self._now, self._wanted
        left = [row for row in now.numbers if row not in self.rows]
        known, found = {*self.rows.values()}, dict[tuple[int, str], list[int]]()
        for row in then.numbers if left else ():
            for column in self.columns.values():
                found.setdefault((column, then.text(row, column)), []).append(row)
        alike = dict[int, list[int]]()
        for row in left:
            votes = dict[int, float]()
            for column, old in self.columns.items():
                text = now.text(row, column)
                others = found.get((old, text), []) if text and text not in self._sent else []
                # What many rows have tells little of one.
                for other in others if len(others) <= _FEW else ():
                    votes[other] = votes.get(other, 0) + 1 / len(others)
            best = sorted((votes[other], other) for other in votes if other not in known)[-2:]
            if best and best[-1][0] > sum(weight for weight, _ in best[:-1]):
                alike.setdefault(best[-1][1], []).append(row)
        return {rows[0]: other for other, rows in alike.items() if len(rows) == 1}

    def _shifted(self, appended: Mapping[str, int]) -> dict[int, int]:
        known, shifted = {*self.rows.values()}, dict[int, int]()
        left = {key: row for key, row in appended.items() if row not in known}
        for row in self._now.numbers if left else ():
            if row not in self.rows:
                texts = {self._now.text(row, column) for column in range(1, self._now.width + 1)}
                if key := min(texts & left.keys(), default=""):
                    shifted[row] = left.pop(key)
        return shifted

    def _renamed(self) -> dict[int, int]:
        """Number now -> number then, for columns of a new name that stand where they stood and hold what they held."""
        now = self._now
        found, left, first = dict[int, int](), 0, 1
        taken = {*self.columns.values()}
        for column in range(1, now.width + 2):
            if column <= now.width and column not in self.columns:
                continue
            right = self.columns[column] if column <= now.width else self._true.width + 1
            free, between = range(first, column), range(left + 1, right)
            if len(free) == len(between) and not taken.intersection(between):
                pairs = zip(free, between, strict=True)
                found |= {at: old for at, old in pairs if self._holds_the_same(at, old)}
            left, first = right, column + 1
        return found

    def _holds_the_same(self, column: int, old: int) -> bool:
        """Save for what we wrote, and for a cell here and there that was edited meanwhile."""
        texts = [
            (self._now.text(row, column), self._true.text(before, old)) for row, before in self.rows.items()
        ]
        return (
            sum(text != held and not (text and text in self._sent) for text, held in texts) <= len(texts) / 5
        )
