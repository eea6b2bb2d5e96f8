"""The tasks of a server: what is kept of them, and how they end with it."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from internal_linker.faces.web.tasks import Kind, Tasks
from internal_linker.model.errors import Interrupted
from internal_linker.model.ports import Progress


def wait_for_end(tasks: Tasks, folder: Path, kind: Kind) -> None:
    until = time.monotonic() + 10
    while tasks.state(folder, kind).status == "running":
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("kind", ["import", "rollback"])
def test_the_end_of_the_app_cuts_nothing_in_two(tmp_path: Path, kind: Kind) -> None:
    tasks, stop_seen, release = Tasks(), threading.Event(), threading.Event()

    def work(_: Progress, stop: Callable[[], bool]) -> None:
        while not stop():
            time.sleep(0.001)
        stop_seen.set()
        release.wait(60)
        (tmp_path / "second half").touch()

    tasks.start(tmp_path, kind, work)
    closing = threading.Thread(target=tasks.close)
    closing.start()
    assert stop_seen.wait(60) and closing.is_alive()
    release.set()
    closing.join()
    assert (tmp_path / "second half").exists() and tasks.state(tmp_path, kind).status == "done"


def test_the_end_of_the_app_waits_for_nothing_else(tmp_path: Path) -> None:
    tasks, release = Tasks(), threading.Event()

    def work(_: Progress, stop: Callable[[], bool]) -> None:
        release.wait(10)
        if stop():
            raise Interrupted("Stopped.")

    tasks.start(tmp_path, "audit", work)
    tasks.close()
    assert tasks.state(tmp_path, "audit").status == "running"
    release.set()
    wait_for_end(tasks, tmp_path, "audit")
    assert tasks.state(tmp_path, "audit").status == "cancelled"


@pytest.mark.parametrize(("kind", "kept"), [("audit", None), ("similar", None), ("survey", 7), ("import", 7)])
def test_only_results_that_are_asked_for_stay_in_memory(tmp_path: Path, kind: Kind, kept: int | None) -> None:
    """The views of a site are in its folder, so that no second copy is kept."""
    tasks = Tasks()
    tasks.start(tmp_path, kind, lambda *_: 7)
    wait_for_end(tasks, tmp_path, kind)
    assert tasks.result(tmp_path, kind) == kept
