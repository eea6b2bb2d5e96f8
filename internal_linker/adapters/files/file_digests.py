"""Digests of the contents of files, which are read again only when their size or a time of theirs changed."""

import json
import time
from contextlib import suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from uuid import uuid4

# A file that was written less than this many seconds ago might be written again without another time: file systems
# count in steps of up to two seconds.
SETTLED_S = 3.0
# Size, number, time of the last change of the content and of the file, and the digest.
Known = list[int | str]


class FileDigests:
    """Keeps the digests between processes.

    Copies and restored files may have any time of their content, but not that of the file itself, or its number. On
    Windows, where a file has no such time, that of its creation stands for it.

    Args:
        path: where the digests are kept; a missing or damaged file costs time, nothing else.
        writes: whether this process may write there. Nothing is written before the folder exists.
        settled: seconds since the last change of a file after which its digest is kept.
    """

    def __init__(self, path: Path, *, writes: bool, settled: float = SETTLED_S) -> None:
        self._path, self._writes, self._settled = path, writes, settled
        self._known: dict[str, Known] | None = None

    def of(self, file: Path) -> str:
        """Return the hexadecimal digest of a file's content.

        Raises:
            OSError: the file can't be read.
        """
        if self._known is None:
            self._known = self._read()
        status, began = file.stat(), time.time()
        now: Known = [status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
        known = self._known.get(file.name, [])
        if known[:-1] == now:
            return str(known[-1])
        with file.open("rb") as opened:
            digest = file_digest(opened, blake2b).hexdigest()
        if max(status.st_mtime, status.st_ctime) < began - self._settled:
            self._known[file.name] = [*now, digest]
            self._write()
        return digest

    def _read(self) -> dict[str, Known]:
        with suppress(OSError, ValueError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return {
                    str(name): known for name, known in found.items() if isinstance(known, list) and known
                }
        return {}

    def _write(self) -> None:
        if not (self._writes and self._path.parent.is_dir()):
            return
        new = self._path.with_name(f".{self._path.name}-{uuid4().hex}.tmp")
        # Where it can't be kept, the next process reads the files again.
        with suppress(OSError):
            new.write_text(json.dumps(self._known), encoding="utf-8")
            new.replace(self._path)
        with suppress(OSError):
            new.unlink(missing_ok=True)
