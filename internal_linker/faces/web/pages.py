"""The pages: each is a frame that its script fills through the API."""

from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.templating import Jinja2Templates
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import RedirectResponse, Response

from internal_linker.faces.web.context import Key, SharedState
from internal_linker.model.version import __version__
from internal_linker.project.known_projects import ProjectNotFound, next_step
from internal_linker.sources.sites import site_sources

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A page of a project."""

    path: str  # the last part of its address; its template is PATH.html and its script static/PATH.js
    name: str  # what the navigation calls it


# In the order of the navigation.
PAGES = (
    ProjectPage("import", "Import"),
    ProjectPage("queries", "Queries"),
    ProjectPage("run", "Run"),
    ProjectPage("links", "Links"),
    ProjectPage("review", "Review"),
    ProjectPage("apply", "Apply"),
    ProjectPage("similar", "Similar pages"),
    ProjectPage("clusters", "Clusters"),
    ProjectPage("audit", "Audit"),
    ProjectPage("impact", "Impact"),
    ProjectPage("history", "History"),
    ProjectPage("settings", "Settings"),
)
_TEMPLATES = Jinja2Templates(
    env=Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
)


@router.get("/")
def show_projects(request: Request, state: SharedState) -> Response:
    """Show the list of projects."""
    return _page(request, state, "projects")


@router.get("/login")
def show_login(request: Request, state: SharedState) -> Response:
    """Show the form for the password or, without one, how to get in."""
    template = "entry.html" if state.access.local else "login.html"
    status = 401 if state.access.local else 200
    return _TEMPLATES.TemplateResponse(request, template, _shown(path=""), status_code=status)


@router.get("/docs")
def show_api(request: Request) -> Response:
    """Show the API."""
    return _TEMPLATES.TemplateResponse(request, "api.html", _shown(path=""))


@router.get("/p/{key}/")
def show_project(key: Key, state: SharedState) -> Response:
    """Lead to where the work on a project goes on: the review of links, a run over pages, or the import of some."""
    try:
        step = next_step(state.known.folder(key))
    except ProjectNotFound:
        return RedirectResponse("/", 303)
    return RedirectResponse(f"/p/{key}/{step}", 303)


@router.get("/p/{key}/{path}")
def show_page(request: Request, key: Key, path: str, state: SharedState) -> Response:
    """Show a page of a project."""
    if path not in {page.path for page in PAGES}:
        return Response("Page not found.", 404, media_type="text/plain")
    try:
        folder = state.known.folder(key)
    except ProjectNotFound:
        return RedirectResponse("/", 303)
    return _page(request, state, path, key, folder)


def _page(
    request: Request, state: SharedState, path: str, key: str = "", folder: Path | None = None
) -> Response:
    shown = _shown(path, key, folder, signs_out=not state.access.local)
    return _TEMPLATES.TemplateResponse(request, f"{path}.html", shown)


def _shown(
    path: str, key: str = "", folder: Path | None = None, *, signs_out: bool = False
) -> dict[str, object]:
    return {
        "signs_out": signs_out,
        "path": path,
        "key": key,
        "folder": str(folder or ""),
        "project": (folder.name or str(folder)) if folder else "",
        "pages": PAGES if key else (),
        "site_sources": site_sources(),
        "version": __version__,
    }
