"""The API of derived capabilities: each is a route that answers with the tables of its result."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter

from internal_linker.faces.web.context import OpenedProject, given
from internal_linker.model.progress import Tracker
from internal_linker.project.capabilities import Capability, derived_capabilities


def derived_routes() -> APIRouter:
    """Return a route for each derived capability."""
    router = APIRouter(prefix="/projects/{key}", tags=["Capabilities"])
    for found in derived_capabilities():
        router.post(f"/{found.name.replace('_', '-')}", name=found.name)(_route(found))
    return router


def _route(found: Capability) -> Callable[..., dict[str, list[dict[str, Any]]]]:
    def call(options: Any, project: OpenedProject) -> dict[str, list[dict[str, Any]]]:
        records: dict[str, list[dict[str, Any]]] = found.call(
            project, options=options, progress=Tracker()
        ).records()
        return records

    call.__annotations__["options"] = Annotated[Any, given(found.record)]
    call.__doc__ = found.summary
    return call
