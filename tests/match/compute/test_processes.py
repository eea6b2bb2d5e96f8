"""Work in worker processes with shared data gives the same results as in this process, even if a worker dies."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from internal_linker.match.compute.processes import Processes
from internal_linker.model.arrays import Ints
from tests.support.dask_work import KILL
from tests.support.small_project import REPOSITORY

NUMBERS = np.arange(100_000)
LOST = "This step continues on one core because other processes can't be started ("


def summed(shared: SimpleNamespace, first: int, last: int) -> tuple[int, int]:
    part: Ints = shared.numbers[first:last]
    return int(part.sum()), os.getpid()


def changed(shared: SimpleNamespace) -> None:
    shared.numbers[0] = 1


def fatal(shared: SimpleNamespace, number: int, survivor: int) -> int:
    if number == 3 and os.getpid() != survivor:
        os.kill(os.getpid(), KILL)
    return number


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def processes(tmp_path: Path, told: list[str]) -> Iterator[Processes]:
    with Processes(2, tmp_path / "shared.tmp", told.append) as made:
        made.share(SimpleNamespace(numbers=NUMBERS, name="text", none=np.empty((0, 3))))
        yield made


def test_results_come_in_the_order_of_the_tasks_from_other_processes(
    processes: Processes, tmp_path: Path, told: Sequence[str]
) -> None:
    """Tasks are drawn lazily: at most two for each process wait. What is shared can't be changed."""
    parts = [(first, first + 1000) for first in range(0, 100_000, 1000)]
    taken: list[int] = []
    tasks = ((taken.append(first) or first, last) for first, last in parts)  # type: ignore[func-returns-value]
    found = []
    for one in processes.run(summed, tasks):
        found.append(one)
        assert len(taken) <= len(found) + 2 * 2
    assert [total for total, _ in found] == [int(NUMBERS[first:last].sum()) for first, last in parts]
    assert os.getpid() not in {process for _, process in found}
    with pytest.raises(ValueError, match="read-only"):
        list(processes.run(changed, [()]))
    processes.__exit__(None, None, None)
    assert not list(tmp_path.iterdir()) and not told


def test_a_lost_process_costs_time_only(processes: Processes, told: Sequence[str]) -> None:
    """After `kill -9` of a worker, this process computes the rest, and the user sees one message."""
    tasks = [(number, os.getpid()) for number in range(40)]

    assert list(processes.run(fatal, tasks)) == list(range(40))
    assert list(processes.run(summed, [(0, 10)])) == [(45, os.getpid())]
    assert len(told) == 1 and told[0].startswith(LOST)


def test_without_processes_or_room_for_the_file_the_work_is_done_here(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that serves nobody is removed at once."""

    def none(*_: object) -> None:
        raise NotImplementedError("no semaphores")

    nowhere = tmp_path / "none" / "shared.tmp"
    for path, why in (
        (nowhere, f"[Errno 2] No such file or directory: '{nowhere}'"),
        (tmp_path / "shared.tmp", "no semaphores"),
    ):
        told.clear()
        with Processes(2, path, told.append) as alone:
            alone.share(SimpleNamespace(numbers=NUMBERS))
            assert not list(tmp_path.iterdir()) and told == [f"{LOST}{why})."]
            assert list(alone.run(summed, [(0, 10)])) == [(45, os.getpid())]
        monkeypatch.setattr("internal_linker.match.compute.processes.ProcessPoolExecutor", none)


PARENT = """
import signal, sys, time
from pathlib import Path
from types import SimpleNamespace
from internal_linker.match.compute.processes import Processes
from tests.match.compute.test_processes import NUMBERS, summed
if __name__ == "__main__":
    # What was started in the background was told to ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with Processes(2, Path(sys.argv[1]), print) as processes:
        processes.share(SimpleNamespace(numbers=NUMBERS))
        print(*{at for _, at in processes.run(summed, [(0, 9)] * 200)}, flush=True)
        time.sleep(60)
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="looks for processes with signal 0, which ends them there"
)
@pytest.mark.long
@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_no_process_outlives_its_parent(tmp_path: Path, sent: str) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, program, tmp_path / "shared.tmp"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        text=True,
        start_new_session=True,
    )
    with parent:
        assert parent.stdout
        workers = [int(number) for number in parent.stdout.readline().split()]
        assert workers
        os.killpg(parent.pid, signal.SIGINT) if sent == "SIGINT" else parent.kill()
        parent.wait(10)
    until = time.monotonic() + 10
    while any(map(_lives, workers)):
        assert time.monotonic() < until, "a process is left"
        time.sleep(0.05)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A zombie has ended, but its parent has not collected its exit status.
    status = Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().split()[2] == "Z")


UNGUARDED = """
import os
from pathlib import Path

from internal_linker.match.compute.processes import Processes

said = []
# A run holds a lock, so that a process can't overwrite the file.
with Processes(1, Path({file!r} + str(os.getpid())), said.append) as processes:
    processes.share("x" * 1_000_000)
    print([*processes.run(len, [()] * 3)], len(said))
"""


@pytest.mark.long
def test_a_process_that_dies_while_it_starts_leaves_the_work_to_this_one(tmp_path: Path) -> None:
    """A script without `if __name__ == "__main__":` is imported by each process, which ends: the run goes on alone."""
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED.format(file=str(tmp_path / "shared.tmp")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stdout.strip() == "[1000000, 1000000, 1000000] 1"
