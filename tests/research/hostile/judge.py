"""Run the command line on hostile inputs, one after the other, and report wrong answers."""

import io
import multiprocessing
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from internal_linker.faces.cli import main
from internal_linker.model.errors import ExitCode
from internal_linker.sources.http import limits
from tests.research.hostile.addresses import addresses
from tests.research.hostile.cases import Hostile
from tests.research.hostile.configs import keys, patterns, settings
from tests.research.hostile.large import large
from tests.research.hostile.stores import databases, workbooks
from tests.research.hostile.tables import encodings, no_files, shapes
from tests.support.small_project import make_project

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
    "large": large,
}
# These need separate processes: memory is measured for each, and not all of their work can be interrupted.
ALONE = frozenset({"large"})
# The limits of an answer: seconds, and MB of memory.
LONGEST_S, MOST_MB = 10.0, 1000.0
# Seconds after which a command counts as hanging.
_HANGS_S = 30.0
# Modules that a run imports late.
_LATE = (
    *(
        "internal_linker.project.project",
        "internal_linker.rank.adaptation",
        "internal_linker.match.encoders.lsa",
    ),
    "sklearn.decomposition",
)
if sys.platform == "win32":
    _FRESH = multiprocessing.get_context("spawn")
else:
    _FRESH = multiprocessing.get_context("forkserver")
    # The program's start-up time doesn't count.
    _FRESH.set_forkserver_preload([__name__, *_LATE])
_DOCUMENTED = {*ExitCode} - {ExitCode.UNEXPECTED, ExitCode.INTERRUPTED, ExitCode.FINDINGS}
_GOOD = (ExitCode.SUCCESS, ExitCode.GAPS)


@dataclass(frozen=True)
class Judged:
    """The result for one input: exit code, seconds, peak MB of the process, and what was wrong."""

    name: str
    code: int
    seconds: float
    mb: float
    wrong: str


class _Answer(NamedTuple):
    """A command's exit code (-1 if it took too long), its output, its seconds, and its peak MB."""

    code: int
    said: str
    seconds: float
    mb: float


class _TooLong(BaseException):
    """A timeout that no handler of the program can mistake for its own error."""


def judge(kind: str, folder: Path, some: int = 0, seed: int = 0) -> Iterator[Judged]:
    """Run all cases of a kind, or some of them, in copies of one good project."""
    cases = [*KINDS[kind]()]
    if some:
        cases = random.Random(seed).sample(cases, some)
    template = make_project(folder / "good")
    answer = _alone if kind in ALONE else _command
    answer("run", "--project", str(template))
    for number, case in enumerate(cases):
        project = folder / str(number)
        shutil.copytree(template, project)
        case.put(project)
        got = answer(*case.arguments, "--project", str(project))
        yield Judged(case.name, got.code, got.seconds, got.mb, _wrong(case, got, project))
        shutil.rmtree(project, ignore_errors=True)


def _peak_mb() -> float:
    """Return this process's peak MB; 0 where that is unknown."""
    if sys.platform == "win32":
        return 0.0
    # A process's ru_maxrss includes what it starts with: the tests' memory, with all they have loaded.
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1e3
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


@patch.object(limits, "ATTEMPTS", 1)
def _command(*arguments: str, clock: Callable[[], float] = time.monotonic) -> _Answer:
    """Run the command in this process with a single try per request: no service can be reached from here."""
    said, code = io.StringIO(), 0
    before, began = signal.getsignal(signal.SIGTERM), clock()
    _alarm(_HANGS_S)
    try:
        with redirect_stdout(said), redirect_stderr(said):
            main(arguments)
    except SystemExit as ended:
        code = int(str(ended.code))
    except _TooLong:
        code = -1
    finally:
        _alarm(0)
        signal.signal(signal.SIGTERM, before)
    return _Answer(code, said.getvalue(), clock() - began, _peak_mb())


def _alone(*arguments: str) -> _Answer:
    """Run the command in a separate process, which is killed if it doesn't end."""
    ours, theirs = _FRESH.Pipe(duplex=False)
    process = _FRESH.Process(target=_send, args=(theirs, arguments))
    process.start()
    theirs.close()
    try:
        answer: _Answer = ours.recv() if ours.poll(2 * _HANGS_S) else _Answer(-1, "", _HANGS_S, 0.0)
        return answer
    except EOFError:
        return _Answer(-9, "", 0.0, 0.0)
    finally:
        process.kill()
        process.join()


def _send(answers: Connection, arguments: tuple[str, ...]) -> None:
    """Send the answer with processor time as its clock, since other load makes long work take longer."""
    answers.send(_command(*arguments, clock=time.process_time))


def _alarm(seconds: float) -> None:
    """Set a timer; Windows has none, so there a hang hangs the tests."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _late)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _late(*_: Any) -> None:
    raise _TooLong


def _wrong(case: Hostile, answer: _Answer, project: Path) -> str:
    code, said, seconds, mb = answer
    if code == -1 or seconds > LONGEST_S:
        return f"took {seconds:.1f} s"
    if mb > MOST_MB:
        return f"took {mb:.0f} MB"
    if "Traceback" in said:
        return f"ended in a traceback: {said[-300:]}"
    if code not in _DOCUMENTED:
        return f"ended with {code}: {said[-300:]}"
    if code in _GOOD:
        return "" if (project / "files/Output.csv").exists() else "left no Output.csv"
    # Our error is the last line: its sentence names the file and what to do.
    error = said.strip().splitlines()[-2 if "logfile.txt" in said.strip().splitlines()[-1] else -1]
    if case.file and case.file not in error and "store_url" not in error:
        return f"does not name {case.file}: {error[:300]}"
    if not re.search(r"[.?)]$", error):
        return f"is not a sentence: {error[:300]}"
    return "" if len(error) < 1000 else f"is {len(error)} characters long"
