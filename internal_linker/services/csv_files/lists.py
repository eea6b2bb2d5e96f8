"""Rejected rows, excluded targets, added links, vectors -> one CSV file each, replaced whole by what writes it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from internal_linker.records import AddedLink, ExcludedTarget, Reject, Vectors
from internal_linker.services.csv_files.whole_files import ReplaceWhole, replace_whole
from internal_linker.services.csv_files.writing import Row, write_rows

# Digits that bring a float16 and a float32 back exactly, by bytes a number; a float64 takes 17.
_DIGITS = {2: 5, 4: 9}


class RejectedCsv:
    """rejected_rows.csv as a RejectSink: Table, Row, URL, Reason; the header alone if all were used."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, rejects: Sequence[Reject]) -> Sequence[str]:
        """Replace the list of the last run; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        rows: Iterator[Row] = ((item.table, item.row, item.url, item.reason) for item in rejects)
        return write_rows(self.path, ("Table", "Row", "URL", "Reason"), rows, self._write_whole)


class ExcludedCsv:
    """excluded_targets.csv as an ExclusionSink: Source (empty where it holds for every page), Target, Reason."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self.name, self._write_whole = path, path.name, write_whole

    def write(self, excluded: Iterable[ExcludedTarget]) -> Sequence[str]:
        """Replace the list of the last run, taking one row at a time; the answer says what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        rows: Iterator[Row] = ((item.source, item.target, item.reason) for item in excluded)
        return write_rows(self.path, ("Source", "Target", "Reason"), rows, self._write_whole)


class BacktestCsv:
    """backtest.csv: Source, Target, Anchor, and the target's Place, empty where it was not among the candidates."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, links: Iterable[AddedLink]) -> Sequence[str]:
        """Replace the file; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        rows: Iterator[Row] = ((link.source, link.target, link.anchor, link.place or "") for link in links)
        return write_rows(self.path, ("Source", "Target", "Anchor", "Place"), rows, self._write_whole)


class VectorsCsv:
    """vectorized_urls.csv: URL and Embedding, a JSON list of numbers that gives the vector back exactly."""

    def __init__(self, path: Path, write_whole: ReplaceWhole = replace_whole) -> None:
        self.path, self._write_whole = path, write_whole

    def write(self, rows: Iterable[tuple[str, Vectors]]) -> Sequence[str]:
        """Replace the file, taking one vector (d,) at a time; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        lines = ((url, _json_list(vector)) for url, vector in rows)
        return write_rows(self.path, ("URL", "Embedding"), lines, self._write_whole)


def _json_list(vector: Vectors) -> str:
    digits = _DIGITS.get(vector.itemsize, 17)
    return "[" + ", ".join([f"{number:.{digits}g}" for number in vector.tolist()]) + "]"
