"""Print what two readers' verdicts on a sample say, as Markdown.

    python -m tests.research.quality.reading.judge --key DIR/key.csv READER-1.csv READER-2.csv

A suggestion counts as publishable if both readers find its pair and, if it has one in the text, its anchor at least
acceptable.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from internal_linker.model.errors import InputError, InternalLinkerError
from internal_linker.sources.tables.csv_reader import CsvTable
from tests.research.quality.reading.sample import KEY

VERDICTS = ("good", "acceptable", "bad")
# Scores at which bins of strength begin, 0 to 100.
BINS = (0, 50, 65, 80, 90)
# 95% of a normal distribution lie within this number of standard deviations.
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Verdict:
    """One reader's verdict: `anchor` is "" where the suggestion has no anchor in the text."""

    pair: str
    anchor: str

    @property
    def is_publishable(self) -> bool:
        """Whether the reader would publish the suggestion as it is."""
        return "bad" not in (self.pair, self.anchor)


@dataclass(frozen=True, slots=True)
class Read:
    """A suggestion with both readers' verdicts.

    Attributes:
        site, tier: as in the key.
        strength: 0 to 1, NaN if unknown.
        in_text: whether it has an anchor in the text.
        verdicts: one of each reader.
    """

    site: str
    tier: str
    strength: float
    in_text: bool
    verdicts: tuple[Verdict, Verdict]

    @property
    def is_publishable(self) -> bool:
        """Whether both readers would publish it as it is."""
        return all(one.is_publishable for one in self.verdicts)

    @property
    def is_usable(self) -> bool:
        """Whether both readers find the pair at least acceptable."""
        return all(one.pair != "bad" for one in self.verdicts)

    @property
    def has_fitting_anchor(self) -> bool:
        """Whether both readers find the anchor at least acceptable."""
        return all(one.anchor != "bad" for one in self.verdicts)


def read(key: Path, sheets: tuple[Path, Path]) -> list[Read]:
    """Return all suggestions with their verdicts.

    Raises:
        InputError: a file can't be read, or a sheet lacks a suggestion, has one twice, an unknown one or another word
            than good, acceptable or bad.
    """
    known = {row["ID"]: row for _, row in _rows(key, KEY)}
    in_text = {name: row["In text"] == "yes" for name, row in known.items()}
    first, second = (_verdicts(sheet, in_text) for sheet in sheets)
    return [
        Read(
            row["Site"],
            row["Tier"],
            float(row["Strength"] or math.nan),
            in_text[name],
            (first[name], second[name]),
        )
        for name, row in known.items()
    ]


def _verdicts(sheet: Path, in_text: Mapping[str, bool]) -> dict[str, Verdict]:
    found: dict[str, Verdict] = {}
    for number, row in _rows(sheet, ("ID", "Pair", "Anchor")):
        name = row["ID"]
        where = f"{sheet}, row {number}"
        if name not in in_text:
            raise InputError(
                f"{where}: the ID {name!r} is not in the key. Use the sheet that was drawn with this key."
            )
        if name in found:
            raise InputError(f"{where}: {name} has a second row. Delete one of them.")
        pair = _verdict(row["Pair"], "Pair", where)
        found[name] = Verdict(pair, _verdict(row["Anchor"], "Anchor", where) if in_text[name] else "")
    if missing := [name for name in in_text if name not in found]:
        raise InputError(
            f"{sheet} lacks {len(missing)} suggestions, such as {missing[0]}. Restore their rows."
        )
    return found


def _verdict(cell: str, column: str, where: str) -> str:
    word = cell.strip().casefold()
    if word not in VERDICTS:
        said = f"{cell.strip()!r} is not a verdict" if word else "the verdict is missing"
        raise InputError(f"{where}: {said} in the column {column}. Write good, acceptable or bad.")
    return word


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the cells of each row, by the names of the columns."""
    table = CsvTable(path, str(path)).stream()
    if missing := [column for column in columns if column not in table.header]:
        raise InputError(f"{path} lacks the column {missing[0]}. Save the sheet with its header, as CSV.")
    for number, cells in table.rows:
        padded = [*cells, *[""] * (len(table.header) - len(cells))]
        yield number, {name: cell.strip() for name, cell in zip(table.header, padded, strict=False)}


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95% Wilson interval of a share, 0 to 1; NaN of nothing."""
    if not of:
        return math.nan, math.nan
    share, spread = count / of, _Z**2 / of
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Return Cohen's kappa of two readers' verdicts on the same things; NaN if both always say the same one word."""
    n = len(one)
    if not n:
        return math.nan
    agreed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    first, second = Counter(one), Counter(other)
    by_chance = sum(first[word] * second[word] for word in VERDICTS) / n**2
    return (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


def report(found: Sequence[Read]) -> Iterator[str]:
    """Yield the lines of three Markdown tables: shares, agreement of the readers, and calibration."""
    in_text = [one for one in found if one.in_text]
    yield "| share | of | value | 95% interval |"
    yield "| --- | --- | --- | --- |"
    yield _share("publishable unedited", "all suggestions", found, lambda one: one.is_publishable)
    inline = [one for one in found if one.tier == "inline"]
    yield _share("publishable unedited", "`inline` ones", inline, lambda one: one.is_publishable)
    yield _share("usable pair", "all suggestions", found, lambda one: one.is_usable)
    yield _share("fitting anchor", "anchors in the text", in_text, lambda one: one.has_fitting_anchor)
    for site in dict.fromkeys(one.site for one in found):
        some = [one for one in found if one.site == site]
        yield _share("publishable unedited", site, some, lambda one: one.is_publishable)
    yield ""
    yield "| readers on the | both say the same | Cohen's kappa | verdicts of reader 1 | of reader 2 |"
    yield "| --- | --- | --- | --- | --- |"
    pairs = [[one.verdicts[reader].pair for one in found] for reader in (0, 1)]
    yield _agreement("pair", *pairs)
    anchors = [[one.verdicts[reader].anchor for one in in_text] for reader in (0, 1)]
    yield _agreement("anchor", *anchors)
    yield ""
    yield "| score | suggestions | mean score | publishable unedited | 95% interval |"
    yield "| --- | --- | --- | --- | --- |"
    for low, high in zip(BINS, (*BINS[1:], 101), strict=True):
        some = [one for one in found if low <= 100 * one.strength < high]
        if some:
            mean = 100 * sum(one.strength for one in some) / len(some)
            count = sum(one.is_publishable for one in some)
            bounds = f"{low} to {min(high, 100)}"
            yield f"| {bounds} | {len(some)} | {mean:.0f} | {_percent(count, len(some))} |"


def _share(name: str, of: str, some: Sequence[Read], holds: Callable[[Read], bool]) -> str:
    return f"| {name} | {of} ({len(some)}) | {_percent(sum(map(holds, some)), len(some))} |"


def _percent(count: int, of: int) -> str:
    low, high = wilson(count, of)
    return f"{100 * count / of:.0f}% | {100 * low:.0f}% to {100 * high:.0f}%" if of else "- | -"


def _agreement(name: str, one: Sequence[str], other: Sequence[str]) -> str:
    same = sum(a == b for a, b in zip(one, other, strict=True))
    share = f"{100 * same / len(one):.0f}%" if one else "-"
    value = kappa(one, other)
    counts = (", ".join(f"{each.count(word)} {word}" for word in VERDICTS) for each in (one, other))
    return f"| {name} | {share} | {'-' if math.isnan(value) else f'{value:.2f}'} | {' | '.join(counts)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, print, and return an exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.research.quality.reading.judge", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--key", type=Path, required=True, help="the key.csv of the sample")
    parser.add_argument(
        "sheets", type=Path, nargs=2, metavar="SHEET", help="a filled reading.csv of each reader"
    )
    given = parser.parse_args(arguments)
    try:
        found = read(given.key, (given.sheets[0], given.sheets[1]))
    except InternalLinkerError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    print("\n".join(report(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
