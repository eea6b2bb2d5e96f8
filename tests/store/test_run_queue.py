"""Of two runs on one database only one pays at a time, and the second finds what the first has paid for."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from internal_linker.model.errors import Interrupted, RunActive
from internal_linker.store.engine import open_database
from internal_linker.store.run_queue import turn
from tests.standins import OpenAIStandIn, SerperStandIn
from tests.support.builders import Told
from tests.support.sites import make_project, sample_pages, sample_queries, use_standins
from tests.support.small_project import command, finish, start, write_text

PAGES = 6
# Finish the imports, then wait for the signal to start.
RUN = """
import time
from pathlib import Path
import internal_linker.project.log, internal_linker.project.console, internal_linker.project.project
from internal_linker.faces.cli import main
print("ready", flush=True)
while not Path("go").exists():
    time.sleep(0.01)
main(["run"])
"""
URLS = [page["URL"] for page in sample_pages(PAGES)]
SEARCHES = len(sample_queries(sample_pages(PAGES)))


@pytest.fixture
def shared(store_url: str, tmp_path: Path) -> str:
    """Return a store_url that names the same database from every folder."""
    return store_url.replace(":///files", f":///{tmp_path.as_posix()}")


class Gate:
    """Serper's results; from one search on, every request waits until the gate is opened."""

    def __init__(self) -> None:
        self.free, self.asked, self._open = 0, 0, threading.Event()

    def __call__(self, words: str, site: str) -> list[str]:
        self.asked += 1
        if self.asked > self.free:
            assert self._open.wait(120)
        return URLS

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture
def serper(gate: Gate) -> Iterator[SerperStandIn]:
    with SerperStandIn(gate) as server:
        yield server


@pytest.fixture
def openai() -> Iterator[OpenAIStandIn]:
    with OpenAIStandIn(dimensions=64) as server:
        yield server


def project(folder: Path, url: str, serper: SerperStandIn, openai: OpenAIStandIn) -> Path:
    """Return a project on the shared database, in its own folder with the same pages and queries."""
    settings = {"store_url": url, "serp_requests_in_flight": 1, "max_serp_pages": 1}
    use_standins(make_project(folder, PAGES), serper=serper, openai=openai, settings=settings)
    return folder


class Prepared:
    """A run in its own process that has finished its imports and starts immediately."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.process = folder, start("-c", RUN, cwd=folder)

    def go(self) -> None:
        assert self.process.stdout and self.process.stdout.readline() == "ready\n"
        write_text(self.folder / "go", "")

    def goes_until(self, words: str) -> None:
        """Read the output up to the line with these words."""
        assert self.process.stdout
        assert any(words in line for line in iter(self.process.stdout.readline, ""))


def two_runs(folders: Sequence[Path], gate: Gate) -> list[Prepared]:
    """Return two runs: the first in the middle of its searches, the second waiting for it."""
    first, second = map(Prepared, folders)
    first.go()
    until = time.monotonic() + 60
    while gate.asked <= gate.free:
        assert time.monotonic() < until
        time.sleep(0.02)
    second.go()
    second.goes_until(f"with the same database: process {first.process.pid} on ")
    return [first, second]


def embedded(server: OpenAIStandIn) -> int:
    return sum(len(call.body["input"]) for call in server.calls("POST /v1/embeddings"))


@pytest.mark.long
def test_two_runs_at_once_pay_for_one(
    shared: str, tmp_path: Path, gate: Gate, serper: SerperStandIn, openai: OpenAIStandIn
) -> None:
    folders = [project(tmp_path / name, shared, serper, openai) for name in ("ann", "bob")]
    runs = two_runs(folders, gate)
    gate.open()
    ended = [finish(each.process) for each in runs]
    assert [code for code, _, _ in ended] == [0, 0], ended
    assert len(serper.calls("POST /search")) == SEARCHES and embedded(openai) == PAGES
    outputs = [(folder / "files/Output.csv").read_bytes() for folder in folders]
    assert outputs[0] == outputs[1] and URLS[0].encode() in outputs[0]


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="Windows knows no SIGKILL")
def test_a_killed_run_leaves_its_turn_and_what_it_paid_for(
    shared: str, tmp_path: Path, gate: Gate, serper: SerperStandIn, openai: OpenAIStandIn
) -> None:
    folders = [project(tmp_path / name, shared, serper, openai) for name in ("ann", "bob")]
    gate.free = 3
    first, second = two_runs(folders, gate)
    first.process.send_signal(signal.SIGKILL)
    finish(first.process)
    gate.open()
    code, _, err = finish(second.process)
    assert (code, err) == (0, "")
    # Only the search in flight at the kill is requested again: one, by serp_requests_in_flight.
    assert gate.asked == SEARCHES + 1 and embedded(openai) == PAGES


def test_looking_needs_no_turn(
    shared: str, tmp_path: Path, gate: Gate, serper: SerperStandIn, openai: OpenAIStandIn
) -> None:
    folders = [project(tmp_path / name, shared, serper, openai) for name in ("ann", "bob")]
    engine = open_database(shared, tmp_path)
    gate.open()
    with turn(engine, Told(), lambda: None):
        assert command("run", "--dry-run", "--project", str(folders[1])) == 0
        assert command("lookup", "coffee", "--project", str(folders[1])) == 0


def test_who_waits_is_told_for_whom_and_ends_in_time(shared: str, tmp_path: Path) -> None:
    """A waiting run names the holder in one warning, and after its longest wait ends with code 5."""
    first, second = open_database(shared, tmp_path), open_database(shared, tmp_path)
    told = Told()
    with (
        turn(first, Told(), lambda: None),
        pytest.raises(RunActive, match=rf"process {os.getpid()} on .* Run again") as ended,
        turn(second, told, lambda: None, longest=0.1),
    ):
        raise AssertionError
    assert ended.value.exit_code == 5
    assert len(told.warnings) == 1 and f"process {os.getpid()} on" in told.warnings[0]
    with turn(second, told, lambda: None, longest=0):
        assert len(told.warnings) == 1


def test_a_run_that_waits_can_be_stopped(shared: str, tmp_path: Path) -> None:
    first, second, third = (open_database(shared, tmp_path) for _ in range(3))

    def stop() -> None:
        raise Interrupted("stop")

    with turn(first, Told(), lambda: None):
        with pytest.raises(Interrupted), turn(second, Told(), stop):
            pass
        with pytest.raises(RunActive), turn(third, Told(), lambda: None, longest=0):
            pass


def test_the_turn_is_given_back_however_it_ends(shared: str, tmp_path: Path) -> None:
    engine = open_database(shared, tmp_path)
    for error in (KeyboardInterrupt, ValueError, ValueError):
        with pytest.raises(error), turn(engine, Told(), lambda: None, longest=0):
            raise error


def test_databases_of_their_own_have_turns_of_their_own(tmp_path: Path) -> None:
    urls = ("sqlite:///one.sqlite3", "sqlite:///two.sqlite3", "sqlite://", "sqlite://")
    with ExitStack() as turns:
        for url in urls:
            turns.enter_context(turn(open_database(url, tmp_path), Told(), lambda: None, longest=0))


def test_two_names_of_one_file_are_one_database(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    first = open_database("sqlite:///real/c.sqlite3", tmp_path)
    second = open_database("sqlite:///link/c.sqlite3", tmp_path)
    with (
        turn(first, Told(), lambda: None),
        pytest.raises(RunActive),
        turn(second, Told(), lambda: None, longest=0),
    ):
        pass
