"""What all commands that compare pages have in common: their options, their lock, their end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from internal_linker.usecases.exit import Start

if TYPE_CHECKING:
    from internal_linker.usecases.compare import Compared
    from internal_linker.usecases.console import Reporter
    from internal_linker.usecases.project import Project

ByOption = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="FIELDS",
        help="title, h1, content, or several: title,content; weights: title=1,h1=1,content=3.",
    ),
]
EncoderOption = Annotated[
    str,
    typer.Option(
        "--encoder",
        metavar="NAME",
        help="As embedding_provider in the settings; default: theirs, and for contents without one the words alone.",
    ),
]
WordsOption = Annotated[
    float | None,
    typer.Option(
        "--words", min=0, max=1, metavar="SHARE", help="How much words count beside the encoder, 0 to 1."
    ),
]
MatryoshkaOption = Annotated[
    int,
    typer.Option(
        "--matryoshka", min=0, metavar="N", help="Only the first N numbers of a vector count (0: all)."
    ),
]
BrandOption = Annotated[
    list[str] | None,
    typer.Option(
        "--brand",
        metavar="TEXT",
        help="What stands behind | or - at the end of titles; default: it is found.",
    ),
]
KeepBrandsOption = Annotated[bool, typer.Option("--keep-brands", help="Leave titles as they are.")]
LimitOption = Annotated[int, typer.Option("--limit", min=0, help="Only the first N pages (0: all).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@contextmanager
def at_work(project: "Project") -> Iterator["Reporter"]:
    """Hold the project's folder; what is given tells a person of the steps."""
    from internal_linker.usecases.console import Reporter, open_console

    reporter = Reporter(open_console(stderr=True))
    with project.lock():
        try:
            yield reporter
        finally:
            reporter.close()


def conclude(
    compared: "Compared",
    names: list[str],
    data: Callable[[], dict[str, object]] | None,
    show: Callable[[], list[tuple[str, str]]],
) -> None:
    """Print what came of it, as JSON where `data` gives it, else as `show` does, with the rows that it adds.

    Raises:
        typer.Exit: something could not be had (exit code 6).
    """
    if data:
        import json

        told = {"left_out": dict(compared.left_out), "brands": list(compared.brands)}
        told |= {"files": [f"files/{name}" for name in names], "gaps": list(compared.gaps)}
        typer.echo(json.dumps(data() | told))
    else:
        from internal_linker.usecases.console import open_console, print_rows

        rows = [
            *show(),
            ("Pages compared", str(len(compared.pages))),
            *((f"Left out: {reason}", str(count)) for reason, count in sorted(compared.left_out.items())),
            ("Taken from the titles", ", ".join(compared.brands) or "nothing"),
        ]
        print_rows(open_console(), "Result", rows)
    if compared.gaps:
        from internal_linker.core.errors import ExitCode

        raise typer.Exit(ExitCode.GAPS)


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
