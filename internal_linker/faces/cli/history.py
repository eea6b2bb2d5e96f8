"""The commands about earlier runs, and the review at a terminal: history, diff, rollback and review."""

import sys
import unicodedata
from typing import TYPE_CHECKING

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
from internal_linker.project.options.decisions import DiffOptions, ReviewOptions, RollbackOptions

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from internal_linker.model.columns import LinkView
    from internal_linker.model.edges import Anchor
    from internal_linker.project.history import DiffResult, HistoryResult, RollbackResult

# Differences that are printed; all are in the file.
SHOWN = 20


@prints("history")
def history(result: "HistoryResult", _: Call) -> None:
    """List the runs whose links are stored.

    These are the last 26 runs: half a year of weekly runs. Other commands take a run's name as well as its number:
    last is the newest run, last-1 the one before it.
    """
    from internal_linker.faces.cli.output import print_aligned
    from internal_linker.project.console import open_console
    from internal_linker.project.history import names

    header = ("Run", "Name", "Ended (UTC)", "What", "Rows", "Links", "Published", "Model")
    versions = result.versions
    if not versions:
        typer.echo("No runs are stored yet.")
        return
    rows = [
        (
            *(one.run, name, one.at[:16].replace("T", " "), one.what, str(one.rows), str(one.links)),
            *("yes" if one.published else "no", one.encoder.partition(", recipe ")[0]),
        )
        for one, name in zip(versions, names(versions), strict=True)
    ]
    print_aligned(open_console(), header, rows)
    # Scripts read the table.
    note = (
        "Links: those of the pages' rows in files/Output.csv, without suggestions for queries without a page."
    )
    typer.echo(note, err=True)


@prints("diff", DiffOptions)
def diff(result: "DiffResult", _: Call) -> None:
    """Show how the links of two runs differ, and why.

    Write all differences to files/diff.csv and print the first 20.
    """
    found = result.differences
    for each in found[:SHOWN]:
        places = " -> ".join(str(place) for place in (each.before, each.after) if place)
        other = f" (other link: {each.other})" if each.other else ""
        row = f"{each.change:<5} {each.source} -> {each.target} (place {places}): {each.why}{other}"
        typer.echo(escape_control_chars(row))
    if len(found) > SHOWN:
        typer.echo(f"... and {len(found) - SHOWN} more")
    for (change, why), count in result.counts.items():
        typer.echo(f"{count} {change}: {why}")
    typer.echo(f"Links: {result.links}, suggestions for queries without a page included.")
    typer.echo(" ".join(result.remarks) or f"{counted(len(found), 'difference')} written to files/diff.csv.")


@prints("rollback", RollbackOptions, stderr=False)
def rollback(result: "RollbackResult", call: Call) -> int | None:
    """Restore the links of an earlier run.

    Write them to the Sheet, Output.csv and links.csv, except those that an editor has rejected since. The next run
    proposes its own links again: to keep the earlier links of some pages, set sections_off.
    """
    typer.echo(result.summary)
    if result.earlier:
        typer.echo(
            "This was the newest run, whose links were in place already. To go back to the run before it: "
            f"{call.typed(f'rollback {result.earlier}')}"
        )
    if result.failure:
        return result.failure.exit_code
    return ExitCode.GAPS if result.gaps else None


_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
# First strong isolate and its end: what is between is laid out by itself, whatever stands around it.
_ISOLATE, _END = "\u2068", "\u2069"


@with_options(ReviewOptions)
def review(context: typer.Context, project: ProjectOption = None, *, options: ReviewOptions) -> None:
    """Go through proposed links, one after another.

    Keys: a accept, r reject, e edit the anchor, s skip, n add a note, u undo the link before, q quit. Each decision
    is saved immediately; the next run respects it. A warning tells that an anchor is not in the text of its page.
    """
    opened = opened_project(context, project)
    from internal_linker.project import review as usecase
    from internal_linker.project.console import open_console

    console = open_console()
    with reporting() as reporter:
        counts = usecase.review(opened, options, TerminalFace(console), reporter)
    if counts == usecase.NOTHING_WAITS:
        which = " that match" if options.sections or options.source or options.tier else ""
        console.print(f"No links{which} wait for a decision.")
        return
    decided = f"{counts.accepted} accepted, {counts.rejected} rejected, {counts.edited} edited"
    console.print(f"{decided}, {counts.skipped} skipped; {counts.left} left.")


class TerminalFace:
    """A `session.ReviewFace` on a console and standard input."""

    def __init__(self, console: "Console") -> None:
        self._console = console

    def show(self, link: "LinkView", left: int) -> None:
        """One link, its anchor marked in its sentence."""
        from internal_linker.model.edges import TIER_NAMES, score_of
        from internal_linker.model.wordings import full_reason, shown_wording, warning
        from internal_linker.review.session import key_help

        print_ = self._console.print
        print_(f"\n{left} left")
        print_("  Sentence  ", end="")
        edge = link.edge
        print_(self._marked(edge.chosen), soft_wrap=True)
        score = "unknown" if (known := score_of(edge.strength)) is None else str(known)
        rows = [("Wording", shown_wording(edge)), ("Anchor", edge.chosen.text), ("Warning", warning(edge))]
        rows += [("Source", link.source_title), ("" if link.source_title else "Source", edge.source_url)]
        rows += [("Target", link.target_title), ("" if link.target_title else "Target", edge.target_url)]
        rows += [("Score", f"{score}, {TIER_NAMES[edge.tier]}")]
        rows += [("Why", full_reason(edge)), ("Notes", edge.notes)]
        for name, text in rows:
            if text:
                print_(f"  {name:<9} {isolated(_plain(text))}", soft_wrap=True)
        print_(key_help(), style="dim")

    def key(self) -> str:
        """One key press at a terminal, the first letter of the next line elsewhere."""
        if sys.stdin.isatty():
            try:
                return typer.getchar().casefold()
            except EOFError:
                return ""
        while line := sys.stdin.readline():
            if line.strip():
                return line.strip()[0].casefold()
        return ""

    def ask(self, question: str) -> str:
        """Ask for a line of text."""
        self._console.print(f"{question}: ", end="")
        return sys.stdin.readline().strip()

    def say(self, text: str) -> None:
        """Print a sentence."""
        self._console.print(text)

    def _marked(self, chosen: "Anchor") -> "Text":
        from rich.text import Text

        sentence, anchor = _plain(chosen.sentence), _plain(chosen.text)
        start = sentence.find(anchor) if anchor else -1
        if start < 0:
            return Text(isolated(sentence))
        before, after = sentence[:start], sentence[start + len(anchor) :]
        if not self._console.is_terminal:
            return Text(isolated(f"{before}[{anchor}]{after}"))
        left, right = (_ISOLATE, _END) if _turned(sentence) else ("", "")
        return Text.assemble(left + before, (anchor, "bold reverse"), after + right)


def isolated(text: str) -> str:
    """Isolate a text with right-to-left letters, so that it doesn't reorder the text around it."""
    return f"{_ISOLATE}{text}{_END}" if _turned(text) else text


def _turned(text: str) -> bool:
    return any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in text)


def _plain(text: str) -> str:
    """No control characters: what came from a site must not steer the terminal."""
    from internal_linker.review.merge import clean

    return clean(text)
