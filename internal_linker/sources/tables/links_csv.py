"""Output.csv and links.csv: replaced as a whole, or merged into the rows of earlier runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.columns import FIGURES, LINKS_CSV, RunLink, output_columns
from internal_linker.model.errors import InputError
from internal_linker.model.ports import ViewOf
from internal_linker.model.records import Recommendation, fold_query
from internal_linker.model.results import Column
from internal_linker.sources.tables.csv_reader import CsvRecords
from internal_linker.sources.tables.csv_writer import Row, defuse, rows_of, write_rows
from internal_linker.store.files.atomic import ReplaceWhole, copy_aside, replace_whole

Identity = tuple[str, str]
Keeps = Callable[[str], bool] | None
Items = Callable[[Recommendation], Iterable[Any]]

_QUERY = "Main Query"


class _LinkCsv:
    """The base of both link files: replaced as a whole, or merged into the rows of earlier runs."""

    url_column: str
    # Without these, a file is no earlier result.
    required: tuple[str, ...]

    def __init__(
        self, path: Path, keeps: Keeps, write_whole: ReplaceWhole, hosts: CanonicalHosts | None
    ) -> None:
        self.path, self.name = path, path.name
        self._keeps, self._write_whole, self._hosts = keeps, write_whole, hosts or CanonicalHosts()

    def deliver(
        self, recommendations: Sequence[Recommendation], run_id: str, view_of: ViewOf | None = None
    ) -> Sequence[str]:
        """Write the file; return what was unusual, one sentence each.

        Raises:
            OutputError: the file can't be written; the earlier file stays as it was.
        """
        items = partial(self._items, run_id=run_id, view_of=view_of)
        if not self._keeps or not self.path.exists() or not self.path.stat().st_size:
            return self._replace(recommendations, items)
        try:
            return self._merge(recommendations, items, self._keeps)
        except InputError as error:
            copy = copy_aside(self.path)
            lost = f"{error} {self.name} now contains only this run's rows; its earlier content is in {copy.name}."
            return [lost, *self._replace(recommendations, items)]

    def _replace(self, recommendations: Sequence[Recommendation], items: Items) -> list[str]:
        columns = self._columns(recommendations, ())
        rows = rows_of(columns, chain.from_iterable(map(items, recommendations)))
        return write_rows(self.path, [column.header for column in columns], rows, self._write_whole)

    def _merge(
        self, recommendations: Sequence[Recommendation], items: Items, keeps: Callable[[str], bool]
    ) -> list[str]:
        name = f"files/{self.path.name}"
        source = CsvRecords(self.path, name)
        with closing(source.stream()) as records:
            _, earlier = next(records)
            if missing := {*self.required} - set(earlier):
                raise InputError(f"{name} is not an earlier result: it has no column '{min(missing)}'.")
            columns = self._columns(recommendations, earlier)
            header = [column.header for column in columns]
            places: dict[Identity, list[int]] = {}
            for place, item in enumerate(recommendations):
                places.setdefault(self._identity(self._url(item), item.source.query), []).append(place)
            remarks = list(source.remarks)
            if foreign := [column or "unnamed" for column in earlier if column not in header]:
                copy = copy_aside(self.path).name
                remarks.append(
                    f"{self.name} had other columns ({', '.join(foreign)}); they are now in {copy}."
                )
            named = (dict(zip(earlier, cells, strict=False)) for _, cells in records)

            def rows() -> Iterator[Row]:
                """Yield earlier rows unchanged, and our rows at their positions."""
                for part in self._merged(named, header, places, keeps):
                    if isinstance(part, int):
                        yield from rows_of(columns, items(recommendations[part]))
                    else:
                        yield part

            return remarks + write_rows(self.path, header, rows(), self._write_whole)

    def _merged(
        self,
        earlier: Iterable[Mapping[str, str]],
        header: Sequence[str],
        ours: Mapping[Identity, Iterable[int]],
        keeps: Callable[[str], bool],
    ) -> Iterator[Row | int]:
        """Merge rows: earlier ones that stay, in order, positions of our rows that replace others, new rows at the end.

        Args:
            earlier: rows of the file, cells by column.
            header: the columns of the rows that are yielded.
            ours: positions of our recommendations, by source page and query.
            keeps: see `OutputCsv`.
        """
        done: set[Identity] = set()
        for row in earlier:
            key = self._identity(row.get(self.url_column, ""), row.get(_QUERY, ""))
            if key not in ours and keeps(key[0]):
                yield [row.get(column, "") for column in header]
            elif key in ours and key not in done:
                done.add(key)
                yield from ours[key]
        yield from chain.from_iterable(places for key, places in ours.items() if key not in done)

    def _identity(self, url: str, query: str) -> Identity:
        """Return a value equal for two rows of the same source, in whatever form its host is written.

        The query is defused, since a file's rows went through `defuse`.
        """
        try:
            key = self._hosts.identity(self._hosts.key(url))
        except ValueError:
            key = ""
        return key, fold_query(defuse(query))

    def _url(self, item: Recommendation) -> str:
        """Return what the URL column has for an item."""
        return item.source.url

    def _columns(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> Sequence[Column]:
        """Return the columns of the file; `earlier` is the header that it has."""
        raise NotImplementedError

    def _items(self, item: Recommendation, run_id: str, view_of: ViewOf | None) -> Iterable[Any]:
        """Return what has a row of its own."""
        raise NotImplementedError


class OutputCsv(_LinkCsv):
    """Output.csv, one row per recommendation: URL as in the main queries, Main Query, Link 1 to N, Note.

    UTF-8 with a byte order mark, so that Excel shows every script; lines end in CR LF (RFC 4180), because
    only then does the csv module quote a lone CR within a cell.

    Args:
        links_per_page: the minimum number of columns for links.
        keeps: whether a page's rows of earlier runs stay, by its key, if this run did not compute them; None: none.
        write_whole: replaces a file.
        hosts: hosts that stand for others; None: there are none.
    """

    url_column, required = "URL", ("URL", _QUERY, "Link 1")

    def __init__(
        self,
        path: Path,
        links_per_page: int,
        keeps: Keeps,
        write_whole: ReplaceWhole = replace_whole,
        *,
        hosts: CanonicalHosts | None = None,
    ) -> None:
        super().__init__(path, keeps, write_whole, hosts)
        self._links_per_page = links_per_page

    def _columns(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> Sequence[Column]:
        # At least as many columns as earlier rows or our rows have links.
        numbers = [int(column[5:]) for column in earlier if re.fullmatch(r"Link [1-9][0-9]?", column)]
        return output_columns(
            max([self._links_per_page, *numbers, *(len(item.links) for item in recommendations)])
        )

    def _url(self, item: Recommendation) -> str:
        return item.source.row_url or item.source.url

    def _items(self, item: Recommendation, run_id: str, view_of: ViewOf | None) -> Iterable[Any]:
        return (item,)


class LinksCsv(_LinkCsv):
    """links.csv, one row per link of a page; `Score` is what people read, 0 to 100.

    The figures behind it have 4 decimal places and are empty for NaN.

    Args:
        model_name: the encoder's name for the column Model.
        keeps: as in `OutputCsv`.
        write_whole: replaces a file.
        figures: whether to write them; rows merged into a file that has them get them, too.
        hosts: as in `OutputCsv`.
    """

    # Without Why, Score was a figure of another scale.
    url_column, required = "Source", ("Source", _QUERY, "Target", "Why")

    def __init__(
        self,
        path: Path,
        model_name: str,
        keeps: Keeps,
        write_whole: ReplaceWhole = replace_whole,
        *,
        figures: bool = False,
        hosts: CanonicalHosts | None = None,
    ) -> None:
        super().__init__(path, keeps, write_whole, hosts)
        self._model_name, self._figures = model_name, figures

    def _columns(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> Sequence[Column]:
        has_figures = self._figures or {column.header for column in FIGURES} & {*earlier}
        return (*LINKS_CSV, *FIGURES) if has_figures else LINKS_CSV

    def _items(self, item: Recommendation, run_id: str, view_of: ViewOf | None) -> Iterable[Any]:
        source = item.source
        # No page can carry what is suggested for a query without one.
        for link in item.links if source.is_page else ():
            view = view_of(source, link) if view_of else None
            yield RunLink(source, link, view, self._model_name, run_id)
