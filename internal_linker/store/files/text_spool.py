"""Storage for the contents of pages: the first stay in memory, the others go to a temporary file."""

import sys
import tempfile
import threading
from array import array
from contextlib import suppress
from pathlib import Path
from typing import IO

from internal_linker.model.errors import OutputError
from internal_linker.model.records import StoredText

# Bytes; a site of 10,000 pages of 500 words needs no file. Long texts leave holes in memory as large as themselves.
IN_MEMORY = 50_000_000
# Texts are mostly read in order, so one system call serves some twenty pages.
_BUFFER = 1 << 16


class TextSpool:
    """Keeps texts for one run: `in_memory` bytes, then a file, which it deletes when it is closed or the process ends.

    The folder of the file is created when it is first needed.
    """

    def __init__(self, folder: Path, in_memory: int = IN_MEMORY) -> None:
        self._folder, self._free = folder, in_memory
        self._file: IO[bytes] | None = None
        self._ends = array("Q", [0])
        # Seek and read are two steps, and encoders read ahead in threads.
        self._lock = threading.Lock()

    def keep(self, text: str) -> str | StoredText:
        """Return the text, or a handle whose `str()` is the text; an empty text is returned as it is.

        Raises:
            OutputError: the file can't be written: the disk is full, or the folder is read-only.
        """
        size = sys.getsizeof(text)
        if not text or size <= self._free:
            self._free -= size if text else 0
            return text
        # Lone surrogates must survive, too.
        data = text.encode("utf-8", "surrogatepass")
        try:
            with self._lock:
                if self._file is None:
                    # Open until `close`.
                    self._file = tempfile.TemporaryFile(buffering=_BUFFER, dir=self._folder)  # noqa: SIM115
                self._file.seek(self._ends[-1])
                self._file.write(data)
                self._ends.append(self._ends[-1] + len(data))
        except OSError as error:
            raise self._failed("written", error) from error
        return _Spooled(self, len(self._ends) - 2)

    def read(self, number: int) -> str:
        """Return the text with this number, from 0, in the file.

        Raises:
            OutputError: the file can't be read, or texts in its buffer can't be written.
        """
        start, end = self._ends[number], self._ends[number + 1]
        assert self._file is not None, "nothing was spooled"
        try:
            with self._lock:
                self._file.seek(start)
                data = self._file.read(end - start)
        except OSError as error:
            raise self._failed("read", error) from error
        return data.decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Delete the file and its texts."""
        if self._file is not None:
            # Nobody needs the texts in the buffer any more, so a full disk is not an error now.
            with suppress(OSError):
                self._file.close()

    def _failed(self, what: str, error: OSError) -> OutputError:
        return OutputError(
            f"The pages' contents need a temporary file in {self._folder}, and it can't be {what} "
            f"({error.strerror or error}). Free some disk space or correct the folder's permissions, and run again."
        )


class _Spooled(StoredText):
    __slots__ = ("_number", "_spool")

    def __init__(self, spool: TextSpool, number: int) -> None:
        self._spool, self._number = spool, number

    def __str__(self) -> str:
        return self._spool.read(self._number)
