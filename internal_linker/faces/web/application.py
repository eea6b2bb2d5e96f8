"""The app as an ASGI application: pages, API and static files behind the guard."""

import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from internal_linker.faces.web import pages
from internal_linker.faces.web.access import Access
from internal_linker.faces.web.context import Problem, Shared
from internal_linker.faces.web.guard import Guard
from internal_linker.faces.web.problems import explain_errors
from internal_linker.faces.web.routes import (
    apply,
    audit,
    clusters,
    history,
    impact,
    imports,
    links,
    projects,
    queries,
    review,
    run,
    search_data,
    session,
    settings,
    similar,
)
from internal_linker.faces.web.routes.derived import derived_routes
from internal_linker.model.version import __version__
from internal_linker.project.known_projects import KnownProjects

STATIC = Path(__file__).parent / "static"
_ABOUT = (
    "The API of the app's pages, for scripts, too. Send the token of the start address as `Authorization: Bearer "
    'TOKEN`. A request that fails is answered with `{"error": "one sentence"}`.'
)
_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 507)
}


def create_app(access: Access, known: KnownProjects) -> ASGIApp:
    """Return the application."""
    # Windows may have another type for them in its registry, and browsers run no script of another type.
    for ending in (".js", ".mjs"):
        mimetypes.add_type("text/javascript", ending)
    state = Shared(access, known)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(state.tasks.close)

    app = FastAPI(
        title="Internal Linker", version=__version__, description=_ABOUT, docs_url=None, redoc_url=None,
        openapi_url="/api/openapi.json", lifespan=lifespan,
    )  # fmt: skip
    app.state.shared = state
    explain_errors(app)
    for router in (
        session.router,
        projects.router,
        imports.router,
        search_data.router,
        queries.router,
        run.router,
        links.router,
        review.router,
        apply.router,
        similar.router,
        clusters.router,
        audit.router,
        impact.router,
        history.router,
        settings.router,
        projects.tasks_router,
        derived_routes(),
    ):
        app.include_router(router, prefix="/api", responses=_FAILURES)
    app.include_router(pages.router)
    # The reports' copy: a file from their package, but none of its code.
    charts = StaticFiles(packages=[("internal_linker.insight.html", "echarts")])
    app.mount("/static/vendor/echarts", charts, name="echarts")
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, access)
