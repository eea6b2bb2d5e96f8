"""Only one run at a time works in a project folder, and a dead run doesn't block the next."""

import errno
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from internal_linker.model.errors import RunActive
from internal_linker.project.project import open_project
from tests.support.small_project import (
    URLS,
    command,
    finish,
    make_project,
    start,
    write_csv,
    write_settings,
)

SIGN = "files/.internal_linker.project.run"
HOLD = """
import time
from pathlib import Path
from internal_linker.store.files.locks import folder_lock
with folder_lock(Path()):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_run_names_the_first_and_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run ends with code 5 and names the first; looking needs no lock, and a killed run blocks nobody."""
    folder = make_project(tmp_path / "site")
    where = ("--project", str(folder))
    busy = start("-c", HOLD, cwd=folder)
    try:
        assert busy.stdout and busy.stdout.readline() == "held\n"
        assert command("run", *where) == 5
        said = capsys.readouterr().err
        assert re.search(rf"process {busy.pid} on \S+, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d", said)
        assert "Wait until it has ended" in said
        assert "A run is already active" in (folder / "logfile.txt").read_text(encoding="utf-8")
        assert not (folder / "files/Output.csv").exists()
        assert command("run", "--dry-run", *where) == command("lookup", "tea", "--no-serp", *where) == 0
    finally:
        if os.name == "posix":
            busy.send_signal(signal.SIGKILL)
        else:
            busy.kill()
        finish(busy)
    assert (folder / SIGN).exists()
    assert command("run", *where) == 0 and not (folder / SIGN).exists()


def test_the_folder_is_free_after_failure(tmp_path: Path) -> None:
    """While it is not, its holder is named even before it has signed."""
    folder = make_project(tmp_path)
    write_csv(folder / "files/urls_rawdata.csv", [("URL", "Notes"), (URLS[0], "x")])
    assert command("run", "--project", str(folder)) == 3
    write_settings(folder, {"serp_provider": "serper"})
    assert command("run", "--project", str(folder)) == 2
    assert not (folder / SIGN).exists()
    with open_project(folder).lock():
        (folder / SIGN).unlink()
        unnamed = "A run is already active in this folder: another process"
        with pytest.raises(RunActive, match=unnamed), open_project(folder).lock():
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="There a drive's locks are asked for in another way.")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_drive_without_locks_is_refused(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import fcntl

    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    folder = make_project(tmp_path)
    monkeypatch.setattr(fcntl, "flock", flock)
    assert command("run", "--project", str(folder)) == 3
    assert "on a drive that can't lock files" in capsys.readouterr().err
    assert not (folder / "files/Output.csv").exists()
