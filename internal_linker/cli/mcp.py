"""The command that serves assistants: mcp."""

from typing import Annotated

import typer

from internal_linker.cli.command import ProjectOption, project_folder
from internal_linker.core.hints import needs_extra


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
    with needs_extra("mcp", "The command mcp"):
        from internal_linker.assistants.server import serve
    serve(folder, write=write)
