"""Prepared data: a folder of objects whose arrays are mapped into memory, files of arrays, digests of input files.

Nothing here is a source of truth: what is missing, outdated or damaged is computed again.
"""

import errno
import io
import json
import mmap
import os
import pickle
import re
import shutil
import time
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from internal_linker.model.errors import OutputError
from internal_linker.store.files.atomic import replace_binary, require_in_place

# Increase it when the files change their form.
FORMAT = 1
MANIFEST, OBJECTS, ARRAYS = "manifest.json", "objects.bin", "arrays.bin"
# Where an array may begin in a file that is mapped into memory.
_ALIGNED = 64
# A writer that has not ended after this many seconds was killed.
_KILLED = 3_600
# What a file may name. It might come with a project from elsewhere, so it must not be able to call anything else: the
# classes of these rooms hold data and compute with it; encoders and compute also open files and connections.
_ROOMS = re.compile(r"internal_linker\.(model|text|match(?!\.(compute|encoders)\b)|rank|anchors)(\.\w+)+")
_OTHERS = frozenset({
    ("array", "_array_reconstructor"), ("array", "array"),
    ("builtins", "bytearray"), ("builtins", "frozenset"), ("builtins", "set"),
    ("collections", "Counter"), ("collections", "defaultdict"), ("builtins", "dict"), ("builtins", "list"),
    ("copyreg", "_reconstructor"), ("builtins", "object"),
    ("numpy", "dtype"), ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("scipy.sparse._csr", "csr_matrix"), ("scipy.sparse._csr", "csr_array"),
})  # fmt: skip
# What reading a damaged file may raise.
_DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    EOFError,
    ImportError,
    pickle.PickleError,
)


@dataclass(frozen=True)
class IndexFolder:
    """Keeps what a lookup needs of a site, one version of each part; all of it can be computed again."""

    folder: Path  # the folder, which is created when something is first written
    writes: bool = True  # whether this process may write

    def read(self, part: str, state: str, known: Mapping[str, object]) -> object | None:
        """Return a part as it was written for this state, its arrays read-only; None if it is missing or damaged.

        Args:
            part: the part's name.
            state: what the part was derived from.
            known: the objects that the part refers to, by the names with which it was written.
        """
        place = self._place(part, state)
        try:
            manifest = json.loads((place / MANIFEST).read_bytes())
            if manifest["format"] != FORMAT or manifest["state"] != state:
                return None
            objects = (place / OBJECTS).read_bytes()
            if _digest(objects) != manifest["objects"]:
                return None
            arrays = _mapped(place / ARRAYS, manifest["arrays"])
            buffers = [arrays[start:end] for start, end in manifest["spans"]]
            found: object = _Reader(io.BytesIO(objects), buffers, known).load()
        except _DAMAGE:
            return None
        return found

    def write(self, part: str, state: str, what: object, known: Mapping[str, object]) -> None:
        """Keep a part in place of its earlier versions; objects in `known` are left out.

        Raises:
            OutputError: it can't be written.
        """
        if not self.writes:
            return
        new = self.folder / f".{part}-{uuid4().hex}.tmp"
        try:
            new.mkdir(parents=True)
            _write(new, state, what, known)
            self._into_place(new, self._place(part, state))
            self._prune(part, state)
        except OSError as error:
            raise OutputError(
                f"{self.folder} can't be written ({error.strerror or error}), so the next lookup prepares the site "
                "again. Free some disk space or correct the folder's permissions."
            ) from error
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _place(self, part: str, state: str) -> Path:
        return self.folder / f"{part}-{blake2b(state.encode(), digest_size=12).hexdigest()}"

    def _into_place(self, new: Path, place: Path) -> None:
        """Replace what is there. Of two writers of the same part, the faster one's stays."""
        # What is there leaves whole, so no other writer's files are removed from the place.
        former = self.folder / f".{uuid4().hex}.tmp"
        try:
            with suppress(OSError):
                place.replace(former)
            new.replace(place)
        except OSError as error:
            # Windows has no error of its own for a folder in the place.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) and not place.exists():
                raise
        finally:
            shutil.rmtree(former, ignore_errors=True)

    def _prune(self, part: str, state: str) -> None:
        """Remove earlier versions of the part, and what killed processes left; what Windows has open goes next time."""
        kept, now = self._place(part, state), time.time()
        for each in self.folder.iterdir():
            old = each.name.startswith(f"{part}-") and each != kept
            with suppress(OSError):
                if old or (each.name.endswith(".tmp") and now - each.stat().st_mtime > _KILLED):
                    shutil.rmtree(each, ignore_errors=True)


def _write(folder: Path, state: str, what: object, known: Mapping[str, object]) -> None:
    arrays: list[pickle.PickleBuffer] = []
    objects = io.BytesIO()
    _Writer(objects, arrays, known).dump(what)
    spans: list[tuple[int, int]] = []
    checksum = 0
    with (folder / ARRAYS).open("wb") as out:
        for array in arrays:
            for data in (bytes(-out.tell() % _ALIGNED), array.raw()):
                start = out.tell()
                checksum = zlib.crc32(data, checksum)
                out.write(data)
            spans.append((start, out.tell()))
        # A file without content can't be mapped.
        checksum = zlib.crc32(b"\0", checksum)
        out.write(b"\0")
        _sync(out)
    with (folder / OBJECTS).open("wb") as out:
        out.write(objects.getvalue())
        _sync(out)
    written = (folder / ARRAYS).stat()
    manifest = {
        "format": FORMAT,
        "state": state,
        "objects": _digest(objects.getvalue()),
        "arrays": {"size": written.st_size, "time": written.st_mtime_ns, "crc32": checksum},
        "spans": spans,
    }
    with (folder / MANIFEST).open("wb") as out:
        out.write(json.dumps(manifest).encode())
        _sync(out)


def _sync(out: Any) -> None:
    out.flush()
    os.fsync(out.fileno())


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _mapped(file: Path, expected: Mapping[str, int]) -> memoryview:
    """Map a file into memory; compute its checksum, which takes as long as reading, only if its time has changed.

    Raises:
        ValueError: it is not the file that was written.
    """
    with file.open("rb") as opened:
        found = os.fstat(opened.fileno())
        if found.st_size != expected["size"]:
            raise ValueError(f"{file} has another size")
        whole = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    if found.st_mtime_ns != expected["time"] and zlib.crc32(whole) != expected["crc32"]:
        raise ValueError(f"{file} has another checksum")
    return whole


class _Writer(pickle.Pickler):
    """Writes an object, without its arrays and without the objects that the reader has already."""

    def __init__(
        self, file: io.BytesIO, arrays: list[pickle.PickleBuffer], known: Mapping[str, object]
    ) -> None:
        def keep(array: pickle.PickleBuffer) -> None:
            arrays.append(array)

        super().__init__(file, protocol=5, buffer_callback=keep)
        self._names = {id(each): name for name, each in known.items()}

    def persistent_id(self, obj: object) -> str | None:
        return self._names.get(id(obj))


class _Reader(pickle.Unpickler):
    """Reads what `_Writer` wrote, and nothing that could call another function."""

    def __init__(self, file: io.BytesIO, arrays: Sequence[memoryview], known: Mapping[str, object]) -> None:
        super().__init__(file, buffers=arrays)
        self._known = known

    def persistent_load(self, pid: str) -> object:
        return self._known[pid]

    def find_class(self, module: str, name: str) -> Any:
        # Importing a module runs it, so names are checked first.
        if "." not in name and ((module, name) in _OTHERS or _ROOMS.fullmatch(module)):
            found = super().find_class(module, name)
            if (module, name) in _OTHERS or isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")


_FACTS = "facts"


def write_arrays(path: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Replace a file by facts that JSON can hold, and arrays of numbers by names other than "facts".

    Raises:
        OutputError: it can't be written; an earlier file stays as it was.
    """
    # Lone surrogates must survive, too.
    text = json.dumps(facts, ensure_ascii=True).encode("ascii")

    def write(file: BinaryIO) -> None:
        np.savez(file, allow_pickle=False, **{_FACTS: np.frombuffer(text, np.uint8)}, **arrays)

    require_in_place(path, replace_binary(path, write))


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Return the facts and arrays of a file; None if it is missing, damaged or not of this kind."""
    try:
        # NumPy leaves a file open if it can't read it.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        facts = json.loads(arrays.pop(_FACTS).tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return (facts, arrays) if isinstance(facts, dict) else None


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

    def digest_file(self, file: Path) -> str:
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
