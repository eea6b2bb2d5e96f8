"""The command that groups similar pages: clusters."""

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
    from internal_linker.usecases.clusters import Clustering

# Clusters that the terminal shows; the files have all.
_SHOWN = 20


def clusters(
    context: typer.Context,
    project: ProjectOption = None,
    by: ByOption = "content",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="kmeans|communities",
            help="Clusters around centres, or communities of the graph of similar pages.",
        ),
    ] = "kmeans",
    count: Annotated[
        str,
        typer.Option(
            "--k",
            metavar="N|A-B",
            help="So many clusters, or as many between A and B as part the pages best; default: as suits the site.",
        ),
    ] = "",
    min_similarity: Annotated[
        float,
        typer.Option(
            "--min-similarity", min=0, max=1, help="Of two pages that are joined; for communities only."
        ),
    ] = 0.4,
    encoder: EncoderOption = "",
    words: WordsOption = None,
    matryoshka: MatryoshkaOption = 0,
    brand: BrandOption = None,
    keep_brands: KeepBrandsOption = False,
    limit: LimitOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Group similar pages, and name the groups.

    By their titles, first headings, contents, or all of these; each language for itself. files/clusters.csv has
    each page with its cluster, files/cluster_links.csv the missing links between hubs and pages and between pages
    that are most alike, files/clusters.xlsx both, files/clusters.html a map and a tree. Neither queries nor searches
    are needed.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.clusters import ClusterWish, find_clusters, write_clusters
    from internal_linker.usecases.compare import Comparison

    comparison = Comparison(by, encoder, words, tuple(brand or ()), keep_brands, limit, matryoshka)
    wish = ClusterWish(comparison, method, count, min_similarity)
    with at_work(opened) as reporter:
        result = find_clusters(opened, wish, reporter)
        names = write_clusters(opened, result, reporter)
    data = partial(_as_json, result) if as_json else None
    conclude(result.compared, names, data, partial(_show, result))


def _show(result: "Clustering") -> list[tuple[str, str]]:
    """Print the largest clusters; the rows below them."""
    from internal_linker.usecases.console import open_console

    console, found = open_console(), result.found
    for one in found.clusters[:_SHOWN]:
        density = f"{one.density:.3f}" if one.pages > 1 else "    -"
        console.print(f"{one.pages:>6} pages  density {density}  {one.name}  <- {one.hub}", soft_wrap=True)
    if len(found.clusters) > _SHOWN:
        console.print(f"... and {len(found.clusters) - _SHOWN} more.")
    return [
        ("Clusters", str(len(found.clusters))),
        ("Pages in no cluster", str(result.alone)),
        ("Links within clusters", str(sum(one.links for one in found.clusters))),
        ("Missing links in files/cluster_links.csv", str(len(found.missing.sources))),
        ("... from hubs, beyond those", str(found.missing.left_out)),
    ]


def _as_json(result: "Clustering") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "clusters": [_finite(asdict(one)) for one in result.clusters],
        "pages": [_finite(asdict(one)) for one in result.pages],
        "missing_links": [_finite(asdict(one)) for one in result.missing_links],
    }


def _finite(record: dict[str, object]) -> dict[str, object]:
    """The record with null where there is no number: NaN is no JSON."""
    from math import isfinite

    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in record.items()
    }
