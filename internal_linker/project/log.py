"""Logging of one project: logfile.txt with time and run id, rotated, free of secrets."""

import json
import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from internal_linker.model.errors import OutputError
from internal_linker.model.redact import SHORTEST_SECRET, escape_control_chars, redactor

LOGGER = logging.getLogger("internal_linker")
# Without a handler, Python would print each warning to the terminal, which shows it already.
LOGGER.addHandler(logging.NullHandler())
LOG_FILE = "logfile.txt"
# The note on an error whose traceback is in the log already.
LOGGED = "logfile.txt has it."
# A weekly run writes about 5 KB: five files of 2 MB are enough for years.
MAX_BYTES, OLD_FILES = 2_000_000, 4
# Consonants spell no words; an l looks like a 1.
_LETTERS = "bcdfghjkmnpqrstvwxz"


def new_run_id() -> str:
    """Return a run id: the local time, which a person can read, and four letters.

    The letters tell runs apart that start in the same second: on two computers, or in the hour that a change of clocks
    repeats.
    """
    letters = "".join(secrets.choice(_LETTERS) for _ in range(4))
    return f"{datetime.now():%Y%m%d-%H%M%S}-{letters}"


@contextmanager
def run_log(project: Path, run_id: str, hidden: Sequence[str]) -> Iterator[None]:
    """Log to the project's logfile.txt while the block runs; any text of `hidden` shows as ***.

    Raises:
        OutputError: the file can't be written.
    """
    if (project / LOG_FILE).is_fifo():
        raise OutputError(f"{LOG_FILE} is a pipe, not a file: move or delete it and run again.")
    try:
        handler = _LogFile(project / LOG_FILE, maxBytes=MAX_BYTES, backupCount=OLD_FILES, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{LOG_FILE} can't be written ({error.strerror}). Check the free space and the folder's permissions."
        ) from None
    handler.setFormatter(_Redacting(run_id, hidden))
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    LOGGER.addHandler(handler)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        handler.close()


class _LogFile(RotatingFileHandler):
    """A log file whose errors never reach the run or the terminal."""

    def doRollover(self) -> None:  # noqa: N802 - logging's name
        """Rotate the log; if another program holds one of the files, as on Windows, the current file keeps growing."""
        try:
            super().doRollover()
        except OSError:
            self.maxBytes = 0  # each further try would push the old files on, and the last of them out
            self.stream = self.stream or self._open()

    def close(self) -> None:
        """Close the file; what a full disk does not take of it is lost."""
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Ignore a full disk, which loses lines of the log: the step that needs the disk reports it."""


class _Redacting(logging.Formatter):
    """Formats an entry as one line, tracebacks as several; each line has the run id, and no line has a secret."""

    def __init__(self, run_id: str, secrets: Sequence[str]) -> None:
        super().__init__(f"%(asctime)s %(levelname)s [{run_id}] %(message)s", "%Y-%m-%d %H:%M:%S")
        self._next_line = f"\n    [{run_id}] "
        parts = {part for secret in secrets for part in _parts(secret)}
        self._redacted = redactor(part for part in parts if len(part) >= SHORTEST_SECRET)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        """Format the entry without its traceback on one line, even if a page's title has line breaks."""
        return " ".join(super().formatMessage(record).splitlines())

    def format(self, record: logging.LogRecord) -> str:
        text = escape_control_chars(self._redacted(super().format(record)))
        return self._next_line.join(text.splitlines())


def _parts(secret: str) -> Iterator[str]:
    """Yield a secret and, of a JSON's private key, each line."""
    yield secret
    try:
        fields = json.loads(secret)
    except ValueError:
        return
    for name, value in fields.items() if isinstance(fields, dict) else ():
        # The account's address is not secret, and messages need it.
        if name.startswith("private_key") and isinstance(value, str):
            yield from (line for line in value.splitlines() if not line.startswith("-----"))
