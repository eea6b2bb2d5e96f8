"""A file is replaced whole or not at all, whatever happens during the write."""

import errno
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

from internal_linker.model.errors import InputError, OutputError
from internal_linker.store.files.atomic import (
    KeepingOld,
    copy_aside,
    replace_whole,
    require_in_place,
    sync_file,
)

DATED = re.compile(r"Output \d{4}-\d\d-\d\d \d{4}( \(\d\))?\.csv")


def text(content: str) -> Callable[[TextIO], None]:
    return lambda file: print(content, end="", file=file)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "files" / "Output.csv"
    path.parent.mkdir()
    path.write_text("old")
    return path


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_the_new_content_stands_in_the_old_ones_place(path: Path) -> None:
    assert replace_whole(path, text("new\r\n")) == path
    assert (path.read_bytes(), names(path.parent)) == (b"new\r\n", ["Output.csv"])
    assert replace_whole(path.parent / "a" / "b.csv", text("a\ud800b")).read_bytes() == b"a?b"


@pytest.mark.skipif(os.name != "posix", reason="Windows can't sync a folder")
def test_content_and_name_reach_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new file is synced before it is renamed, and its folder, which has the name, afterwards."""
    done = list[str]()

    def sync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    def replace(new: Path, target: Path) -> None:
        done.append("rename")
        new.replace(target)

    replace_whole(path, text("new"), sync=sync, replace=replace)
    assert done == ["file", "rename", "folder"]
    done.clear()
    monkeypatch.setattr(os, "fsync", sync)
    sync_file(path)
    assert done == ["file", "folder"]


@pytest.mark.parametrize("error", [ValueError("bad row"), InputError("bad file"), KeyboardInterrupt()])
def test_an_error_while_writing_leaves_the_old_file_alone(path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        replace_whole(path, failing(error))
    assert (path.read_text(), names(path.parent)) == ("old", ["Output.csv"])


@pytest.mark.parametrize("stage", ["sync", "replace"])
@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "is read-only for this user"),
        (errno.EIO, "Check that you can write to its folder"),
    ],
)
def test_a_refusing_disk_is_told_in_a_sentence(path: Path, stage: str, number: int, said: str) -> None:
    fail = failing(OSError(number, os.strerror(number)))
    with pytest.raises(OutputError, match=said) as caught:
        replace_whole(path, text("new"), **{stage: fail})  # type: ignore[arg-type]
    assert str(path) in str(caught.value)
    assert (path.read_text(), names(path.parent)) == ("old", ["Output.csv"])


KILLED = """
import os, pathlib, sys
from internal_linker.store.files.atomic import replace_whole
stage, die = sys.argv[2], lambda *_: os._exit(9)
def write(file):
    file.write("half")
    file.flush()
    stage == "write" and die()
replace_whole(pathlib.Path(sys.argv[1]), write, sync=die if stage == "sync" else os.fsync, replace=die)
"""


@pytest.mark.parametrize("stage", ["write", "sync", "replace"])
def test_a_killed_write_leaves_the_old_file_and_the_next_one_cleans_up(path: Path, stage: str) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), stage], check=False)
    assert killed.returncode == 9 and path.read_text() == "old" and len(names(path.parent)) == 2
    (path.parent / ".Output.csv.mine.tmp").touch()
    replace_whole(path, text("new"))
    assert (path.read_text(), names(path.parent)) == ("new", [".Output.csv.mine.tmp", "Output.csv"])


def held(path: Path, times: int) -> Callable[[Path, Path], None]:
    left = [times]

    def replace(source: Path, target: Path) -> None:
        if target == path and left[0]:
            left[0] -= 1
            raise PermissionError(13, "The process cannot access the file")
        source.replace(target)

    return replace


def test_a_file_that_stays_open_gets_a_dated_neighbour(path: Path) -> None:
    """A file that is held for a moment costs only the wait; while it stays open, each result gets a name of its own."""
    first = replace_whole(path, text("new"), replace=held(path, 9), pauses=(0, 0))
    second = replace_whole(path, text("newer"), replace=held(path, 9), pauses=())
    assert DATED.fullmatch(first.name) and DATED.fullmatch(second.name)
    assert (path.read_text(), first.read_text(), second.read_text()) == ("old", "new", "newer")
    assert replace_whole(path, text("newest"), replace=held(path, 2), pauses=(0, 0)) == path
    assert path.read_text() == "newest" and len(names(path.parent)) == 3


def test_a_folder_that_refuses_every_name_is_an_output_error(path: Path) -> None:
    (path.parent / "folder").mkdir()
    with pytest.raises(OutputError, match=r"folder can't be written"):
        replace_whole(path.parent / "folder", text("new"))
    (path.parent / "folder").rmdir()
    with pytest.raises(OutputError, match="read-only for this user"):
        replace_whole(path, text("new"), replace=failing(PermissionError(13, "no")), pauses=())
    assert (path.read_text(), names(path.parent)) == ("old", ["Output.csv"])


@pytest.mark.skipif(os.name != "posix", reason="rights and links as POSIX has them")
def test_rights_and_links_are_kept(path: Path) -> None:
    path.chmod(0o664)
    link = path.parent.parent / "link.csv"
    link.symlink_to(path)
    assert replace_whole(link, text("new")) == link
    assert (path.read_text(), link.is_symlink(), path.stat().st_mode & 0o777) == ("new", True, 0o664)


def test_a_copy_aside_is_the_same_under_a_dated_name(path: Path) -> None:
    copy = copy_aside(path)
    assert DATED.fullmatch(copy.name)
    assert (copy.read_text(), path.read_text()) == ("old", "old")
    with pytest.raises(OutputError):
        copy_aside(path.parent)


def test_the_old_file_is_kept_where_another_takes_its_place(path: Path) -> None:
    """The old file is copied once, and only if the content changes; a file that another program holds needs no copy."""
    keeping = KeepingOld()
    assert keeping(path, text("new")) == keeping(path, text("new")) == path
    (copy,) = keeping.copies
    assert (copy.read_text(), path.read_text(), len(names(path.parent))) == ("old", "new", 2)
    keeping = KeepingOld(held(path, 9), (0.0, 0.0))
    landed = keeping(path, text("newer"))
    assert (landed.read_text(), path.read_text(), keeping.copies) == ("newer", "new", [])
    assert len(names(path.parent)) == 3


def test_a_file_of_the_program_itself_must_land_under_its_name(path: Path) -> None:
    other = path.with_name("other")
    other.write_text("new")
    require_in_place(path, path)
    with pytest.raises(OutputError, match="open in another program"):
        require_in_place(path, other)
    assert not other.exists()
