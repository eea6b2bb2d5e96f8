"""Clusters for tests: workers that can be killed, blocks that leave a trace, a scheduler started as in the guide."""

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from internal_linker.model.arrays import Ints, JoinTask, Nearest, Vectors
from internal_linker.model.ports import Compute
from tests.support.dask_work import KILL, watched_block
from tests.support.join_stores import MemoryStore
from tests.support.small_project import REPOSITORY, environment

if TYPE_CHECKING:
    from distributed import LocalCluster

GUIDE = (REPOSITORY / "docs/scaling.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^ *\$ \.venv/bin/python (-m dask .*)$", GUIDE, re.MULTILINE)
TLS_VARIABLES = dict(re.findall(r"^(DASK_\w+)=(.+)$", GUIDE, re.MULTILINE))


@dataclass
class Watched:
    """A `Compute` whose blocks take `seconds` longer and leave a file when they begin; one may be deadly."""

    compute: Compute
    folder: Path
    seconds: float = 0.15
    deadly: str = "none"

    def run(
        self,
        work: Callable[[Vectors, Ints, JoinTask], Nearest],
        vectors: Vectors,
        languages: Ints,
        blocks: Sequence[JoinTask],
    ) -> Iterator[tuple[JoinTask, Nearest]]:
        watched = partial(watched_block, work, self.folder, self.seconds, self.deadly)
        return self.compute.run(watched, vectors, languages, blocks)

    @property
    def begun(self) -> Counter[str]:
        """Return how often each block was begun."""
        return Counter(path.name.partition(".")[0] for path in self.folder.glob("*.*"))

    @property
    def processes(self) -> set[str]:
        """Return the processes that began a block."""
        return {path.name.split(".")[1] for path in self.folder.glob("*.*")}


class StoreThatActs(MemoryStore):
    """A store that calls `act` at a given number of blocks and records the time."""

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


def local_cluster(workers: int, *, processes: bool = True) -> "LocalCluster":
    """Start a cluster of worker processes, each replaced when it is killed, or of threads of this process."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    )


def kill(cluster: "LocalCluster", count: int = 1) -> None:
    """Kill workers with `kill -9`; the cluster starts new ones."""
    for nanny in list(cluster.workers.values())[:count]:
        os.kill(nanny.pid, KILL)


def write_certificates(folder: Path) -> None:
    """Write a self-signed authority that is also everyone's certificate and key: ca.pem, cert.pem, key.pem."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(hours=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for file, content in (("ca.pem", signed), ("cert.pem", signed), ("key.pem", secret)):
        (folder / file).write_bytes(content)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@dataclass
class Started:
    """A scheduler in its own process, and its workers."""

    address: str
    processes: list[subprocess.Popen[bytes]]

    def kill_scheduler(self) -> None:
        self.processes[0].kill()
        self.processes[0].wait()


@contextmanager
def started(
    workers: int = 2,
    scheme: str = "tcp",
    folder: Path = REPOSITORY,
    variables: Mapping[str, str] | None = None,
) -> Iterator[Started]:
    """Start a scheduler and workers by the guide's own commands, in this folder and with these variables."""
    address = f"{scheme}://127.0.0.1:{free_port()}"
    scheduler, worker = (
        _words(command, address) for command in COMMANDS if ("--tls-" in command) == (scheme == "tls")
    )
    with ExitStack() as ending:
        here = Started(address, [])
        for words in [scheduler, *[worker] * workers]:
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=folder,
                env=environment(**(variables or {})),
                stderr=subprocess.DEVNULL,
            )
            ending.callback(_end, process)
            here.processes.append(process)
        yield here


def _words(command: str, address: str) -> list[str]:
    port = address.rpartition(":")[2]
    return shlex.split(command.replace("10.0.0.5", "127.0.0.1").replace("8786", port))


def _end(process: subprocess.Popen[bytes]) -> None:
    import psutil  # comes with distributed

    # A worker's nanny would start another worker, and in an orderly exit both would wait for the scheduler.
    nanny = psutil.Process(process.pid) if process.poll() is None else None
    worker = nanny.children(recursive=True) if nanny else []
    process.kill()
    process.wait()
    for one in worker:
        with suppress(psutil.NoSuchProcess):
            one.kill()
