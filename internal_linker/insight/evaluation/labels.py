"""files/labels.csv: pairs of pages that a person labels; the program appends rows and never removes any."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan
from pathlib import Path
from typing import Literal, get_args

from internal_linker.model.edges import score_of
from internal_linker.model.errors import InputError
from internal_linker.model.sections import section_of
from internal_linker.model.urls import normal_form
from internal_linker.sources.tables.columns import fold_header
from internal_linker.sources.tables.csv_reader import CsvRecords
from internal_linker.sources.tables.csv_writer import write_rows
from internal_linker.store.files.atomic import ReplaceWhole, replace_whole

Label = Literal["good", "borderline", "bad"]
LABELS: tuple[Label, ...] = get_args(Label)

# The usual thresholds, and some on both sides: strengths are around 0.3 for a source's 10th to 20th candidates, around
# 0.55 for its fifth link and around 0.95 for its first.
_BOUNDS = (0.0, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A page, another page that it could link to, and a person's label for that link."""

    ends: tuple[str, str]  # normal forms of both URLs: equal for all spellings of a pair
    # source, target: both URLs in the user's spelling
    source: str
    target: str
    # source_title, target_title: titles, which save a person from opening the pages
    source_title: str = ""
    target_title: str = ""
    strength: float = nan  # strength of the link, 0 to 1, NaN where it is unknown
    label: Label | Literal[""] = ""  # the label; "" until the pair is labelled

    @property
    def section(self) -> str:
        """The source's section, such as "/blog"."""
        return section_of(self.ends[0])

    @property
    def band(self) -> str:
        """The range that the score is in, such as "65 to 80"; "" without a strength."""
        return next(
            (f"{100 * low:.0f} to {100 * high:.0f}" for low, high in _RANGES if low <= self.strength), ""
        )


# The highest range comes first.
_RANGES = tuple(reversed(tuple(pairwise(_BOUNDS))))


_HEADER = (
    *("Label", "Source", "Target", "Source Title", "Target Title"),
    *("Score", "Band", "Section"),
)
_NEEDED = ("Label", "Source", "Target")


class LabelsCsv:
    """The labels of one project."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self.name, self._write_whole = path, path.name, write_whole

    def read(self) -> list[LabelRow]:
        """Read every pair once, labelled or not; return [] if the file does not exist.

        Raises:
            InputError: the file can't be read or lacks a column, or a row has no URL, an unknown label, or another
                label than an earlier row of its pair.
        """
        pairs: dict[tuple[str, str], LabelRow] = {}
        header, rows = self._rows()
        names = [fold_header(name) for name in header]
        for number, cells in rows:
            row = dict(zip(names, map(str.strip, cells), strict=False))
            pair = self._pair(number, row)
            before = pairs.setdefault(pair.ends, pair)
            if before.label and pair.label and before.label != pair.label:
                raise self._wrong(
                    number,
                    f"this pair is {pair.label}, and {before.label} in a row above",
                    "Delete one of them",
                )
            if pair.label:
                pairs[pair.ends] = pair
        return list(pairs.values())

    def append(self, pairs: Sequence[LabelRow]) -> Sequence[str]:
        """Append rows without changing other rows or further columns; return what was unusual, one sentence each.

        Raises:
            InputError: the file can't be read.
            OutputError: the file can't be written; it stays unchanged.
        """
        # A person may have labelled more pairs since the last read.
        header, rows = self._rows()
        folded = [fold_header(name) for name in header]
        missing = [name for name in _HEADER if fold_header(name) not in folded]
        columns = [*header, *missing]
        kept = [list(cells) for _, cells in rows]
        cells_of = [dict(zip(map(fold_header, _HEADER), _cells(pair), strict=True)) for pair in pairs]
        new = [[cells.get(fold_header(name), "") for name in columns] for cells in cells_of]
        return write_rows(self.path, columns, [*kept, *new], self._write_whole)

    def _rows(self) -> tuple[Sequence[str], Iterator[tuple[int, Sequence[str]]]]:
        if not self.path.exists():
            return _HEADER, iter(())
        records = CsvRecords(self.path, f"files/{self.name}").stream()
        _, header = next(records)
        folded = [fold_header(name) for name in header]
        if missing := [name for name in _NEEDED if fold_header(name) not in folded]:
            raise InputError(
                f"files/{self.name}: the header row has no column '{missing[0]}'. Name a column "
                f"'{missing[0]}' in the first row, or move the file away and start again."
            )
        return header, records

    def _pair(self, number: int, row: dict[str, str]) -> LabelRow:
        return LabelRow(
            (self._end(number, row, "source"), self._end(number, row, "target")),
            row["source"],
            row["target"],
            source_title=row.get("source title", ""),
            target_title=row.get("target title", ""),
            strength=_strength(row),
            label=self._label(number, row.get("label", "")),
        )

    def _end(self, number: int, row: dict[str, str], name: str) -> str:
        try:
            return normal_form(row.get(name, ""))
        except ValueError as error:
            problem = f"{name.capitalize()}: {error}"
            raise self._wrong(number, problem, "Correct the cell, or delete the row") from None

    def _label(self, number: int, cell: str) -> Label | Literal[""]:
        if not cell:
            return ""
        for label in LABELS:
            if cell.casefold() == label:
                return label
        remedy = "Write good, borderline or bad, or leave the cell empty"
        raise self._wrong(number, f"the label is '{cell}'", remedy)

    def _wrong(self, number: int, problem: str, remedy: str) -> InputError:
        return InputError(f"files/{self.name}, row {number}: {problem}. {remedy}.")


def _cells(pair: LabelRow) -> list[str]:
    return [
        pair.label,
        pair.source,
        pair.target,
        pair.source_title,
        pair.target_title,
        "" if (score := score_of(pair.strength)) is None else str(score),
        pair.band,
        pair.section,
    ]


def _strength(row: Mapping[str, str]) -> float:
    """Return the strength of a row's score; earlier versions wrote the strength itself."""
    score = _number(row.get("score", ""))
    return _number(row.get("strength", "")) if isnan(score) else score / 100


def _number(cell: str) -> float:
    """Parse a number as spreadsheet programs save it, perhaps with a decimal comma; NaN if it isn't a number."""
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return nan
