"""Result files that stay as they are while their content does."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest

from internal_linker.adapters.files.written_files import WrittenFiles

ROWS = "\ufeffSource,Model,Run,Why\r\na,m,run-1,x\r\nb,m,run-1,y\r\n"
RUNS = ("run-1", "run-2")


def content(text: str) -> Callable[[TextIO], None]:
    def write(file: TextIO) -> None:
        file.write(text)

    return write


def written(folder: Path, text: str = ROWS) -> tuple[WrittenFiles, str]:
    """Write links.csv; return what wrote it, and the digest of the content."""
    files = WrittenFiles(folder)
    assert files(folder / "links.csv", content(text)) == folder / "links.csv"
    return files, files.digests["links.csv"]


def test_a_file_with_the_same_content_is_not_written_again(tmp_path: Path) -> None:
    """Its time stays, and no temporary file remains; other content replaces it."""
    path = tmp_path / "links.csv"
    written(tmp_path)
    os.utime(path, ns=(1, 1))
    _, digest = written(tmp_path)
    assert path.stat().st_mtime_ns == 1
    assert [*tmp_path.iterdir()] == [path]
    files, other = written(tmp_path, ROWS.replace("x", "z"))
    assert path.stat().st_mtime_ns != 1
    assert other != digest
    assert files.keeps("links.csv", other)
    assert not files.keeps("links.csv", digest)
    assert not files.keeps("missing.csv", "")


def test_the_run_is_renamed_in_each_row(tmp_path: Path) -> None:
    """The file is as if the new run had written it, and its digest is known."""
    files, digest = written(tmp_path)
    assert files.renames("links.csv", digest, RUNS, 2)
    renamed = (tmp_path / "links.csv").read_bytes()
    assert renamed == ROWS.replace("run-1", "run-2").encode()
    assert files.digests["links.csv"] == written(tmp_path, ROWS.replace("run-1", "run-2"))[1]


@pytest.mark.parametrize(
    ("text", "times"), [(ROWS.replace(",x", ",x,run-1,"), 2), (ROWS, 3), (ROWS + "c,m,run-1,", 2)]
)
def test_a_file_whose_texts_name_the_run_stays(tmp_path: Path, text: str, times: int) -> None:
    """Where not just the cells of the rows have the run's name, nothing is replaced."""
    files, digest = written(tmp_path, text)
    before = (tmp_path / "links.csv").read_bytes()
    assert not files.renames("links.csv", digest, RUNS, times)
    assert (tmp_path / "links.csv").read_bytes() == before


def test_a_changed_or_missing_file_stays(tmp_path: Path) -> None:
    """A file that somebody edited since it was written is not touched."""
    files, digest = written(tmp_path)
    path = tmp_path / "links.csv"
    path.write_bytes(path.read_bytes().replace(b"x", b"w"))
    before = path.read_bytes()
    assert not files.renames("links.csv", digest, RUNS, 2)
    assert path.read_bytes() == before
    path.unlink()
    assert not files.renames("links.csv", digest, RUNS, 2)
    assert not [*tmp_path.iterdir()]


def test_a_file_that_another_program_has_open_is_left_to_whoever_writes_it(tmp_path: Path) -> None:
    """No dated copy remains beside it."""
    _, digest = written(tmp_path)

    def locked(new: Path, target: Path) -> None:
        if target.name == "links.csv":
            raise PermissionError
        new.replace(target)

    files = WrittenFiles(tmp_path, locked, pauses=())
    assert not files.renames("links.csv", digest, RUNS, 2)
    assert [one.name for one in tmp_path.iterdir()] == ["links.csv"]
