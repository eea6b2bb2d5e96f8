"""What commands print: tables and plain lines, or JSON."""

import json
import math
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.analysis.similarity.similarity import ComparedPages
from internal_linker.core.briefs import BriefLink, BriefLinks
from internal_linker.core.errors import ExitCode
from internal_linker.core.records import Candidate, Recommendation
from internal_linker.core.shown import neutralised

if TYPE_CHECKING:
    from internal_linker.usecases.run import PageLink, PageLinks

# Existing pages like the new one, and rows of a trial, that the terminal shows.
MOST_LIKE, MOST_TRIAL_ROWS = 5, 10


def print_links(console: Console, recommendation: Recommendation) -> None:
    """Print the links of one page or query with the reason for each; a table would truncate the URLs."""
    console.print(f"Links for {recommendation.source.name}")
    for link in recommendation.links:
        console.print(f"{link.rank:>2}  {link.target.url}  ({_reason(link.target)})", soft_wrap=True)
    if recommendation.note:
        console.print(f"Note: {recommendation.note}")


def print_trial(console: Console, found: "PageLinks") -> None:
    """Print the links of a trial's first rows with reasons, anchors and sentences."""
    links = iter(found.links)
    for recommendation in found.recommendations[:MOST_TRIAL_ROWS]:
        console.print(f"Links for {recommendation.source.name}", soft_wrap=True)
        for link in islice(links, len(recommendation.links)):
            console.print(f"{link.rank:>2}  {link.target}  ({_reason(link)})", soft_wrap=True)
            if link.anchor:
                place = f"  in: {shortened(link.sentence, 200)}" if link.sentence else ""
                console.print(f'    "{shortened(link.anchor, 100)}"{place}', soft_wrap=True)
        if recommendation.note:
            console.print(f"Note: {recommendation.note}", soft_wrap=True)
    if (more := len(found.recommendations) - MOST_TRIAL_ROWS) > 0:
        console.print(f"... and {more} more rows in files/trial/links.csv.")


def _reason(target: "Candidate | BriefLink | PageLink") -> str:
    origin = f"search, rank {target.serp_rank}" if target.serp_rank else "similarity"
    figures = (
        ("score", target.score),
        ("embedding", target.similarity),
        ("words", target.lexical),
        ("probability", target.probability),
    )
    return origin + "".join(f", {name} {value:.2f}" for name, value in figures if not math.isnan(value))


def print_brief(console: Console, brief: BriefLinks) -> None:
    """Print the links of a page that does not exist yet, in both directions, with their anchors."""
    for page in brief.like[:MOST_LIKE]:
        cosine = "" if math.isnan(page.similarity) else f", embedding {page.similarity:.2f}"
        console.print(f"Already exists: {page.url}  ({page.why}{cosine})", soft_wrap=True)
    if len(brief.like) > MOST_LIKE:
        console.print(f"... and {len(brief.like) - MOST_LIKE} more: --json lists all.")
    name = shortened(brief.title, 100)
    console.print(f"{name} should link to", soft_wrap=True)
    for link in brief.links_to:
        _print_link(console, link, link.target)
    console.print(f"{name} should be linked from", soft_wrap=True)
    for link in brief.links_from:
        _print_link(console, link, link.source)
    for note in brief.notes:
        console.print(f"Note: {note}", soft_wrap=True)


def _print_link(console: Console, link: BriefLink, url: str) -> None:
    console.print(f"{link.rank:>2}  {url}  ({_reason(link)})", soft_wrap=True)
    if link.anchor:
        texts = [link.anchor, *(other.text for other in link.more_anchors)]
        told = " | ".join(f'"{shortened(text, 100)}"' for text in texts)
        where = "in" if link.verbatim else "not in the text; could be added to"
        place = f"  {where}: {shortened(link.sentence, 200)}" if link.sentence else ""
        console.print(f"    {told}{place}", soft_wrap=True)


def print_columns(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on a terminal; elsewhere one line per row, its cells separated by tabs."""
    if not console.is_terminal:
        # Bypass the console, which would turn tabs into spaces.
        console.file.writelines(neutralised("\t".join(row)) + "\n" for row in (header, *rows))
        return
    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_aligned(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose columns are aligned by spaces, on a terminal and elsewhere; lines are never wrapped."""
    widths = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        console.print("  ".join(cells).rstrip(), soft_wrap=True)


def print_rows(console: Console, title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Print names and values: a table on a terminal, one line each elsewhere."""
    if not console.is_terminal:
        console.print(title)
        for name, value in rows:
            console.print(f"  {name}: {value}")
        return
    table = Table(title=title, show_header=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def conclude_comparison(
    compared: ComparedPages,
    names: Sequence[str],
    data: Callable[[], dict[str, object]] | None,
    show: Callable[[], list[tuple[str, str]]],
) -> None:
    """Print the result of a comparison: as JSON if `data` gives it, else as `show` does, with the rows it returns.

    Raises:
        typer.Exit: something is missing (exit code 6).
    """
    if data:
        told = {"left_out": dict(compared.left_out), "brands": list(compared.brands)}
        told |= {"files": [f"files/{name}" for name in names], "gaps": list(compared.gaps)}
        typer.echo(json.dumps(data() | told))
    else:
        from internal_linker.cli.output import print_rows
        from internal_linker.usecases.console import open_console

        rows = [
            *show(),
            ("Pages compared", str(len(compared.pages))),
            *((f"Left out: {reason}", str(count)) for reason, count in sorted(compared.left_out.items())),
            ("Brands removed from titles", ", ".join(compared.brands) or "none"),
        ]
        print_rows(open_console(), "Result", rows)
    if compared.gaps:
        raise typer.Exit(ExitCode.GAPS)
