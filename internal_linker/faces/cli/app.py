"""The commands that serve people and assistants: app and mcp."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from internal_linker.faces.cli.command import ProjectOption, project_folder
from internal_linker.model.cli_commands import needs_extra
from internal_linker.model.errors import ConfigurationError


def app_(
    context: typer.Context,
    project: ProjectOption = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port (0: 8765, or the next free one).")
    ] = 0,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; any other asks for a password.")
    ] = "127.0.0.1",
    password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File whose first line is the password; needed behind a proxy."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Don't open a browser.")] = False,
) -> None:
    """Open the app in the browser.

    Start runs, look at links and decide on them. Only this computer can reach it, unless --host is given. It serves
    until Ctrl-C; runs that it started go on.
    """
    folder = project_folder(context, project)
    if project and not folder.is_dir():
        raise ConfigurationError(f"Project folder {folder} not found: check --project.")
    # Libraries of the web are needed by no other command.
    with needs_extra("app", "The app"):
        from internal_linker.faces.web.server import LOOPBACK, serve

    here = host in (LOOPBACK, "localhost") and password_file is None
    password = "" if here else _password(password_file)
    try:
        serve(typer.echo, project=folder, host=host, port=port, password=password, browser=not no_browser)
    except KeyboardInterrupt:
        typer.echo("Stopped.")


def _password(file: Path | None) -> str:
    if file is None:
        if not sys.stdin.isatty():
            raise ConfigurationError("--host needs a password: name a file with --password-file.")
        return str(typer.prompt("Password for the app", hide_input=True, confirmation_prompt=True))
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file} can't be read ({error}): check --password-file.") from None
    if not lines or not lines[0].strip():
        raise ConfigurationError(f"{file} has no password in its first line: check --password-file.")
    return lines[0].strip()


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
        from internal_linker.faces.mcp.server import serve
    serve(folder, write=write)
