"""The command that lists similar pages: pairs."""

from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.comparing import (
    BrandOption,
    ByOption,
    EncoderOption,
    JsonOption,
    KeepBrandsOption,
    LimitOption,
    MatryoshkaOption,
    WordsOption,
)
from internal_linker.cli.project import ProjectOption, opened_project

if TYPE_CHECKING:
    from internal_linker.pairing import SimilarPages

# Pairs that the terminal shows; the files have all.
_SHOWN = 10
# By whether the page links to its match, and the match to the page.
_ARROWS = {(True, True): "<->", (True, False): "-->", (False, True): "<--", (False, False): "   "}


def pairs(
    context: typer.Context,
    project: ProjectOption = None,
    by: ByOption = "content",
    min_similarity: Annotated[
        float, typer.Option("--min-similarity", min=0, max=1, help="Of a pair; usual are 0.5 to 0.95.")
    ] = 0.5,
    max_per_page: Annotated[
        int, typer.Option("--max-per-page", min=0, help="Only the N best matches of each page (0: all).")
    ] = 0,
    full_matrix: Annotated[
        str,
        typer.Option(
            "--full-matrix", metavar="csv|npy|parquet", help="Write the similarities of all pages, too."
        ),
    ] = "",
    encoder: EncoderOption = "",
    words: WordsOption = None,
    matryoshka: MatryoshkaOption = 0,
    brand: BrandOption = None,
    keep_brands: KeepBrandsOption = False,
    limit: LimitOption = 0,
    as_json: JsonOption = False,
) -> None:
    """List all pairs of similar pages.

    By their titles, first headings, contents, or all of these. files/pairs.csv has each pair with both titles
    and whether one links to the other already, files/orphaned_content.csv the pages that have no match,
    files/pairs.xlsx both. Neither queries nor searches are needed.
    """
    opened = opened_project(context, project)
    from internal_linker.analysing import Comparison
    from internal_linker.pairing import PairWish, find_pairs, write_pairs
    from internal_linker.terminal import Reporter, open_console

    comparison = Comparison(by, encoder, words, tuple(brand or ()), keep_brands, limit, matryoshka)
    wish = PairWish(comparison, min_similarity, max_per_page, full_matrix)
    reporter = Reporter(open_console(stderr=True))
    with opened.lock():
        try:
            result = find_pairs(opened, wish, reporter)
            names = write_pairs(opened, wish, result, reporter)
        finally:
            reporter.close()
    if as_json:
        import json

        typer.echo(json.dumps(_as_json(result, names)))
    else:
        _print(result)
    if result.compared.gaps:
        from internal_linker.errors import ExitCode

        raise typer.Exit(ExitCode.GAPS)


def _print(result: "SimilarPages") -> None:
    from internal_linker.terminal import open_console, print_rows

    console = open_console()
    for pair in result.pairs[:_SHOWN]:
        console.print(
            f"{pair.similarity:.3f}  {pair.page} {_ARROWS[pair.links, pair.linked]} {pair.match}",
            soft_wrap=True,
        )
    compared, found = result.compared, result.found
    rows = [
        ("Pages compared", str(len(compared.pages))),
        *((f"Left out: {reason}", str(count)) for reason, count in sorted(compared.left_out.items())),
        ("Taken from the titles", ", ".join(compared.brands) or "nothing"),
        ("Pairs in files/pairs.csv", str(len(found.first))),
        ("Pairs beyond --max-per-page", str(found.found - len(found.first))),
        ("... that are not linked yet", str(int((~(result.links | result.linked)).sum()))),
        ("Orphaned content", f"{len(found.alone)} pages"),
    ]
    print_rows(console, "Similar pages", rows)


def _as_json(result: "SimilarPages", names: list[str]) -> dict[str, object]:
    from dataclasses import asdict

    return {
        "pages": len(result.compared.pages),
        "left_out": dict(result.compared.left_out),
        "brands": list(result.compared.brands),
        "pairs": [asdict(pair) for pair in result.pairs],
        "beyond_max_per_page": result.found.found - len(result.found.first),
        "orphaned_content": [page.url for page in result.orphaned],
        "files": [f"files/{name}" for name in names],
        "gaps": list(result.compared.gaps),
    }
