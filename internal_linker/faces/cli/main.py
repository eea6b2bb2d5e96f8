"""All commands -> the one program that the console script, main.py and `python -m internal_linker` start."""

import atexit
import gc
import io
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from internal_linker.faces.cli.command import Command, Start, derived_commands, guarded
from internal_linker.model.errors import ExitCode
from internal_linker.model.version import __version__

EPILOG = (
    "Exit codes: 0 success, 1 unexpected error, 2 invalid configuration or command line, 3 unusable input or "
    "output file, 4 an external service failed, 5 another run is active, 6 finished with gaps, "
    "7 the audit reached a limit of --fail-on, 130 interrupted."
)

# Where each command or group of commands is, in the order of --help.
_COMMANDS = {
    "run": "run.run",
    "app": "app.app_",
    "lookup": "run.lookup",
    "content-brief": "run.content_brief",
    "import": "import_.import_",
    "queries": "impact.queries",
    "check": "project.check",
    "pairs": "pairs.pairs",
    "clusters": "pairs.clusters",
    "review": "history.review",
    "apply": "apply.apply",
    "undo": "apply.undo",
    "history": "history.history",
    "diff": "history.diff",
    "rollback": "history.rollback",
    "audit": "audit.audit",
    "impact": "impact.impact",
    "evaluate": "evaluate.evaluate",
    "backtest": "evaluate.backtest",
    "calibrate": "evaluate.calibrate",
    "init": "project.init",
    "export-vectors": "project.export_vectors",
    "schedule": "run.schedule",
    "mcp": "app.mcp",
    "store": "cache.store",
    "cache": "cache.cache",
}


def program(names: Iterable[str] = _COMMANDS) -> typer.Typer:
    """Return the program with these commands: to load one instead of all saves a tenth of the start."""
    app = typer.Typer(
        help="Find the best internal links for each page of a site, with the reason for each.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for name in names:
        module, _, attribute = _COMMANDS[name].partition(".")
        command = getattr(import_module(f"internal_linker.faces.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=Command)(command)
    if names is _COMMANDS:
        for name, command in derived_commands():
            app.command(name, cls=Command)(command)
    return app


def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"internal-linker {__version__}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None, default_project: Path | None = None) -> None:
    """Run the console script; `default_project` is the folder used without --project.

    Every error of ours ends in one line on stderr and its exit code; an unexpected one is in logfile.txt.
    """
    # Modules and records stay to the end: with the usual threshold they are searched for garbage again and again.
    gc.set_threshold(100_000)
    # The last search of all takes a third of a second.
    atexit.register(gc.freeze)
    caught = _catch_interrupts()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A Windows code page lacks most of the world's letters: "?" in a title must not end a run.
        sys.stdout.reconfigure(errors="replace")
    start = Start(default_project)
    # Not None: typer would then expand * and %...% in URLs on Windows.
    given = list(sys.argv[1:] if arguments is None else arguments)
    names = given[:1] if given and given[0] in _COMMANDS else _COMMANDS
    code = guarded(lambda: program(names)(args=given, obj=start, standalone_mode=False), start)
    # Commands that end soon disable it; the Python program that called this one may go on.
    gc.enable()
    for number in caught:
        # All is done; an interrupt of the interpreter's own end would leave a traceback.
        signal.signal(number, lambda *_: os._exit(code))
    sys.exit(code)


def _catch_interrupts() -> list[int]:
    """Let a first Ctrl-C or SIGTERM end the command in order, and a second one at once; return the signals."""
    # cron's and systemd's way to end a run: as an interrupt it leaves a line in the log. nohup ignores Ctrl-C.
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    caught = [signal.SIGTERM] if ignored else [signal.SIGTERM, signal.SIGINT]
    # Windows' way to interrupt a process that has no terminal, such as a run of the app.
    caught += [each] if (each := getattr(signal, "SIGBREAK", None)) else []

    def interrupt(*_: object) -> None:
        for number in caught:
            signal.signal(number, _leave)
        raise KeyboardInterrupt

    for number in caught:
        signal.signal(number, interrupt)
    return [*caught]


def _leave(*_: object) -> None:
    """End at once, in the middle of the clean-up that the first interrupt began: files and caches are whole anyway."""
    with suppress(OSError):
        # A progress bar hides the cursor.
        os.write(2, (b"\x1b[?25h" if os.isatty(2) else b"") + b"\nInterrupted twice: ended at once.\n")
    os._exit(ExitCode.INTERRUPTED)
