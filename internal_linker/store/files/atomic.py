"""Atomic file replacement: a reader sees the whole old file or the whole new one, even after a crash."""

import errno
import filecmp
import io
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO
from uuid import uuid4

from internal_linker.model.errors import OutputError

# Virus scanners and file indexers release a file within a second or two; Excel keeps it for as long as it is open.
PAUSES_S = (0.2, 0.4, 0.8, 1.6)
_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NO_RIGHT = {errno.EACCES, errno.EPERM, errno.EROFS}


# The signature of `replace_binary` that writers of files use.
ReplaceBinary = Callable[[Path, Callable[[BinaryIO], None]], Path]


class ReplaceWhole(Protocol):
    """The signature of `replace_whole` that writers of files use."""

    def __call__(self, path: Path, write: Callable[[TextIO], None], /, *, encoding: str = "utf-8") -> Path:
        """Write the file and return where it is."""


def replace_whole(
    path: Path,
    write: Callable[[TextIO], None],
    /,
    *,
    encoding: str = "utf-8",
    replace: Callable[[Path, Path], None] = os.replace,
    sync: Callable[[int], None] = os.fsync,
    pauses: Sequence[float] = PAUSES_S,
) -> Path:
    """Replace a text file as `replace_binary` does; line ends stay as `write` writes them.

    Characters that the encoding lacks (lone surrogates) become "?".
    """

    def encoded(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
        try:
            write(text)
        finally:
            text.detach()

    return replace_binary(path, encoded, replace=replace, sync=sync, pauses=pauses)


def replace_binary(
    path: Path,
    write: Callable[[BinaryIO], None],
    /,
    *,
    replace: Callable[[Path, Path], None] = os.replace,
    sync: Callable[[int], None] = os.fsync,
    pauses: Sequence[float] = PAUSES_S,
) -> Path:
    """Let `write` fill a new file, sync it to the disk, and rename it to `path` in one step.

    A reader sees the old file or the new one, never a part. The function removes temporary files of killed runs, so two
    writers must not write the same file at the same time (one would get an OutputError); the run's lock prevents that.

    Args:
        path: the file. Missing folders are created, a symbolic link's target is replaced, and permissions are kept.
        write: fills the open file; an exception from it leaves the old file unchanged.
        replace, sync: as `os.replace` and `os.fsync` do.
        pauses: seconds to wait before each further attempt while another program has `path` open.

    Returns:
        `path`, or a dated name beside it if another program had `path` open until the end.

    Raises:
        OutputError: the file can't be written, for example because the disk is full.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    new = target.with_name(f".{target.name}.{uuid4().hex[:8]}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        if target.is_dir():
            # Windows would report a file that is in use, and the result would get a dated name.
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        try:
            with new.open("xb") as file:
                write(file)
                file.flush()
                sync(file.fileno())
            _keep_rights(target, new)
            landed = _put_in_place(new, target, replace, pauses)
        finally:
            with suppress(OSError):
                new.unlink()
        _sync_folder(target.parent, sync)
    except OSError as error:
        raise _output_error(path, error) from error
    return path if landed == target else landed


def remarks_on(path: Path, landed: Path) -> list[str]:
    """Return a sentence for the user if a file landed under another name."""
    if landed == path:
        return []
    return [f"{path.name} is open in another program or write-protected; the result is in {landed.name}."]


def require_in_place(path: Path, landed: Path) -> None:
    """Check that a file landed under its own name, for files that only the program itself reads.

    Raises:
        OutputError: it didn't; it is deleted, since nobody would look for it there.
    """
    if landed != path:
        landed.unlink(missing_ok=True)
        raise OutputError(
            f"{path} is open in another program or write-protected. Close it there, and try again."
        )


def dated_name(path: Path) -> Path:
    """Return a free name beside `path` with the local time in it: `Output 2026-11-21 0930.csv`."""
    stem = f"{path.stem} {datetime.now().astimezone():%Y-%m-%d %H%M}"
    name, number = path.with_name(f"{stem}{path.suffix}"), 1
    while name.exists():
        number += 1
        name = path.with_name(f"{stem} ({number}){path.suffix}")
    return name


def copy_aside(path: Path) -> Path:
    """Copy `path` to a dated name beside it, and return that path.

    Raises:
        OutputError: the file can't be copied.
    """
    copy = dated_name(path)
    try:
        shutil.copy2(path, copy)
    except OSError as error:
        with suppress(OSError):
            copy.unlink()
        raise _output_error(copy, error) from error
    return copy


class KeepingOld:
    """A ReplaceWhole that copies a file before it replaces the file with different content.

    `copies` has the copies; files that another program had open stay and have none.
    """

    def __init__(
        self, replace: Callable[[Path, Path], None] = os.replace, pauses: Sequence[float] = PAUSES_S
    ) -> None:
        self.copies: list[Path] = []
        self._into_place, self._pauses = replace, pauses

    def __call__(self, path: Path, write: Callable[[TextIO], None], /, *, encoding: str = "utf-8") -> Path:
        """Write the file and return where it is."""
        return replace_whole(path, write, encoding=encoding, replace=self._replace, pauses=self._pauses)

    def binary(self, path: Path, write: Callable[[BinaryIO], None], /) -> Path:
        """Write the file's bytes and return where it is; a ReplaceBinary."""
        return replace_binary(path, write, replace=self._replace, pauses=self._pauses)

    def _replace(self, new: Path, target: Path) -> None:
        changes = target.exists() and not filecmp.cmp(new, target, shallow=False)
        copy = copy_aside(target) if changes else None
        try:
            self._into_place(new, target)
        except OSError:
            if copy:
                copy.unlink()
            raise
        self.copies += [copy] if copy else []


def sync_file(path: Path) -> None:
    """Force a file that another library has written, and its name, to the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    _sync_folder(path.parent, os.fsync)


def _put_in_place(
    new: Path, target: Path, replace: Callable[[Path, Path], None], pauses: Sequence[float]
) -> Path:
    for pause in (0.0, *pauses):
        time.sleep(pause)
        try:
            replace(new, target)
        except PermissionError:  # on Windows another program has the target open
            continue
        return target
    spare = dated_name(target)
    replace(new, spare)
    return spare


def _remove_leftovers(target: Path) -> None:
    ours = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.tmp")
    for entry in target.parent.iterdir():
        if ours.fullmatch(entry.name):
            with suppress(OSError):
                entry.unlink()


def _keep_rights(target: Path, new: Path) -> None:
    # Windows has only a read-only flag, and a temporary file with that flag can't be deleted.
    if os.name == "posix":
        # Some network drives have no permissions, and the first write of a file has none to keep.
        with suppress(OSError):
            shutil.copymode(target, new)


def _sync_folder(folder: Path, sync: Callable[[int], None]) -> None:
    """Sync the new name to the disk if the system can; the content is already safe."""
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            sync(handle)
        finally:
            os.close(handle)


def _output_error(path: Path, error: OSError) -> OutputError:
    if error.errno in _DISK_FULL:
        reason = "the disk is full. Free some space and run again."
    elif error.errno in _NO_RIGHT:
        reason = f"the folder {path.parent} is read-only for this user. Change its permissions and run again."
    else:
        reason = f"{error.strerror or error}. Check that you can write to its folder and run again."
    return OutputError(f"{path} can't be written: {reason} An existing file stays unchanged.")
