"""Only one run at a time works in a project folder, and a dead run doesn't block the next."""

import errno
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from internal_linker.core.errors import RunActive
from internal_linker.usecases.project import open_project
from tests.standins import SerperStandIn
from tests.support.small_project import (
    URLS,
    command,
    finish,
    forget_settings,
    make_project,
    start,
    write_csv,
    write_settings,
    write_text,
)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[SerperStandIn]:
    """Return a project whose run waits a long time for search results."""
    with SerperStandIn(lambda words, site: URLS, latency=20.0) as serper:
        folder = make_project(tmp_path / "site", {"serper_url": serper.url})
        write_text(folder / "config/serper_api_key.txt", serper.api_key)
        yield serper


@pytest.fixture
def busy(slow: SerperStandIn, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a run of that project and wait until it is in the middle of its work."""
    process = start("-m", "internal_linker", "run", cwd=tmp_path / "site")
    assert process.stdout and process.stdout.readline().startswith("Input:")
    yield process
    process.kill()
    finish(process)


def test_a_second_run_names_the_first_and_ends(
    busy: subprocess.Popen[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run exits with code 5 and logs the process, computer and start time of the run that has the lock."""
    folder = tmp_path / "site"
    assert command("run", "--project", str(folder)) == 5
    said = capsys.readouterr().err
    assert re.search(rf"process {busy.pid} on \S+, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d", said)
    assert "Wait until it has ended" in said
    assert "A run is already active" in (folder / "logfile.txt").read_text(encoding="utf-8")
    assert not (folder / "files/Output.csv").exists()


def test_looking_needs_no_lock(busy: subprocess.Popen[str], tmp_path: Path) -> None:
    """A dry run, a lookup and a run in another project succeed while a run is active."""
    where = ("--project", str(tmp_path / "site"))
    assert command("run", "--dry-run", *where) == 0
    assert command("lookup", "tea", "--no-serp", *where) == 0
    assert command("run", "--project", str(make_project(tmp_path / "other"))) == 0
    assert busy.poll() is None


@pytest.mark.skipif(os.name != "posix", reason="Windows knows no SIGKILL")
def test_a_killed_run_blocks_nobody(busy: subprocess.Popen[str], tmp_path: Path) -> None:
    """After kill -9 or a power cut, the next run starts at once."""
    folder = tmp_path / "site"
    busy.send_signal(signal.SIGKILL)
    busy.wait()
    assert (folder / "files/.internal_linker.usecases.run").exists()
    assert command("run", "--no-serp", "--project", str(folder)) == 0
    assert not (folder / "files/.internal_linker.usecases.run").exists()


def test_the_folder_is_free_after_success_and_after_failure(tmp_path: Path) -> None:
    """After success or failure, the next run may begin, and the lock file names no holder."""
    folder = make_project(tmp_path)
    where = ("--project", str(folder))
    assert command("run", *where) == 0
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Notes"), (URLS[0], "x")])
    assert command("run", *where) == 3
    write_settings(folder, {"serp_provider": "serper"})
    assert command("run", *where) == 2
    assert not (folder / "files/.internal_linker.usecases.run").exists()
    make_project(folder)
    assert command("run", *where) == 0


def test_a_holder_is_named_even_before_it_has_signed(tmp_path: Path) -> None:
    """The message is complete even between taking the lock and writing the holder's name."""
    folder = make_project(tmp_path)
    project = open_project(folder)
    with project.lock():
        (folder / "files/.internal_linker.usecases.run").unlink()
        unnamed = "A run is already active in this folder: another process"
        with pytest.raises(RunActive, match=unnamed), open_project(folder).lock():
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="There a drive's locks are asked for in another way.")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_drive_without_locks_is_refused(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a network drive without locks, a run reads, spends and writes nothing and says what to do."""
    import fcntl

    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    folder = make_project(tmp_path)
    monkeypatch.setattr(fcntl, "flock", flock)
    assert command("run", "--project", str(folder)) == 3
    assert "on a drive that can't lock files" in capsys.readouterr().err
    assert not (folder / "files/Output.csv").exists()
    assert command("lookup", URLS[0], "--project", str(folder)) == 0
