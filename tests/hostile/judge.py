"""Let the command line loose on hostile inputs, one after the other, and say what it got wrong."""

import io
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from internal_linker import limits
from internal_linker.cli import main
from internal_linker.errors import ExitCode
from tests.hostile.addresses import addresses
from tests.hostile.cases import Hostile
from tests.hostile.configs import keys, patterns, settings
from tests.hostile.stores import databases, workbooks
from tests.hostile.tables import encodings, no_files, shapes
from tests.small_project import make_project

KINDS: dict[str, Callable[[], Iterator[Hostile]]] = {
    "encodings": encodings,
    "shapes": shapes,
    "no files": no_files,
    "addresses": addresses,
    "patterns": patterns,
    "settings": settings,
    "keys": keys,
    "databases": databases,
    "workbooks": workbooks,
}
# An answer comes within so many seconds, in so many MB of memory.
LONGEST_S, MOST_MB = 10.0, 1000.0
_DOCUMENTED = {*ExitCode} - {ExitCode.UNEXPECTED, ExitCode.INTERRUPTED, ExitCode.FINDINGS}
_GOOD = (ExitCode.SUCCESS, ExitCode.GAPS)


@dataclass(frozen=True)
class Judged:
    """What came of one input: exit code, seconds, and what was wrong with it, "" for nothing."""

    name: str
    code: int
    seconds: float
    wrong: str


class _TooLong(BaseException):
    """No handler of the program's takes it for an error of its own."""


def judge(cases: Iterable[Hostile], folder: Path) -> Iterator[Judged]:
    """Run each in a copy of one good project."""
    template = make_project(folder / "good")
    _command("run", "--project", str(template))
    for number, case in enumerate(cases):
        project = folder / str(number)
        shutil.copytree(template, project)
        case.put(project)
        began = time.monotonic()
        code, said = _command(*case.arguments, "--project", str(project))
        seconds = time.monotonic() - began
        yield Judged(case.name, code, seconds, _wrong(case, code, said, seconds, project))
        shutil.rmtree(project, ignore_errors=True)


def peak_mb() -> float:
    """MB that this process held at the most; 0 where that is unknown."""
    if sys.platform == "win32":
        return 0.0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


@patch.object(limits, "ATTEMPTS", 1)
def _command(*arguments: str) -> tuple[int, str]:
    """Exit code, and all that was said; -1 where it took too long.

    What a good key leads to can't be reached from here, and is tried once.
    """
    said = io.StringIO()
    before = signal.getsignal(signal.SIGTERM)
    _alarm(2 * LONGEST_S)
    try:
        with redirect_stdout(said), redirect_stderr(said):
            main(arguments)
    except SystemExit as ended:
        return int(str(ended.code)), said.getvalue()
    except _TooLong:
        return -1, said.getvalue()
    finally:
        _alarm(0)
        signal.signal(signal.SIGTERM, before)
    return 0, said.getvalue()


def _alarm(seconds: float) -> None:
    """Windows has none: there a hang is a hang of the tests."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _late)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _late(*_: Any) -> None:
    raise _TooLong


def _wrong(case: Hostile, code: int, said: str, seconds: float, project: Path) -> str:
    if code == -1 or seconds > LONGEST_S:
        return f"took {seconds:.1f} s"
    if "Traceback" in said:
        return f"ended in a traceback: {said[-300:]}"
    if code not in _DOCUMENTED:
        return f"ended with {code}: {said[-300:]}"
    if code in _GOOD:
        return "" if (project / "files/Output.csv").exists() else "left no Output.csv"
    # An error of ours is the last line: its sentence names the file and what to do.
    error = said.strip().splitlines()[-2 if "logfile.txt" in said.strip().splitlines()[-1] else -1]
    if case.file and case.file not in error and "store_url" not in error:
        return f"does not name {case.file}: {error[:300]}"
    if not re.search(r"[.?)]$", error):
        return f"is no sentence: {error[:300]}"
    return "" if len(error) < 1000 else f"is {len(error)} characters long"
