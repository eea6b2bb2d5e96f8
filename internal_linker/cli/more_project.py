"""The option that all commands share -> the project folder that they work on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.usecases.exit import Start

if TYPE_CHECKING:
    from internal_linker.usecases.project import Project

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="Folder with config/, files/ and logfile.txt. Default: the current one; for main.py its own.",
    ),
]


def opened_project(context: typer.Context, project: Path | None) -> "Project":
    """The project of --project, read; nothing is contacted.

    Raises:
        ConfigurationError: there is no such folder, or a setting or pattern is wrong.
    """
    folder = project_folder(context, project)
    from internal_linker.usecases.project import open_project

    return open_project(folder)


def project_folder(context: typer.Context, project: Path | None) -> Path:
    """The folder of --project or its default, noted for the log of an error."""
    start: Start = context.obj
    start.folder = (project or start.default or Path.cwd()).resolve()
    return start.folder
