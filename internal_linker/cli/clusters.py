"""The command that groups similar pages: clusters."""

from functools import partial
from typing import TYPE_CHECKING

import typer

from internal_linker.cli.command import JsonOption, ProjectOption, opened_project, reporting, with_options
from internal_linker.usecases.options.similarity import ClustersOptions

if TYPE_CHECKING:
    from internal_linker.analysis.similarity.clusters import Clustering

# Clusters that the terminal shows; the files have all.
_SHOWN = 20


@with_options(ClustersOptions)
def clusters(
    context: typer.Context,
    project: ProjectOption = None,
    as_json: JsonOption = False,
    *,
    options: ClustersOptions,
) -> None:
    """Group similar pages and name the groups.

    Compare titles, first headings, contents, or several of these, one language at a time. files/clusters.csv lists
    each page with its cluster, files/cluster_links.csv the missing links between hubs and pages and between the most
    similar pages, and files/clusters.xlsx both; files/clusters.html has a map and a tree. No queries or searches are
    needed.
    """
    opened = opened_project(context, project)
    from internal_linker.cli.output import conclude_comparison
    from internal_linker.usecases import clusters as usecase

    with reporting() as reporter:
        result = usecase.clusters(opened, options, reporter)
    data = partial(_as_json, result) if as_json else None
    conclude_comparison(result.compared, result.files, data, partial(_show, result))


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
        (
            "Links within clusters",
            f"{sum(one.links for one in found.clusters)} of {len(result.compared.links)} between the compared pages",
        ),
        ("Missing links in files/cluster_links.csv", str(len(found.missing.sources))),
        ("Missing links from hubs, not listed", str(found.missing.left_out)),
    ]


def _as_json(result: "Clustering") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "clusters": [_finite(asdict(one)) for one in result.clusters],
        "pages": [_finite(asdict(one)) for one in result.pages],
        "missing_links": [_finite(asdict(one)) for one in result.missing_links],
    }


def _finite(record: dict[str, object]) -> dict[str, object]:
    """Replace NaN by None, since JSON has no NaN."""
    from math import isfinite

    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in record.items()
    }
