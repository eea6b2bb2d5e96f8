"""A path and a function that fills a file -> the whole new file in its place, or the old one untouched."""

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

from internal_linker.core.errors import OutputError

# Virus scanners and file indexers let go of a file within a second or two; a person's Excel does not.
PAUSES_S = (0.2, 0.4, 0.8, 1.6)
_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NO_RIGHT = {errno.EACCES, errno.EPERM, errno.EROFS}


class ReplaceWhole(Protocol):
    """The face of `replace_whole` that writers of files use."""

    def __call__(self, path: Path, write: Callable[[TextIO], None], /, *, encoding: str = "utf-8") -> Path:
        """Write the file and tell where it landed."""


class ReplaceBinary(Protocol):
    """The face of `replace_binary`."""

    def __call__(self, path: Path, write: Callable[[BinaryIO], None], /) -> Path:
        """Write the file and tell where it landed."""


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
    """`replace_binary` for a text file; line ends are written as given.

    Args:
        path: the file.
        write: fills the open text file.
        encoding: of the new file; characters that it can't hold (lone surrogates) become "?".
        replace: as there.
        sync: as there.
        pauses: as there.

    Returns:
        As there.

    Raises:
        OutputError: the disk is full, the folder can't be written to, or the like.
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
    """Let `write` fill a new file, make it durable, and put it in the place of `path` in one step.

    A reader sees the old file or the new one, never a part. What a killed run left behind is
    removed; so two writers of the same file at a time are not supported (one of them gets an
    OutputError), and the run's lock keeps them apart.

    Args:
        path: the file; missing folders are made, a symbolic link's target is replaced, rights are kept.
        write: fills the open file; what it raises ends the work and leaves the old file as it was.
        replace: renames over an existing file, `os.replace`.
        sync: forces a file's content to the disk, `os.fsync`.
        pauses: seconds to wait before each further try while another program holds `path`.

    Returns:
        `path`, or a dated name beside it where another program held `path` to the end.

    Raises:
        OutputError: the disk is full, the folder can't be written to, or the like.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    new = target.with_name(f".{target.name}.{uuid4().hex[:8]}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        if target.is_dir():
            # Windows would answer as if a program held it, and the result would land under a dated name.
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
    """What a person should know of where a file landed: nothing where it is in its place."""
    if landed == path:
        return []
    return [f"{path.name} is open in another program or write-protected; the result is in {landed.name}."]


def dated_name(path: Path) -> Path:
    """A free name beside `path` with the local time in it: `Output 2026-11-21 0930.csv`."""
    stem = f"{path.stem} {datetime.now().astimezone():%Y-%m-%d %H%M}"
    name, number = path.with_name(f"{stem}{path.suffix}"), 1
    while name.exists():
        number += 1
        name = path.with_name(f"{stem} ({number}){path.suffix}")
    return name


def copy_aside(path: Path) -> Path:
    """Copy `path` to a dated name beside it, and say which.

    Raises:
        OutputError: it can't be copied.
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
    """A ReplaceWhole that copies a file aside before another content takes its place.

    Args:
        replace: as in `replace_binary`.
        pauses: as there.

    Attributes:
        copies: those that it made; none of a file that another program held, for that one stays.
    """

    def __init__(
        self, replace: Callable[[Path, Path], None] = os.replace, pauses: Sequence[float] = PAUSES_S
    ) -> None:
        self.copies: list[Path] = []
        self._into_place, self._pauses = replace, pauses

    def __call__(self, path: Path, write: Callable[[TextIO], None], /, *, encoding: str = "utf-8") -> Path:
        """Write the file and tell where it landed."""
        return replace_whole(path, write, encoding=encoding, replace=self._replace, pauses=self._pauses)

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


def _put_in_place(
    new: Path, target: Path, replace: Callable[[Path, Path], None], pauses: Sequence[float]
) -> Path:
    for pause in (0.0, *pauses):
        time.sleep(pause)
        try:
            replace(new, target)
        except PermissionError:  # Windows: somebody has the target open
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
    # On Windows a read-only mark is all there is, and a part that bears it can't be removed again.
    if os.name == "posix":
        # Some network drives know no rights, and a first write has none to keep.
        with suppress(OSError):
            shutil.copymode(target, new)


def _sync_folder(folder: Path, sync: Callable[[int], None]) -> None:
    """Make the new name durable, where the system can: the content is safe already."""
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
        reason = f"the folder {path.parent} is read-only for this user. Change its rights and run again."
    else:
        reason = f"{error.strerror or error}. Check that its folder can be written to and run again."
    return OutputError(f"{path} can't be written: {reason} What stood there before is unchanged.")
