"""Exit codes: every error becomes one line on stderr, and one in the log of the run that it ended."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from internal_linker.bootstrap import explained
from internal_linker.core.errors import ConfigurationError, ExitCode, InternalLinkerError
from internal_linker.core.shown import neutralised
from internal_linker.usecases.option_records import plain

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
        typer.echo(neutralised(f"{mark}{error}"), err=True)
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
        typer.echo(neutralised(f"Error: {told}"), err=True)
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
    from internal_linker.usecases.log import LOGGED, LOGGER, new_run_id, run_log
    from internal_linker.usecases.settings.settings import load_settings

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
