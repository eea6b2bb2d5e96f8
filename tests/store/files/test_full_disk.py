"""A full disk and a read-only folder end a run with a clear message, and the earlier result stays unchanged."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from internal_linker.model.errors import ExitCode
from tests.support.small_project import URLS, command, make_project, write_csv

SIZE = 4_000_000
RESULTS = ("Output.csv", "links.csv", "orphans.csv", "excluded_targets.csv", "duplicates.csv", "review.xlsx")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of a few megabytes."""
    folder, mount = tmp_path / "disk", shutil.which("mount")
    folder.mkdir()
    done = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not done or done.returncode:
        pytest.skip("only root, on Linux, can mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "files" / name).read_bytes() for name in RESULTS}


def fill(disk: Path, left: int) -> Path:
    """Fill the disk until only this number of bytes is free."""
    filler = disk / "filler"
    free = os.statvfs(disk)
    filler.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - left))
    return filler


@pytest.mark.parametrize(
    "left", [0, *(pytest.param(left, marks=pytest.mark.long) for left in (5_000, 20_000, 50_000, 100_000))]
)
def test_a_full_disk_is_told_and_spoils_nothing(
    left: int, disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_project(disk / "site")
    where = ("--project", str(folder))
    assert command("run", *where) == ExitCode.SUCCESS
    old = results(folder)
    rows = [(url, f"other {number} tea") for number, url in enumerate(URLS)]
    write_csv(folder / "files/main_queries.csv", [("URL", "Main Query"), *rows])
    filler = fill(disk, left)
    capsys.readouterr()
    code = command("run", *where)
    said = capsys.readouterr()
    now = results(folder)
    filler.unlink()
    assert code or left
    if code:
        assert code in (ExitCode.CONFIGURATION, ExitCode.INPUT, ExitCode.SERVICE)
        assert "Traceback" not in said.err + said.out
        assert re.search("no space left|disk is full|disk I/O", said.err + said.out, re.IGNORECASE)
    assert command("run", *where) == ExitCode.SUCCESS
    new = results(folder)
    changed = {name for name in RESULTS if name != "review.xlsx" and now[name] != old[name]}
    # links.csv contains the run's name.
    assert all(now[name] == new[name] or name == "links.csv" for name in changed)
    assert not [path.name for path in (folder / "files").iterdir() if "tmp" in path.name]


def test_a_read_only_folder_is_told(disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_project(disk / "site")
    where = ("--project", str(folder))
    assert command("run", *where) == ExitCode.SUCCESS
    old = results(folder)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    capsys.readouterr()
    assert command("run", *where) == ExitCode.INPUT
    assert "can't be written" in capsys.readouterr().err
    assert results(folder) == old
    assert command("history", *where) == ExitCode.SUCCESS
    assert command("run", "--dry-run", *where) == ExitCode.SUCCESS
    capsys.readouterr()
    # A lookup may have something to store.
    assert command("lookup", URLS[0], *where) == ExitCode.CONFIGURATION
    assert "you may write to it" in capsys.readouterr().err
