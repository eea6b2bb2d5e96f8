"""links.csv and duplicates.csv of the last run -> their rows as records, for an audit."""

from collections.abc import Iterator
from math import nan
from pathlib import Path

from internal_linker.adapters.tables.csv_reader import CsvRecords
from internal_linker.analysis.audit.records import ProposedLink
from internal_linker.core.errors import InputError
from internal_linker.core.records import Duplicate


def read_links(path: Path) -> Iterator[ProposedLink]:
    """Yield the links of a links.csv; those of a query without a page have no source and are left out.

    Raises:
        InputError: the file can't be read, is none of ours, or a figure in it is no number.
    """
    for number, (source, target, score, run) in _cells(path, ("Source", "Target", "Score", "Run")):
        if source and target:
            yield ProposedLink(source, target, _figure(path, number, "Score", score), run)


def read_duplicates(path: Path) -> Iterator[Duplicate]:
    """Yield the pairs of a duplicates.csv.

    Raises:
        InputError: as `read_links`.
    """
    names = ("Page", "Canonical Candidate", "Similarity", "Lexical Score", "Shingle Overlap")
    for number, (page, canonical, *cells) in _cells(path, names):
        figures = (_figure(path, number, name, cell) for name, cell in zip(names[2:], cells, strict=True))
        yield Duplicate(page, canonical, *figures)


def _cells(path: Path, names: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Each row's number and its cells of these columns."""
    records = CsvRecords(path).stream()
    _, header = next(records)
    if missing := [name for name in names if name not in header]:
        raise InputError(
            f"{path} has no column '{missing[0]}': it is no result of a run. Start a run, or delete it."
        )
    places = [list(header).index(name) for name in names]
    for number, row in records:
        yield number, [row[at] if at < len(row) else "" for at in places]


def _figure(path: Path, number: int, name: str, cell: str) -> float:
    try:
        return float(cell) if cell else nan
    except ValueError:
        raise InputError(
            f"{path}, row {number}: {name} is '{cell}', no number. Start a run, or mend that row."
        ) from None
