"""Measure what links that went live did to their targets; for the app, keep the result."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import WithJsonSchema

from internal_linker.insight.html.document import ReportFile
from internal_linker.insight.impact.analysis import Experiment, treated_pages
from internal_linker.insight.impact.analysis import impact as analysed
from internal_linker.insight.impact.panel import panel_of
from internal_linker.insight.impact.records import Conclusion, Findings
from internal_linker.insight.impact.report.html import (
    EFFECTS,
    SHOWN_PAIRS,
    WEEKS,
    effects_table,
    shown_pairs,
    write_impact,
)
from internal_linker.insight.page_keys import match_pages
from internal_linker.model.applied_links import PageWrite
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.edges import TIER_NAMES, Edge, is_link
from internal_linker.model.errors import InputError
from internal_linker.model.experiments import DrawnTarget
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker
from internal_linker.model.records import Collected
from internal_linker.model.results import Columns, Result, describe_row, to_json_rows
from internal_linker.model.search_data import SearchTable
from internal_linker.model.sections import section_of
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.compare import languages_of
from internal_linker.project.options.evaluation import ImpactOptions
from internal_linker.project.project import Project
from internal_linker.project.site_texts import imported_site
from internal_linker.review.former_links import todays
from internal_linker.sources.search.exports import is_period_source
from internal_linker.store.files.index_folder import read_arrays, write_arrays
from internal_linker.store.files.text_spool import TextSpool

if TYPE_CHECKING:
    from pandas import DataFrame

# The kinds of anchors, as people read them.
_OWN, _VERBATIM, _TITLE = "an editor's words", "words of the text", "the target's title"
_NEEDED = "Needed: 12 weeks before the links and 4 weeks after them."
_NO_DATA = f"Too few data: no search data were imported yet. {_NEEDED}"
_ONLY_SUMS = (
    "Too few data: the stored search data are sums over a period, which can't be compared before and after a link. "
    f"Import the data of each day, with import --search-console or from tables by day and page. {_NEEDED}"
)


@dataclass(frozen=True, repr=False)
class ImpactResult(Result):
    """What the links that went live did to their targets."""

    findings: Findings  # all that was found
    links: int  # how many links went live
    remarks: Sequence[str] = ()  # what was unusual about the data, one sentence each
    files: tuple[str, ...] = ()  # the files of files/ that were written

    @property
    def sentence(self) -> str:
        """The effect on clicks, or why none can be told, in a sentence."""
        return self.findings.sentence

    @property
    def verdict(self) -> Conclusion:
        """What can be said of the effect on clicks."""
        return self.findings.verdict

    @property
    def facts(self) -> dict[str, Any]:
        """What programs get beside tables and remarks; unknown numbers are None."""
        found = self.findings
        return {
            "verdict": str(found.verdict),
            "sentence": found.sentence,
            "days": found.days,
            "links": self.links,
            "pre_trend": _known(found.pre_trend),
            "detectable": _known(found.detectable),
            "pages_needed": found.pages_needed,
            "before_after": _known(found.before_after_share),
        }

    def tables(self) -> dict[str, Columns]:
        """Return `effects`, `weeks` and `pairs`.

        Effects on clicks and impressions are shares, 0.06 for 6% more; those on positions are differences, below 0 for
        a better position. `weeks` are clicks relative to the controls', as shares; `pairs` has clicks a week.
        """
        found = self.findings
        return {
            "effects": effects_table(found.estimates).values,
            "weeks": found.weeks.to_dict("list"),
            "pairs": found.pairs.assign(controls=found.pairs["controls"].str.join(" ")).to_dict("list"),
        }


@capability(defaults={"report": False})
def impact(
    project: Project,
    options: ImpactOptions,
    progress: Progress,
    site: Collected | None = None,  # the project's pages, where they are known already; None: they are read
) -> ImpactResult:
    """Measure what links that went live did to their targets, as the command `impact` does.

    Returns:
        `.sentence`, `.verdict` and `.findings`; the frames `effects`, `weeks` and `pairs`.

    Raises:
        InputError: the table of pages is missing or can't be read, or no experiment was planned.
        OutputError: the report can't be written.
    """
    languages, hosts = _languages(site) if site else _read_languages(project, progress)
    links = new_links(project, hosts)
    drawn = _experiment(project, hosts) if options.experiment else None
    progress.start("Search data", 0, "rows")
    rows, remarks = _rows(project, languages.keys(), hosts)
    progress.finish(f"{len(rows):,} rows of {rows['page'].nunique():,} pages")
    only_sums = _has_only_sums(project)
    if rows.empty or only_sums:
        told = _ONLY_SUMS if only_sums else _NO_DATA
        findings = Findings(days=options.days, verdict=Conclusion.THIN, sentence=told)
    else:
        progress.start("Comparison", 0, "targets")
        strata = {key: f"{language} {section_of(key)}" for key, language in languages.items()}
        targets = treated_pages(links, options.days, drawn.first if drawn else 0)
        panel = panel_of(rows)
        # Of a large site, the rows take as much memory as the panel that was made of them.
        del rows
        findings = analysed(panel, targets, strata, days=options.days, experiment=drawn)
        progress.finish(f"{len(findings.pairs):,} of {counted(len(targets), 'target')} compared")
    files: tuple[str, ...] = ()
    if options.report:
        path = project.file("impact.html")
        remarks += write_impact(ReportFile(path), project.site, findings, len(links))
        files = (path.name,)
    return ImpactResult(findings, len(links), remarks, files)


def _languages(site: Collected) -> tuple[dict[str, str], CanonicalHosts]:
    """Return the language of each page by its key, and how the site writes its hosts."""
    return dict(zip((page.key for page in site.pages), languages_of(site.pages), strict=True)), site.hosts


def _read_languages(project: Project, progress: Progress) -> tuple[dict[str, str], CanonicalHosts]:
    spool = TextSpool(project.root / "files")
    try:
        return _languages(imported_site(project, spool, progress))
    finally:
        spool.close()


def clicks_by_page(project: Project, keys: Collection[str], hosts: CanonicalHosts) -> Mapping[str, float]:
    """Return the clicks of these pages in all stored search data; pages without any are left out."""
    rows, _ = _rows(project, keys, hosts)
    found = rows.groupby("page", observed=True)["clicks"].sum()
    return {str(page): float(clicks) for page, clicks in found.items()}


def _has_only_sums(project: Project) -> bool:
    """Return whether all search data of pages are sums over a period, which exports without days have."""
    with project.search_data() as store:
        # Each has one day, and a source of days comes before them.
        sources = store.sources(SearchTable.PAGES)
    return bool(sources) and is_period_source(sources[0])


def _rows(project: Project, keys: Collection[str], hosts: CanonicalHosts) -> "tuple[DataFrame, list[str]]":
    """Return the final search data of the site's pages, and what was left out."""
    with project.search_data() as store:
        rows = store.read(SearchTable.PAGES)
        days = store.days(SearchTable.PAGES)
    last = max((day for day, stored in days.items() if stored.final), default=date.min)
    open_days = [day for day in days if day > last]
    if open_days:
        # A day that is not complete yet would look like a loss.
        rows = rows[rows["date"] < min(open_days).isoformat()]
    matched = match_pages(SearchTable.PAGES, rows, keys, hosts)
    remarks = list[str]()
    if matched.unknown_urls:
        remarks.append(
            f"{counted(matched.unknown_urls, 'URL')} left out, with {matched.unknown_count:,} clicks: "
            "not among the pages. Import a newer crawl if they should be."
        )
    if open_days:
        remarks.append(f"{counted(len(open_days), 'day')} left out whose search data are not final.")
    return matched.rows, remarks


def new_links(project: Project, hosts: CanonicalHosts) -> "DataFrame":
    """Return the links that a run found on the site after they had been proposed, as `treated_pages` takes them.

    Their day is that on which `apply` wrote the link, or else that of the first run that found it.
    """
    from pandas import DataFrame

    with project.applications() as (edges, applied):
        live = [edge for edge in todays(edges.each("live"), hosts) if is_link(edge)]
        written = _days_written(applied.writes())
    days = [min(_days_live(edge, written), default=date.max).toordinal() for edge in live]
    links = DataFrame(
        {
            "target": [edge.target for edge in live],
            "day": np.array(days, np.int64),
            "tier": [TIER_NAMES[edge.tier] for edge in live],
            "anchor": [_kind_of_anchor(edge) for edge in live],
        }
    )
    return links[links["day"] < date.max.toordinal()]


def _days_live(edge: Edge, written: Mapping[str, date]) -> Iterator[date]:
    yield from (written[one] for one in (edge.id, *edge.former_ids) if one in written)
    if day := _day(edge.at):
        yield day


def _days_written(writes: Sequence[PageWrite]) -> Mapping[str, date]:
    """Return the day on which each link was last written, of those that were not taken back."""
    found = dict[str, date]()
    for write in writes:
        for link in write.links:
            if write.status == "applied":
                found[link] = write.at.date()
            elif write.status == "undone":
                found.pop(link, None)
    return found


def _day(at: str) -> date | None:
    try:
        return datetime.fromisoformat(at).astimezone(UTC).date()
    except ValueError:
        return None


def _kind_of_anchor(edge: Edge) -> str:
    if edge.anchor:
        return _OWN
    return _VERBATIM if edge.chosen.verbatim else _TITLE


def _experiment(project: Project, hosts: CanonicalHosts) -> Experiment:
    """Return the last experiment, or raise `InputError` if there is none."""
    with project.experiments() as store:
        some = last_drawn(store.drawn())
    if not some:
        raise InputError("No experiment was planned: plan one with impact --plan.")
    return experiment_of(some, hosts)


def last_drawn(drawn: Sequence[DrawnTarget]) -> list[DrawnTarget]:
    """Return the targets of the last experiment among those of all experiments."""
    return [one for one in drawn if one.experiment == drawn[-1].experiment]


def experiment_of(some: Sequence[DrawnTarget], hosts: CanonicalHosts) -> Experiment:
    """Return the experiment of these targets, at least one, with the keys that the site's pages have today."""
    return Experiment(
        held=frozenset(hosts.restored(one.target) for one in some if one.held),
        released=frozenset(hosts.restored(one.target) for one in some if not one.held),
        first=some[0].first.toordinal(),
        until=some[0].until.toordinal(),
    )


Rows = Sequence[Mapping[str, Any]]
_EFFECT = describe_row(EFFECTS)


@dataclass(frozen=True, slots=True)
class ImpactView:
    """What the links that went live did to their targets; see `Findings`.

    Attributes:
        made: when it was measured, as ISO 8601.
        days: how many days after the links were compared.
        experiment: whether targets that were held back at random are the controls.
        links: how many links went live.
        verdict: what can be said of the clicks.
        thin: whether there are too few data to say anything.
        sentence: the answer.
        estimates: the effects on all targets, clicks first; then by tier and kind of anchor.
        placebo: the "effect" on similar pages that got no link; None: unknown.
        weeks: the weeks before and after the links.
        pre_trend: how probable differences before the links as large as those found are by chance; None: unknown.
        detectable: the smallest effect that would probably be seen, as a share; None: unknown.
        pages_needed: how many targets would show an effect of 5%; 0: unknown.
        before_after: the change of the targets' clicks without controls, as a share; None: unknown.
        compared: how many targets are compared.
        pairs: those of them with the most clicks.
        remarks: what was left out and why, and what weakens the comparison.
    """

    made: str
    days: int
    experiment: bool
    links: int
    verdict: str
    thin: bool
    sentence: str
    estimates: Annotated[Rows, WithJsonSchema({"type": "array", "items": _EFFECT})]
    placebo: Annotated[Mapping[str, Any] | None, WithJsonSchema({"anyOf": [_EFFECT, {"type": "null"}]})]
    weeks: Annotated[Rows, WithJsonSchema({"type": "array", "items": describe_row(WEEKS)})]
    pre_trend: float | None
    detectable: float | None
    pages_needed: int
    before_after: float | None
    compared: int
    pairs: Annotated[Rows, WithJsonSchema({"type": "array", "items": describe_row(SHOWN_PAIRS)})]
    remarks: Sequence[str]


def impact_file(project: Project) -> Path:
    """Return where the result is kept."""
    return project.file("impact.npz")


def measure_impact(
    project: Project, options: ImpactOptions, progress: Progress, should_stop: Stop = lambda: False
) -> ImpactView:
    """Measure the impact, and keep it in files/impact.npz; a report is not written.

    Raises:
        InputError: the table of pages is missing or can't be read, or no experiment was planned.
        Interrupted: the work was stopped.
    """
    stoppable = Tracker(
        progress, should_stop=should_stop, cancelled="Measuring was cancelled; the earlier result stays."
    )
    view = _view(impact(project, replace(options, report=False), stoppable))
    stoppable.check()
    write_arrays(impact_file(project), asdict(view), {})
    return view


def last_impact(project: Project) -> ImpactView | None:
    """Return the result of the last `measure_impact`; None without one."""
    stored = read_arrays(impact_file(project))
    if stored is None:
        return None
    try:
        return ImpactView(**stored[0])
    except TypeError:  # a file of another version
        return None


def _view(result: ImpactResult) -> ImpactView:
    found = result.findings
    thin = found.verdict is Conclusion.THIN
    # Otherwise the remarks say it.
    dropped = [f"{counted(count, 'target')} left out: {one.value}." for one, count in found.dropped.items()]
    return ImpactView(
        **result.facts,
        made=datetime.now().astimezone().isoformat(timespec="seconds"),
        experiment=found.randomised,
        thin=thin,
        estimates=to_json_rows(effects_table(found.estimates).values),
        placebo=to_json_rows(effects_table([found.placebo]).values)[0] if found.placebo else None,
        weeks=found.weeks.to_dict("records"),
        compared=len(found.pairs),
        pairs=to_json_rows(shown_pairs(found).values),
        remarks=[*result.remarks, *found.remarks, *(dropped if thin else ())],
    )


def _known(value: float) -> float | None:
    return value if isfinite(value) else None
