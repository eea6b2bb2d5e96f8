"""Result files that stay as they are while their content does: known by the digest of what was written."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from internal_linker.adapters.files.atomic import PAUSES_S, replace_binary
from internal_linker.core.errors import OutputError

# Bytes that are read at once.
_PORTION = 1 << 22


class _ChangedError(Exception):
    """The file is not the one that was written."""


class WrittenFiles:
    """A `ReplaceWhole` that leaves a file with the same content alone, and implements `ports.ResultFiles`.

    Args:
        folder: the folder of the files, each of which has a name of its own.
        replace: as in `replace_binary`.
        pauses: as in `replace_binary`.
    """

    def __init__(
        self,
        folder: Path,
        replace: Callable[[Path, Path], None] = os.replace,
        pauses: Sequence[float] = PAUSES_S,
    ) -> None:
        self._folder, self._into_place, self._pauses = folder, replace, pauses
        self._digests: dict[str, str] = {}

    @property
    def digests(self) -> Mapping[str, str]:
        """Do what `ports.ResultFiles` says."""
        return self._digests

    def __call__(self, path: Path, write: Callable[[TextIO], None], /, *, encoding: str = "utf-8") -> Path:
        """Write the file, unless it has that content, and return where it is."""

        def encoded(file: BinaryIO) -> None:
            text = TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
            try:
                write(text)
            finally:
                text.detach()

        return self._put(path, encoded)

    def keeps(self, name: str, digest: str) -> bool:
        """Do what `ports.ResultFiles` says."""
        if not digest or _digest_of(self._folder / name) != digest:
            return False
        self._digests[name] = digest
        return True

    def renames(self, name: str, digest: str, run: tuple[str, str], times: int) -> bool:
        """Do what `ports.ResultFiles` says."""
        path = self._folder / name
        before, now = (f",{each},".encode() for each in run)

        def renamed(file: BinaryIO) -> None:
            found, seen, rest = 0, blake2b(digest_size=16), b""
            with path.open("rb") as old:
                while portion := old.read(_PORTION):
                    seen.update(portion)
                    # The name of a run has no line end, so that none is cut in two.
                    lines, end, rest = (rest + portion).rpartition(b"\n")
                    found += lines.count(before)
                    file.write(lines.replace(before, now) + end)
            file.write(rest)
            if seen.hexdigest() != digest or found != times or before in rest:
                raise _ChangedError

        # Where it can't be replaced, whoever writes it as a whole says so.
        with suppress(_ChangedError, FileNotFoundError, OutputError):
            if digest and path.is_file():
                if (landed := self._put(path, renamed)) == path:
                    return True
                landed.unlink()
        return False

    def _put(self, path: Path, write: Callable[[BinaryIO], None]) -> Path:
        hashed: list[_Hashing] = []

        def through(file: BinaryIO) -> None:
            hashed.append(_Hashing(file))
            write(cast(BinaryIO, hashed[-1]))

        def replace(new: Path, target: Path) -> None:
            same = target.is_file() and target.stat().st_size == new.stat().st_size
            if not (same and _digest_of(target) == hashed[-1].digest):
                self._into_place(new, target)

        self._digests.pop(path.name, None)
        landed = replace_binary(path, through, replace=replace, pauses=self._pauses)
        if landed == path:
            self._digests[path.name] = hashed[-1].digest
        return landed


class _Hashing:
    """A binary file that computes the digest of what is written to it."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._hash = file, blake2b(digest_size=16)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


def _digest_of(path: Path) -> str:
    """Return the digest of a file's content; "" if it can't be read."""
    digest = blake2b(digest_size=16)
    with suppress(OSError):
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            while portion := file.read(_PORTION):
                digest.update(portion)
        return digest.hexdigest()
    return ""
