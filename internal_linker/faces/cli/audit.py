"""The command that audits the site's links: audit."""

import gc
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.faces.cli.command import ProjectOption, opened_project, reporting, with_options
from internal_linker.model.errors import ConfigurationError, ExitCode
from internal_linker.model.sequences import counted
from internal_linker.project.options.evaluation import AuditOptions, LinkPathsOptions

if TYPE_CHECKING:
    from rich.console import Console

    from internal_linker.insight.audit.records import Audit
    from internal_linker.project.project import Project

# Findings of a rule that the terminal shows; the workbook has all.
_SHOWN = 3


@with_options(AuditOptions)
def audit(
    context: typer.Context,
    project: ProjectOption = None,
    path: Annotated[
        tuple[str, str] | None,
        typer.Option("--path", metavar="FROM TO", help="Only print the shortest path between two pages."),
    ] = None,
    *,
    options: AuditOptions,
) -> None:
    """Audit the site's links as a whole.

    Check orphans, click depth, PageRank, clusters, anchors, bad targets and more, both for today's links and for those
    that the last run proposed. Write the findings to files/audit.xlsx, a report to files/audit.html, and graph files
    for Gephi and Neo4j next to them. Nothing is fetched or spent.
    """
    if path and (options.fail_on or not options.report):
        raise ConfigurationError(
            "--path prints a path and writes nothing: leave out --fail-on and --no-report."
        )
    opened = opened_project(context, project)
    # Millions of records stay to the end: searching them for garbage again and again takes a tenth of the time.
    gc.disable()
    try:
        if path:
            _print_path(opened, path, options)
        else:
            raise typer.Exit(_audit(opened, options))
    finally:
        gc.enable()


def _audit(project: "Project", options: AuditOptions) -> ExitCode:
    from internal_linker.project import audit as usecase
    from internal_linker.project.console import open_console

    with reporting() as reporter:
        result = usecase.audit(project, options, reporter)
    console = open_console()
    _print(console, result.audit)
    for rule, (bound, count) in result.failed.items():
        console.print(f"--fail-on {rule}={bound}: the audit failed with {counted(count, 'finding')}.")
    for rule in result.unknown:
        why = "no home page is known" if result.audit.links_known else "no links between your pages are known"
        console.print(f"--fail-on {rule}: unknown, because {why}.")
    return ExitCode.FINDINGS if result.failed else ExitCode.GAPS if result.unknown else ExitCode.SUCCESS


def _print_path(project: "Project", ends: tuple[str, str], options: AuditOptions) -> None:
    from internal_linker.project.audit import link_paths
    from internal_linker.project.console import open_console

    wanted = LinkPathsOptions(start=ends[0], end=ends[1], home=options.home, after=options.after)
    with reporting() as reporter:
        found = link_paths(project, wanted, reporter)
    console = open_console()
    for name, urls in (("Today", found.today), ("After adoption", found.after)):
        console.print(f"{name}: {f'clicks: {len(urls) - 1}' if urls else 'there is no path of links.'}")
        for url in urls:
            console.print(f"  {url}", soft_wrap=True)


def _print(console: "Console", audit: "Audit") -> None:
    home = f"home page {audit.urls[audit.home]}" if audit.home >= 0 else "home page unknown"
    console.print(f"Audit of {audit.site}: {counted(len(audit.urls), 'page')}, {home}", soft_wrap=True)
    if audit.home < 0:
        console.print(
            "The home page is not among the pages, so clicks from it are unknown. To count from another page, "
            "use --home URL.",
            soft_wrap=True,
        )
    if audit.links_known:
        console.print(f"Links today: {audit.counted_today}", soft_wrap=True)
    if len(audit.candidates.sources):
        console.print(
            f"After: the site with {audit.adopted_links} (--after {audit.after_by})", soft_wrap=True
        )
        console.print(f"New links after adoption: {audit.counted_new}", soft_wrap=True)
    else:
        console.print("No links are proposed.")
    console.print(f"{'':42}{'today':>12}{'after':>12}")
    for measure in audit.summary.itertuples():
        values = (measure.before, measure.after)
        figures = (
            f"{'unknown' if isnan(value) else f'{value:.{measure.decimals}f}':>12}" for value in values
        )
        console.print(f"{measure.name:42}{''.join(figures)}")
    standings = audit.standings
    console.print(f"\nFindings: {len(audit.findings)}")
    for rule, found in audit.by_rule.items():
        resolved = (
            f"{standings[rule, 'resolved']} resolved by the proposed links, "
            f"{standings[rule, 'new']} new with them"
        )
        console.print(f"{rule} ({rule.severity}): {len(found)} ({resolved}). {rule.message}", soft_wrap=True)
        for one in found[:_SHOWN]:
            console.print(
                f"  {one.page}{f'  {one.other}' if one.other else ''}: {one.detail}", soft_wrap=True
            )
        if len(found) > _SHOWN:
            console.print(f"  ... and {len(found) - _SHOWN} more in files/audit.xlsx")
    if audit.opportunities:
        told = counted(len(audit.opportunities), "opportunity", "opportunities")
        console.print(
            f"\n{told} to earn more clicks at better positions: see the sheet Opportunities of files/audit.xlsx",
            soft_wrap=True,
        )
