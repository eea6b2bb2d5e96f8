"""The API of search data: which are stored, and their import from uploads, Search Console and Google Analytics."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from internal_linker.faces.web.context import Body, Folder, OpenedProject, SharedState
from internal_linker.faces.web.tasks import TaskState
from internal_linker.project.search_data import StoredTable, stored_search_data
from internal_linker.project.search_uploads import SearchImport, import_search_data

router = APIRouter(prefix="/projects/{key}/search-data", tags=["Search data"])


class SearchImportRequest(Body):
    """Which properties are fetched, beside the uploads with search data."""

    search_console: Annotated[
        str, Field(max_length=2_000, description="sc-domain:HOST or https://HOST/; empty: none.")
    ] = ""
    analytics: Annotated[
        str, Field(max_length=40, description="The number of a Google Analytics property; empty: none.")
    ] = ""


@router.get("")
def show_search_data(project: OpenedProject) -> Sequence[StoredTable]:
    """Show which search data are stored, by kind and source."""
    return stored_search_data(project)


@router.post("/import", status_code=202)
def start_import(given: SearchImportRequest, project: OpenedProject, state: SharedState) -> TaskState:
    """Start to import the uploads with search data and the properties; the task `search` shows how far it is."""
    named = given.search_console.strip(), given.analytics.strip()
    return state.tasks.start(
        project.root, "search", lambda progress, stop: import_search_data(project, *named, progress, stop)
    )


@router.get("/import")
def show_import(folder: Folder, state: SharedState) -> SearchImport | None:
    """Show what the last import of search data since the app's start did."""
    done: SearchImport | None = state.tasks.result(folder, "search")
    return done
