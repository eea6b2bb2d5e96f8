"""Rows of exported tables as frames of search data; a row that can't be used is set aside with the reason."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.canonical_hosts import bare_host, origin_of
from internal_linker.model.errors import InputError
from internal_linker.model.records import Reject, TableStream
from internal_linker.model.search_data import RowProblem, SearchTable
from internal_linker.model.sequences import counted
from internal_linker.model.urls import encoded, within_site
from internal_linker.sources.search.tables import ExportTable, Period
from internal_linker.sources.search.vocabulary import (
    Figure,
    Unclear,
    days_of,
    decimal_number,
    figures_in,
    has_unknown,
    is_searched,
    is_total,
    only,
    whole_number,
    zones_of,
)
from internal_linker.sources.tables.columns import Kind, find_column, lacks
from internal_linker.sources.tables.csv_reader import Texts

if TYPE_CHECKING:
    from pandas import DataFrame

# Rejected rows that are listed; all are counted.
MOST_REJECTS = 100_000
OTHER_ORIGINS = "pages under http and https, or with and without www, which count as one"
"""What is said of `under_other_origins`."""
_OTHER_SITE = "is another site than"
# Words of Google Analytics in place of a page.
_NO_PAGE = re.compile(r"\(.{1,60}\)|")
# A row of totals may differ by what Google rounds or hides without anybody having to look.
_CLOSE = 0.01
_MEASURES = {
    **dict.fromkeys((SearchTable.QUERIES, SearchTable.PAGES, SearchTable.TOTALS), ("clicks", "impressions")),
    SearchTable.SESSIONS: ("sessions", "engaged_sessions", "key_events"),
}
_FIGURES = {
    "clicks": Figure.CLICKS,
    "impressions": Figure.IMPRESSIONS,
    "sessions": Figure.SESSIONS,
    "engaged_sessions": Figure.ENGAGED,
    "key_events": Figure.KEY_EVENTS,
}
Codes = NDArray[np.int32]
Numbers = NDArray[np.float64]


class NumberedTexts(dict[str, int]):
    """Texts with numbers from 0, in the order in which they were first asked for."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code

    def number(self, text: str) -> int:
        """Return the number of a text without the spaces around it."""
        return self[text.strip()]


@dataclass
class Noted:
    """What was unusual about exported tables."""

    rejects: list[Reject] = field(default_factory=list)  # rows that can't be used, the first of them
    reasons: Counter[str] = field(default_factory=Counter)  # how many rows can't be used, by the reason
    # How many rows were left out on purpose, by the reason
    left_out: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)  # other counts, by name
    remarks: list[str] = field(default_factory=list)  # what a person should know, one sentence each


@dataclass(frozen=True, slots=True)
class Place:
    """The site whose pages count."""

    site: str  # its host, without www.; "": any host counts, and there is none for paths
    origin: str  # the scheme and host that paths such as /about belong to
    key: Callable[[str], str]  # returns the key of a URL; raises ValueError with the reason if it has none

    def page(self, text: str) -> tuple[str, str]:
        """Return the key of a page, or why it has none."""
        url = encoded(text)
        if url.startswith("/") and self.origin:
            url = self.origin + url
        try:
            key = self.key(url)
        except ValueError as error:
            return "", str(error)
        if self.site and not within_site(key, self.site):
            host = key.partition("://")[2].partition("/")[0]
            return "", f"{host} {_OTHER_SITE} {self.site}: export this site's property"
        return key, ""


@dataclass
class _Raw:
    """The cells of a table's columns: texts as codes, and numbers."""

    row: list[Codes] = field(default_factory=list)
    texts: dict[Figure, list[Codes]] = field(default_factory=dict)
    numbers: dict[Figure, list[Numbers]] = field(default_factory=dict)
    totals: list[tuple[int, Sequence[str]]] = field(default_factory=list)


def kind_of(figures: Mapping[Figure, Any]) -> SearchTable | None:
    """Return what the rows of a table with these columns are; None for rows that no page or day goes with."""
    if Figure.PAGE in figures:
        if not is_searched(figures):
            return SearchTable.SESSIONS
        return SearchTable.QUERIES if Figure.QUERY in figures else SearchTable.PAGES
    if Figure.DATE in figures and Figure.QUERY not in figures and Figure.PART not in figures:
        return SearchTable.TOTALS
    return None


def require_figures(stream: TableStream, kind: SearchTable, figures: Mapping[Figure, Any]) -> None:
    """Check that a table has the columns that its kind of rows needs.

    Raises:
        InputError: it lacks one, which the message names.
    """
    needed = [Figure.SESSIONS] if kind is SearchTable.SESSIONS else [Figure.CLICKS, Figure.IMPRESSIONS]
    if kind is not SearchTable.SESSIONS and Figure.SUM_POSITION not in figures:
        needed.append(Figure.POSITION)
    for figure in needed:
        if figure not in figures:
            raise InputError(lacks_figure(stream, figure))


def lacks_figure(stream: TableStream, figure: Figure) -> str:
    """Return the message that a table lacks the column of a figure, with what to do."""
    name = figure.value.capitalize()
    remedy = f"Name a column '{name}' in the first row, or export the table again."
    if (at := find_column(stream.header, Kind.URL)) is not None:
        remedy += f' To import only its pages, add --url-column "{stream.header[at]}".'
    return lacks(stream, name, remedy)


class FrameReader:
    """Reads tables; texts of all tables have one numbering."""

    def __init__(self, place: Place, noted: Noted, advance: Callable[[int], None]) -> None:
        self._place, self._noted, self._advance = place, noted, advance
        self.pages, self.queries = NumberedTexts(), NumberedTexts()
        self.keys: list[str] = []
        """The key of each page text; "" if it is none."""
        self._why: list[str] = []

    def read(self, table: ExportTable, kind: SearchTable, period: Period | None) -> "DataFrame":
        """Return the sound rows of a table: date, written and query (codes), and the measures.

        Without a period, the table has a column of days.

        Raises:
            InputError: a column is missing, or its days can be read in two ways.
        """
        import pandas as pd

        name, figures = table.stream.name, figures_in(table.stream.header)
        at = only(figures)
        if kind is SearchTable.SESSIONS:
            for figure in (Figure.ENGAGED, Figure.KEY_EVENTS):
                if figure not in at:
                    self._noted.remarks.append(f"{name}: there is no column of {figure}; they count as 0.")
        days = NumberedTexts()
        raw = self._cells(table, at, figures.get(Figure.PART, ()), days)
        rows = np.concatenate([np.empty(0, np.int32), *raw.row])
        # Each column is in memory twice only while it is joined.
        codes = {figure: np.concatenate(raw.texts.pop(figure)) for figure in [*raw.texts]}
        numbers = {figure: np.concatenate(raw.numbers.pop(figure)) for figure in [*raw.numbers]}
        columns: dict[str, Any] = {"row": rows}
        columns["date"] = (
            np.full(len(rows), np.datetime64(period[1], "s"))
            if period
            else self._days(name, days)[codes[Figure.DATE]]
        )
        columns |= {"written": codes[Figure.PAGE]} if Figure.PAGE in codes else {}
        columns |= {"query": codes[Figure.QUERY]} if kind is SearchTable.QUERIES else {}
        columns |= {
            measure: numbers.get(_FIGURES[measure], np.zeros(len(rows))) for measure in _MEASURES[kind]
        }
        if kind is not SearchTable.SESSIONS:
            columns["position"] = _positions(numbers)
        frame = pd.DataFrame(columns, copy=False)
        self._compare_totals(name, at, frame, raw.totals)
        frame = self._sound(name, frame, kind)
        if Figure.PART in figures:
            return added_up(frame.drop(columns="row"), _labels(frame))
        return self._without_repeats(table.stream, frame, at)

    def _cells(
        self, table: ExportTable, at: Mapping[Figure, int], parts: Sequence[int], days: NumberedTexts
    ) -> _Raw:
        raw = _Raw()
        known = {Figure.DATE: days, Figure.PAGE: self.pages, Figure.QUERY: self.queries}
        longer, first = 0, 0
        for block in table.blocks():
            of_totals = _of_totals(block.columns, at, parts)
            beyond = block.numbers[block.beyond & ~of_totals]
            longer, first = longer + len(beyond), first or int(beyond[:1].sum())
            for row in np.flatnonzero(of_totals):
                raw.totals.append((int(block.numbers[row]), [column[row] for column in block.columns]))
            kept = ~of_totals if of_totals.any() else slice(None)
            raw.row.append(block.numbers[kept].astype(np.int32))
            for figure, column in ((figure, block.columns[at[figure]][kept]) for figure in at):
                if figure in known:
                    codes = _by_text(column, known[figure].number, np.int32)
                    raw.texts.setdefault(figure, []).append(codes)
                elif figure in _FIGURES.values():
                    raw.numbers.setdefault(figure, []).append(_by_text(column, whole_number, np.float64))
                elif figure in (Figure.POSITION, Figure.SUM_POSITION):
                    raw.numbers.setdefault(figure, []).append(_decimals(column))
            self._advance(len(of_totals))
        if longer:
            self._noted.facts["rows with cells beyond the header's columns"] += longer
            self._noted.remarks.append(
                f"{table.stream.name}: {counted(longer, 'row has', 'rows have')} cells beyond the header's columns, "
                f"row {first} is the first. These cells are left out. Look whether the others are in the right "
                "columns: a query with a comma needs quotation marks."
            )
        return raw

    def _days(self, name: str, known: NumberedTexts) -> NDArray[np.datetime64]:
        try:
            days = days_of(known)
        except Unclear as unclear:
            raise InputError(
                f"{name}: days such as {unclear} can be read in two ways. Write them as 2026-11-01."
            ) from None
        if len(zones := zones_of(known)) > 1:
            self._noted.remarks.append(
                f"{name}: its days are of several time zones ({', '.join(sorted(zones))}), so some rows may count for "
                "the day before or after. Export it again with one time zone."
            )
        return np.array([day or "NaT" for day in days.values()], "datetime64[s]")

    def _sound(self, name: str, frame: "DataFrame", kind: SearchTable) -> "DataFrame":
        kept = np.ones(len(frame), np.bool_)

        def reject(rows: NDArray[np.bool_], reason: str) -> None:
            nonlocal kept
            self._reject(name, frame, kept & rows, reason)
            kept &= ~rows

        def leave_out(rows: NDArray[np.bool_], reason: str) -> None:
            nonlocal kept
            self._noted.left_out[reason] += int((kept & rows).sum())
            kept &= ~rows

        if "written" in frame:
            codes = frame["written"].to_numpy()
            self._learn_pages()
            no_page = np.array([bool(_NO_PAGE.fullmatch(text)) for text in self.pages], np.bool_)
            leave_out(no_page[codes], "without a page, such as (not set) or (other)")
            whys = np.array([*NumberedTexts(dict.fromkeys(self._why, 0))], object)
            of_text = np.array(self._why, object)
            for why in filter(None, whys):
                reject((of_text == why)[codes], why)
            self._refuse_other_property(name, of_text[codes][~no_page[codes]])
        if "query" in frame:
            blank = np.array([not text for text in self.queries], np.bool_)
            leave_out(blank[frame["query"].to_numpy()], "with an anonymised query")
        reject(np.isnat(frame["date"].to_numpy()), "its day can't be read: write it as 2026-11-01")
        measures = frame[[*_MEASURES[kind]]].to_numpy()
        reject(
            np.isnan(measures).any(axis=1), f"a row {RowProblem.NUMBER.value}: correct it or export it again"
        )
        if kind is not SearchTable.SESSIONS:
            clicks, impressions, position = (
                frame[name].to_numpy() for name in ("clicks", "impressions", "position")
            )
            leave_out((impressions == 0) & (clicks == 0), RowProblem.UNSEEN.value)
            reject(clicks > impressions, f"a row {RowProblem.CLICKS.value}: columns may be exchanged")
            # NaN is not below 1.
            reject(
                ~(np.isfinite(position) & (position >= 1)),
                f"a row {RowProblem.POSITION.value}: positions count from 1",
            )
        return frame if kept.all() else frame[kept]

    def _refuse_other_property(self, name: str, whys: NDArray[Any]) -> None:
        """Refuse a table whose pages are all of other sites: the tables beside it are of their property, too."""
        if len(whys) and all(_OTHER_SITE in why for why in set(whys.tolist())):
            raise InputError(
                f"{name}: none of its pages is of {self._place.site} ({whys[0]}). If the project is right, and the "
                "site has several hosts, see map_hosts in config/settings.toml. Nothing was stored."
            )

    def _learn_pages(self) -> None:
        for text in [*self.pages][len(self.keys) :]:
            key, why = self._place.page(text)
            self.keys.append(key)
            self._why.append("" if _NO_PAGE.fullmatch(text) else why)

    def _reject(self, name: str, frame: "DataFrame", rows: NDArray[np.bool_], reason: str) -> None:
        count = int(rows.sum())
        if not count:
            return
        self._noted.reasons[reason] += count
        listed = frame[rows].head(MOST_REJECTS - len(self._noted.rejects))
        pages = [*self.pages] if "written" in frame else []
        for number, code in zip(
            listed["row"], listed["written"] if pages else [0] * len(listed), strict=True
        ):
            self._noted.rejects.append(Reject(name, int(number), pages[code] if pages else "", reason))

    def _without_repeats(
        self, stream: TableStream, frame: "DataFrame", at: Mapping[Figure, int]
    ) -> "DataFrame":
        repeated = frame.duplicated(_labels(frame)).to_numpy()
        missing = [figure for figure in (Figure.DATE, Figure.PAGE, Figure.QUERY) if figure not in at]
        if missing and repeated.any() and "clicks" in frame and has_unknown(stream.header):
            raise InputError(
                f"{lacks_figure(stream, missing[0])} Without it, {counted(int(repeated.sum()), 'row')} would count "
                "as a repetition of an earlier row. Nothing was stored."
            )
        self._reject(
            stream.name,
            frame,
            repeated,
            "the same day, page and query as an earlier row, which counts: remove one of them",
        )
        return (frame[~repeated] if repeated.any() else frame).drop(columns="row")

    def _compare_totals(
        self,
        name: str,
        at: Mapping[Figure, int],
        frame: "DataFrame",
        totals: Sequence[tuple[int, Sequence[str]]],
    ) -> None:
        for number, row in totals:
            self._noted.left_out["of totals"] += 1
            for measure in ("clicks", "impressions", "sessions"):
                figure = _FIGURES[measure]
                if measure not in frame or figure not in at or at[figure] >= len(row):
                    continue
                said, summed = whole_number(row[at[figure]]), float(np.nansum(frame[measure]))
                if abs(said - summed) > _CLOSE * max(said, summed):
                    why = (
                        "Google Analytics hides rows of few users and cuts long tables: export all rows."
                        if measure == "sessions"
                        else "Rows may be missing: export all of them."
                    )
                    self._noted.remarks.append(
                        f"{name}, row {number}: this row of totals says {said:,.0f} {measure}, but the rows add up to "
                        f"{summed:,.0f}. {why}"
                    )


def _labels(frame: "DataFrame") -> list[str]:
    return [label for label in ("date", "written", "query") if label in frame]


def added_up(frame: "DataFrame", labels: Sequence[str]) -> "DataFrame":
    """Sum the measures of rows with the same labels; positions are weighted by impressions."""
    repeated = frame.duplicated([*labels])
    if not repeated.any():
        return frame
    # Few rows share their labels, and sums of all of them would take several times as long.
    shared = frame.duplicated([*labels], keep=False)
    parts = frame[shared]
    if "position" in frame:
        parts = parts.assign(position=parts["position"] * parts["impressions"])
    summed = parts.groupby([*labels], as_index=False, sort=False, observed=True).sum()
    if "position" in summed:
        summed["position"] /= summed["impressions"]
    once = frame[~repeated].reset_index(drop=True)
    first = np.flatnonzero(shared[~repeated])
    for measure in once.columns.difference([*labels]):
        once.loc[first, measure] = summed[measure].to_numpy()
    return once


def under_other_origins(pages: Iterable[str]) -> int:
    """Return how many pages are under another scheme or www. than most pages of their host."""
    origins = Counter(map(origin_of, pages))
    most = {bare_host(origin): origin for origin, _ in reversed(origins.most_common())}
    return sum(count for origin, count in origins.items() if most[bare_host(origin)] != origin)


def missing_days(days: Sequence[date]) -> list[date]:
    """Return the days between the first and the last that are not among these."""
    if not days:
        return []
    first, there = min(days), set(days)
    every = (date.fromordinal(number) for number in range(first.toordinal(), max(days).toordinal()))
    return [day for day in every if day not in there]


def _of_totals(columns: Sequence[Texts], at: Mapping[Figure, int], parts: Sequence[int]) -> NDArray[np.bool_]:
    """Return which rows are totals: their page or day says so, or, without either, their only text or its end.

    Google Analytics leaves the page empty and writes "Grand total" beyond the header's columns; other tools write it
    into a column of texts. A row with a day and without a page is none, even if its query is "total".
    """
    found = np.zeros(len(columns[0]), np.bool_)
    labels = [at[figure] for figure in (Figure.DATE, Figure.PAGE) if figure in at]
    for label in labels:
        found |= _are_totals(columns[label])
    bare = np.logical_and.reduce([columns[label] == "" for label in labels])
    if not bare.any():
        return found
    others = [*([at[Figure.QUERY]] if Figure.QUERY in at else []), *parts, -1]
    texts = np.stack([columns[other][bare] for other in others])
    found[bare] = ((texts != "").sum(axis=0) == 1) & np.any([_are_totals(line) for line in texts], axis=0)
    return found


def _are_totals(cells: Texts) -> NDArray[np.bool_]:
    # Most pages begin with "http" or "/" and need no closer look.
    return _by_text(cells, lambda text: text[:1] not in "h/" and is_total(text), np.bool_)


def _by_text(cells: Texts, function: Callable[[str], Any], dtype: Any) -> NDArray[Any]:
    import pandas as pd

    codes, texts = pd.factorize(cells)
    found: NDArray[Any] = np.array([function(text) for text in texts], dtype)[codes]
    return found


def _decimals(cells: Texts) -> Numbers:
    try:
        numbers: Numbers = cells.astype(np.float64)
    except ValueError:
        return _by_text(cells, decimal_number, np.float64)
    return numbers


def _positions(numbers: Mapping[Figure, Numbers]) -> Numbers:
    if Figure.POSITION in numbers:
        return numbers[Figure.POSITION]
    with np.errstate(divide="ignore", invalid="ignore"):
        positions: Numbers = numbers[Figure.SUM_POSITION] / numbers[Figure.IMPRESSIONS] + 1
    return positions
