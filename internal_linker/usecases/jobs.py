"""Runs as jobs: processes of their own that go on when who started them ends; all about a job is in files/job."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import psutil

from internal_linker.adapters.files.atomic import replace_whole
from internal_linker.adapters.files.locks import SignedLock
from internal_linker.core.errors import ExitCode, InputError, OutputError, RunActive
from internal_linker.usecases.log import new_run_id
from internal_linker.usecases.options import Options, RunOptions, declared_options

State = Literal["running", "finished", "gaps", "failed", "cancelled", "lost"]

FOLDER = Path("files/job")
_KEPT = ("id", "kind", "options", "started_at")
_ENDS: Mapping[int, State] = {
    ExitCode.SUCCESS: "finished",
    ExitCode.GAPS: "gaps",
    ExitCode.INTERRUPTED: "cancelled",
}
_LOST = (
    "The run ended without a word: its process was killed, or the computer was switched off. All that was fetched or "
    "embedded until then is in the cache. Start it again."
)
# A process that has not told its number yet is still loading its libraries.
_START_S = 60.0
# Starts the program as it was started here, also where Python is isolated from the user's own settings.
_CODE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv[0] = sys.argv.pop(1); "
    "from internal_linker.__main__ import main; main()"
)


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a job.

    Attributes:
        name: what people call it.
        total: its units of work; 0: unknown.
        unit: what is counted.
        done: how many are done.
        outcome: the line at its end; "" while it is going on.
        seconds: how long it took or has taken so far.
        left: about how many seconds are left; None: unknown, or it ended.
    """

    name: str
    total: int
    unit: str
    done: int = 0
    outcome: str = ""
    seconds: float = 0.0
    left: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of a summary."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Job:
    """A run that was started as a job, as far as it tells.

    Attributes:
        id: its name.
        kind: what it does.
        options: its options that differ from the defaults.
        started_at, ended_at: ISO 8601, UTC; `ended_at` is "" while it is running or if nobody knows.
        state: "running"; "finished"; "gaps" (finished, but something is missing); "failed"; "cancelled"; "lost" (it
            was killed).
        cancelling: whether it was asked to stop and is still running.
        steps: its steps so far.
        notes: what a person should read, in order.
        sentence: how it ended.
        summary: its result.
    """

    id: str
    kind: str
    options: Mapping[str, Any]
    started_at: str
    ended_at: str = ""
    state: State = "running"
    cancelling: bool = False
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    sentence: str = ""
    summary: tuple[Figure, ...] = ()


@dataclass(slots=True)
class _Told:
    """What the events of a job's file add up to."""

    pid: int = 0
    born: float = 0.0
    code: int | None = None
    ended_at: str = ""
    sentence: str = ""
    steps: list[Step] = field(default_factory=list)
    began: float = 0.0
    notes: list[str] = field(default_factory=list)
    summary: list[Figure] = field(default_factory=list)


def start_run(root: Path, options: RunOptions) -> Job:
    """Start a run as a process of its own.

    Args:
        root: the project folder.
        options: those of the run.

    Raises:
        OutputError: the folder can't be written.
        RunActive: a job is running in it.
    """
    return _start(root, "run", options)


def current_job(root: Path) -> Job | None:
    """Return the job that is running in a project folder, or the last one; None: there was none."""
    folder = root / FOLDER
    try:
        kept = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        job = Job(**{name: kept[name] for name in _KEPT})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    told = _told(_progress(folder, job))
    state = _state(told, job)
    sentence = _LOST if state == "lost" else told.sentence
    return replace(
        job,
        ended_at=told.ended_at,
        state=state,
        cancelling=state == "running" and (folder / "cancelled").exists(),
        steps=tuple(_timed(told, running=state == "running")),
        notes=tuple(told.notes),
        sentence=sentence,
        summary=tuple(told.summary),
    )


def cancel_job(root: Path) -> Job:
    """Ask the running job to stop; it ends in order after what it is doing. Asked twice, it ends at once.

    Raises:
        InputError: no job is running.
    """
    folder, job = root / FOLDER, current_job(root)
    told = _told(_progress(folder, job)) if job else _Told()
    if job is None or job.state != "running" or not told.pid:
        raise InputError("No run of the app is active in this project, so there is nothing to cancel.")
    (folder / "cancelled").touch()
    with suppress(ProcessLookupError):
        os.kill(told.pid, getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))
    return replace(job, cancelling=True)


def words(options: Options) -> list[str]:
    """Return the command-line words for all options that differ from their defaults."""
    found = []
    for declared in declared_options(type(options)):
        value = getattr(options, declared.name)
        if declared.many:
            found += [f"{declared.flag}={each}" for each in value]
        elif value != declared.default:
            found.append(declared.flag if isinstance(value, bool) else f"{declared.flag}={value}")
    return found


def _start(root: Path, kind: str, options: Options) -> Job:
    folder = root / FOLDER
    with _starting(folder):
        before = current_job(root)
        if before and before.state == "running":
            raise RunActive(
                "A run of the app is active in this project: wait until it has ended, or cancel it."
            )
        for earlier in (folder / "cancelled", *folder.glob("*.jsonl")):
            earlier.unlink(missing_ok=True)
        given = {
            one.name: getattr(options, one.name)
            for one in declared_options(type(options))
            if getattr(options, one.name) not in (one.default, ())
        }
        now = datetime.now(UTC).isoformat(timespec="seconds")
        job = Job(new_run_id(), kind, given, now)
        kept = {name: getattr(job, name) for name in _KEPT}
        replace_whole(folder / "job.json", lambda file: file.writelines([json.dumps(kept)]))
        progress = _progress(folder, job)
        progress.touch()
        own = [kind, *words(options), f"--project={root}", f"--progress-file={progress}"]
        process = _process(own, root, folder / "output.txt")
    threading.Thread(target=_wait, args=(process, progress), daemon=True).start()
    return job


@contextmanager
def _starting(folder: Path) -> Iterator[None]:
    """Let one process at a time start a job in a folder."""
    lock = SignedLock(folder / ".lock", folder / ".lock.holder")
    if not lock.take():
        raise RunActive(f"A run is just being started in this project by {lock.holder}.")
    try:
        yield
    finally:
        lock.release()


def _process(own: Sequence[str], root: Path, output: Path) -> "subprocess.Popen[bytes]":
    """Start the program with these words; it has no terminal, and outlives this process and its terminal."""
    package = Path(__file__).parents[2]
    isolated = ["-I"] if sys.flags.isolated else []
    command = [sys.executable, *isolated, "-X", "utf8", "-c", _CODE, str(package), sys.argv[0], *own]
    try:
        with output.open("wb") as said:
            return subprocess.Popen(
                command,
                cwd=root,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # A group of its own, so that it can be sent an interrupt that nobody else gets.
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
    except OSError as error:
        raise OutputError(f"The run could not be started ({error.strerror}).") from None


def _wait(process: "subprocess.Popen[bytes]", progress: Path) -> None:
    """Wait for the end of a job's process; tell its exit code if it told no end itself."""
    code = process.wait()
    if _told(progress).code is not None or code < 0:
        return
    with suppress(OSError):
        said = (
            progress.with_name("output.txt")
            .read_text(encoding="utf-8", errors="replace")
            .strip()
            .splitlines()
        )
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        sentence = said[-1].removeprefix("Error: ") if said else f"The run ended with code {code}."
        event = {"event": "end", "at": now, "code": code, "sentence": sentence, "summary": []}
        # Not "a": the file of a job that another one followed is gone.
        with progress.open("r+", encoding="utf-8") as file:
            file.seek(0, os.SEEK_END)
            file.write(f"{json.dumps(event)}\n")


def _progress(folder: Path, job: Job) -> Path:
    return folder / f"{job.id}.jsonl"


def _told(progress: Path) -> _Told:
    """Add up the events of a file; a line that is not whole yet is left out."""
    told = _Told()
    try:
        lines = progress.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    except OSError:
        return told
    for line in lines:
        with suppress(ValueError, KeyError, TypeError, IndexError):
            _add(told, json.loads(line))
    return told


def _add(told: _Told, event: Mapping[str, Any]) -> None:
    at = datetime.fromisoformat(event["at"]).timestamp()
    match event["event"]:
        case "begin":
            told.pid, told.born = int(event["pid"]), float(event["born"])
        case "start":
            told.steps.append(Step(str(event["step"]), int(event["total"]), str(event["unit"])))
            told.began = at
        case "advance":
            told.steps[-1] = replace(told.steps[-1], done=int(event["done"]))
        case "finish":
            step = replace(told.steps[-1], outcome=str(event["outcome"]), seconds=at - told.began)
            told.steps[-1] = step if not step.total else replace(step, done=step.total)
        case "note":
            told.notes.append(str(event["message"]))
        case "end":
            told.code, told.sentence, told.ended_at = int(event["code"]), str(event["sentence"]), event["at"]
            told.summary = [Figure(str(name), str(value)) for name, value in event["summary"]]


def _timed(told: _Told, *, running: bool) -> Iterator[Step]:
    """Yield the steps; the one that is going on gets its time so far and an estimate of what is left."""
    for step in told.steps:
        if step.outcome or not running or step is not told.steps[-1]:
            yield step
            continue
        seconds = max(0.0, datetime.now(UTC).timestamp() - told.began)
        known = step.total > 0 and step.done > 0
        left = seconds / step.done * max(0, step.total - step.done) if known else None
        yield replace(step, seconds=seconds, left=left)


def _state(told: _Told, job: Job) -> State:
    if told.code is not None:
        # Its process may still wait for a service's last answer, but it holds no lock any more.
        return _ENDS.get(told.code, "failed")
    if told.pid:
        return "running" if _alive(told) else "lost"
    age = datetime.now(UTC) - datetime.fromisoformat(job.started_at)
    return "running" if age.total_seconds() < _START_S else "lost"


def _alive(told: _Told) -> bool:
    """Return whether the job's process still runs; its number alone could be another one's by now."""
    try:
        process = psutil.Process(told.pid)
        same = abs(float(process.create_time()) - told.born) < 2
        return same and str(process.status()) != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
