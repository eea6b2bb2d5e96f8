"""The API of stored links: list them by filters, look at one or at a page, download them."""

import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from internal_linker.faces.web.context import LinksOfProject
from internal_linker.project.link_lists import Format, LinkFilter, write_links
from internal_linker.project.stored_links import (
    Facets,
    LinkDetail,
    LinkList,
    PageDetail,
    PageReading,
    PlacedAnchor,
)

router = APIRouter(prefix="/projects/{key}", tags=["Links"])
_TYPES: dict[Format, str] = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
LinkId = Annotated[str, Query(pattern="^[0-9a-f]{20}$")]
# Of any text.
MOST_CHARACTERS = 1_000_000_000


class PartGiven(LinkFilter):
    """A part of the links that a filter takes."""

    offset: Annotated[int, Field(ge=0, le=100_000_000)] = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class FileGiven(LinkFilter):
    """The kind of a file of links."""

    kind: Format = "xlsx"


def filter_of(given: LinkFilter) -> LinkFilter:
    """Return the filter without what else was asked for, so that all parts of a list have the same one."""
    return LinkFilter(**given.model_dump(include={*LinkFilter.model_fields}))


@router.get("/links")
def list_links(links: LinksOfProject, given: Annotated[PartGiven, Query()]) -> LinkList:
    """List stored links."""
    return links.part(filter_of(given), given.offset, given.limit)


@router.get("/links/facets")
def list_facets(links: LinksOfProject) -> Facets:
    """List the values to filter by, with their counts."""
    return links.facets()


@router.get("/links/file", response_class=FileResponse)
def download_links(links: LinksOfProject, given: Annotated[FileGiven, Query()]) -> FileResponse:
    """Download the links that the filter takes."""
    rows, kind = links.filtered(filter_of(given)), given.kind
    folder = tempfile.TemporaryDirectory(prefix="internal-linker-")
    file = Path(folder.name) / f"links.{kind}"
    write_links(rows, file, kind)
    name = f"{links.root.name.encode('ascii', 'ignore').decode() or 'site'}-links.{kind}"
    done = BackgroundTask(folder.cleanup)
    return FileResponse(file, media_type=_TYPES[kind], filename=name, background=done)


@router.get("/link")
def show_link(links: LinksOfProject, id: LinkId) -> LinkDetail:
    """Return a link with all that is needed to decide on it."""
    return links.detail(id)


@router.get("/anchor")
def place_anchor(
    links: LinksOfProject,
    id: LinkId,
    text: Annotated[str, Query(min_length=1, max_length=500)],
    near: Annotated[int, Query(ge=0, le=MOST_CHARACTERS)] = 0,
) -> PlacedAnchor:
    """Tell whether words can be linked in a link's page, and where they stand; nearest to a character of its text."""
    return links.place(id, text, near)


@router.get("/page/text")
def read_page(
    links: LinksOfProject, source: Annotated[str, Query(min_length=1, max_length=4_000)]
) -> PageReading:
    """Return a page's text with the places of its links; `source` is its key."""
    return links.reading(source)


@router.get("/page")
def show_page(
    links: LinksOfProject, address: Annotated[str, Query(min_length=1, max_length=4_000)]
) -> PageDetail:
    """Return a page with its links in both directions."""
    return links.page(address)
