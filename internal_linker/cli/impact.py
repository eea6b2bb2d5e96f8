"""The command that measures what links did: impact."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.command import (
    JsonOption,
    ProjectOption,
    opened_project,
    reporting,
    typed,
    with_options,
)
from internal_linker.core.errors import ConfigurationError, ExitCode
from internal_linker.core.shown import neutralised
from internal_linker.usecases.options.performance import ImpactOptions

if TYPE_CHECKING:
    from internal_linker.usecases.experiments import PlanResult
    from internal_linker.usecases.impact import ImpactResult
    from internal_linker.usecases.project import Project

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
    from internal_linker.usecases import impact as usecase

    with reporting() as reporter:
        result = usecase.impact(opened, options, reporter)
        for remark in (*result.remarks, *result.findings.remarks):
            reporter.warn(remark)
    if as_json:
        typer.echo(_as_json(result))
    else:
        _show(result)


def _plan(context: typer.Context, project: "Project", *, as_json: bool, release: bool) -> None:
    from internal_linker.usecases import experiments as usecase
    from internal_linker.usecases.experiments import PlanStatus

    result: PlanResult = usecase.end_experiment(project) if release else usecase.plan_experiment(project)
    if as_json:
        from internal_linker.cli.output import json_of

        told = {"status": str(result.status), "sentence": result.sentence}
        links = {"held_back": _links(result.links), "put_live": _links(result.released)}
        typer.echo(neutralised(json_of({**told, **links})))
    else:
        _show_plan(context, result)
    if result.status is PlanStatus.REFUSED:
        raise typer.Exit(ExitCode.GAPS)


def _links(links: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"source": source, "target": target} for source, target in links]


def _show_plan(context: typer.Context, result: "PlanResult") -> None:
    from internal_linker.usecases.console import open_console

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
    from internal_linker.cli.output import print_aligned
    from internal_linker.performance.impact.report.html import effect, percent
    from internal_linker.usecases.console import open_console

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
    from internal_linker.cli.output import json_of

    tables = {
        name: [
            dict(zip(columns, map(_plain, row), strict=True)) for row in zip(*columns.values(), strict=True)
        ]
        for name, columns in result.tables().items()
    }
    found = result.findings
    told = {
        "verdict": str(found.verdict),
        "sentence": found.sentence,
        "days": found.days,
        "links": result.links,
        "pre_trend": found.pre_trend,
        "detectable": found.detectable,
        "pages_needed": found.pages_needed,
        "before_after": found.before_after_share,
        "placebo": found.placebo and dict(zip(("effect", "low", "high"), found.placebo.shown, strict=True)),
        "remarks": [*result.remarks, *found.remarks],
    }
    return neutralised(json_of({**told, **tables}))


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float) else str(value)
