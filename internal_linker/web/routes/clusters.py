"""The API of clusters: group pages, show them as map, tree and table, and rename clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse
from pydantic import Field

from internal_linker.usecases.clusters import (
    ClusterView,
    clusters_file,
    group_pages,
    grouped_pages,
    rename_cluster,
    write_clusters,
)
from internal_linker.usecases.options.similarity import ClustersOptions
from internal_linker.web.context import (
    WORKBOOK,
    Body,
    EncoderName,
    OpenedProject,
    SharedState,
    download,
    require_known_encoder,
)
from internal_linker.web.tasks import TaskState

router = APIRouter(prefix="/projects/{key}/clusters", tags=["Clusters"])


class Grouping(Body):
    """How pages are compared and grouped."""

    by: Annotated[str, Field(max_length=200, description="Fields with weights; empty: as suits.")] = ""
    encoder: EncoderName = ""
    method: Annotated[str, Field(pattern="^(kmeans|communities)$")] = "kmeans"
    k: Annotated[
        str,
        Field(max_length=20, description="A number of clusters, or a range such as 5-40; empty: as suits."),
    ] = ""


class ClusterName(Body):
    """A name for a cluster."""

    name: Annotated[str, Field(max_length=1_000, description="Empty: the computed name.")]


@dataclass(frozen=True, slots=True)
class LinkedPage:
    """A page of a cluster."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class LackingLink:
    """A link that a cluster lacks."""

    source: LinkedPage
    target: LinkedPage
    similarity: float
    why: str


@dataclass(frozen=True, slots=True)
class ShownCluster:
    """A cluster with its most central pages and the first links that it lacks; see `Cluster`.

    Attributes:
        density: existing links as a share of all possible ones; None for a single page.
        computed: its name as it was computed.
    """

    number: int
    name: str
    computed: str
    pages: int
    hub: str
    hub_title: str
    links: int
    density: float | None
    missing: int
    central: Sequence[LinkedPage]
    lacking: Sequence[LackingLink]


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
    clusters: Sequence[ShownCluster]
    dots: Sequence[Sequence[Any]]
    branches: Sequence[dict[str, Any]]


@router.post("", status_code=202)
def start_grouping(given: Grouping, project: OpenedProject, state: SharedState) -> TaskState:
    """Start to group all pages; the task `clusters` shows how far it is."""
    require_known_encoder(state, project, given.encoder)
    options = ClustersOptions(by=given.by, encoder=given.encoder, method=given.method, k=given.k)
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
    charts, found = view.charts(), view.found
    clusters = [
        ShownCluster(
            part.cluster.number,
            part.cluster.name,
            computed,
            part.cluster.pages,
            part.cluster.hub,
            part.cluster.hub_title,
            part.cluster.links,
            part.cluster.density if isfinite(part.cluster.density) else None,
            part.cluster.missing,
            [LinkedPage(page.title, page.url) for page in part.pages],
            [
                LackingLink(
                    LinkedPage(link.source.title, link.source.url),
                    LinkedPage(link.target.title, link.target.url),
                    link.similarity,
                    link.why,
                )
                for link in part.links
            ],
        )
        for part, computed in zip(view.parts(), view.computed, strict=True)
    ]
    alone = int((found.labels < 0).sum())
    return ShownClusters(
        view.made, found.by, len(found.urls), alone, clusters, charts["dots"], charts["branches"]
    )
