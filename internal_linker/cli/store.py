"""The commands that work on caches themselves: store copy."""

from typing import Annotated

import typer

from internal_linker.cli.more_project import ProjectOption, opened_project

store = typer.Typer(help="Move a cache between databases.", no_args_is_help=True, rich_markup_mode=None)


@store.callback()
def _group() -> None:
    """Move a cache between databases: store copy."""


@store.command("copy")
def copy(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="Where the cache is.")],
    destination: Annotated[str, typer.Argument(metavar="TO", help="Where it shall be, too.")],
    project: ProjectOption = None,
) -> None:
    """Copy a cache into another database.

    FROM and TO are written as store_url, or as the path of an SQLite file; a relative one starts at the
    project folder. Nothing is lost in TO: of two answers to the same question the newer stays.
    """
    opened = opened_project(context, project)
    from internal_linker.usecases.console import Reporter, open_console

    reporter = Reporter(open_console())
    try:
        opened.copy_store(source, destination, reporter)
    finally:
        reporter.close()
    typer.echo("The cache is copied. To use it, set store_url in config/settings.toml.")
