"""The commands that put accepted links into the site's texts and take them back: apply and undo."""

from dataclasses import asdict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from internal_linker.faces.cli.command import (
    Call,
    ProjectOption,
    opened_project,
    prints,
    reporting,
    with_options,
)
from internal_linker.model.errors import ExitCode
from internal_linker.model.redact import escape_control_chars
from internal_linker.model.sequences import counted
from internal_linker.project.options.decisions import ApplyOptions, UndoOptions

if TYPE_CHECKING:
    from rich.console import Console

    from internal_linker.project.apply import ApplyResult

# Lines of a diff, and pages of an unsure match, that are printed.
_MOST_LINES, _MOST_PAGES = 400, 20


@prints("apply", ApplyOptions, json=True)
def apply(result: "ApplyResult", call: Call) -> ExitCode | None:
    """Put accepted links into source files or WordPress posts.

    Without --write, --patch or --branch nothing is changed: the links and the changes are shown. Each written file or
    post can be taken back with undo.
    """
    from internal_linker.project.console import open_console

    options = call.options
    for remark in result.remarks:
        call.reporter.warn(remark)
    if call.as_json:
        from internal_linker.faces.cli.output import json_of

        typer.echo(escape_control_chars(json_of(asdict(result))))
    else:
        _show(open_console(), result, is_trial=not (options.write or options.patch or options.branch))
        if result.application:
            typer.echo(f"To take the links back: {call.typed(f'undo {result.application}')}")
    for gap in result.gaps:
        typer.echo(f"Gap: {gap}", err=True)
    return ExitCode.GAPS if result.gaps else None


def _show(console: "Console", result: "ApplyResult", *, is_trial: bool) -> None:
    from internal_linker.faces.cli.output import print_aligned
    from internal_linker.project.apply import ApplyOutcome

    console.print(result.mapping, soft_wrap=True)
    for url, why in result.unsure[:_MOST_PAGES]:
        console.print(f"  {url}: {why}", soft_wrap=True)
    if len(result.unsure) > _MOST_PAGES:
        console.print(f"  ... and {len(result.unsure) - _MOST_PAGES} more")
    if not result.links:
        console.print("No accepted links to apply: accept links in the review first.")
        return
    if rows := _rows(result):
        console.print()
        print_aligned(console, ("Page", "Anchor", "Target", "Result"), rows)
    if is_trial and result.diff:
        console.print()
        lines = result.diff.splitlines()
        for line in lines[:_MOST_LINES]:
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            console.print(escape_control_chars(line), style=style, soft_wrap=True)
        if len(lines) > _MOST_LINES:
            how = "--patch FILE writes" if result.noun == "file" else "--json has"
            console.print(f"... and {len(lines) - _MOST_LINES} more lines: {how} all of them")
    console.print()
    for name, count in result.counts.items():
        how = ": write them with --links-json FILE" if name == ApplyOutcome.FOR_BOX else ""
        console.print(f"{counted(count, 'link')} {name}{how}", soft_wrap=True)
    if is_trial and result.diff:
        console.print(f"Nothing was changed. To change the {result.noun}s, add --write.")


def _rows(result: "ApplyResult") -> list[tuple[str, str, str, str]]:
    """Return a row for each link that is for the text; with paths as addresses if all pages are on one host."""
    from internal_linker.project.apply import ApplyOutcome

    links = [link for link in result.links if link.outcome not in (ApplyOutcome.FOR_BOX, ApplyOutcome.IN_BOX)]
    hosts = {urlsplit(url).netloc for link in links for url in (link.page, link.target)}

    def shown(url: str) -> str:
        parts = urlsplit(url)
        return (
            parts._replace(scheme="", netloc="", path=parts.path or "/").geturl() if len(hosts) == 1 else url
        )

    return [(shown(link.page), link.anchor, shown(link.target), link.result) for link in links]


@with_options(UndoOptions)
def undo(context: typer.Context, project: ProjectOption = None, *, options: UndoOptions) -> None:
    """Take applied links back, or list the applications.

    Each file or post that is still as links were applied to it gets its former content, byte by byte. Those that
    changed since are listed and stay as they are.
    """
    opened = opened_project(context, project)
    from internal_linker.faces.cli.output import print_aligned
    from internal_linker.project import undo_links as usecase
    from internal_linker.project.console import open_console

    console = open_console()
    if not options.what:
        rows = [
            (
                *(one.application, one.at[:16].replace("T", " "), one.by, one.home),
                *(str(count) for count in (one.texts, one.applied, one.live, one.undone)),
            )
            for one in usecase.applications(opened).applications
        ]
        if not rows:
            console.print("No links were applied yet.")
            return
        header = ("Application", "Began (UTC)", "By", "Folder or site", "Texts", "Applied", "Live", "Undone")
        print_aligned(console, header, rows)
        return
    with reporting() as reporter:
        result = usecase.undo(opened, options, reporter)
    console.print(result.summary)
    for text in result.kept:
        what = f"{text.page} ({text.file})" if text.noun == "post" else text.file
        console.print(f"Left as it is: {what}: {text.reason}", soft_wrap=True)
    raise typer.Exit(ExitCode.GAPS if result.kept else ExitCode.SUCCESS)
