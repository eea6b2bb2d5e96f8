"""Commands whose options come from an options record: each record's fields become parameters that Typer reads."""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

import internal_linker
from internal_linker.bootstrap import explained
from internal_linker.model.cli_commands import command, typed_path
from internal_linker.model.errors import ConfigurationError, ExitCode, InternalLinkerError
from internal_linker.model.redact import escape_control_chars
from internal_linker.project.option_records import Declared, Options, declared_options, plain

if TYPE_CHECKING:
    from internal_linker.model.results import Result
    from internal_linker.project.console import Reporter
    from internal_linker.project.project import Project

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="Folder with config/, files/ and logfile.txt. Default: the current folder; for main.py, the "
        "folder that contains it.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


class Command(TyperCommand):
    """A command whose help says what a value is in words, without Python's types and formulas."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for parameter in self.params:
            # Typer asks its own parameters for these; versions that don't have one never call it.
            described: Any = parameter
            if hasattr(described, "display_type_rich") and parameter.param_type_name == "argument":
                described.display_type_rich = lambda ctx: ""
            if bounds := getattr(described, "_get_number_range_help_str", None):
                described._get_number_range_help_str = partial(_range, bounds)


def _range(bounds: Callable[[], str | None]) -> str | None:
    """Return bounds such as x>=0 or 0<=x<=60 in words: "0 or more", "0 to 60"."""
    text = bounds()
    if not text or not (found := re.fullmatch(r"(?:(\S+?)<=)?x(?:(>=|<=)(\S+))?", text)):
        return text
    low, sign, high = found.groups()
    if low:
        return f"{low} to {high}" if high else f"{low} or more"
    return f"{high} or {'more' if sign == '>=' else 'less'}"


def group(text: str) -> Callable[..., None]:
    """Return the callback of a group of commands, which takes --project before the command as well as after it."""

    def callback(context: typer.Context, project: ProjectOption = None) -> None:
        if project:
            context.obj.default = project

    callback.__doc__ = text
    return callback


def with_options(record: type[Options]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function that takes the context, the project folder and a record of options.

    The record's fields take the place of `options` in the command's signature; the function's own further
    parameters follow them.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        declared = declared_options(record)
        own = inspect.signature(function)

        @wraps(function)
        def with_record(**values: Any) -> None:
            given = {each.name: _value(each, values.pop(each.name)) for each in declared}
            function(**values, options=record(**given))

        context, project, *others = (
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in own.parameters.values()
            if parameter.name != "options"
        )
        fields = [_parameter(each) for each in declared]
        arguments = [each for each, its in zip(fields, declared, strict=True) if its.option.argument]
        options = [each for each in fields if each not in arguments]
        parameters = [context, *arguments, project, *options, *others]
        with_record.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        with_record.__annotations__ = {each.name: each.annotation for each in parameters}
        return with_record

    return decorate


@dataclass(frozen=True)
class Call:
    """A call of a command, for what prints its result."""

    context: typer.Context
    project: "Project"
    options: Any  # the record
    as_json: bool  # whether JSON was asked for
    reporter: "Reporter"

    def typed(self, words: str) -> str:
        """Return a command for the same project folder as a person types it."""
        return typed(self.context, words)


Show = Callable[[Any, Call], int | None]


def prints(
    name: str, record: type[Options] = Options, *, json: bool = False, stderr: bool = True
) -> Callable[[Show], Callable[..., None]]:
    """Make a command of a function that prints the result of a capability, and may return an exit code.

    The command opens the project, and calls the use case with its options. The function's docstring is its help.

    Args:
        name: the capability; it is imported when the command runs.
        stderr: whether progress is shown on stderr; otherwise it belongs to the command's own output.
    """

    def decorate(show: Show) -> Callable[..., None]:
        def called(
            context: typer.Context,
            project: ProjectOption = None,
            as_json: JsonOption = False,
            *,
            options: Options,
        ) -> None:
            opened = opened_project(context, project)
            from internal_linker.project.capabilities import find_capability

            found = find_capability(name)
            assert found.record is record, "the command names the options of its capability"
            with reporting(stderr=stderr) as reporter:
                result = found.call(opened, options=options, progress=reporter)
            if code := show(result, Call(context, opened, options, as_json, reporter)):
                raise typer.Exit(code)

        called.__doc__ = show.__doc__
        if not json:
            own = inspect.signature(called)
            kept = [each for each in own.parameters.values() if each.name != "as_json"]
            called.__signature__ = own.replace(parameters=kept)  # type: ignore[attr-defined]
        return with_options(record)(called)

    return decorate


def derived_commands() -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield the commands of derived capabilities by name: they print the tables of their result."""
    if not internal_linker.DERIVED:
        return
    from internal_linker.project.capabilities import derived_capabilities

    for found in derived_capabilities():
        command = prints(found.name, found.record, json=True)(_print_tables)
        command.__doc__ = found.summary
        yield found.name.replace("_", "-"), command


def _print_tables(result: "Result", call: Call) -> None:
    from internal_linker.faces.cli.output import json_of, print_columns
    from internal_linker.project.console import open_console

    records = result.records()
    if call.as_json:
        typer.echo(escape_control_chars(json_of({**records})))
        return
    for name, columns in result.tables().items():
        rows = [["" if cell is None else str(cell) for cell in row.values()] for row in records[name]]
        print_columns(open_console(), [*columns], rows)


def _parameter(declared: Declared) -> inspect.Parameter:
    option = declared.option
    kind: Any = list[declared.type] if declared.many else declared.type  # type: ignore[name-defined]
    default = declared.default
    if declared.many or default is None:
        kind, default = kind | None, None
    more: dict[str, Any] = {"help": option.help}
    if metavar := option.metavar or {int: "N", float: "N", Path: "FILE", str: "TEXT"}.get(declared.type, ""):
        more["metavar"] = metavar
    if declared.type in (int, float):
        more |= {"min": option.least, "max": option.most}
    if declared.flag.startswith("--no-"):
        default = not default
    shown = typer.Argument(**more) if option.argument else typer.Option(declared.flag, **more)
    if declared.required:
        default = inspect.Parameter.empty
    return inspect.Parameter(
        declared.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown]
    )


def _value(declared: Declared, value: Any) -> Any:
    """Return the value for the record: a flag that begins with --no- switches its field off."""
    if declared.flag.startswith("--no-"):
        return not value
    return () if declared.many and value is None else value


def opened_project(context: typer.Context, project: Path | None) -> "Project":
    """Read the project of --project; nothing is contacted.

    Raises:
        ConfigurationError: there is no such folder, or a setting or pattern is wrong.
    """
    folder = project_folder(context, project)
    from internal_linker.project.project import open_project

    return open_project(folder)


def project_folder(context: typer.Context, project: Path | None) -> Path:
    """Return the folder of --project or its default, and note it, so that an error can be logged there."""
    start: Start = context.obj
    start.folder = (project or start.default or Path.cwd()).resolve()
    return start.folder


def typed(context: typer.Context, words: str) -> str:
    """Return a command for this project folder as a person types it, such as "check" with program and --project."""
    start: Start = context.obj
    if start.folder in (None, (start.default or Path.cwd()).resolve()):
        return command(words)
    return f"{command(words)} --project {typed_path(start.folder)}"


@contextmanager
def reporting(*, stderr: bool = True) -> Iterator["Reporter"]:
    """Show the progress of a use case, on stderr unless it belongs to the command's own output."""
    from internal_linker.project.console import Reporter, open_console

    reporter = Reporter(open_console(stderr=stderr))
    try:
        yield reporter
    finally:
        reporter.close()


# Older versions of typer raise click's errors, newer ones their own: both derive theirs from this base.
_UsageError: Any = typer.BadParameter.__base__


@dataclass
class Start:
    """What all commands share."""

    default: Path | None = None  # the folder used without --project: main.py's own
    folder: Path | None = None  # the project folder, once it is known
    # whether errors that a person can fix go into its log: those of a run do, those of a check don't
    logs: bool = False


def guarded(call: Callable[[], object], start: Start) -> int:
    """Run a command and return its exit code; print one line on stderr for an error that it raises."""
    try:
        result = call()
    except InternalLinkerError as error:
        _log(error, start)
        mark = "" if error.exit_code == ExitCode.INTERRUPTED else "Error: "
        typer.echo(escape_control_chars(f"{mark}{error}"), err=True)
        return error.exit_code
    except _UsageError as error:
        error.message = plain(error.message)
        error.show()
        return ExitCode.CONFIGURATION
    except (typer.Abort, KeyboardInterrupt):
        result = ExitCode.INTERRUPTED
    except ImportError as error:
        if (error.name or "").startswith("internal_linker"):
            return _unexpected(error, start)
        told = ConfigurationError(explained(error))
        _log(told, start)
        typer.echo(escape_control_chars(f"Error: {told}"), err=True)
        return told.exit_code
    except Exception as error:
        return _unexpected(error, start)
    if result == ExitCode.INTERRUPTED:  # typer makes a code of Ctrl-C
        typer.echo("Interrupted. Everything fetched or embedded so far is in the cache.", err=True)
    return result if isinstance(result, int) else ExitCode.SUCCESS


def _unexpected(error: Exception, start: Start) -> int:
    """Say that a bug ended the command: a person gets a line, logfile.txt the traceback."""
    logged = _log(error, start)
    where = f"with the end of {start.folder}/logfile.txt" if logged else "and describe what you did"
    typer.echo(f"Unexpected error ({type(error).__name__}). Please report it {where}.", err=True)
    return ExitCode.UNEXPECTED


def _log(error: Exception, start: Start) -> bool:
    """Write an error that was raised outside a run's log to logfile.txt; return whether the log has it."""
    from internal_linker.project.log import LOGGED, LOGGER, new_run_id, run_log
    from internal_linker.project.settings.settings import load_settings

    if LOGGED in getattr(error, "__notes__", ()):
        return True
    expected = isinstance(error, InternalLinkerError)
    if start.folder is None or not start.folder.is_dir() or (expected and not start.logs):
        return False
    # Whatever fails here: the line on the terminal must still come.
    secrets: list[str] = []
    with suppress(Exception):
        secrets = load_settings(start.folder).secrets
    with suppress(Exception), run_log(start.folder, new_run_id(), secrets):
        LOGGER.error("%s", error if expected else "Unexpected error", exc_info=None if expected else error)
        return True
    return False
