"""Digests of files: those of unchanged files are kept, and no change of a content goes unnoticed."""

import os
import shutil
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from internal_linker.adapters.files.index_folder import SETTLED_S, FileDigests

TEXT = b"URL,Title\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table beside a folder for digests."""
    (tmp_path / "index").mkdir()
    (tmp_path / "pages.csv").write_bytes(TEXT)
    time.sleep(0.05)
    return tmp_path / "pages.csv"


def digest(table: Path, *, writes: bool = True, settled: float = 0.0) -> str:
    return FileDigests(table.parent / "index/digests.json", writes=writes, settled=settled).of(table)


def expected(content: bytes) -> str:
    return blake2b(content).hexdigest()


def test_an_unchanged_file_is_not_read_again(table: Path) -> None:
    assert digest(table) == expected(TEXT)
    record = table.parent / "index/digests.json"
    record.write_text(record.read_text(encoding="utf-8").replace(expected(TEXT), "as kept"), encoding="utf-8")
    assert digest(table) == "as kept"


def rewritten(table: Path) -> None:
    """Write another content of the same length, and set the former time of the content."""
    times = table.stat()
    table.write_bytes(TEXT.swapcase())
    os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))


def restored(table: Path) -> None:
    """Replace the file by a copy of another one that has the same time and length."""
    other, times = table.with_name("backup.csv"), table.stat()
    other.write_bytes(TEXT.swapcase())
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    shutil.copy2(other, table.with_name("new.csv"))
    table.with_name("new.csv").replace(table)


@pytest.mark.parametrize(
    "change",
    [
        # Windows has no time that a program can't set.
        pytest.param(
            rewritten, marks=pytest.mark.skipif(os.name == "nt", reason="needs the time of the file itself")
        ),
        restored,
        lambda table: table.write_bytes(TEXT.swapcase()),
    ],
)
def test_another_content_of_the_same_length_is_noticed(table: Path, change: Callable[[Path], None]) -> None:
    digest(table)
    time.sleep(0.05)
    change(table)
    assert digest(table) == expected(TEXT.swapcase())


def test_a_file_that_was_just_written_is_read_again(table: Path) -> None:
    assert digest(table, settled=SETTLED_S) == expected(TEXT)
    assert not (table.parent / "index/digests.json").exists()


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"pages.csv": 1}', b'{"pages.csv": []}', b"\xff\xfe"])
def test_a_damaged_record_costs_only_time(table: Path, content: bytes) -> None:
    (table.parent / "index/digests.json").write_bytes(content)
    assert digest(table) == expected(TEXT)
    assert expected(TEXT) in (table.parent / "index/digests.json").read_text(encoding="utf-8")


def test_only_who_may_write_keeps_digests(table: Path) -> None:
    digest(table, writes=False)
    assert not [*(table.parent / "index").iterdir()]
    (table.parent / "index").rmdir()
    assert digest(table) == expected(TEXT)
    assert not (table.parent / "index").exists()
