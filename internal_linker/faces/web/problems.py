"""Errors as answers: one sentence in JSON, with the status that fits."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from internal_linker.faces.web.access import TooManyGuesses
from internal_linker.model.errors import (
    ConfigurationError,
    InputError,
    InternalLinkerError,
    OutputError,
    RunActive,
    ServiceError,
    StoreLost,
)
from internal_linker.project.edit_settings import SettingsChanged
from internal_linker.project.known_projects import ProjectNotFound
from internal_linker.project.link_decisions import NothingToUndo
from internal_linker.project.option_records import plain
from internal_linker.project.stored_links import LinkNotFound

LOGGER = logging.getLogger("internal_linker.faces.web")
# The first kind that fits counts.
STATUSES: tuple[tuple[type[InternalLinkerError], int], ...] = (
    (ProjectNotFound, 404),
    (LinkNotFound, 404),
    (NothingToUndo, 404),
    (TooManyGuesses, 429),
    (SettingsChanged, 409),
    (InputError, 422),
    (ConfigurationError, 422),
    (RunActive, 409),
    (ServiceError, 502),
    (StoreLost, 503),
    (OutputError, 507),
)


def explain_errors(app: FastAPI) -> None:
    """Let every error of a route be answered by {"error": a sentence}."""
    app.add_exception_handler(InternalLinkerError, _expected)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def problem(sentence: str, status: int) -> Response:
    """Return the answer for an error."""
    return JSONResponse({"error": sentence}, status)


def status_of(error: InternalLinkerError) -> int:
    """Return the HTTP status for an error of ours."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


async def _expected(_: Request, error: Exception) -> Response:
    assert isinstance(error, InternalLinkerError)
    return problem(str(error), status_of(error))


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return problem(f"{where or 'The request'}: {plain(first['msg'])}.", 422)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and not request.url.path.startswith("/api/"):
        return Response("Page not found.", 404, media_type="text/plain")
    return problem(f"{str(error.detail).rstrip('.')}.", error.status_code)


async def _unexpected(_: Request, error: Exception) -> Response:
    LOGGER.error("Unexpected error", exc_info=error)
    name = type(error).__name__
    return problem(f"Unexpected error ({name}): the terminal of the app shows more. Please report it.", 500)
