"""The API of tasks: how far they have come, and an end to them."""

from fastapi import APIRouter

from internal_linker.web.context import Folder, SharedState
from internal_linker.web.tasks import Kind, TaskState

router = APIRouter(prefix="/projects/{key}/tasks", tags=["Tasks"])


@router.get("/{kind}")
def show_task(kind: Kind, folder: Folder, state: SharedState) -> TaskState:
    """Show how far a task has come."""
    return state.tasks.state(folder, kind)


@router.post("/{kind}/cancel")
def cancel_task(kind: Kind, folder: Folder, state: SharedState) -> TaskState:
    """Ask a task to stop; it ends at its next step."""
    return state.tasks.cancel(folder, kind)
