"""The commands about what links earn: impact and queries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.faces.cli.command import (
    Call,
    JsonOption,
    ProjectOption,
    opened_project,
    prints,
    reporting,
    typed,
    with_options,
)
from internal_linker.model.errors import ConfigurationError, ExitCode
from internal_linker.model.redact import escape_control_chars
from internal_linker.model.sequences import counted
from internal_linker.project.options.evaluation import ImpactOptions, QueriesOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from internal_linker.project.experiments import PlanResult
    from internal_linker.project.impact import ImpactResult
    from internal_linker.project.project import Project
    from internal_linker.project.queries import FilledQueries

# Links of an experiment that are printed, held back and not.
_SHOWN = 20


@with_options(ImpactOptions)
def impact(
    context: typer.Context,
    project: ProjectOption = None,
    *,
    options: ImpactOptions,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Hold back the links to 20% of the targets of accepted links, at random, for four weeks. With "
            "accepted links to fewer than 150 pages, hold nothing back and end with exit code 6.",
        ),
    ] = False,
    release: Annotated[
        bool, typer.Option("--release", help="Let the links go live that --plan holds back.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure what new links earned.

    Compare clicks, impressions and positions of their targets with similar pages without new links, before and after,
    and say how sure the difference is. Write a report to files/impact.html. Search data must be imported before.
    """
    if plan and release:
        raise ConfigurationError("--plan and --release can't be used together: choose one of them.")
    opened = opened_project(context, project)
    if plan or release:
        _plan(context, opened, as_json=as_json, release=release)
        return
    from internal_linker.project import impact as usecase

    with reporting() as reporter:
        result = usecase.impact(opened, options, reporter)
        for remark in (*result.remarks, *result.findings.remarks):
            reporter.warn(remark)
    if as_json:
        typer.echo(_as_json(result))
    else:
        _show(result)


def _plan(context: typer.Context, project: "Project", *, as_json: bool, release: bool) -> None:
    from internal_linker.project import experiments as usecase
    from internal_linker.project.experiments import PlanStatus

    result: PlanResult = usecase.end_experiment(project) if release else usecase.plan_experiment(project)
    if as_json:
        from internal_linker.faces.cli.output import json_of

        told = {"status": str(result.status), "sentence": result.sentence}
        links = result.records()
        typer.echo(
            escape_control_chars(
                json_of({**told, **{name: links[name] for name in ("held_back", "put_live")}})
            )
        )
    else:
        _show_plan(context, result)
    if result.status is PlanStatus.REFUSED:
        raise typer.Exit(ExitCode.GAPS)


def _show_plan(context: typer.Context, result: "PlanResult") -> None:
    from internal_linker.project.console import open_console

    console = open_console()
    console.print(result.sentence, soft_wrap=True)
    for name, links in (("put live", result.released), ("held back", result.links)):
        for source, target in links[:_SHOWN]:
            console.print(f"  {name}: {source} -> {target}", soft_wrap=True)
        if len(links) > _SHOWN:
            console.print(
                f"  ... and {len(links) - _SHOWN:,} more: {typed(context, 'impact --plan --json')} lists all.",
                soft_wrap=True,
            )
    if result.drawn:
        console.print(f"To compare them afterwards: {typed(context, 'impact --experiment')}", soft_wrap=True)
        console.print(f"To let them go live: {typed(context, 'impact --release')}", soft_wrap=True)


def _show(result: "ImpactResult") -> None:
    from internal_linker.faces.cli.output import print_aligned
    from internal_linker.insight.impact.report.html import effect, percent
    from internal_linker.project.console import open_console

    console, found = open_console(), result.findings
    console.print(found.sentence, soft_wrap=True)
    if found.estimates:
        rows = [
            (str(one.outcome), one.group, effect(one), str(one.pages), one.judgement) for one in found.listed
        ]
        console.print()
        print_aligned(console, ("What", "Targets", "Effect", "Pages", "Verdict"), rows)
        console.print(
            f"\nSmallest effect that would probably be seen: {found.detectable:.0%}; for one of 5%, "
            f"{found.pages_needed:,} targets are needed.\n"
            f"Before the links: differences as large as those found are by chance with p = {found.pre_trend:.2f}.\n"
            f"Before/after without controls: {percent(found.before_after_share)}, which mixes the links with season, "
            "updates and the recovery of sinking pages.",
            soft_wrap=True,
        )
    for name in result.files:
        console.print(f"Written: files/{name}")


def _as_json(result: "ImpactResult") -> str:
    from internal_linker.faces.cli.output import json_of

    found = result.findings
    more = {
        "placebo": found.placebo and dict(zip(("effect", "low", "high"), found.placebo.shown, strict=True)),
        "remarks": [*result.remarks, *found.remarks],
    }
    return escape_control_chars(json_of({**result.facts, **more, **result.records()}))


# Queries of each kind that the terminal shows; --json has all, of the URLs of no page the most clicked.
_SHOWN_QUERIES, _FEW = 30, 10


@prints("queries", QueriesOptions, json=True)
def queries(done: "FilledQueries", call: Call) -> ExitCode | None:
    """Choose main queries from search data.

    Show for each page the query it earns most from: by clicks, then by impressions and position. Queries for the
    site's name are left out, and queries from which two pages earn are listed. With --write, fill the empty main
    queries of files/main_queries.csv or of the Sheet; a main query that somebody wrote is never changed.
    """
    from internal_linker.faces.cli.output import print_rows
    from internal_linker.project.console import open_console

    if call.as_json:
        import json

        typer.echo(json.dumps(_queries_as_json(done), ensure_ascii=False))
    else:
        _show_queries(done)
        print_rows(open_console(), "Main queries", _rows(done))
    return ExitCode.GAPS if done.problems else None


def _show_queries(done: "FilledQueries") -> None:
    from internal_linker.project.console import open_console

    console, queries = open_console(), done.chosen.queries
    new = queries[queries["page"].isin(done.filled)]
    for each in new.head(_SHOWN_QUERIES).itertuples():
        note = f"; {each.note}" if each.note else ""
        console.print(
            f"{each.query}  {each.page}  ({counted(each.clicks, 'click')}, {each.impressions} impressions, "
            f"position {each.position:.1f}{note})",
            soft_wrap=True,
            markup=False,
        )
    if len(new) > _SHOWN_QUERIES:
        console.print(f"... and {len(new) - _SHOWN_QUERIES} more (--json shows all)")
    for each in queries[queries["page"].isin(done.unfilled)].head(_FEW).itertuples():
        why = f"  ({each.note})" if each.note else ""
        console.print(f"not filled: {each.query}  {each.page}{why}", soft_wrap=True, markup=False)
    if len(done.unfilled) > _FEW:
        console.print(f"... and {len(done.unfilled) - _FEW} more that are not filled (--json shows all)")
    shared = dict[str, list[str]]()
    for one in done.chosen.shared.itertuples():
        shared.setdefault(one.query, []).append(f"{one.page} ({one.share:.0%})")
    for query, pages in [*shared.items()][:_FEW]:
        console.print(f"cannibalised: {query}  {'  '.join(pages)}", soft_wrap=True, markup=False)
    if len(shared) > _FEW:
        console.print(f"... and {len(shared) - _FEW} more cannibalised queries (--json shows all)")


def _some(texts: "Sequence[str]", count: int) -> str:
    more = f" and {count - len(texts)} more" if count > len(texts) else ""
    return ", ".join(texts) + more


def _rows(done: "FilledQueries") -> list[tuple[str, str]]:
    chosen = done.chosen
    brands = _some([*chosen.brands["query"].head(_FEW)], len(chosen.brands))
    rows = [
        (f"Search data of {done.source}", f"{done.first} to {done.last}"),
        (f"{'Filled in' if done.written else 'To fill in'} {done.place}", counted(len(done.filled), "page")),
        ("Kept: written already", counted(len(done.kept), "page")),
        ("Cannibalised queries", str(chosen.shared["query"].nunique())),
        (
            "Queries for the site's name, left out",
            f"{len(chosen.brands)}" + (f": {brands}" if brands else ""),
        ),
    ]
    if done.unfilled:
        rows.append(("Not filled", counted(len(done.unfilled), "page")))
    if done.absent:
        rows.append(("Without a row in the Sheet", counted(len(done.absent), "page")))
    for name in chosen.topics:
        told = (
            "not left out, because most clicks on other pages than the home page come with it: it is the site's "
            f'topic. Only the name alone is left out; --brand "{name}" leaves them all out'
        )
        rows.append((f'Queries with "{name}" and other words', told))
    for why in dict.fromkeys(chosen.without.values()):
        count = sum(1 for each in chosen.without.values() if each == why)
        rows.append((f"Without a main query: {why}", counted(count, "page")))
    if done.unknown_urls:
        rows.append(
            (
                "URLs that are no page of the project",
                f"{done.unknown_urls}, {counted(done.unknown_clicks, 'click')}: "
                + _some(done.unknown_examples, done.unknown_urls),
            )
        )
    return rows + [("Backup of the earlier file", f"files/{copy}") for copy in done.copies]


def _queries_as_json(done: "FilledQueries") -> dict[str, object]:
    tables, chosen = done.records(), done.chosen
    return {
        "source": done.source,
        "first": str(done.first),
        "last": str(done.last),
        "place": done.place,
        "written": done.written,
        **{name: tables[name] for name in ("queries", "cannibalised", "brands")},
        "without": dict(chosen.without),
        "topics": list(chosen.topics),
        "unknown_urls": done.unknown_urls,
        "unknown_clicks": done.unknown_clicks,
        "unknown_examples": list(done.unknown_examples),
        "problems": list(done.problems),
        "copies": list(done.copies),
    }
