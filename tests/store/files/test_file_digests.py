"""Digests of files: those of unchanged files are kept, and no change of a content goes unnoticed."""

import os
import shutil
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from internal_linker.store.files.index_folder import SETTLED_S, FileDigests

TEXT = b"URL,Title\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "index").mkdir()
    (tmp_path / "pages.csv").write_bytes(TEXT)
    time.sleep(0.05)
    return tmp_path / "pages.csv"


def digest(table: Path, *, writes: bool = True, settled: float = 0.0) -> str:
    return FileDigests(table.parent / "index/digests.json", writes=writes, settled=settled).digest_file(table)


def expected(content: bytes) -> str:
    return blake2b(content).hexdigest()


def test_an_unchanged_file_is_not_read_again(table: Path) -> None:
    """Only who may write keeps digests, and none of a file that was just written."""
    record = table.parent / "index/digests.json"
    assert digest(table, writes=False) == digest(table, settled=SETTLED_S) == expected(TEXT)
    assert not record.exists()
    assert digest(table) == expected(TEXT)
    record.write_text(record.read_text(encoding="utf-8").replace(expected(TEXT), "as kept"), encoding="utf-8")
    assert digest(table) == "as kept"
    record.unlink()
    record.parent.rmdir()
    assert digest(table) == expected(TEXT) and not record.parent.exists()


def rewritten(table: Path) -> None:
    """Write another content of the same length, and set the former time of the content."""
    times = table.stat()
    table.write_bytes(TEXT.swapcase())
    os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))


def restored(table: Path) -> None:
    """Replace the file by another one that has the same time and length."""
    table.with_name("new.csv").write_bytes(TEXT.swapcase())
    shutil.copystat(table, table.with_name("new.csv"))
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


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"pages.csv": 1}', b'{"pages.csv": []}', b"\xff\xfe"])
def test_a_damaged_record_costs_only_time(table: Path, content: bytes) -> None:
    (table.parent / "index/digests.json").write_bytes(content)
    assert digest(table) == expected(TEXT)
    assert expected(TEXT) in (table.parent / "index/digests.json").read_text(encoding="utf-8")
