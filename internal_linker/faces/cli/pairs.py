"""The commands that compare pages: pairs and clusters."""

from functools import partial
from math import isnan
from typing import TYPE_CHECKING

from internal_linker.faces.cli.command import Call, prints
from internal_linker.model.errors import ExitCode
from internal_linker.model.sequences import counted
from internal_linker.project.options.similarity import ClustersOptions, PairsOptions

if TYPE_CHECKING:
    from internal_linker.insight.similarity.clusters import Clustering
    from internal_linker.insight.similarity.pairs import SimilarPages

# Pairs that the terminal shows; the files have all.
_SHOWN = 10
# By whether the page links to its match, and the match to the page.
_ARROWS = {(True, True): "<->", (True, False): "-->", (False, True): "<--", (False, False): "   "}


@prints("pairs", PairsOptions, json=True)
def pairs(result: "SimilarPages", call: Call) -> ExitCode | None:
    """List pairs of similar pages.

    Compare titles, first headings, contents, or several of these. files/pairs.csv lists the best matches of each page
    with both titles and whether one page already links to the other, files/orphaned_content.csv the pages without a
    match, and files/pairs.xlsx both. No queries or searches are needed.
    """
    from internal_linker.faces.cli.output import conclude_comparison

    data = partial(_as_json, result) if call.as_json else None
    return conclude_comparison(result.compared, result.files, data, partial(_show, result, call.options))


def _show(result: "SimilarPages", options: PairsOptions) -> list[tuple[str, str]]:
    from internal_linker.insight.similarity.pairs import NEARLY
    from internal_linker.project.console import open_console

    console, found = open_console(), result.found
    for pair in result.pairs[:_SHOWN]:
        arrow = _ARROWS[pair.links, pair.linked]
        console.print(f"{pair.similarity:.3f}  {pair.page} {arrow} {pair.match}", soft_wrap=True)
    return [
        ("Pairs in files/pairs.csv", str(len(found.first))),
        (f"Pairs left out by --max-per-page {options.max_per_page}", str(found.found - len(found.first))),
        (
            f"Pairs just below --min-similarity {options.min_similarity:g} "
            f"(from {max(0.0, options.min_similarity - NEARLY):g})",
            str(found.nearly),
        ),
        ("Pairs without a link", str(int((~(result.links | result.linked)).sum()))),
        ("Orphaned content", counted(len(found.alone), "page")),
        *(
            (f"Median similarity {where} sections", f"{median:.2f}")
            for where, median in zip(("within", "across"), result.medians, strict=True)
            if not isnan(median)
        ),
    ]


def _as_json(result: "SimilarPages") -> dict[str, object]:
    tables = result.records()
    within, across = result.found.histogram.tolist()
    return {
        "pages": len(result.compared.pages),
        "pairs": tables["pairs"],
        "beyond_max_per_page": result.found.found - len(result.found.first),
        "just_below_min_similarity": result.found.nearly,
        "histogram": {"within_sections": within, "across_sections": across},
        "orphaned_content": [row["page"] for row in tables["orphaned_content"]],
    }


# Clusters that the terminal shows; the files have all.
_SHOWN_PAGES = 20


@prints("clusters", ClustersOptions, json=True)
def clusters(result: "Clustering", call: Call) -> ExitCode | None:
    """Group similar pages and name the groups.

    Compare titles, first headings, contents, or several of these, one language at a time. files/clusters.csv lists
    each page with its cluster, files/cluster_links.csv the missing links between hubs and pages and between the most
    similar pages, and files/clusters.xlsx both; files/clusters.html has a map and a tree. No queries or searches are
    needed.
    """
    from internal_linker.faces.cli.output import conclude_comparison

    data = result.records if call.as_json else None
    return conclude_comparison(result.compared, result.files, data, partial(_show_clusters, result))


def _show_clusters(result: "Clustering") -> list[tuple[str, str]]:
    from internal_linker.project.console import open_console

    console, found = open_console(), result.found
    for one in found.clusters.head(_SHOWN_PAGES).itertuples():
        density = f"{one.density:.3f}" if one.pages > 1 else "    -"
        console.print(f"{one.pages:>6} pages  density {density}  {one.name}  <- {one.hub}", soft_wrap=True)
    if len(found.clusters) > _SHOWN_PAGES:
        console.print(f"... and {len(found.clusters) - _SHOWN_PAGES} more.")
    return [
        ("Clusters", str(len(found.clusters))),
        ("Pages in no cluster", str(result.alone)),
        (
            "Links within clusters",
            f"{found.clusters['links'].sum()} of {len(result.compared.links)} between the compared pages",
        ),
        ("Missing links in files/cluster_links.csv", str(len(found.missing.sources))),
        ("Missing links from hubs, not listed", str(found.missing.left_out)),
    ]
