"""What commands print: tables and plain lines, or JSON."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from internal_linker.model.edges import TIER_NAMES
from internal_linker.model.errors import ExitCode
from internal_linker.model.redact import escape_control_chars
from internal_linker.store.files.plain_text import shortened

if TYPE_CHECKING:
    from internal_linker.insight.similarity.similarity import ComparedPages
    from internal_linker.model.briefs import BriefLink, BriefLinks
    from internal_linker.project.run import PageLink, PageLinks

# Existing pages like the new one, and rows of a trial, that the terminal shows.
MOST_LIKE, MOST_TRIAL_ROWS = 5, 10
# Characters of a sentence to show on either side of its anchor.
_AROUND = 120
# Below the title of a link: rank and score take this place.
_INDENT = " " * 9


def print_lookup(console: Console, found: "PageLinks") -> None:
    """Print the links of a page or a query, or the best sources for a page, each with the reason and its anchor."""
    links = iter(found.links)
    title = found.report.collected.title
    if found.to:
        console.print(
            f"Pages that should link to {_named(found.to.url, title(found.to.key))}", soft_wrap=True
        )
    for recommendation in found.recommendations:
        source = recommendation.source
        if not found.to:
            console.print(f"Links for {_named(source.name, title(source.key))}", soft_wrap=True)
        for link in islice(links, len(recommendation.links)):
            _print_found(console, link, to=bool(found.to))
    for _, note in found.notes:
        console.print(f"Note: {note}", soft_wrap=True)


def _named(url: str, title: str) -> str:
    return f"{url} ({shortened(title, 100)})" if title else url


def _print_found(console: Console, link: "PageLink", *, to: bool) -> None:
    """Print a link: rank, score and title of the other page, then its URL, the reason and the anchor, a line each."""
    url, title = (link.source, link.source_title) if to else (link.target, link.target_title)
    _print_head(console, link.rank, link.score, title, url)
    console.print(f"{_INDENT}{link.why}", soft_wrap=True)
    if not link.source:
        return  # a query has no text to link from
    if link.verbatim:
        line = Text(_INDENT).append_text(marked(console, link.sentence, link.anchor))
        console.print(line, soft_wrap=True)
    else:
        told = f': "{shortened(link.anchor, 100)}"' if link.anchor else ""
        console.print(f"{_INDENT}{TIER_NAMES['sidebar']}{told}", soft_wrap=True)


def _print_head(console: Console, rank: int, score: int | None, title: str, url: str) -> None:
    shown = f"{rank:>2}  {'-' if score is None else score:>3}  "
    if title:
        console.print(f"{shown}{shortened(title, 100)}", soft_wrap=True)
        console.print(f"{_INDENT}{url}", soft_wrap=True)
    else:
        console.print(f"{shown}{url}", soft_wrap=True)


def marked(console: Console, sentence: str, anchor: str) -> Text:
    """Return a sentence, shortened around its anchor, which is bold on a terminal and in quotation marks elsewhere."""
    before, found, after = sentence.partition(anchor)
    if not found:  # the sentence has it in another case or spacing
        before, after = "", f" in: {sentence}" if sentence else ""
    # The marks keep the space beside the anchor.
    before, after = (" ".join(part.split()) for part in (f"{before}|", f"|{after}"))
    before, after = before.removesuffix("|"), after.removeprefix("|")
    if len(before) > _AROUND:
        before = f"... {before[-_AROUND:].partition(' ')[2]}"
    if len(after) > _AROUND:
        after = f"{after[:_AROUND].rpartition(' ')[0]} ..."
    # Consoles leave a text with styles as it is.
    before, words, after = (escape_control_chars(part) for part in (before, " ".join(anchor.split()), after))
    if console.is_terminal:
        return Text.assemble(before, (words, "bold"), after)
    return Text(f'{before}"{words}"{after}')


def lookup_data(found: "PageLinks") -> dict[str, object]:
    """Return what a lookup found as JSON has it."""
    return {
        "to": found.to.url if found.to else "",
        "links": [asdict(link) for link in found.links],
        "notes": [note for _, note in found.notes],
        "gaps": list(found.gaps),
    }


def json_of(data: dict[str, object]) -> str:
    """Return JSON in which unknown numbers are null."""

    def known(value: object) -> object:
        """JSON has no NaN."""
        if isinstance(value, dict):
            return {name: known(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [known(each) for each in value]
        return None if isinstance(value, float) and math.isnan(value) else value

    return json.dumps(known(data), ensure_ascii=False, allow_nan=False)


def print_trial(console: Console, found: "PageLinks") -> None:
    """Print the links of a trial's first rows with reasons, anchors and sentences."""
    links = iter(found.links)
    for recommendation in found.recommendations[:MOST_TRIAL_ROWS]:
        console.print(f"Links for {recommendation.source.name}", soft_wrap=True)
        for link in islice(links, len(recommendation.links)):
            _print_found(console, link, to=False)
        if recommendation.note:
            console.print(f"Note: {recommendation.note}", soft_wrap=True)
    if (more := len(found.recommendations) - MOST_TRIAL_ROWS) > 0:
        console.print(f"... and {more} more rows in files/trial/links.csv.")


def print_brief(console: Console, brief: "BriefLinks") -> None:
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


def _print_link(console: Console, link: "BriefLink", url: str) -> None:
    _print_head(console, link.rank, link.score, link.title, url)
    console.print(f"{_INDENT}{link.why}", soft_wrap=True)
    if link.verbatim:
        console.print(Text(_INDENT).append_text(marked(console, link.sentence, link.anchor)), soft_wrap=True)
    texts = (
        [one.text for one in link.more_anchors]
        if link.verbatim
        else [link.anchor, *(one.text for one in link.more_anchors)]
    )
    if told := " | ".join(f'"{shortened(text, 100)}"' for text in texts if text):
        console.print(f"{_INDENT}{'or ' if link.verbatim else ''}{told}", soft_wrap=True)
    if not link.verbatim and link.sentence:
        console.print(f"{_INDENT}could be added to: {shortened(link.sentence, 200)}", soft_wrap=True)


def print_columns(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on a terminal; elsewhere one line per row, its cells separated by tabs."""
    if not console.is_terminal:
        # Bypass the console, which would turn tabs into spaces.
        console.file.writelines(escape_control_chars("\t".join(row)) + "\n" for row in (header, *rows))
        return
    from rich.table import Table

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
    from rich.table import Table

    table = Table(title=title, show_header=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def conclude_comparison(
    compared: "ComparedPages",
    names: Sequence[str],
    data: Callable[[], Mapping[str, object]] | None,
    show: Callable[[], list[tuple[str, str]]],
) -> ExitCode | None:
    """Print the result of a comparison: as JSON if `data` gives it, else as `show` does, with the rows it returns."""
    if data:
        told = {"left_out": dict(compared.left_out), "brands": list(compared.brands)}
        told |= {"files": [f"files/{name}" for name in names], "gaps": list(compared.gaps)}
        typer.echo(json.dumps({**data(), **told}))
    else:
        from internal_linker.project.console import open_console

        rows = [
            *show(),
            ("Pages compared", str(len(compared.pages))),
            *((f"Left out: {reason}", str(count)) for reason, count in sorted(compared.left_out.items())),
            ("Brands removed from titles", ", ".join(compared.brands) or "none"),
        ]
        print_rows(open_console(), "Result", rows)
    return ExitCode.GAPS if compared.gaps else None
