"""The command for a page that does not exist yet: content-brief."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.options import ProjectOption, opened_project
from internal_linker.core.errors import ExitCode

if TYPE_CHECKING:
    from internal_linker.core.briefs import BriefLinks


def content_brief(
    context: typer.Context,
    draft: Annotated[
        str,
        typer.Argument(
            metavar="FILE-OR-TEXT",
            help="A title, an outline or a draft: as text, as .docx, .md, .html or .txt; - for standard input.",
        ),
    ],
    project: ProjectOption = None,
    title: Annotated[
        str, typer.Option("--title", help="The page's title. Default: the first heading or line.")
    ] = "",
    query: Annotated[
        str,
        typer.Option("--query", help="Its main query; with a key of Serper or SerpApi it is searched for."),
    ] = "",
    url: Annotated[str, typer.Option("--url", metavar="URL", help="Where the page will be.")] = "",
    lang: Annotated[
        str, typer.Option("--lang", metavar="CODE", help="Its language, as in en. Default: that of the text.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=0, max=50, help="Links each way (0: links_per_page).")
    ] = 0,
    no_serp: Annotated[bool, typer.Option("--no-serp", help="Leave the search step out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Print the links of a page that does not exist yet.

    The pages it should link to, and those that should link to it, with texts for the links; and whether
    such a page is there already. Nothing is written to files/ but the cache.
    """
    opened = opened_project(context, project)
    from dataclasses import replace

    from internal_linker.ingest.drafts import read_brief
    from internal_linker.usecases.console import Reporter, open_console, print_brief
    from internal_linker.usecases.run import brief_links

    brief = replace(read_brief(draft, lambda: sys.stdin.buffer, title), query=query, url=url, lang=lang)
    reporter = Reporter(open_console(stderr=True))
    found = brief_links(opened, brief, limit, reporter, no_serp=no_serp)
    for gap in found.gaps:
        reporter.warn(gap)
    if as_json:
        typer.echo(_json(found))
    else:
        print_brief(open_console(), found)
    raise typer.Exit(ExitCode.GAPS if found.gaps else ExitCode.SUCCESS)


def _json(found: "BriefLinks") -> str:
    import json
    from dataclasses import asdict
    from math import isnan

    def known(value: object) -> object:
        """JSON has no NaN."""
        if isinstance(value, dict):
            return {name: known(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [known(each) for each in value]
        return None if isinstance(value, float) and isnan(value) else value

    return json.dumps(known(asdict(found)), ensure_ascii=False, allow_nan=False)
