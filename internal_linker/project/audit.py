"""Audit a site's links: those of today, those that the last run proposed, and both together."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from internal_linker.insight.audit.actions import (
    MOST_OPPORTUNITIES,
    ProposedLinks,
    actions,
    opportunities,
)
from internal_linker.insight.audit.audit import AuditInput, inspect, page_row
from internal_linker.insight.audit.graph_exports import write_edges, write_graphml, write_nodes
from internal_linker.insight.audit.links import Proposals, link_details
from internal_linker.insight.audit.records import ADOPTIONS, Audit, Finding, Limits, Rule
from internal_linker.insight.audit.report.html import write_report
from internal_linker.insight.audit.tables import page_columns
from internal_linker.insight.audit.workbook import write_workbook
from internal_linker.insight.graph import adopted, shortest_path
from internal_linker.insight.html.document import ReportFile
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.edges import is_link, with_hosts
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.link_density import LinkDensity
from internal_linker.model.ports import Progress
from internal_linker.model.records import Collected, Duplicate
from internal_linker.model.results import Columns, Result, columns_of
from internal_linker.model.runs import rows_with
from internal_linker.model.search_data import SearchTable
from internal_linker.model.sections import verify
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.compare import clusters_of, languages_of
from internal_linker.project.options.evaluation import AuditOptions, LinkPathsOptions
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.priorities import query_gains
from internal_linker.project.project import Project
from internal_linker.project.sections import chosen_sections, named_sections, scope_of
from internal_linker.project.settings.settings import PLACEHOLDER_SITE
from internal_linker.review.former_links import todays
from internal_linker.review.transitions import decided
from internal_linker.sources.collect import collect, with_links
from internal_linker.sources.staging import host_hint
from internal_linker.store.edges import EdgeStore
from internal_linker.store.files.plain_text import shortened
from internal_linker.store.runs import RunStore

# The last run may have read the same crawl as the audit; the one before it did not.
_COMPARED_RUNS = 2


@dataclass(frozen=True, repr=False)
class AuditResult(Result):
    """An audit of a site's links."""

    audit: Audit  # all that it found
    # rules of `fail_on` whose bound was reached: the bound and the number of findings
    failed: dict[Rule, tuple[int, int]] = field(default_factory=dict)
    # rules of `fail_on` that could not be checked, because no links or no home page are known
    unknown: tuple[Rule, ...] = ()
    files: tuple[str, ...] = ()  # the files of files/ that were written

    def tables(self) -> dict[str, Columns]:
        """Return `findings`, the worst first; `summary` before and after adoption; `pages` with their figures.

        With search data, also `opportunities`, the largest gain first.
        """
        found = self.audit
        tables: dict[str, Columns] = {
            "findings": columns_of(found.findings, *Finding.__dataclass_fields__),
            "summary": {
                "measure": found.summary["name"],
                "today": found.summary["before"],
                "after": found.summary["after"],
            },
            "pages": page_columns(found),
        }
        return tables | ({"opportunities": found.opportunities.values} if found.opportunities else {})


@dataclass(frozen=True, repr=False)
class LinkPaths(Result):
    """Shortest paths of links between two pages."""

    today: Sequence[str]  # URLs from the first page to the last; empty if no path leads there
    after: Sequence[str]  # the same with the proposed links adopted

    def tables(self) -> dict[str, Columns]:
        """`path`: the pages of both paths in their order."""
        steps = [
            (state, clicks, url)
            for state, path in (("today", self.today), ("after", self.after))
            for clicks, url in enumerate(path)
        ]
        names = "state", "clicks", "url"
        return {"path": {name: [step[at] for step in steps] for at, name in enumerate(names)}}


@capability()
def audit(project: Project, options: AuditOptions, progress: Progress, *, write: bool = True) -> AuditResult:
    """Audit the site's links: today's, the last run's, and both together, as the command `audit` does.

    Nothing is fetched, spent or kept in the cache.

    Args:
        write: write audit.xlsx and, unless `report` is off, the report and graph files to files/.

    Returns:
        `.audit`, `.failed`, and the DataFrames `.frames["findings"]`, `.frames["summary"]` and `.frames["pages"]`.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are no pages, or a file can't be read.
        OutputError: a file can't be written; it stays as it was.
    """
    bounds = failure_bounds(options.fail_on)
    found, collected = _inspected(project, options.home, options.after, progress, sections=options.sections)
    found = _with_opportunities(project, found, collected, progress)
    if write:
        found = _detailed(project, found, collected, report=options.report)
    files = _written(project, found, options, progress) if write else ()
    counts = Counter(one.rule for one in found.findings)
    failed = {rule: (bound, counts[rule]) for rule, bound in bounds.items() if counts[rule] >= bound}
    unknown = tuple(rule for rule in bounds if rule in found.unknown and rule not in failed)
    return AuditResult(found, failed, unknown, files)


@capability()
def link_paths(project: Project, options: LinkPathsOptions, progress: Progress) -> LinkPaths:
    """Find the shortest paths of links between two pages, as `audit --path` does.

    Returns:
        `.today` and `.after` adoption of the proposed links.

    Raises:
        ConfigurationError: a URL is none of the site's pages.
        InputError: there are no pages, or a file can't be read.
    """
    found, collected = _inspected(project, options.home, options.after, progress)
    keys = {page.url: page.key for page in collected.pages}
    rows = {keys[url]: row for row, url in enumerate(found.urls)}
    first, last = (page_row(url, "--path", collected, rows) for url in (options.start, options.end))
    n = len(found.urls)
    today, then = (
        [found.urls[row] for row in shortest_path(graph, n, first, last)]
        for graph in (found.existing, adopted(found.existing, found.proposed, n))
    )
    return LinkPaths(today, then)


def _inspected(
    project: Project, home: str, after: str, progress: Progress, *, sections: Sequence[str] = ()
) -> tuple[Audit, Collected]:
    with (
        project.context(progress, serp=False, deliver=False, read_only=True) as context,
        project.graph() as (edges, runs),
    ):
        collected = _collected(context, progress)
        material = replace(
            _material(project, context, runs, collected, home=home, progress=progress),
            proposals=_proposals(edges, runs, collected, after),
            earlier=_earlier_outlinks(runs, collected),
        )
        material = _within_sections(material, project, sections, progress)
        progress.start("Audit", 0, "")
        found = inspect(material)
        progress.finish(
            f"{len(found.existing.sources)} links, {len(found.candidates.sources)} new ones proposed, "
            f"{len(found.proposed.sources)} of them adopted"
        )
    return found, collected


def audits_of_states(project: Project, progress: Progress, *, home: str = "") -> tuple[Audit, Audit]:
    """Audit the site with the links that editors accepted, and with all that were proposed; both know today's links.

    The second one has the proposed links with their anchors, the most useful actions and the opportunities. Both have
    the same clusters.

    Args:
        home: URL of the home page; "": it is detected.

    Raises:
        InputError: there are no pages, or a file can't be read.
    """
    with (
        project.context(progress, serp=False, deliver=False, read_only=True) as context,
        project.graph() as (edges, runs),
    ):
        collected = _collected(context, progress)
        material = _material(project, context, runs, collected, home=home, progress=progress)
        material = replace(material, earlier=_earlier_outlinks(runs, collected))
        material = _within_sections(material, project, (), progress)
        progress.start("All proposed links", 0, "")
        every = inspect(replace(material, proposals=_proposals(edges, runs, collected, "all")))
        progress.finish(f"{len(every.proposed.sources)} new links")
        places = {name: at for at, name in enumerate(every.cluster_links.values["name"])}
        labels = np.array([places.get(name, -1) for name in every.clusters], np.int64)
        progress.start("Accepted links", 0, "")
        accepted = inspect(
            replace(
                material,
                proposals=_proposals(edges, runs, collected, "accepted"),
                similar=lambda _: (labels, every.clusters_by),
            )
        )
        progress.finish(f"{len(accepted.proposed.sources)} new links")
    every = _with_opportunities(project, every, collected, progress)
    return accepted, _detailed(project, every, collected, report=False)


def _with_opportunities(project: Project, found: Audit, collected: Collected, progress: Progress) -> Audit:
    """Add what pages would earn at better positions; without search data, the audit stays as it is."""
    keys = {page.url: page.key for page in collected.pages}
    rows = {keys[url]: row for row, url in enumerate(found.urls)}
    with project.search_data() as store:
        if not any(store.sources(table) for table in (SearchTable.QUERIES, SearchTable.PAGES)):
            return found
        progress.start("Search data", 0, "rows")
        gains = query_gains(store, collected, [*rows], MOST_OPPORTUNITIES)
    every = opportunities(found, gains, rows)
    progress.finish(counted(len(every), "opportunity", "opportunities"))
    return replace(found, opportunities=every)


def _within_sections(
    material: AuditInput, project: Project, flags: Sequence[str], progress: Progress
) -> AuditInput:
    """Restrict the findings to the sections of the settings and of `--section`."""
    keys, scope = [page.key for page in material.collected.pages], scope_of(project.settings)
    verify(named_sections(project.settings), keys, progress.warn)
    chosen = chosen_sections(flags, keys)
    return replace(
        material,
        gives=lambda key: chosen.hold(key) and scope.gives(key),
        takes=lambda key: chosen.hold(key) and scope.targets.hold(key),
    )


def _detailed(project: Project, found: Audit, collected: Collected, *, report: bool) -> Audit:
    """Add the proposed links with their anchors, the most useful actions and, for graph files, details of all links."""
    keys = {page.url: page.key for page in collected.pages}
    rows = {keys[url]: row for row, url in enumerate(found.urls)}
    graphs, aliases = (found.existing, found.candidates), collected.aliases
    shown = ProposedLinks(found, aliases, rows)
    with project.graph() as (edges, _):
        # The links are read from the store once for both.
        known = shown.passing(with_hosts(edge, collected.hosts) for edge in edges.each())
        details = link_details(graphs, collected, rows, known) if report else {}
        deque(known, maxlen=0)
    found = replace(found, details=details, links=shown.links())
    return replace(found, actions=actions(found, found.links))


def _written(project: Project, found: Audit, options: AuditOptions, progress: Progress) -> tuple[str, ...]:
    files = project.root / "files"
    writers: dict[str, Callable[[Path, Audit], Sequence[str]]] = {"audit.xlsx": write_workbook}
    if options.report:
        writers |= {
            "audit.html": lambda path, audit: write_report(ReportFile(path), audit),
            "audit.graphml": write_graphml,
            "audit_nodes.csv": write_nodes,
            "audit_edges.csv": write_edges,
        }
    for name, write in writers.items():
        progress.start("Writing", 0, "")
        remarks = write(files / name, found)
        progress.finish(f"files/{name}")
        for remark in remarks:
            progress.warn(remark)
    return tuple(f"files/{name}" for name in writers)


def failure_bounds(wanted: Sequence[str]) -> dict[Rule, int]:
    """Return how many findings of each rule are too many, from texts such as "orphan" (1) and "orphan=10".

    Raises:
        ConfigurationError: there is no such rule, or the count is no number from 1.
    """
    bounds, rules = {}, {str(rule): rule for rule in Rule}
    for one in wanted:
        rule, equals, count = one.partition("=")
        if rule not in rules:
            near = get_close_matches(rule.lower().replace("_", "-"), rules, n=1)
            meant = f" Did you mean {near[0]}{equals}{count}?" if near else ""
            raise ConfigurationError(
                f"--fail-on {shortened(one)}: unknown rule '{shortened(rule)}'.{meant} "
                f"Choose one of {', '.join(rules)}."
            )
        if equals and not (count.isascii() and count.isdigit() and int(count)):
            raise ConfigurationError(
                f"--fail-on {one}: '{count}' is not a whole number of 1 or more, as in {rule}=10."
            )
        bounds[rules[rule]] = int(count or 1)
    return bounds


def _collected(context: RunContext, progress: Progress) -> Collected:
    """Read the pages and today's links, without following redirects or detecting languages."""
    if context.pages is None:
        raise InputError("files/urls_rawdata.csv not found: put your pages there (URL, Title, Main Content).")
    progress.start("Input", 0, "pages")
    collected = collect(
        None,
        context.pages.stream(),
        queries_in_sheet=False,
        keep=context.keep,
        follow=False,
        hosts=context.hosts,
        needed=(),
    )
    for remark in context.pages.remarks:
        progress.warn(remark)
    linked = with_links(replace(collected, aliases={}), context.links, progress)
    progress.finish(
        f"{counted(len(linked.pages), 'page')}, {counted(len(linked.links), 'link')}, "
        f"{counted(len(linked.rejects), 'row')} rejected"
    )
    if not linked.inner_links:
        progress.warn(
            "No links between your pages are known, so orphans and all other figures of links are unknown. "
            "Put a crawler's link export into files/existing_links.csv (Source, Destination, Anchor)."
        )
    if sentence := host_hint(collected):
        progress.warn(sentence)
    return replace(linked, aliases=collected.aliases)


def _duplicates(runs: RunStore, hosts: CanonicalHosts) -> list[Duplicate] | None:
    """Return the last run's near-duplicates with the site's URLs of today; None if none are stored."""
    found = runs.duplicates()
    if found is None:
        return None
    return [
        replace(pair, page=hosts.written(pair.page), canonical=hosts.written(pair.canonical))
        for pair in found
    ]


def _material(
    project: Project,
    context: RunContext,
    runs: RunStore,
    collected: Collected,
    *,
    home: str,
    progress: Progress,
) -> AuditInput:
    if not runs.versions():
        progress.warn(
            "The cache contains no run because it is new or was deleted, so only today's links are audited. "
            "To audit proposed links as well, start a run first."
        )
    settings, (inline, sidebar) = project.settings, project.thresholds
    return AuditInput(
        collected,
        Proposals(),
        _duplicates(runs, collected.hosts),
        project.exclusions.match,
        "" if settings.site.partition("/")[0] == PLACEHOLDER_SITE else settings.site,
        home,
        Limits(
            settings.min_inlinks,
            settings.max_inlinks,
            clicks=settings.max_clicks,
            density=LinkDensity(settings.max_links_on_page, settings.max_links_per_100_words),
            sidebar=sidebar,
            inline=inline,
        ),
        lambda pages: clusters_of(pages, context, project, progress),
        languages_of,
    )


def _earlier_outlinks(runs: RunStore, collected: Collected) -> dict[str, int]:
    """Return how many links each page's text had at the last run or the one before it, whichever is fewer.

    The last run may have read the same crawl as this audit.
    """
    earlier: dict[str, int] = {}
    for version in runs.versions()[-_COMPARED_RUNS:]:
        for row in runs.rows(version.run):
            if row.outlinks >= 0:
                key = collected.hosts.restored(row.recommendation.source.key)
                earlier[key] = min(row.outlinks, earlier.get(key, row.outlinks))
    return earlier


def _proposals(edges: EdgeStore, runs: RunStore, collected: Collected, after: str) -> Proposals:
    """Return the links of the last run, and what editors decided on links of any run."""
    if after not in ADOPTIONS:
        raise ConfigurationError(
            f"--after {shortened(after)}: choose {', '.join(ADOPTIONS[:-1])} or {ADOPTIONS[-1]}."
        )
    versions, hosts = runs.versions(), collected.hosts
    run = versions[-1].run if versions else ""
    judged = decided(todays(edges.each(judged=True), hosts))
    rows = rows_with(hosts, runs.rows(run)) if run else ()
    stored = (with_hosts(edge, hosts) for edge in edges.each() if is_link(edge))
    return Proposals(run, rows, judged.rejected, judged.accepted, after, stored)
