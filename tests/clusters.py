"""Clusters for tests: workers that can be killed, blocks that leave a trace, a scheduler as the guide starts it."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import psutil

from internal_linker.arrays import Block, Ints, Nearest, Vectors
from internal_linker.ports import Compute
from tests.join_stores import MemoryStore
from tests.small_project import REPOSITORY, environment

GUIDE = (REPOSITORY / ".github/SCALING.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ \.venv/bin/python (-m dask .*)$", GUIDE, re.MULTILINE)
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # which ends a process as suddenly on Windows


@dataclass
class Watched:
    """A `Compute` whose blocks take `seconds` longer and leave a file when they begin; one of them may be deadly."""

    compute: Compute
    folder: Path
    seconds: float = 0.15
    deadly: str = "none"

    def run(
        self,
        work: Callable[[Vectors, Ints, Block], Nearest],
        vectors: Vectors,
        languages: Ints,
        blocks: Sequence[Block],
    ) -> Iterator[tuple[Block, Nearest]]:
        watched = partial(_watched, work, self.folder, self.seconds, self.deadly)
        return self.compute.run(watched, vectors, languages, blocks)

    @property
    def begun(self) -> Counter[str]:
        """How often each block was begun."""
        return Counter(path.name.partition(".")[0] for path in self.folder.glob("*.*"))

    @property
    def processes(self) -> set[str]:
        """Who began them."""
        return {path.name.split(".")[1] for path in self.folder.glob("*.*")}


def _watched(
    work: Callable[[Vectors, Ints, Block], Nearest],
    folder: Path,
    seconds: float,
    deadly: str,
    vectors: Vectors,
    languages: Ints,
    block: Block,
) -> Nearest:
    (folder / f"{block.name}.{os.getpid()}.{uuid4().hex}").touch()
    time.sleep(seconds)
    if block.name.endswith(deadly):
        os.kill(os.getpid(), KILL)
    return work(vectors, languages, block)


class StoreThatActs(MemoryStore):
    """A store that does something, and notes the time of it, when it has so many blocks."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        super().__init__()
        self.at, self.act, self.acted = at, act, 0.0
        self.put_blocks: Counter[str] = Counter()

    def put_block(self, join: str, block: str, nearest: Nearest) -> None:
        super().put_block(join, block, nearest)
        self.put_blocks[block] += 1
        if self.put_blocks.total() == self.at:
            self.act()
            self.acted = time.monotonic()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@dataclass
class Started:
    """A scheduler in a process of its own, and its workers."""

    address: str
    processes: list[subprocess.Popen[bytes]]

    def kill_scheduler(self) -> None:
        self.processes[0].kill()
        self.processes[0].wait()


@contextmanager
def started(
    workers: int = 2, *options: str, scheme: str = "tcp", variables: Mapping[str, str] | None = None
) -> Iterator[Started]:
    """A scheduler and so many workers, by the guide's own commands; `options` and `variables` go to all."""
    address = f"{scheme}://127.0.0.1:{free_port()}"
    scheduler, worker = (_words(command, address) for command in COMMANDS[:2])
    with ExitStack() as ending:
        here = Started(address, [])
        for words in [scheduler, *[worker] * workers]:
            process = subprocess.Popen(
                [sys.executable, *words, *options],
                cwd=REPOSITORY,
                env=environment(**(variables or {})),
                stderr=subprocess.DEVNULL,
            )
            ending.callback(_end, process)
            here.processes.append(process)
        yield here


def _words(command: str, address: str) -> list[str]:
    port = address.rpartition(":")[2]
    theirs = command.replace("tcp://10.0.0.5:8786", address)
    return shlex.split(theirs.replace("10.0.0.5", "127.0.0.1").replace("8786", port))


def _end(process: subprocess.Popen[bytes]) -> None:
    # A worker's nanny would start another one; with nobody to say good-bye to, both would wait for long.
    nanny = psutil.Process(process.pid) if process.poll() is None else None
    worker = nanny.children(recursive=True) if nanny else []
    process.kill()
    process.wait()
    for one in worker:
        with suppress(psutil.NoSuchProcess):
            one.kill()
