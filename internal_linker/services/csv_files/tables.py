"""CSV files -> tables as they came; links -> Output.csv and links.csv, replaced whole or merged into the old ones."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from internal_linker.errors import InputError
from internal_linker.records import Recommendation, TableStream, fold_query
from internal_linker.services.csv_files.records import CsvRecords
from internal_linker.services.csv_files.writing import Row, decimal, defuse, write_rows
from internal_linker.urls import normal_form
from internal_linker.whole_files import ReplaceWhole, copy_aside, replace_whole

Identity = tuple[str, str]

_QUERY = "Main Query"


class CsvTable:
    """A CSV file as a StreamSource; rows are numbered as a spreadsheet program shows them.

    Args:
        path: the file.
        name: what rejects call the table; the file's name if not given.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path, self.name = path, name or path.name
        self.remarks: tuple[str, ...] = ()
        """Once the stream is open: what was replaced or left out of the file, one sentence each."""

    def stream(self) -> TableStream:
        """The header and, while they are gone through, the rows, which may be shorter or longer than it.

        Raises:
            InputError: the file is missing, unreadable, empty or no CSV; at a damaged row, going through them
                raises it.
        """
        source = CsvRecords(self.path)
        records = source.stream()
        _, header = next(records)
        self.remarks = source.remarks
        return TableStream(self.name, tuple(header), records)


class _LinkCsv:
    """What the two link files share: replaced whole, or merged into what earlier runs left."""

    link_column: str
    url_column: str

    def __init__(self, path: Path, keep_others: bool, write_whole: ReplaceWhole) -> None:
        self.path, self.name = path, path.name
        self._keep_others, self._write_whole = keep_others, write_whole

    def deliver(self, recommendations: Sequence[Recommendation], run_id: str) -> Sequence[str]:
        """Write the file; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        if not self._keep_others or not self.path.exists() or not self.path.stat().st_size:
            return self._replace(recommendations, run_id)
        try:
            return self._merge(recommendations, run_id)
        except InputError as error:
            copy = copy_aside(self.path)
            lost = f"{error} {self.name} now holds this run's rows only; what was in it is in {copy.name}."
            return [lost, *self._replace(recommendations, run_id)]

    def _replace(self, recommendations: Sequence[Recommendation], run_id: str) -> list[str]:
        header = self._header(recommendations, ())
        rows = chain.from_iterable(self._rows(item, header, run_id) for item in recommendations)
        return write_rows(self.path, header, rows, self._write_whole)

    def _merge(self, recommendations: Sequence[Recommendation], run_id: str) -> list[str]:
        source = CsvRecords(self.path)
        with closing(source.stream()) as records:
            _, earlier = next(records)
            if missing := {self.url_column, _QUERY, self.link_column} - set(earlier):
                raise InputError(f"{self.path} is no earlier result: it has no column '{min(missing)}'.")
            header = self._header(recommendations, earlier)
            places: dict[Identity, list[int]] = {}
            for place, item in enumerate(recommendations):
                places.setdefault(_identity(item.source.url, item.source.query), []).append(place)
            remarks = list(source.remarks)
            if foreign := [column or "unnamed" for column in earlier if column not in header]:
                copy = copy_aside(self.path).name
                remarks.append(
                    f"{self.name} had other columns ({', '.join(foreign)}); they are in {copy} now."
                )
            kept = ((cells for _, cells in records), earlier, header, self.url_column)
            rows = chain.from_iterable(
                self._rows(recommendations[part], header, run_id) if isinstance(part, int) else [part]
                for part in _merged(*kept, places)
            )
            return remarks + write_rows(self.path, header, rows, self._write_whole)

    def _header(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> list[str]:
        raise NotImplementedError

    def _rows(self, item: Recommendation, header: Sequence[str], run_id: str) -> Iterable[Row]:
        raise NotImplementedError


class OutputCsv(_LinkCsv):
    """Output.csv, one row a recommendation: URL, Main Query, Link 1 to N, Note.

    UTF-8 with a byte order mark, so that Excel shows every script; lines end in CR LF (RFC 4180), because
    only then does the csv module quote a lone CR within a cell.

    Args:
        path: the file.
        links_per_page: columns for links, at the least.
        keep_others: whether rows of earlier runs stay that this run did not compute.
        write_whole: replaces a file.
    """

    url_column, link_column = "URL", "Link 1"

    def __init__(
        self, path: Path, links_per_page: int, keep_others: bool, write_whole: ReplaceWhole = replace_whole
    ) -> None:
        super().__init__(path, keep_others, write_whole)
        self._links_per_page = links_per_page

    def _header(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> list[str]:
        # Never fewer columns than there are links in earlier rows or in ours.
        numbers = [int(column[5:]) for column in earlier if re.fullmatch(r"Link [1-9][0-9]?", column)]
        width = max([self._links_per_page, *numbers, *(len(item.links) for item in recommendations)])
        return [self.url_column, _QUERY, *(f"Link {number}" for number in range(1, width + 1)), "Note"]

    def _rows(self, item: Recommendation, header: Sequence[str], run_id: str) -> Iterable[Row]:
        urls = [link.target.url for link in item.links]
        gap = [""] * (len(header) - 3 - len(urls))
        yield [item.source.url, item.source.query, *urls, *gap, item.note]


class LinksCsv(_LinkCsv):
    """links.csv, one row a link with every signal behind it: 4 decimals, empty where there is none.

    Args:
        path: the file.
        model_name: what made the vectors, as the Model column shows it.
        keep_others: whether rows of earlier runs stay whose source this run did not compute.
        write_whole: replaces a file.
    """

    url_column, link_column = "Source", "Target"

    def __init__(
        self, path: Path, model_name: str, keep_others: bool, write_whole: ReplaceWhole = replace_whole
    ) -> None:
        super().__init__(path, keep_others, write_whole)
        self._model_name = model_name

    def _header(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> list[str]:
        names = "Source,Target,Rank,Origin,Score,Serp Rank,Similarity,Lexical Score,Probability,Model,Run,Main Query"
        return names.split(",")

    def _rows(self, item: Recommendation, header: Sequence[str], run_id: str) -> Iterable[Row]:
        for link in item.links:
            target = link.target
            signals = [decimal(target.score), target.serp_rank or "", decimal(target.similarity)]
            yield [
                *(item.source.url, target.url, link.rank, link.origin, *signals, decimal(target.lexical)),
                *(decimal(target.probability), self._model_name, run_id, item.source.query),
            ]


def _merged(
    records: Iterable[Sequence[str]],
    earlier: Sequence[str],
    header: Sequence[str],
    url_column: str,
    ours: Mapping[Identity, Iterable[int]],
) -> Iterator[Row | int]:
    """Earlier rows in their order, our places instead of those that they replace, new ones at the end."""
    done: set[Identity] = set()
    for cells in records:
        row = dict(zip(earlier, cells, strict=False))
        key = _identity(row.get(url_column, ""), row.get(_QUERY, ""))
        if key not in ours:
            yield [row.get(column, "") for column in header]
        elif key not in done:
            done.add(key)
            yield from ours[key]
    yield from chain.from_iterable(places for key, places in ours.items() if key not in done)


def _identity(url: str, query: str) -> Identity:
    """Equal for two rows that ask for the same links; as written, for a file's rows went through `defuse`."""
    try:
        key = normal_form(url)
    except ValueError:
        key = ""
    return key, fold_query(defuse(query))
