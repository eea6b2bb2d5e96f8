"""The command that serves assistants: mcp."""

from typing import Annotated

import typer

from internal_linker.cli.command import ProjectOption, project_folder
from internal_linker.core.errors import ConfigurationError
from internal_linker.core.hints import installation


def mcp(
    context: typer.Context,
    project: ProjectOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Also let assistants accept, edit and reject links.")
    ] = False,
) -> None:
    """Serve an assistant through the Model Context Protocol.

    An assistant starts it and talks to it on standard input and output: links for a page or a draft, similar pages, the
    audit, the review queue. It needs the extra mcp.
    """
    folder = project_folder(context, project)
    try:
        from internal_linker.assistants.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise ConfigurationError(f"mcp needs the extra mcp: {installation('mcp')}") from None
    serve(folder, write=write)
