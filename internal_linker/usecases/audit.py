"""A project -> its audit: printed, written where audits are kept, and judged by what a scheduler asked for."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console

from internal_linker.analysis.audit.audit import Material, inspect, page_row
from internal_linker.analysis.audit.outputs import audit_sinks, duplicates_of, proposed_of
from internal_linker.analysis.audit.records import RULES, Audit, Finding, Limits
from internal_linker.analysis.graph.site_graph import adopted, shortest_path
from internal_linker.core.arrays import Vectors, unit_rows
from internal_linker.core.errors import ConfigurationError, ExitCode, InputError
from internal_linker.core.records import Collected, Page
from internal_linker.core.sequences import Lazy
from internal_linker.embeddings.embed import all_texts, cached_vectors, hashes_of
from internal_linker.ingest.collect import collect, with_links
from internal_linker.pipeline.context import Parts
from internal_linker.usecases.console import Reporter, open_console
from internal_linker.usecases.project import Project

# Findings of a rule that the terminal shows; the workbook has all.
_SHOWN = 3
# With fewer of the pages' vectors the topics would be those of a part of the site.
_MOST_VECTORS = 0.9


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked of an audit.

    Attributes:
        home: URL of the home page; "": it is found out.
        path: two URLs between which the shortest path is wanted; empty: none is.
        fail_on: "RULE" or "RULE=COUNT" each.
        report: whether reports are written beside the workbook.
    """

    home: str = ""
    path: tuple[str, str] | tuple[()] = ()
    fail_on: Sequence[str] = ()
    report: bool = True


def audit_project(project: Project, wish: Wish) -> ExitCode:
    """Audit the site's links today, the last run's, and both; nothing is fetched, spent or kept in the cache.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are no pages, or a file can't be read.
        OutputError: the audit can't be written.
    """
    bounds = failure_bounds(wish.fail_on)
    console, reporter = open_console(), Reporter(open_console(stderr=True))
    with closing(reporter), project.parts(reporter, serp=False, deliver=False, read_only=True) as parts:
        collected = _collected(parts, reporter)
        material = _material(project, parts, collected, wish, reporter)
        reporter.start("Audit", 0, "")
        audit = inspect(material)
        reporter.finish(
            f"{len(audit.existing.sources)} links and {len(audit.proposed.sources)} proposed ones"
        )
    if wish.path:
        return _print_path(console, audit, collected, *wish.path)
    _print(console, audit)
    sinks = audit_sinks(project.root / "files", report=wish.report)
    try:
        for sink in sinks:
            reporter.start("Writing", 0, "")
            remarks = sink.write(audit)
            reporter.finish(sink.name)
            for remark in remarks:
                reporter.warn(remark)
    finally:
        reporter.close()
    return _judged(console, audit.findings, bounds)


def failure_bounds(wanted: Sequence[str]) -> dict[str, int]:
    """How many findings of a rule are too many, by the rules of "RULE" (one is) and "RULE=COUNT".

    Raises:
        ConfigurationError: there is no such rule, or the count is no number from 1.
    """
    bounds = {}
    for one in wanted:
        rule, equals, count = one.partition("=")
        if rule not in RULES:
            raise ConfigurationError(
                f"--fail-on {one}: there is no rule '{rule}'. Take one of {', '.join(RULES)}."
            )
        if equals and not (count.isascii() and count.isdigit() and int(count)):
            raise ConfigurationError(
                f"--fail-on {one}: '{count}' is no whole number from 1, as in {rule}=10."
            )
        bounds[rule] = int(count or 1)
    return bounds


def _collected(parts: Parts, reporter: Reporter) -> Collected:
    """Pages and today's links, which name redirects where they lead to one; no text's language is looked for."""
    if parts.pages is None:
        raise InputError(
            "files/urls_rawdata.csv is not there. Put your pages there: URL, Title, Main Content."
        )
    reporter.start("Input", 0, "pages")
    collected = collect(None, parts.pages.stream(), queries_in_sheet=False, keep=parts.keep, follow=False)
    for remark in parts.pages.remarks:
        reporter.warn(remark)
    linked = with_links(replace(collected, aliases={}), parts.links, reporter)
    reporter.finish(
        f"{len(linked.pages)} pages, {len(linked.links)} links, {len(linked.rejects)} rows rejected"
    )
    if not linked.inner_links:
        reporter.warn(
            "No link between your pages is known. Put a crawler's link export into "
            "files/existing_links.csv (Source, Destination, Anchor)."
        )
    return replace(linked, aliases=collected.aliases)


def _material(
    project: Project, parts: Parts, collected: Collected, wish: Wish, reporter: Reporter
) -> Material:
    files = project.root / "files"
    proposed = proposed_of(files)
    if proposed is None:
        reporter.warn(
            "files/links.csv is not there: no run has proposed links yet, and only today's are audited."
        )
    settings = project.settings
    return Material(
        collected,
        proposed or (),
        duplicates_of(files),
        project.exclusions.match,
        settings.site,
        wish.home,
        Limits(
            settings.min_inlinks,
            settings.max_inlinks,
            clicks=settings.max_clicks,
            links=settings.max_links_on_page,
            links_per_100_words=settings.max_links_per_100_words,
            sidebar=settings.tier_sidebar,
            inline=settings.tier_inline,
        ),
        lambda pages: _vectors(pages, parts),
    )


def _vectors(pages: Sequence[Page], parts: Parts) -> Vectors | None:
    """(n, d) unit rows from the cache or a file, zeros where there is none; None where too many are missing."""
    encoder, texts = parts.encoder, all_texts(pages, {}, ())
    if encoder.corpus_bound and encoder.pages is None:
        return None
    hashes, found = hashes_of(texts, encoder.pages), dict[str, Vectors]()
    wanted = {key: row for row, key in enumerate(hashes) if key}
    if encoder.pages is None:
        for some in cached_vectors(list(wanted), encoder, parts.vector_cache):
            found |= some
    else:
        keys, rows = list(wanted), list(wanted.values())
        for batch in encoder.encode(Lazy(len(rows), lambda at: texts[rows[at]])):
            found |= zip((keys[at] for at in batch.positions), batch.vectors, strict=True)
    if sum(each in found for each in hashes) < _MOST_VECTORS * len(hashes):
        return None
    none = np.zeros_like(next(iter(found.values())))
    return unit_rows(np.stack([found.get(each, none) for each in hashes]))


def _print(console: Console, audit: Audit) -> None:
    console.print(f"Audit of {audit.site}: {len(audit.urls)} pages, home page {audit.urls[audit.home]}")
    if audit.home_by == "links":
        console.print(
            "No home page is among the pages: clicks start at the page with most in-links. --home names another.",
            soft_wrap=True,
        )
    console.print(
        f"Proposed links: run {audit.run_id}, {len(audit.proposed.sources)} new ones. "
        if audit.run_id
        else "No links are proposed."
    )
    console.print(f"{'':42}{'today':>12}{'after':>12}")
    for measure in audit.summary:
        figures = (f"{value:>12.{measure.decimals}f}" for value in (measure.before, measure.after))
        console.print(f"{measure.name:42}{''.join(figures)}")
    by_rule: dict[str, list[Finding]] = {}
    for one in audit.findings:
        by_rule.setdefault(one.rule, []).append(one)
    console.print(f"\nFindings: {len(audit.findings)}")
    for rule, found in by_rule.items():
        standings = Counter(one.standing for one in found)
        told = f"{len(found)} ({standings['mended']} mended by the proposed links, {standings['new']} new with them)"
        console.print(f"{rule} ({RULES[rule][0]}): {told}. {RULES[rule][1]}", soft_wrap=True)
        for one in found[:_SHOWN]:
            console.print(
                f"  {one.page}{f'  {one.other}' if one.other else ''}: {one.detail}", soft_wrap=True
            )
        if len(found) > _SHOWN:
            console.print(f"  ... and {len(found) - _SHOWN} more in files/audit.xlsx")


def _print_path(console: Console, audit: Audit, collected: Collected, start: str, end: str) -> ExitCode:
    """The shortest path today and after adoption, in place of all else."""
    keys = {page.url: page.key for page in collected.pages}
    rows = {keys[url]: row for row, url in enumerate(audit.urls)}
    ends = [page_row(url, "--path", collected, rows) for url in (start, end)]
    n = len(audit.urls)
    states = {"Today": audit.existing, "After adoption": adopted(audit.existing, audit.proposed, n)}
    for name, graph in states.items():
        path = shortest_path(graph, n, ends[0], ends[1])
        console.print(f"{name}: {f'clicks: {len(path) - 1}' if path else 'no path of links leads there.'}")
        for row in path:
            console.print(f"  {audit.urls[row]}", soft_wrap=True)
    return ExitCode.SUCCESS


def _judged(console: Console, findings: Sequence[Finding], bounds: dict[str, int]) -> ExitCode:
    counts = Counter(one.rule for one in findings)
    reached = [rule for rule, bound in bounds.items() if counts[rule] >= bound]
    for rule in reached:
        console.print(f"--fail-on {rule}={bounds[rule]}: the audit fails with {counts[rule]} findings.")
    return ExitCode.FINDINGS if reached else ExitCode.SUCCESS
