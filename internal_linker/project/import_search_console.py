"""Import search data from Search Console: the days that are not stored yet, and the last week again."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from internal_linker.insight.page_keys import MatchedPages, holds, match_pages, property_of
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.errors import ConfigurationError, ServiceError
from internal_linker.model.ports import Progress
from internal_linker.model.results import Columns, Result
from internal_linker.model.search_data import (
    FINAL_AFTER,
    SEARCH_CONSOLE_DELAY,
    RowProblem,
    SearchTable,
    first_kept_day,
    sound_rows,
)
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.options.imports import SearchConsoleOptions
from internal_linker.project.project import Project
from internal_linker.sources.collect import collect
from internal_linker.sources.search_console import ROWS_A_DAY, LoadQuotaReached, SearchConsole
from internal_linker.store.search_days import SearchDays

if TYPE_CHECKING:
    from pandas import DataFrame

# Google's days are Pacific ones. An hour of summer time doesn't matter, and not every computer knows time zones.
_PACIFIC = timezone(timedelta(hours=-8))
_DAY = timedelta(days=1)
# Matching the pages of the last four weeks tells whether the crawl and the property are of one site.
_MATCHED = timedelta(days=28)
_OTHER_SITE = "with a page of another site"
_TABLES = {SearchTable.QUERIES: ("page", "query"), SearchTable.PAGES: ("page",)}


@dataclass(frozen=True, repr=False)
class SearchConsoleImport(Result):
    """The result of an import of search data."""

    property: str
    fetched: Sequence[date] = ()  # the days that were fetched now, the oldest first
    # How many rows by query, by page and of totals were fetched
    rows: Mapping[SearchTable, int] = field(default_factory=dict)
    clicks: int = 0  # the clicks of the fetched days, from the totals
    # The clicks of the fetched rows by query; the rest belong to queries that Google hides
    clicks_by_query: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)  # how many rows can't be right, by the reason
    since: date | None = None  # since, until: the first and the last day that are stored; None without any
    until: date | None = None
    last_final: date | None = None  # the last stored day that Google changes no more; None without any
    missing: Sequence[date] = ()  # days between the first and the last for which Google has no data
    # Fetched days with as many rows as Google gives at most, so that others are missing
    cut: Sequence[date] = ()
    others: Sequence[str] = ()  # other sources of this site whose days are stored
    pruned: int = 0  # how many old days were removed, in any table
    # How the pages of the last 28 days match the crawl; None without a crawl
    matched: MatchedPages | None = None
    prioritised: bool = False  # whether runs choose links by these data: the setting `priority` is "search"
    gaps: Sequence[str] = ()  # what is missing because Google failed or refused, one sentence each

    def tables(self) -> dict[str, Columns]:
        """Return the `counts` by name."""
        counts = {"days fetched": len(self.fetched), "clicks": self.clicks}
        counts |= {f"rows: {table}": count for table, count in self.rows.items()}
        counts |= {f"left out: {reason}": count for reason, count in self.left_out.items()}
        counts |= {"days without data": len(self.missing), "days cut": len(self.cut)}
        if self.matched:
            counts |= {"pages matched": self.matched.pages, "pages unknown": self.matched.unknown_urls}
            counts |= {"other spellings of pages": self.matched.spellings}
        return {"counts": {"name": list(counts), "count": list(counts.values())}}


@capability()
def import_search_console(
    project: Project, options: SearchConsoleOptions, progress: Progress
) -> SearchConsoleImport:
    """Fetch search data of a Search Console property, as `import --search-console` does.

    These are the days that are not stored yet, newest first, and those of the last week again; each is kept at once.

    Returns:
        `.fetched`, the days, `.clicks`, `.missing` and `.last_final`, and in `.gaps` what is missing because Google
        refused to answer; what was fetched is stored.

    Raises:
        ConfigurationError: the property's name is wrong, or there is no usable service account.
        ServiceError: Google refused the account or did not answer, and nothing was fetched.
        RunActive: another command holds the project folder.
    """
    try:
        property_ = property_of(options.property)
    except ValueError as error:
        raise ConfigurationError(f"Search Console property {options.property}: {error}.") from None
    for sentence in project.exposed():
        progress.warn(sentence)
    with (
        closing(project.clients.search_console()) as client,
        project.lock(),
        project.search_data(property_, read_only=False) as store,
    ):
        client.require(property_)
        today = datetime.now(_PACIFIC).date()
        pruned = store.prune(first_kept_day(today))
        fetching = _Fetching(client, store, property_, today, progress)
        done = replace(fetching.fetch(options.days), pruned=pruned)
        return _with_stored(done, project, store)


class _Fetching:
    """Fetches the days of a property. Its today is a Pacific day."""

    def __init__(
        self, client: SearchConsole, store: SearchDays, property_: str, today: date, progress: Progress
    ) -> None:
        self._client, self._store, self._property = client, store, property_
        self._today, self._newest, self._progress = today, today - SEARCH_CONSOLE_DELAY, progress
        self._left_out: dict[str, int] = {}
        self._rows = dict.fromkeys((*_TABLES, SearchTable.TOTALS), 0)
        self._clicks = self._clicks_by_query = 0
        self._cut: list[date] = []

    def fetch(self, days: int) -> SearchConsoleImport:
        """Fetch what is missing of the last `days` days (0: of sixteen months)."""
        wanted = self._wanted(days)
        totals = self._totals(wanted)
        available = [day for day in reversed(wanted) if day in totals]
        self._store_empty(wanted, totals)
        fetched, gaps = list[date](), list[str]()
        self._progress.start("Search data", len(available), "days")
        for day in available:
            try:
                self._fetch_day(day, totals[day])
            except ServiceError as error:
                if not fetched:
                    raise _with_time(error) from None
                gaps.append(_gap(error, len(available) - len(fetched)))
                break
            fetched.append(day)
            self._progress.advance()
        self._progress.finish(
            f"{counted(len(fetched), 'day')}, {counted(self._rows[SearchTable.QUERIES], 'row')}"
        )
        return SearchConsoleImport(
            self._property,
            sorted(fetched),
            self._rows,
            self._clicks,
            self._clicks_by_query,
            self._left_out,
            cut=sorted(self._cut),
            gaps=gaps,
        )

    def _wanted(self, days: int) -> list[date]:
        """Return the days that are not stored for good, except those that were fetched today already."""
        first = self._newest - (days - 1) * _DAY if days else first_kept_day(self._today)
        known, now = self._store.days(SearchTable.TOTALS), datetime.now(UTC).date()
        kept = {
            day
            for day, stored in known.items()
            if stored.final or (stored.stored_at and stored.stored_at.date() == now)
        }
        return [day for day in days_between(first, self._newest) if day not in kept]

    def _totals(self, wanted: Sequence[date]) -> dict[date, "DataFrame"]:
        """Return the totals of the wanted days that Google has, by day; it is asked once for each stretch of days."""
        found: dict[date, DataFrame] = {}
        for first, last in stretches(wanted):
            rows = self._client.rows(self._property, first, last, ["date"])
            sound = self._sound(SearchTable.TOTALS, rows)
            found |= {day.date(): some for day, some in sound.groupby("date")}
        return found

    def _store_empty(self, wanted: Iterable[date], totals: Collection[date]) -> None:
        """Store that Google has no data of days before others of which it has some."""
        known = [day for day, one in self._store.days(SearchTable.TOTALS).items() if one.rows]
        last = max([*totals, *known], default=date.min)
        lacking = [day for day in wanted if day not in totals and day < last]
        for final in (True, False):
            some = [day for day in lacking if self._is_final(day) is final]
            self._store.put_empty(SearchTable.TOTALS, some, final=final)

    def _fetch_day(self, day: date, totals: "DataFrame") -> None:
        for table, dimensions in _TABLES.items():
            rows = self._client.rows(self._property, day, day, dimensions)
            if len(rows) >= ROWS_A_DAY and day not in self._cut:
                self._cut.append(day)
            sound = self._own(self._sound(table, rows.assign(date=day.isoformat())))
            self._store.put(table, day, sound, final=self._is_final(day))
            self._rows[table] += len(sound)
            if table is SearchTable.QUERIES:
                self._clicks_by_query += int(sound["clicks"].sum())
        # The totals come last: a day that they belong to is whole.
        self._store.put(SearchTable.TOTALS, day, totals, final=self._is_final(day))
        self._rows[SearchTable.TOTALS] += len(totals)
        self._clicks += int(totals["clicks"].sum())

    def _is_final(self, day: date) -> bool:
        return day <= self._today - FINAL_AFTER

    def _sound(self, table: SearchTable, rows: "DataFrame") -> "DataFrame":
        """Leave out, and count, rows that can't be right; days without impressions are days without data."""
        sound = sound_rows(table, rows)
        for problem, count in sound.left_out.items():
            if table is not SearchTable.TOTALS or problem is not RowProblem.UNSEEN:
                self._leave_out(f"{table}: {problem.value}", count)
        return sound.rows

    def _own(self, rows: "DataFrame") -> "DataFrame":
        """Leave out, and count, rows of pages that are not the property's."""
        pages = rows["page"].cat.categories
        other = [page for page in pages if not holds(self._property, str(page))]
        if not other:
            return rows
        own = ~rows["page"].isin(other)
        self._leave_out(_OTHER_SITE, int((~own).sum()))
        return rows[own]

    def _leave_out(self, reason: str, count: int) -> None:
        self._left_out[reason] = self._left_out.get(reason, 0) + count


def _with_stored(done: SearchConsoleImport, project: Project, store: SearchDays) -> SearchConsoleImport:
    """Add what is stored by now, and how its pages match the crawl."""
    days = store.days(SearchTable.TOTALS)
    known = [day for day, one in days.items() if one.rows]
    if not known:
        return done
    others = {source for table in SearchTable for source in store.sources(table)} - {done.property}
    matched = None
    if site := site_keys(project):
        rows = store.read(SearchTable.PAGES, since=known[-1] - _MATCHED + _DAY)
        matched = match_pages(SearchTable.PAGES, rows, site.keys, site.hosts)
    return replace(
        done,
        since=known[0],
        until=known[-1],
        last_final=max((day for day in known if days[day].final), default=None),
        missing=[day for day, one in days.items() if not one.rows and known[0] < day < known[-1]],
        others=sorted(others),
        matched=matched,
        prioritised=project.settings.priority == "search",
    )


def days_between(first: date, last: date) -> list[date]:
    """Return all days from the first to the last."""
    return [first + at * _DAY for at in range((last - first).days + 1)]


def stretches(days: Sequence[date], most: int = 0) -> list[tuple[date, date]]:
    """Return the first and last day of each run of days without a gap; of at most so many days, 0: of any length."""
    found: list[tuple[date, date]] = []
    for day in days:
        if found and found[-1][1] == day - _DAY and (not most or (day - found[-1][0]).days < most):
            found[-1] = (found[-1][0], day)
        else:
            found.append((day, day))
    return found


def _gap(error: ServiceError, days: int) -> str:
    return f"{_with_time(error)} {counted(days, 'older day')} can be fetched later: what was fetched is kept."


def _with_time(error: ServiceError) -> ServiceError:
    """Return the error with the time from which on it is worth trying again, if Google's quota is used up."""
    if not isinstance(error, LoadQuotaReached):
        return error
    at = datetime.now(UTC).astimezone() + timedelta(seconds=error.retry_after or 0)
    said = str(error).removeprefix(f"{error.service}: ")
    return ServiceError(
        error.service, f"{said} Run the same command again after {at:%H:%M}; if it stops at once, tomorrow."
    )


@dataclass(frozen=True, slots=True)
class SiteKeys:
    """The keys of a site's pages, and the form in which it writes its hosts."""

    keys: Collection[str]
    hosts: CanonicalHosts


def site_keys(project: Project) -> SiteKeys | None:
    """Return the keys of the pages in files/urls_rawdata.csv; None if there is no such file.

    Raises:
        InputError: the file can't be read.
    """
    pages = project.table("urls_rawdata.csv", [])
    if pages is None:
        return None
    found = collect(
        None,
        pages.stream(),
        queries_in_sheet=False,
        keep=lambda _: "",
        follow=False,
        needed=(),
        hosts=project.settings.hosts,
    )
    return SiteKeys(frozenset(found.rows), found.hosts)
