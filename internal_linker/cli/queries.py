"""The command that chooses main queries from search data: queries."""

from typing import TYPE_CHECKING

import typer

from internal_linker.cli.command import JsonOption, ProjectOption, opened_project, reporting, with_options
from internal_linker.core.errors import ExitCode
from internal_linker.core.sequences import counted
from internal_linker.usecases.options.performance import QueriesOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from internal_linker.usecases.queries import FilledQueries

# Queries of each kind that the terminal shows; --json has all, of the URLs of no page the most clicked.
_SHOWN, _FEW = 30, 10


@with_options(QueriesOptions)
def queries(
    context: typer.Context,
    project: ProjectOption = None,
    as_json: JsonOption = False,
    *,
    options: QueriesOptions,
) -> None:
    """Choose main queries from search data.

    Show for each page the query it earns most from: by clicks, then by impressions and position. Queries for the
    site's name are left out, and queries from which two pages earn are listed. With --write, fill the empty main
    queries of files/main_queries.csv or of the Sheet; a main query that somebody wrote is never changed.
    """
    opened = opened_project(context, project)
    from internal_linker.cli.output import print_rows
    from internal_linker.usecases import queries as usecase
    from internal_linker.usecases.console import open_console

    with reporting() as reporter:
        done = usecase.queries(opened, options, reporter)
    if as_json:
        import json

        typer.echo(json.dumps(_as_json(done), ensure_ascii=False))
    else:
        console = open_console()
        _show(done)
        print_rows(console, "Main queries", _rows(done))
    if done.problems:
        raise typer.Exit(ExitCode.GAPS)


def _show(done: "FilledQueries") -> None:
    from internal_linker.usecases.console import open_console

    console, filled = open_console(), {*done.filled}
    new = [each for each in done.chosen.found if each.page in filled]
    for each in new[:_SHOWN]:
        note = f"; {done.notes[each.page]}" if each.page in done.notes else ""
        console.print(
            f"{each.query}  {each.page}  ({counted(each.clicks, 'click')}, {each.impressions} impressions, "
            f"position {each.position:.1f}{note})",
            soft_wrap=True,
            markup=False,
        )
    if len(new) > _SHOWN:
        console.print(f"... and {len(new) - _SHOWN} more (--json shows all)")
    query_of = {each.page: each.query for each in done.chosen.found}
    for page in done.unfilled[:_FEW]:
        why = f"  ({done.notes[page]})" if page in done.notes else ""
        console.print(f"not filled: {query_of[page]}  {page}{why}", soft_wrap=True, markup=False)
    if len(done.unfilled) > _FEW:
        console.print(f"... and {len(done.unfilled) - _FEW} more that are not filled (--json shows all)")
    shared = dict[str, list[str]]()
    for one in done.chosen.shared:
        shared.setdefault(one.query, []).append(f"{one.page} ({one.share:.0%})")
    for query, pages in [*shared.items()][:_FEW]:
        console.print(f"cannibalised: {query}  {'  '.join(pages)}", soft_wrap=True, markup=False)
    if len(shared) > _FEW:
        console.print(f"... and {len(shared) - _FEW} more cannibalised queries (--json shows all)")


def _some(texts: "Sequence[str]", count: int) -> str:
    """Return the first of some texts, and how many more there are."""
    more = f" and {count - len(texts)} more" if count > len(texts) else ""
    return ", ".join(texts) + more


def _rows(done: "FilledQueries") -> list[tuple[str, str]]:
    chosen = done.chosen
    brands = _some([each.query for each in chosen.brands[:_FEW]], len(chosen.brands))
    rows = [
        (f"Search data of {done.source}", f"{done.first} to {done.last}"),
        (f"{'Filled in' if done.written else 'To fill in'} {done.place}", counted(len(done.filled), "page")),
        ("Kept: written already", counted(len(done.kept), "page")),
        ("Cannibalised queries", str(len({each.query for each in chosen.shared}))),
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


def _as_json(done: "FilledQueries") -> dict[str, object]:
    from dataclasses import asdict

    queries = done.tables()["queries"]
    more = zip(queries["fate"], queries["note"], strict=True)
    chosen = done.chosen
    return {
        "source": done.source,
        "first": str(done.first),
        "last": str(done.last),
        "place": done.place,
        "written": done.written,
        "queries": [
            {**asdict(each), "fate": fate, "note": note}
            for each, (fate, note) in zip(chosen.found, more, strict=True)
        ],
        "cannibalised": [asdict(each) for each in chosen.shared],
        "brands": [asdict(each) for each in chosen.brands],
        "without": dict(chosen.without),
        "topics": list(chosen.topics),
        "unknown_urls": done.unknown_urls,
        "unknown_clicks": done.unknown_clicks,
        "unknown_examples": list(done.unknown_examples),
        "problems": list(done.problems),
        "copies": list(done.copies),
    }
