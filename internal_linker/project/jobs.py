"""Runs as jobs: processes that go on when who started them ends, and the file of JSON lines that tells their progress.

Each line is an event with `event` and `at` (ISO 8601, UTC). The first is "begin" with `pid` and `born` (seconds since
1970), the last "end" with `code`, `sentence` and `summary`; those between are the events of `Tracker`.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TextIO

import psutil

from internal_linker.model.errors import ExitCode, InputError, InternalLinkerError, OutputError, RunActive
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Tracker
from internal_linker.model.redact import redactor
from internal_linker.project.log import new_run_id
from internal_linker.project.option_records import Options, declared_options
from internal_linker.project.options.links import RunOptions
from internal_linker.store.files.atomic import replace_whole
from internal_linker.store.files.locks import SignedLock

State = Literal["running", "finished", "gaps", "failed", "cancelled", "lost"]

FOLDER = Path("files/job")
# The id names a file.
_ID = re.compile(r"[\w-]{1,60}")
_KEPT = ("id", "kind", "options", "started_at")
_ENDS: Mapping[int, State] = {
    ExitCode.SUCCESS: "finished",
    ExitCode.GAPS: "gaps",
    ExitCode.INTERRUPTED: "cancelled",
}
_LOST = (
    "The run stopped unexpectedly: the process was killed or the computer shut down. All that was fetched or embedded "
    "until then is in the cache. Start it again."
)
_CANCELLED = "The run was cancelled. All that was fetched or embedded until then is in the cache."
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
class SummaryFigure:
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
    summary: tuple[SummaryFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class _Child:
    """The process of a job, and when it was born (seconds since 1970)."""

    pid: int
    born: float

    @property
    def alive(self) -> bool:
        """Whether it still runs; its number alone could be another one's by now."""
        try:
            process = psutil.Process(self.pid)
            same = abs(float(process.create_time()) - self.born) < 2
            return same and str(process.status()) != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


class _Reader:
    """Adds the events of a job's file to the job as it grows; what it has read it does not read again."""

    def __init__(self, path: Path, job: Job) -> None:
        self.job = job
        self._path, self._at, self._lock = path, 0, threading.Lock()
        self._code: int | None = None
        self._began = 0.0  # of the last step

    def read(self) -> tuple[Job, int | None, float]:
        """Return the job as far as whole lines of the file tell, its exit code, and when its last step began."""
        with self._lock:
            with suppress(OSError), self._path.open("rb") as file:
                file.seek(self._at)
                whole, end, _ = file.read().rpartition(b"\n")
                self._at += len(whole) + len(end)
                for line in whole.splitlines():
                    with suppress(ValueError, KeyError, TypeError, IndexError):
                        self._add(json.loads(line))
            return self.job, self._code, self._began

    def _add(self, event: Mapping[str, Any]) -> None:
        job, at = self.job, datetime.fromisoformat(event["at"]).timestamp()
        match event["event"]:
            case "start":
                step = Step(str(event["step"]), int(event["total"]), str(event["unit"]))
                self.job, self._began = replace(job, steps=(*job.steps, step)), at
            case "advance":
                step = replace(job.steps[-1], done=int(event["done"]))
                self.job = replace(job, steps=(*job.steps[:-1], step))
            case "finish":
                step = replace(job.steps[-1], outcome=str(event["outcome"]), seconds=at - self._began)
                step = replace(step, done=step.total) if step.total else step
                self.job = replace(job, steps=(*job.steps[:-1], step))
            case "note":
                self.job = replace(job, notes=(*job.notes, str(event["message"])))
            case "end":
                summary = tuple(SummaryFigure(str(name), str(value)) for name, value in event["summary"])
                sentence, code = str(event["sentence"]), int(event["code"])
                self.job = replace(job, ended_at=event["at"], sentence=sentence, summary=summary)
                self._code = code


# The reader of each folder's job.
_READERS: dict[Path, _Reader] = {}
# The jobs that this process started, until how they ended is in their file.
_WAITED: set[str] = set()


def start_run(root: Path, options: RunOptions) -> Job:
    """Start a run as a process of its own.

    Raises:
        OutputError: the folder can't be written.
        RunActive: a job is running in it.
    """
    return _start(root, "run", options)


def current_job(root: Path) -> Job | None:
    """Return the job that is running in a project folder, or the last one; None: there was none."""
    folder = root / FOLDER
    kept = _kept(folder)
    if kept is None:
        return None
    job, child = kept
    # Before the file is read: how a job ended is in its file by the time it is waited for no more.
    waited = job.id in _WAITED
    job, code, began = _reader(folder, job).read()
    cancelled = (folder / "cancelled").exists()
    state = _state(code, running=waited or child.alive, cancelled=cancelled)
    ended = {"lost": _LOST, "cancelled": _CANCELLED}.get(state, "")
    steps = job.steps
    if state == "running" and steps and not steps[-1].outcome:
        steps = (*steps[:-1], _timed(steps[-1], began))
    return replace(
        job,
        state=state,
        cancelling=state == "running" and cancelled,
        steps=steps,
        sentence=job.sentence or ended,
    )


def cancel_job(root: Path) -> Job:
    """Ask the running job to stop; it ends in order after what it is doing. Asked twice, it ends at once.

    Raises:
        InputError: no job is running.
        OutputError: its process can't be reached from here.
    """
    folder, kept, job = root / FOLDER, _kept(root / FOLDER), current_job(root)
    if job is None or kept is None or job.state != "running":
        raise InputError("No run of the app is active in this project, so there is nothing to cancel.")
    pid, mark = kept[1].pid, folder / "cancelled"
    asked_before = mark.exists()
    # Before the signal: a run that is still loading stops without a message, and the mark tells why.
    mark.touch()
    try:
        os.kill(pid, getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))
    except ProcessLookupError:
        pass  # it has just ended
    except OSError as error:
        if not asked_before:
            mark.unlink(missing_ok=True)
        # Windows reaches only the processes of the same window.
        raise OutputError(
            f"The run can't be asked to stop from here ({error.strerror}): end process {pid} in the Task Manager."
        ) from None
    return replace(job, cancelling=True)


def to_argv(options: Options) -> list[str]:
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
        for earlier in (folder / "job.json", folder / "cancelled", *folder.glob("*.jsonl")):
            earlier.unlink(missing_ok=True)
        given = {
            one.name: getattr(options, one.name)
            for one in declared_options(type(options))
            if getattr(options, one.name) not in (one.default, ())
        }
        now = datetime.now(UTC).isoformat(timespec="seconds")
        job = Job(new_run_id(), kind, given, now)
        progress = _progress(folder, job)
        progress.touch()
        own = [kind, *to_argv(options), f"--project={root}", f"--progress-file={progress}"]
        process = _process(own, root, folder / "output.txt")
        _WAITED.add(job.id)
        try:
            _keep(folder, job, process.pid)
        except OutputError:
            # Nobody could watch or cancel it.
            process.kill()
            process.wait()
            _WAITED.discard(job.id)
            raise
    threading.Thread(target=_wait, args=(process, folder, job), daemon=True).start()
    return job


def _keep(folder: Path, job: Job, pid: int) -> None:
    """Write what `_kept` reads, or raise `OutputError`."""
    try:
        born = psutil.Process(pid).create_time()
    except psutil.Error:
        born = 0.0  # it has ended already
    kept = {**{name: getattr(job, name) for name in _KEPT}, "pid": pid, "born": born}
    replace_whole(folder / "job.json", lambda file: file.writelines([json.dumps(kept)]))


def _kept(folder: Path) -> tuple[Job, _Child] | None:
    """Return the last job that was started in a folder, as it was started, and its process."""
    try:
        kept = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        job = Job(**{name: kept[name] for name in _KEPT})
        child = _Child(int(kept["pid"]), float(kept["born"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (job, child) if _ID.fullmatch(job.id) else None


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


def _process(own: Sequence[str], root: Path, output: Path) -> subprocess.Popen[bytes]:
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


def _wait(process: subprocess.Popen[bytes], folder: Path, job: Job) -> None:
    """Wait for the end of a job's process; tell its exit code if it told no end itself."""
    code = process.wait()
    try:
        # One that was cancelled while it was loading has a code that says nothing to people.
        silent = code < 0 or (folder / "cancelled").exists()
        if not silent and _reader(folder, job).read()[1] is None:
            _tell_end(_progress(folder, job), code)
    finally:
        _WAITED.discard(job.id)


def _tell_end(progress: Path, code: int) -> None:
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


def _reader(folder: Path, job: Job) -> _Reader:
    reader = _READERS.get(folder)
    if reader is None or reader.job.id != job.id:
        reader = _READERS[folder] = _Reader(_progress(folder, job), job)
    return reader


def _timed(step: Step, began: float) -> Step:
    """Return a step that is going on with its time so far and an estimate of what is left."""
    seconds = max(0.0, datetime.now(UTC).timestamp() - began)
    known = step.total > 0 and step.done > 0
    left = seconds / step.done * max(0, step.total - step.done) if known else None
    return replace(step, seconds=seconds, left=left)


def _state(code: int | None, *, running: bool, cancelled: bool) -> State:
    if code is not None:
        # Its process may still wait for a service's last answer, but it holds no lock any more.
        return _ENDS.get(code, "failed")
    if running:
        return "running"
    return "cancelled" if cancelled else "lost"


@contextmanager
def progress_file(path: Path, progress: Progress, secrets: Sequence[str]) -> Iterator["ProgressFile"]:
    """Write progress to a new file, without secrets; an error that ends the block is written, too.

    Raises:
        OutputError: the file can't be written.
    """
    try:
        file = path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"{path} can't be written ({error.strerror}): check --progress-file.") from None
    with file:
        written = ProgressFile(file, progress, redactor(secrets))
        try:
            yield written
        except InternalLinkerError as error:
            written.end(error.exit_code, str(error))
            raise
        except KeyboardInterrupt:
            written.end(
                ExitCode.INTERRUPTED, "Interrupted. All that was fetched or embedded so far is in the cache."
            )
            raise
        except Exception as error:
            written.end(
                ExitCode.UNEXPECTED,
                f"Unexpected error ({type(error).__name__}): logfile.txt has it. Please report it.",
            )
            raise


class ProgressFile(Tracker):
    """Progress that goes to a file and to `progress`."""

    def __init__(self, file: TextIO, progress: Progress, redacted: Callable[[str], str]) -> None:
        self._event = partial(_write_event, file, redacted)
        super().__init__(progress, write=self._event)
        self._event("begin", pid=os.getpid(), born=psutil.Process().create_time())

    def end(self, code: int, sentence: str, summary: Sequence[tuple[str, str]] = ()) -> None:
        """Write how the run ended: its exit code, a sentence and its summary."""
        self._event("end", code=int(code), sentence=sentence, summary=[*map(list, summary)])


def _write_event(file: TextIO, redacted: Callable[[str], str], event: str, **facts: object) -> None:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    # A disk that is full must not end a run: who watches it sees that it stopped telling.
    with suppress(OSError):
        file.write(redacted(json.dumps({"event": event, "at": at, **facts})) + "\n")
        file.flush()
