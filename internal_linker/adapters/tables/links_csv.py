"""CSV files -> tables as they came; links -> Output.csv and links.csv, replaced whole or merged into the old ones."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from internal_linker.adapters.files.atomic import ReplaceWhole, copy_aside, replace_whole
from internal_linker.adapters.tables.csv_reader import CsvRecords
from internal_linker.adapters.tables.csv_writer import Row, decimal, defuse, write_rows
from internal_linker.core.edges import Anchor, Edge, edge_id
from internal_linker.core.errors import InputError
from internal_linker.core.records import Recommendation, fold_query
from internal_linker.core.sequences import batched
from internal_linker.core.urls import normal_form

Identity = tuple[str, str]
Keeps = Callable[[str], bool] | None

_QUERY = "Main Query"
# Recommendations whose edges are read at once: little memory, and still a question for a hundred links.
_ROWS = 25


class _LinkCsv:
    """What the two link files share: replaced whole, or merged into what earlier runs left."""

    link_column: str
    url_column: str

    def __init__(self, path: Path, keeps: Keeps, write_whole: ReplaceWhole) -> None:
        self.path, self.name = path, path.name
        self._keeps, self._write_whole = keeps, write_whole

    def deliver(self, recommendations: Sequence[Recommendation], run_id: str) -> Sequence[str]:
        """Write the file; the answer says in sentences what was unusual.

        Raises:
            OutputError: it can't be written; the earlier file is as it was.
        """
        if not self._keeps or not self.path.exists() or not self.path.stat().st_size:
            return self._replace(recommendations, run_id)
        try:
            return self._merge(recommendations, run_id, self._keeps)
        except InputError as error:
            copy = copy_aside(self.path)
            lost = f"{error} {self.name} now holds this run's rows only; what was in it is in {copy.name}."
            return [lost, *self._replace(recommendations, run_id)]

    def _replace(self, recommendations: Sequence[Recommendation], run_id: str) -> list[str]:
        header = self._header(recommendations, ())
        rows = self._all_rows(recommendations, recommendations, header, run_id)
        return write_rows(self.path, header, rows, self._write_whole)

    def _merge(
        self, recommendations: Sequence[Recommendation], run_id: str, keeps: Callable[[str], bool]
    ) -> list[str]:
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
            named = (dict(zip(earlier, cells, strict=False)) for _, cells in records)
            parts = _merged(named, header, self.url_column, places, keeps)
            rows = self._all_rows(parts, recommendations, header, run_id)
            return remarks + write_rows(self.path, header, rows, self._write_whole)

    def _all_rows(
        self,
        parts: Iterable[Row | int | Recommendation],
        recommendations: Sequence[Recommendation],
        header: Sequence[str],
        run_id: str,
    ) -> Iterator[Row]:
        """Earlier rows as they are, and those of our recommendations, or of their places."""
        for some in batched(parts, _ROWS):
            ours = [recommendations[part] if isinstance(part, int) else part for part in some]
            edges = self._edges([part for part in ours if isinstance(part, Recommendation)])
            for part in ours:
                if isinstance(part, Recommendation):
                    yield from self._rows(part, header, run_id, edges)
                else:
                    yield part

    def _header(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> list[str]:
        raise NotImplementedError

    def _edges(self, items: Sequence[Recommendation]) -> Mapping[str, Edge]:
        """What is remembered of these links, by id."""
        return {}

    def _rows(
        self, item: Recommendation, header: Sequence[str], run_id: str, edges: Mapping[str, Edge]
    ) -> Iterable[Row]:
        raise NotImplementedError


class OutputCsv(_LinkCsv):
    """Output.csv, one row a recommendation: URL, Main Query, Link 1 to N, Note.

    UTF-8 with a byte order mark, so that Excel shows every script; lines end in CR LF (RFC 4180), because
    only then does the csv module quote a lone CR within a cell.

    Args:
        path: the file.
        links_per_page: columns for links, at the least.
        keeps: which pages' rows of earlier runs stay, by the normal form, if this run did not compute them; None: none.
        write_whole: replaces a file.
    """

    url_column, link_column = "URL", "Link 1"

    def __init__(
        self, path: Path, links_per_page: int, keeps: Keeps, write_whole: ReplaceWhole = replace_whole
    ) -> None:
        super().__init__(path, keeps, write_whole)
        self._links_per_page = links_per_page

    def _header(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> list[str]:
        # Never fewer columns than there are links in earlier rows or in ours.
        numbers = [int(column[5:]) for column in earlier if re.fullmatch(r"Link [1-9][0-9]?", column)]
        width = max([self._links_per_page, *numbers, *(len(item.links) for item in recommendations)])
        return [self.url_column, _QUERY, *(f"Link {number}" for number in range(1, width + 1)), "Note"]

    def _rows(
        self, item: Recommendation, header: Sequence[str], run_id: str, edges: Mapping[str, Edge]
    ) -> Iterable[Row]:
        urls = [link.target.url for link in item.links]
        gap = [""] * (len(header) - 3 - len(urls))
        yield [item.source.url, item.source.query, *urls, *gap, item.note]


class LinksCsv(_LinkCsv):
    """links.csv, one row a link with every signal behind it: 4 decimals, empty where there is none.

    Args:
        path: the file.
        model_name: what made the vectors, as the Model column shows it.
        keeps: as in `OutputCsv`.
        edges: what is remembered of links, by their ids.
        write_whole: replaces a file.
    """

    url_column, link_column = "Source", "Target"

    def __init__(
        self,
        path: Path,
        model_name: str,
        keeps: Keeps,
        edges: Callable[[Iterable[str]], Mapping[str, Edge]] = lambda _: {},
        write_whole: ReplaceWhole = replace_whole,
    ) -> None:
        super().__init__(path, keeps, write_whole)
        self._model_name, self._edges_of = model_name, edges

    def _header(self, recommendations: Sequence[Recommendation], earlier: Sequence[str]) -> list[str]:
        names = "Source,Target,Rank,Origin,Score,Serp Rank,Similarity,Lexical Score,Probability,Model,Run,Main Query"
        return [*names.split(","), *"Strength,Tier,Type,Status,Anchor,Sentence,Link Id".split(",")]

    def _edges(self, items: Sequence[Recommendation]) -> Mapping[str, Edge]:
        return self._edges_of(_ids(items))

    def _rows(
        self, item: Recommendation, header: Sequence[str], run_id: str, edges: Mapping[str, Edge]
    ) -> Iterable[Row]:
        for link in item.links:
            target = link.target
            signals = [decimal(target.score), target.serp_rank or "", decimal(target.similarity)]
            yield [
                *(item.source.url, target.url, link.rank, link.origin, *signals, decimal(target.lexical)),
                *(decimal(target.probability), self._model_name, run_id, item.source.query),
                *_remembered(edges.get(edge_id(item.source.end, target.key))),
            ]


def _ids(items: Iterable[Recommendation]) -> list[str]:
    return [edge_id(item.source.end, link.target.key) for item in items for link in item.links]


def _remembered(edge: Edge | None) -> Row:
    if edge is None:
        return [""] * 7
    best = edge.anchors[0] if edge.anchors else Anchor("")
    anchor = edge.anchor or best.text
    return [decimal(edge.strength), edge.tier, edge.kind, edge.status, anchor, best.sentence, edge.id]


def _merged(
    earlier: Iterable[Mapping[str, str]],
    header: Sequence[str],
    url_column: str,
    ours: Mapping[Identity, Iterable[int]],
    keeps: Callable[[str], bool],
) -> Iterator[Row | int]:
    """Yield earlier rows that stay, in their order; our places for those that they replace; new ones at the end.

    Args:
        earlier: rows of the file, each cell by its column.
        header: the columns of the rows that are yielded.
        url_column: holds the page that a row is of.
        ours: the places of our recommendations, by what they ask for.
        keeps: see `OutputCsv`.
    """
    done: set[Identity] = set()
    for row in earlier:
        key = _identity(row.get(url_column, ""), row.get(_QUERY, ""))
        if key not in ours and keeps(key[0]):
            yield [row.get(column, "") for column in header]
        elif key in ours and key not in done:
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
