"""Search data from exported files: which files have some, the period that each is of, and one frame of each kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress
from internal_linker.model.records import TableStream
from internal_linker.model.search_data import SearchTable, typed
from internal_linker.model.sequences import counted
from internal_linker.sources.search.frames import (
    OTHER_ORIGINS,
    FrameReader,
    Noted,
    Place,
    added_up,
    kind_of,
    lacks_figure,
    missing_days,
    require_figures,
    under_other_origins,
)
from internal_linker.sources.search.tables import (
    ExportTable,
    Period,
    export_tables,
    filters_in,
    is_search_export,
)
from internal_linker.sources.search.vocabulary import (
    DATE_FILTER,
    SEARCH_TYPE,
    Figure,
    Unclear,
    days_of,
    days_within,
    figures_in,
    has_unknown,
    is_filter_table,
    is_search_table,
    only,
)
from internal_linker.sources.tables.columns import fold_header

if TYPE_CHECKING:
    from pandas import DataFrame

DAILY = "exported files"
"""The source under which days from exported files are stored."""
_SUMS = "sums from "
# What Search Console exports of each table at most.
_CAP = 1_000
# Days and remarks that a message names.
_SHOWN = 5
_LEFT_OUT = "tables left out:"


def period_source(period: Period) -> str:
    """Return the source under which sums over a period are stored, at its last day."""
    first, last = period
    return f"{_SUMS}{first} to {last}"


def is_period_source(source: str) -> bool:
    """Return whether the rows of a source are sums over a period, not of single days."""
    return source.startswith(_SUMS)


@dataclass(frozen=True)
class SearchExports:
    """Search data of exported files."""

    frames: Mapping[tuple[str, SearchTable], "DataFrame"]  # the rows by source and kind
    noted: Noted  # what was unusual
    # The columns that were recognised: (table, what its rows are, figure, name)
    columns: Sequence[tuple[str, str, str, str]] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """The tables of one export, and the period that its own tables name."""

    tables: list[ExportTable] = field(default_factory=list)
    periods: list[Period] = field(default_factory=list)


def search_exports(paths: Sequence[Path]) -> list[Path]:
    """Return the files that have search data."""
    with TemporaryDirectory(prefix="internal-linker-") as folder:
        return [path for path in paths if is_search_export(path, Path(folder))]


def read_exports(paths: Sequence[Path], place: Place, progress: Progress) -> SearchExports:
    """Read all tables of exported files.

    Raises:
        InputError: a file can't be read, lacks a column or a period, is filtered, or has no row for this site.
    """
    noted = Noted()
    reader = FrameReader(place, noted, progress.advance)
    found: dict[tuple[str, SearchTable], list[DataFrame]] = {}
    columns = list[tuple[str, str, str, str]]()
    progress.start("Search data", 0, "rows")
    with TemporaryDirectory(prefix="internal-linker-") as folder:
        for group in _groups(paths, Path(folder)):
            for table, kind, period in _dated(group, noted):
                columns += _recognised(table, kind, period)
                source = period_source(period) if period else DAILY
                frame = reader.read(_capped(table, period, noted), kind, period)
                found.setdefault((source, kind), []).append(frame)
    frames = {
        (source, kind): frame
        for (source, kind), parts in found.items()
        if len(frame := _merged(parts, kind, reader, noted))
    }
    progress.finish(counted(sum(map(len, frames.values())), "row"))
    if not frames:
        raise InputError(_nothing(paths, noted))
    _note_days(frames, noted)
    _note_sums(frames, noted)
    return SearchExports(frames, noted, columns)


def _groups(paths: Sequence[Path], folder: Path) -> Iterator[_Group]:
    """Yield the tables of each export, with the period that its filters or its rows by day name."""
    groups: dict[str, _Group] = {}
    for table in export_tables(paths, folder):
        group = groups.setdefault(table.export, _Group())
        if is_filter_table(table.stream.header):
            if period := _checked_filters(table):
                group.periods.append(period)
        elif is_search_table(table.stream.header):
            if kind_of(figures_in(table.stream.header)) is SearchTable.TOTALS:
                kept, span = _with_span(table)
                group.tables.append(kept)
                if span:
                    group.periods.insert(0, span)
            else:
                group.tables.append(table)
    yield from groups.values()


def _with_span(table: ExportTable) -> tuple[ExportTable, Period | None]:
    """Return a table by day, of few rows, with its first and last day, which the other tables are of as well."""
    rows = list(table.stream.rows)
    at = only(figures_in(table.stream.header))[Figure.DATE]
    try:
        days = [day for day in days_of([row[at] for _, row in rows if at < len(row)]).values() if day]
    except Unclear:
        # Reading the table will name it.
        days = []
    return table.with_rows(rows), (min(days), max(days)) if days else None


def _recognised(
    table: ExportTable, kind: SearchTable, period: Period | None
) -> list[tuple[str, str, str, str]]:
    rows_are = f"{kind.value} by day" if period is None else kind.value
    at = only(figures_in(table.stream.header))
    return [
        (table.stream.name, rows_are, figure.value, table.stream.header[place])
        for figure, place in at.items()
        if figure not in (Figure.CTR, Figure.PART)
    ]


def _checked_filters(table: ExportTable) -> Period | None:
    period = None
    for name, value in filters_in(table).items():
        folded = fold_header(name)
        if folded in DATE_FILTER:
            period = days_within(value)
        elif not (folded in SEARCH_TYPE and value.casefold() == "web"):
            raise InputError(
                f"{table.stream.name}: the export is filtered by {name} ({value}), so it has the figures of a part of "
                "the site only. Export it again for web searches and without other filters."
            )
    return period


def _dated(group: _Group, noted: Noted) -> Iterator[tuple[ExportTable, SearchTable, Period | None]]:
    """Yield the tables about pages or days, with their period; None: they have a column of days."""
    for table in group.tables:
        figures = figures_in(table.stream.header)
        kind = kind_of(figures)
        if kind is None:
            _leave_out(table.stream, figures, noted)
            continue
        require_figures(table.stream, kind, figures)
        if Figure.DATE in figures:
            yield table, kind, None
        elif period := table.period or next(iter(group.periods), None):
            yield table, kind, period
        else:
            raise InputError(
                f"{table.stream.name}: it has no column of days, and nothing says which days it is of. Import the "
                "whole zip archive, or name the table of dates of the same export as well. To import only its pages, "
                f'add --url-column "{table.stream.header[only(figures)[Figure.PAGE]]}".'
            )


def _leave_out(stream: TableStream, figures: Mapping[Figure, Any], noted: Noted) -> None:
    lacks_page = lacks_figure(stream, Figure.PAGE) if has_unknown(stream.header) else ""
    if Figure.QUERY in figures:
        if lacks_page:
            raise InputError(f"{lacks_page} Nothing was stored.")
        noted.facts[f"{_LEFT_OUT} queries without pages"] += 1
        noted.remarks.append(
            f"{stream.name}: it doesn't say which page each query led to, so it is left out. Queries by page come "
            "from Search Console's API or the tools that read it."
        )
    else:
        # Search Console's archives have tables of countries and search appearances beside those that are needed.
        noted.facts[f"{_LEFT_OUT} neither pages nor days"] += 1
        noted.remarks += [f"{lacks_page} The table is left out."] if lacks_page else []


def _capped(table: ExportTable, period: Period | None, noted: Noted) -> ExportTable:
    if period is None:
        return table
    head = list(islice(table.stream.rows, _CAP + 1))
    if len(head) == _CAP:
        noted.remarks.append(
            f"{table.stream.name}: it has {_CAP:,} rows, the most that Search Console exports, so pages with fewer "
            "clicks are missing."
        )
    return table.with_rows(chain(head, table.stream.rows))


def _merged(
    parts: Sequence["DataFrame"], kind: SearchTable, reader: FrameReader, noted: Noted
) -> "DataFrame":
    """Return the rows of all tables of a kind, each once; # and tracking parameters make no difference."""
    import pandas as pd

    frame = parts[0].reset_index(drop=True)
    if len(parts) > 1:
        frame = pd.concat(parts, ignore_index=True)
        repeated = frame.duplicated([label for label in ("date", "written", "query") if label in frame])
        if count := int(repeated.sum()):
            noted.facts["rows that an earlier file had"] += count
            frame = frame[~repeated]
    forms = 0
    if "written" in frame:
        forms = frame["written"].nunique()
        frame = _with_pages(frame, reader, noted)
    if "query" in frame:
        frame["query"] = pd.Categorical.from_codes(frame["query"], categories=[*reader.queries])
    if "page" in frame and frame["page"].cat.categories.size < forms:
        labels = [label for label in ("date", "page", "query") if label in frame]
        before = len(frame)
        frame = added_up(frame, labels)
        if count := before - len(frame):
            noted.facts["rows merged: a page with # or tracking parameters"] += count
    return typed(kind, frame)


def _with_pages(frame: "DataFrame", reader: FrameReader, noted: Noted) -> "DataFrame":
    import pandas as pd

    used = np.unique(frame["written"].to_numpy())
    keys = [reader.keys[code] for code in used]
    pages = list(dict.fromkeys(keys))
    numbers = {page: number for number, page in enumerate(pages)}
    codes = np.zeros(len(reader.keys), np.int64)
    codes[used] = [numbers[key] for key in keys]
    if others := under_other_origins(pages):
        noted.facts[OTHER_ORIGINS] += others
    page = pd.Categorical.from_codes(codes[frame["written"].to_numpy()], categories=pages)
    return frame.drop(columns="written").assign(page=page)


def _note_days(frames: Mapping[tuple[str, SearchTable], "DataFrame"], noted: Noted) -> None:
    for (source, kind), frame in frames.items():
        if source != DAILY:
            continue
        days = [day.date() for day in frame["date"].drop_duplicates().dt.to_pydatetime()]
        if missing := missing_days(days):
            shown = ", ".join(map(str, missing[:_SHOWN])) + (" and others" if len(missing) > _SHOWN else "")
            noted.facts[f"days without {kind}"] += len(missing)
            noted.remarks.append(
                f"No rows of {kind} for {counted(len(missing), 'day')} between {min(days)} and {max(days)}: {shown}. "
                "If the site had visitors then, export these days as well."
            )


def _note_sums(frames: Mapping[tuple[str, SearchTable], "DataFrame"], noted: Noted) -> None:
    """Note pages that have more clicks than the whole site in the same days."""
    totals = frames.get((DAILY, SearchTable.TOTALS))
    if totals is None:
        return
    for (source, kind), frame in frames.items():
        if kind is not SearchTable.PAGES:
            continue
        first, last = _span(source, frame)
        within = totals[(totals["date"] >= np.datetime64(first)) & (totals["date"] <= np.datetime64(last))]
        pages, all_pages = int(frame["clicks"].sum()), int(within["clicks"].sum())
        if pages > 1.01 * all_pages:
            noted.remarks.append(
                f"The pages have {pages:,} clicks together, but the table of dates has {all_pages:,} from {first} to "
                f"{last}: the tables are not of the same export. Export all of them again."
            )


def _span(source: str, frame: "DataFrame") -> tuple[Any, Any]:
    if source == DAILY:
        return frame["date"].min().date(), frame["date"].max().date()
    first, last = source.removeprefix(_SUMS).split(" to ")
    return date.fromisoformat(first), date.fromisoformat(last)


def _nothing(paths: Sequence[Path], noted: Noted) -> str:
    reasons = [f"{count} because {reason}" for reason, count in noted.reasons.most_common(3)]
    reasons += [f"{count} {reason}" for reason, count in noted.left_out.most_common(3) if count]
    reasons += [name for name in noted.facts if name.startswith(_LEFT_OUT)]
    told = f" ({'; '.join(reasons)})" if reasons else ""
    said = [f"{', '.join(map(str, paths))}: no rows of search data are left{told}.", *noted.remarks[:_SHOWN]]
    return " ".join((*said, "Nothing was stored."))
