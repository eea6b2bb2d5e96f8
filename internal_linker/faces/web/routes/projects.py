"""The API of projects, and of their tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, HTTPException
from pydantic import Field

from internal_linker.faces.web.context import Body, Folder, Key, Shared, SharedState
from internal_linker.faces.web.routes.session import Done
from internal_linker.faces.web.tasks import Kind, TaskState
from internal_linker.project.known_projects import KnownProject, sample_there

router = APIRouter(tags=["Projects"])


@dataclass(frozen=True, slots=True)
class ProjectList:
    """The known projects.

    Attributes:
        projects: the one that was opened last first.
        home: a folder in which new projects could be.
        sample: whether the sample site can be had.
        opens: whether folders can be opened and created: only where nobody else reaches the app.
    """

    projects: Sequence[KnownProject]
    home: str
    sample: bool
    opens: bool


class FolderChoice(Body):
    """A folder to open."""

    folder: Annotated[str, Field(min_length=1, max_length=4_000, description="The folder's whole path.")]


class NewProject(FolderChoice):
    """A folder to make a project."""

    sample: Annotated[bool, Field(description="Fill it with the sample site.")] = False


@router.get("/projects")
def list_projects(state: SharedState) -> ProjectList:
    """List the known projects."""
    local = state.access.local
    return ProjectList(state.known.all(), str(Path.home()) if local else "", sample_there(), local)


@router.post("/projects/open")
def open_project(given: FolderChoice, state: SharedState) -> KnownProject:
    """Open a project folder: it becomes the first in the list."""
    _require_local(state)
    return state.known.open(Path(given.folder.strip()))


@router.post("/projects", status_code=201)
def create_project(given: NewProject, state: SharedState) -> KnownProject:
    """Make a folder a project; files that are there stay as they are."""
    _require_local(state)
    return state.known.create(Path(given.folder.strip()), sample=given.sample)


@router.delete("/projects/{key}")
def forget_project(key: Key, state: SharedState) -> Done:
    """Take a project off the list; nothing in its folder changes."""
    _require_local(state)
    state.known.forget(key)
    return Done()


def _require_local(state: Shared) -> None:
    """Refuse (HTTPException, status 403) to choose folders of this computer where others can reach the app."""
    if not state.access.local:
        raise HTTPException(
            403, "This app has a password: open or create projects in one without, on its own computer"
        )


tasks_router = APIRouter(prefix="/projects/{key}/tasks", tags=["Tasks"])


@tasks_router.get("/{kind}")
def show_task(kind: Kind, folder: Folder, state: SharedState) -> TaskState:
    """Show how far a task has come."""
    return state.tasks.state(folder, kind)


@tasks_router.post("/{kind}/cancel")
def cancel_task(kind: Kind, folder: Folder, state: SharedState) -> TaskState:
    """Ask a task to stop; it ends at its next step."""
    return state.tasks.cancel(folder, kind)
