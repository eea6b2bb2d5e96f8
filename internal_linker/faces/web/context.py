"""What the routes share: the known projects, and the project that an address names."""

import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, HTTPException, Request
from fastapi import Path as PathParameter
from pydantic import BaseModel, ConfigDict, WithJsonSchema, create_model
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from internal_linker.faces.web.access import Access
from internal_linker.faces.web.tasks import Tasks
from internal_linker.model.progress import Tracker
from internal_linker.model.results import Column, Columns, describe_row, to_json_rows
from internal_linker.project.known_projects import KnownProjects
from internal_linker.project.link_decisions import Decisions
from internal_linker.project.option_records import Options
from internal_linker.project.project import Project, open_project
from internal_linker.project.remote_options import remote_fields
from internal_linker.project.stored_links import StoredLinks

View = TypeVar("View")
# A site of 10,000 pages takes some 30 MB.
_MOST = 4
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
WORKBOOK: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The workbook.",
        "content": {_XLSX: {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""How a route that answers with `download` is described."""


class Views:
    """The results that were looked at last; may be used by several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[int, object]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: Path, load: Callable[[], View | None]) -> View | None:
        """Return the result in a file; None if there is none."""
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            return None
        with self._lock:
            known = self._kept.get(path)
            if known and known[0] == changed:
                self._kept.move_to_end(path)
                return cast(View, known[1])
        if (view := load()) is not None:
            with self._lock:
                self._kept[path] = changed, view
                if len(self._kept) > _MOST:
                    self._kept.popitem(last=False)
        return view


def download(name: str, write: Callable[[Path], object]) -> FileResponse:
    """Return a workbook as a download."""
    with tempfile.NamedTemporaryFile(suffix=".xlsx", delete=False) as file:
        path = Path(file.name)
    try:
        write(path)
    except BaseException:
        path.unlink()
        raise
    return FileResponse(path, filename=name, media_type=_XLSX, background=BackgroundTask(path.unlink))


Rows = Sequence[Mapping[str, Any]]
"""Rows of a table, which `describe_rows` describes."""


def describe_rows(columns: Sequence[Column]) -> WithJsonSchema:
    """Return how the API describes rows of these columns."""
    return WithJsonSchema({"type": "array", "items": describe_row(columns)})


def describe_rows_answer(columns: Sequence[Column]) -> Any:
    """Return how the API describes an answer of `answer_rows` with these columns."""
    fields = {"total": {"type": "integer"}, "rows": {"type": "array", "items": describe_row(columns)}}
    return Annotated[
        dict[str, Any],
        WithJsonSchema({"type": "object", "properties": fields, "required": [*fields]}),
    ]


def answer_rows(total: int, shown: Columns) -> dict[str, Any]:
    """Return how many rows a table has, and those that are shown."""
    return {"total": total, "rows": to_json_rows(shown)}


@dataclass(frozen=True)
class Shared:
    """The state of a server, as `app.state.shared`."""

    access: Access
    known: KnownProjects
    tasks: Tasks = field(default_factory=Tasks)  # the work that goes on
    views: Views = field(default_factory=Views)  # the results that pages look at
    _decisions: dict[Path, Decisions] = field(default_factory=dict)

    def decisions(self, folder: Path) -> Decisions:
        """Return the links of a project folder and the decisions on them, which stay in memory."""
        return self._decisions.setdefault(folder, Decisions(StoredLinks(folder, Tracker())))


class Body(BaseModel):
    """The body of a request: it has the fields that are described, each of its own type, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Problem:
    """The answer to a request that failed: one sentence."""

    error: str


def shared(request: Request) -> Shared:
    """Return the state of the server."""
    found: Shared = request.app.state.shared
    return found


def require_own_computer(state: Annotated[Shared, Depends(shared)]) -> None:
    """Refuse what could reveal keys or files of this computer where others can reach the app.

    Raises:
        HTTPException: they can (status 403).
    """
    if not state.access.local:
        raise HTTPException(403, "This app has a password: do this in one without, on its own computer")


def require_known_encoder(state: Shared, project: Project, encoder: str) -> None:
    """Refuse an encoder that names a file, a folder or a model where others can reach the app.

    Raises:
        HTTPException: it is neither one of the program's own nor the one in the settings (status 403).
    """
    if ":" in encoder and encoder != project.settings.embedding_provider:
        require_own_computer(state)


SharedState = Annotated[Shared, Depends(shared)]
Key = Annotated[str, PathParameter(pattern="^[0-9a-f]{10}$", description="The project's key, from its list.")]


def folder(key: Key, state: SharedState) -> Path:
    """Return the folder of the project in the address.

    Raises:
        ProjectNotFound: it is not in the list.
    """
    return state.known.folder(key)


def project(folder: Annotated[Path, Depends(folder)]) -> Project:
    """Return the project in the address, with its settings as they are now.

    Raises:
        InternalLinkerError: there is no such project, or a setting is wrong.
    """
    return open_project(folder)


def decisions(folder: Annotated[Path, Depends(folder)], state: SharedState) -> Decisions:
    """Return the decisions on the links of the project in the address."""
    return state.decisions(folder)


def links(decisions: Annotated[Decisions, Depends(decisions)]) -> StoredLinks:
    """Return the links of the project in the address."""
    return decisions.links


Folder = Annotated[Path, Depends(folder)]
LinksOfProject = Annotated[StoredLinks, Depends(links)]
DecisionsOfProject = Annotated[Decisions, Depends(decisions)]
OpenedProject = Annotated[Project, Depends(project)]


def given(record: type[Options], *left_out: str) -> Any:
    """Return the dependency that takes a record of options from a request's body, except those that are left out."""
    fields: dict[str, Any] = {**remote_fields(record, *left_out)}
    model = create_model(record.__name__, __base__=Body, __doc__=record.__doc__, **fields)

    def options(body: Any, state: SharedState, project: OpenedProject) -> Options:
        values = body.model_dump()
        if "encoder" in values:
            require_known_encoder(state, project, values["encoder"])
        return record(**values)

    options.__annotations__["body"] = model
    return Depends(options)
