"""Progress for programs: a file of JSON lines that tells what a run does, and how it ended."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import psutil

from internal_linker.core.errors import ExitCode, InternalLinkerError, OutputError
from internal_linker.core.ports import Progress
from internal_linker.core.shown import redactor

# Counts are for people: more often they only make the file longer.
_BETWEEN_S = 0.5


class ProgressFile:
    """`ports.Progress` that writes an event per line, and passes everything on.

    Each event has `event` and `at` (ISO 8601, UTC). The first is "begin" with `pid` and `born` (seconds since 1970),
    the last "end" with `code`, `sentence` and `summary`. Between them are "start" with `step`, `total` and `unit`,
    "advance" with `done`, "finish" with `outcome`, and "note" with `message`.

    Args:
        file: the open file.
        progress: shows the progress to people.
        secrets: texts that show as ***.
    """

    def __init__(self, file: TextIO, progress: Progress, secrets: Sequence[str]) -> None:
        self._file, self._progress, self._redacted = file, progress, redactor(secrets)
        self._done, self._told = 0, 0.0
        self._write("begin", pid=os.getpid(), born=psutil.Process().create_time())

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step."""
        self._done = 0
        self._write("start", step=step, total=total, unit=unit)
        self._progress.start(step, total, unit)

    def advance(self, count: int = 1) -> None:
        """Count `count` more units as done."""
        self._done += count
        if time.monotonic() - self._told > _BETWEEN_S:
            self._write("advance", done=self._done)
            self._told = time.monotonic()
        self._progress.advance(count)

    def finish(self, outcome: str) -> None:
        """End the step."""
        self._write("finish", done=self._done, outcome=outcome)
        self._progress.finish(outcome)

    def warn(self, message: str) -> None:
        """Tell a note."""
        self._write("note", message=message)
        self._progress.warn(message)

    def end(self, code: int, sentence: str, summary: Sequence[tuple[str, str]] = ()) -> None:
        """Tell how the run ended: its exit code, a sentence and its summary."""
        self._write("end", code=int(code), sentence=sentence, summary=[*map(list, summary)])

    def _write(self, event: str, **facts: object) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"event": event, "at": at, **facts})
        # A disk that is full must not end a run: who watches it sees that it stopped telling.
        with suppress(OSError):
            self._file.write(self._redacted(line) + "\n")
            self._file.flush()


@contextmanager
def progress_file(path: Path, progress: Progress, secrets: Sequence[str]) -> Iterator[ProgressFile]:
    """Write progress to a new file; an error that ends the block is told there, too.

    Raises:
        OutputError: the file can't be written.
    """
    try:
        file = path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"{path} can't be written ({error.strerror}): check --progress-file.") from None
    with file:
        told = ProgressFile(file, progress, secrets)
        try:
            yield told
        except InternalLinkerError as error:
            told.end(error.exit_code, str(error))
            raise
        except KeyboardInterrupt:
            told.end(
                ExitCode.INTERRUPTED, "Interrupted. All that was fetched or embedded so far is in the cache."
            )
            raise
        except Exception as error:
            told.end(
                ExitCode.UNEXPECTED,
                f"Unexpected error ({type(error).__name__}): logfile.txt has it. Please report it.",
            )
            raise
