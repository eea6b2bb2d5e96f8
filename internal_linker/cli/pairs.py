"""The command that lists similar pages: pairs."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.cli.options import (
    BrandOption,
    ByOption,
    EncoderOption,
    JsonOption,
    KeepBrandsOption,
    LimitOption,
    MatryoshkaOption,
    ProjectOption,
    WordsOption,
    at_work,
    conclude,
    opened_project,
)

if TYPE_CHECKING:
    from internal_linker.usecases.pairs import SimilarPages

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
    from internal_linker.usecases.compare import Comparison
    from internal_linker.usecases.pairs import PairWish, find_pairs, write_pairs

    comparison = Comparison(by, encoder, words, tuple(brand or ()), keep_brands, limit, matryoshka)
    wish = PairWish(comparison, min_similarity, max_per_page, full_matrix)
    with at_work(opened) as reporter:
        result = find_pairs(opened, wish, reporter)
        names = write_pairs(opened, wish, result, reporter)
    data = partial(_as_json, result) if as_json else None
    conclude(result.compared, names, data, partial(_show, result))


def _show(result: "SimilarPages") -> list[tuple[str, str]]:
    """Print the first pairs; the rows below them."""
    from internal_linker.usecases.console import open_console

    console, found = open_console(), result.found
    for pair in result.pairs[:_SHOWN]:
        arrow = _ARROWS[pair.links, pair.linked]
        console.print(f"{pair.similarity:.3f}  {pair.page} {arrow} {pair.match}", soft_wrap=True)
    return [
        ("Pairs in files/pairs.csv", str(len(found.first))),
        ("Pairs beyond --max-per-page", str(found.found - len(found.first))),
        ("Pairs that are not linked yet", str(int((~(result.links | result.linked)).sum()))),
        ("Orphaned content", f"{len(found.alone)} pages"),
    ]


def _as_json(result: "SimilarPages") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "pages": len(result.compared.pages),
        "pairs": [asdict(pair) for pair in result.pairs],
        "beyond_max_per_page": result.found.found - len(result.found.first),
        "orphaned_content": [page.url for page in result.orphaned],
    }
