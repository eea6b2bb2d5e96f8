"""The API of clusters: group pages, show them as map, tree and table, and rename clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse
from pydantic import Field

from internal_linker.faces.web.context import (
    WORKBOOK,
    Body,
    OpenedProject,
    Rows,
    SharedState,
    describe_rows,
    download,
    given,
)
from internal_linker.faces.web.tasks import TaskState
from internal_linker.insight.similarity.cluster_records import CLUSTERS, REASONS
from internal_linker.insight.similarity.report.html import brief, parts
from internal_linker.model.results import Column, describe_row, to_json_rows
from internal_linker.project.clusters import (
    ClusterView,
    clusters_file,
    group_pages,
    grouped_pages,
    rename_cluster,
    write_clusters,
)
from internal_linker.project.options.similarity import ClustersOptions

router = APIRouter(prefix="/projects/{key}/clusters", tags=["Clusters"])


class ClusterName(Body):
    """A name for a cluster."""

    name: Annotated[str, Field(max_length=1_000, description="Empty: the computed name.")]


_PAGE = describe_row((Column("title", "Title"), Column("url", "URL")))
_MISSING_LINK = describe_row(
    (
        Column("source", "Source", kind=_PAGE),
        Column("target", "Target", kind=_PAGE),
        Column("similarity", "Similarity", kind="number"),
        Column("why", "Why"),
    )
)
_CLUSTERS = (
    *CLUSTERS[:-1],
    Column("hub_title", "Title of the hub"),
    Column("computed", "Its name as it was computed"),
    Column("central", "Its most central pages", kind={"type": "array", "items": _PAGE}),
    Column("lacking", "The first links that it lacks", kind={"type": "array", "items": _MISSING_LINK}),
)


@dataclass(frozen=True, slots=True)
class ShownClusters:
    """All clusters of a site.

    Attributes:
        made: when they were computed, as ISO 8601.
        by: what the pages were compared by and how they were grouped.
        pages: how many pages there are.
        alone: how many of them are in no cluster.
        clusters: the clusters, the largest first.
        dots: [x, y, position of the cluster, title, URL, address to follow or "", 1 for a hub] of pages on the map.
        branches: the leaves of each cluster in the tree, with their `name` and `url`, and how many `more` there are.
    """

    made: str
    by: str
    pages: int
    alone: int
    clusters: Annotated[Rows, describe_rows(_CLUSTERS)]
    dots: Sequence[Sequence[Any]]
    branches: Sequence[dict[str, Any]]


@router.post("", status_code=202)
def start_grouping(
    options: Annotated[ClustersOptions, given(ClustersOptions)], project: OpenedProject, state: SharedState
) -> TaskState:
    """Start to group all pages; the task `clusters` shows how far it is."""
    return state.tasks.start(
        project.root, "clusters", lambda progress, stop: group_pages(project, options, progress, stop)
    )


@router.get("")
def show_clusters(project: OpenedProject, state: SharedState) -> ShownClusters | None:
    """Show the clusters that were computed last; null: none yet."""
    view = _view(project, state)
    return None if view is None else _shown(view)


@router.put("/{number}/name")
def save_name(number: int, given: ClusterName, project: OpenedProject) -> ShownClusters:
    """Give a cluster another name, which it keeps when the pages are grouped again."""
    return _shown(rename_cluster(project, number, given.name))


@router.get("/workbook", response_class=FileResponse, responses=WORKBOOK)
def download_clusters(project: OpenedProject, state: SharedState) -> FileResponse:
    """Download clusters, pages and missing links as .xlsx."""
    if (view := _view(project, state)) is None:
        raise HTTPException(409, "The pages have not been grouped yet")
    return download("clusters.xlsx", lambda path: write_clusters(view, path))


def _view(project: OpenedProject, state: SharedState) -> ClusterView | None:
    return state.views.get(clusters_file(project), lambda: grouped_pages(project))


def _shown(view: ClusterView) -> ShownClusters:
    charts, found, missing = view.charts(), view.found, view.found.missing

    def named(row: int) -> dict[str, str]:
        return {"title": brief(found.titles[row]), "url": found.urls[row]}

    def lacking(at: int) -> dict[str, Any]:
        return {
            "source": named(missing.sources.item(at)),
            "target": named(missing.targets.item(at)),
            "similarity": float(found.similarities[at]),
            "why": REASONS[missing.reasons.item(at)],
        }

    shown = parts(found)
    values = found.clusters.drop(columns="distance").to_dict("list") | {
        "central": [[*map(named, pages.tolist())] for pages, _ in shown],
        "lacking": [[*map(lacking, links.tolist())] for _, links in shown],
    }
    alone = int((found.labels < 0).sum())
    return ShownClusters(
        view.made, found.by, len(found.urls), alone, to_json_rows(values), charts["dots"], charts["branches"]
    )
