"""Import sessions from Google Analytics: days that are new, and the last ones again."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from internal_linker.model.errors import ConfigurationError, InputError, ServiceError
from internal_linker.model.ports import Progress
from internal_linker.model.search_data import SearchTable, empty, first_kept_day, typed
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.import_search_console import days_between, stretches
from internal_linker.project.import_search_exports import SearchDataImported, StoredRows, place_of
from internal_linker.project.options.imports import AnalyticsOptions
from internal_linker.project.project import Project
from internal_linker.sources.google_analytics import AnalyticsReport
from internal_linker.sources.search.frames import OTHER_ORIGINS, Place, added_up, under_other_origins

if TYPE_CHECKING:
    from pandas import DataFrame

# Google Analytics may change the figures of a day for so many days.
_CHANGES_DAYS = 3
# Days of one report: a month of a site with thousands of landing pages is one page of rows.
_DAYS_A_REPORT = 28
# Days that a message names.
_SHOWN = 5
_PACIFIC = "America/Los_Angeles"
_NUMBER = re.compile(r"(?:properties/)?(\d{1,20})")


def source_of(property_: str) -> str:
    """Return the source under which the sessions of a property are stored.

    Raises:
        ConfigurationError: it is not the number of a property.
    """
    found = _NUMBER.fullmatch(property_.strip())
    if not found:
        raise ConfigurationError(
            f"Google Analytics property {property_}: name it by its number, such as 123456789, which is in Admin > "
            "Property details. G-... and UA-... are other things."
        )
    return f"GA4 property {found[1]}"


@capability()
def import_analytics(
    project: Project, options: AnalyticsOptions, progress: Progress, *, today: date | None = None
) -> SearchDataImported:
    """Fetch sessions of a Google Analytics property, as `import --analytics` does.

    These are all days of the last sixteen months that are not stored, and the last days again.

    Returns:
        As `import_search_data`, and in `.gaps` what is missing because Google refused to answer.

    Raises:
        ConfigurationError: the property is no number, or there is no service account.
        InputError: the sessions are all of other hosts; nothing is stored.
        ServiceError: Google refused or did not answer; days stored so far are complete.
    """
    source, today = source_of(options.property), today or datetime.now(UTC).date()
    number, noted, place = source.rpartition(" ")[2], _Noted(), place_of(project)
    read, gaps = list[date](), list[str]()
    with (
        closing(project.clients.analytics()) as client,
        project.lock(),
        project.search_data(source, read_only=False) as store,
    ):
        known = {day for day, each in store.days(SearchTable.SESSIONS).items() if each.final}
        wanted = _wanted(known, today)
        progress.start("Google Analytics", 0, "days")
        there = client.days(number, wanted[0], wanted[-1])
        progress.start("Google Analytics", len(there), "days")
        for first, last in stretches([day for day in wanted if day in {*there}], _DAYS_A_REPORT):
            try:
                report = client.sessions(number, first, last)
            except ServiceError as error:
                if not read:
                    raise
                gaps.append(f"{error} The days from {first} on are missing.")
                break
            frame = noted.read(report, place)
            noted.refuse_other_site(place, options.property)
            by_day = {moment.date(): rows for moment, rows in frame.groupby("date")}
            for day in days_between(first, last):
                rows = by_day.get(day, empty(SearchTable.SESSIONS))
                store.put(SearchTable.SESSIONS, day, rows, final=_is_final(day, today))
                progress.advance()
            read += by_day
        # Earlier days, before the property had any sessions, cost one row of the report by day.
        begin = min((*known, *there), default=today)
        without = [day for day in wanted if day > begin and day not in there and _is_final(day, today)]
        for day in without:
            store.put(SearchTable.SESSIONS, day, empty(SearchTable.SESSIONS))
        store.prune(first_kept_day(today))
        progress.finish(f"{counted(len(read), 'day')}, {counted(noted.rows, 'row')}")
    remarks = [*noted.remarks(), *_without_sessions(without)]
    for remark in (*remarks, *gaps):
        progress.warn(remark)
    facts = {
        "days that were stored already": len(known - {*wanted}),
        "days without sessions": len(without),
        OTHER_ORIGINS: under_other_origins(noted.pages),
    }
    return SearchDataImported(
        [StoredRows(source, SearchTable.SESSIONS, noted.rows, len(read), min(read), max(read))]
        if read
        else [],
        {reason: count for reason, count in noted.rejected.most_common() if count},
        {reason: count for reason, count in noted.left_out.items() if count},
        {name: count for name, count in facts.items() if count},
        remarks,
        gaps=gaps,
    )


class _Noted:
    """What reports said besides sessions."""

    def __init__(self) -> None:
        self.rows, self.zones, self.pages = 0, set[str](), set[str]()
        self.left_out, self.rejected = Counter[str](), Counter[str]()
        self._facts = Counter[str]()

    def read(self, report: AnalyticsReport, place: Place) -> "DataFrame":
        import pandas as pd

        self.zones |= {report.zone} - {""}
        self._facts += Counter(thresholded=report.thresholded, sampled=report.sampled, lumped=report.lumped)
        rows = report.rows
        found: dict[tuple[str, str], tuple[str, str]] = {
            (host, path): place.page(f"https://{host}{path}") if path.startswith("/") else ("", "")
            for host, path in dict.fromkeys(zip(rows["host"], rows["path"], strict=True))
        }
        pages = [found[one] for one in zip(rows["host"], rows["path"], strict=True)]
        self.rejected.update(why for _, why in pages if why)
        self.left_out["without a page, such as (not set) or (other)"] += pages.count(("", ""))
        frame = rows.assign(
            page=[page for page, _ in pages],
            date=pd.to_datetime(rows["date"], format="%Y%m%d", errors="coerce"),
        )
        numbers = [*SearchTable.SESSIONS.numbers]
        for name in numbers:
            # Key events may have fractions where several campaigns share one.
            frame[name] = pd.to_numeric(frame[name], errors="coerce").round()
        bad = frame[["date", *numbers]].isna().any(axis=1)
        self.rejected["a row with a count or day that is no number"] += int(bad.sum())
        frame = frame[(frame["page"] != "") & ~bad]
        summed = added_up(frame[["date", "page", *numbers]], ["date", "page"])
        self.rows += len(summed)
        self.pages |= {*summed["page"]}
        return typed(SearchTable.SESSIONS, summed)

    def refuse_other_site(self, place: Place, property_: str) -> None:
        """Refuse a property without a page of this site."""
        others = [why for why, count in self.rejected.items() if count and place.site and place.site in why]
        if others and not self.rows:
            raise InputError(
                f"Google Analytics, property {property_}: no session began on {place.site} ({others[0]}). Check the "
                "property's number. Nothing was stored."
            )

    def remarks(self) -> list[str]:
        said = {
            "thresholded": "Google Analytics left out rows of few users, so sums are too small.",
            "sampled": "Google Analytics estimated the figures from a sample of the sessions.",
            "lumped": "The property has more pages than Google Analytics reports; the others are in (other), which "
            "is left out.",
        }
        found = [sentence for name, sentence in said.items() if self._facts[name]]
        if self.zones - {_PACIFIC}:
            found.append(
                f"The days of the property are of {', '.join(sorted(self.zones))}; those of Search Console are of "
                "Pacific time. So a day of one is not exactly a day of the other."
            )
        return found


def _without_sessions(days: Sequence[date]) -> list[str]:
    if not days:
        return []
    shown = ", ".join(map(str, days[:_SHOWN])) + (" and others" if len(days) > _SHOWN else "")
    return [
        f"Google Analytics has no sessions of {counted(len(days), 'day')}: {shown}. If the site had visitors then, it "
        "did not measure them."
    ]


def _is_final(day: date, today: date) -> bool:
    return (today - day).days > _CHANGES_DAYS


def _wanted(known: Collection[date], today: date) -> list[date]:
    """Return the days to read: all kept ones up to yesterday that are not known for good."""
    return [day for day in days_between(first_kept_day(today), today - timedelta(1)) if day not in known]
