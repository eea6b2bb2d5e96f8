"""Joins and embeddings on a Dask cluster equal those of one computer, whichever process dies on the way."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from internal_linker.match.compute.dask import IN_FLIGHT, SHARED_BYTES, DaskCompute
from internal_linker.match.compute.local import Threads
from internal_linker.match.encoders.dask import TEXTS_A_TASK, DaskEncoder
from internal_linker.match.encoders.minilm import LocalEncoder, local_encoder_at
from internal_linker.match.neighbours.exact import join_block
from internal_linker.match.neighbours.knn_join import EXACT_ROWS, Joined, join
from internal_linker.model.arrays import JoinTask, Vectors
from internal_linker.model.errors import ConfigurationError, ServiceError
from internal_linker.model.ports import Compute
from internal_linker.model.records import Text
from internal_linker.project.project import open_project
from internal_linker.project.providers import compute_at
from internal_linker.store.neighbours import StoredJoins
from tests.match.neighbours.test_knn_join import digests_of
from tests.support.builders import Told
from tests.support.dask_clusters import (
    TLS_VARIABLES,
    StoreThatActs,
    Watched,
    kill,
    local_cluster,
    started,
    write_certificates,
)
from tests.support.dask_work import LeavesAFile, unfit_encoder
from tests.support.join_stores import MemoryStore
from tests.support.small_project import REPOSITORY, environment, make_project, write_settings, write_text
from tests.support.vector_sites import one_language, random_vectors

if TYPE_CHECKING:
    from distributed import LocalCluster

pytest.importorskip("distributed", reason="needs the extra cluster (distributed)")

TEXTS = [
    Text(f"Page {number}", "kettles and cups " * (number % 40)) for number in range(2 * TEXTS_A_TASK + 5)
]
VECTORS = random_vectors(12 * EXACT_ROWS, 16, topics=30)  # twelve blocks


@pytest.fixture(scope="module")
def cluster() -> Iterator["LocalCluster"]:
    with local_cluster(2) as cluster:
        yield cluster


def joined(
    vectors: Vectors, compute: Compute, store: StoredJoins | None = None, exact: float = 60.0
) -> Joined:
    languages, targets = one_language(len(vectors)), np.ones(len(vectors), bool)
    digests = digests_of(vectors, languages)
    return join(
        "model",
        vectors,
        digests,
        languages,
        targets,
        served=3,
        store=store,
        compute=compute,
        progress=Told(),
        exact_seconds=exact,
        kept_seconds=0,
    )


@pytest.fixture(scope="module")
def here() -> Joined:
    return joined(VECTORS, Threads(2))


def assert_equal(found: Joined, expected: Joined) -> None:
    assert found.way == expected.way
    for name in ("rows", "scores", "floors"):
        np.testing.assert_array_equal(getattr(found.nearest, name), getattr(expected.nearest, name))


def test_workers_in_threads_find_what_one_computer_finds() -> None:
    vectors = VECTORS[: 3 * EXACT_ROWS]
    with local_cluster(2, processes=False) as cluster:
        compute = DaskCompute(cluster.scheduler_address)
        for exact in (60.0, 0.0):
            assert_equal(joined(vectors, compute, exact=exact), joined(vectors, Threads(2), exact=exact))
        (batch,) = local_encoder_at(cluster.scheduler_address).encode(TEXTS[:2])
        (same,) = LocalEncoder().encode(TEXTS[:2])
        np.testing.assert_array_equal(batch.vectors, same.vectors)
        with pytest.raises(ServiceError, match=r"block exact-\w+-\d+ failed on a worker \(FileNotFoundError"):
            joined(vectors, Watched(compute, Path("not there")))


@pytest.mark.long
def test_columns_that_blocks_share_travel_by_themselves(cluster: "LocalCluster") -> None:
    vectors, languages = random_vectors(140_000, 2), one_language(140_000)
    columns = np.arange(len(vectors))
    blocks = [JoinTask(f"rows-{at}", np.arange(at, at + 9), columns, 3) for at in range(0, 90, 9)]
    assert columns.nbytes >= SHARED_BYTES
    found = DaskCompute(cluster.scheduler_address).run(join_block, vectors, languages, blocks)
    results = {block.name: nearest for block, nearest in found}
    for block in blocks:
        np.testing.assert_array_equal(results[block.name].rows, join_block(vectors, languages, block).rows)


@pytest.mark.long
def test_lists_are_those_of_one_computer(cluster: "LocalCluster", here: Joined) -> None:
    compute, ours, theirs = DaskCompute(cluster.scheduler_address), MemoryStore(), MemoryStore()
    assert_equal(joined(VECTORS, compute), here)
    vectors = random_vectors(4000, 32, topics=60)
    for way in ("clustered", "incremental"):
        expected = joined(vectors, Threads(2), ours, exact=0)
        assert expected.way == way
        assert_equal(joined(vectors, compute, theirs, exact=0), expected)
        vectors[:40] = random_vectors(40, 32, 3, topics=60)


@pytest.mark.long
@pytest.mark.parametrize("killed", [1, 2])
def test_a_killed_workers_blocks_are_done_by_the_others(
    killed: int, cluster: "LocalCluster", here: Joined, tmp_path: Path
) -> None:
    """After `kill -9` of workers, the lists are the same and only blocks in flight are done again.

    If both are killed, the vectors are lost and sent again.
    """
    # Slow blocks: on a busy computer, the workers would have none in flight by the time that one is killed.
    watched = Watched(DaskCompute(cluster.scheduler_address), tmp_path, seconds=0.8)
    store = StoreThatActs(4, lambda: kill(cluster, killed))
    assert_equal(joined(VECTORS, watched, store), here)
    assert set(store.put_blocks.values()) == {1} and store.put_blocks.total() == len(watched.begun) == 12
    assert 1 <= watched.begun.total() - 12 <= IN_FLIGHT * 2


@pytest.mark.long
def test_a_worker_that_comes_late_gets_work(here: Joined, tmp_path: Path) -> None:
    with local_cluster(1) as cluster:
        watched = Watched(DaskCompute(cluster.scheduler_address), tmp_path, seconds=0.5)
        store = StoreThatActs(1, lambda: cluster.scale(2))
        assert_equal(joined(VECTORS, watched, store), here)
    assert len(watched.processes) == 2


@pytest.mark.long
def test_a_block_that_kills_its_workers_ends_the_join(tmp_path: Path) -> None:
    with local_cluster(2) as cluster:
        cluster.scheduler.allowed_failures = 0  # the default of three means four deaths, then four more alone
        watched = Watched(DaskCompute(cluster.scheduler_address), tmp_path, deadly="-3")
        with pytest.raises(ServiceError, match=r"block exact-\w+-3 crashed every worker that tried it"):
            joined(VECTORS, watched)


@pytest.mark.long
def test_a_killed_scheduler_loses_what_was_in_flight(here: Joined, tmp_path: Path) -> None:
    """A killed scheduler ends the join with one sentence; the next join, local or not, does only the missing blocks."""
    with started() as first:
        watched = Watched(DaskCompute(first.address, patience=30), tmp_path)
        store = StoreThatActs(5, first.kill_scheduler)
        lost = f"Dask: the connection to the scheduler at {first.address} was lost"
        with pytest.raises(ServiceError, match=lost):
            joined(VECTORS, watched, store)
        assert time.monotonic() - store.acted < 15
    done = dict(store.blocks("model"))
    assert 5 <= len(done) < 12
    with started() as second:
        computes: dict[str, Compute] = {"local": Threads(2), "dask": DaskCompute(second.address)}
        for name, compute in computes.items():
            (tmp_path / name).mkdir()
            rest, left = Watched(compute, tmp_path / name, seconds=0), MemoryStore()
            for block, nearest in done.items():
                left.put_block("model", block, nearest)
            assert_equal(joined(VECTORS, rest, left), here)
            assert len(rest.begun) == rest.begun.total() == 12 - len(done)
            assert not rest.begun.keys() & done.keys()


def test_no_scheduler_is_one_sentence() -> None:
    with pytest.raises(ServiceError, match="Dask: no scheduler answers at tcp://127.0.0.1:1. Start it, or"):
        joined(VECTORS, DaskCompute("tcp://127.0.0.1:1", patience=1))


@pytest.mark.long
def test_no_worker_is_one_sentence(tmp_path: Path) -> None:
    """A join waits for a worker as long as one may take to start; if all go, what they did is kept."""
    with local_cluster(0) as cluster:
        compute = DaskCompute(cluster.scheduler_address, patience=2)
        with pytest.raises(ServiceError, match="no worker of tcp://.* accepts tasks"):
            joined(VECTORS, compute)
        cluster.scale(1)
        store = StoreThatActs(3, lambda: cluster.scale(0))
        compute = DaskCompute(cluster.scheduler_address, patience=10)
        with pytest.raises(ServiceError, match="accepts tasks: none is running"):
            joined(VECTORS, Watched(compute, tmp_path), store)
    assert len(store.blocks("model")) >= 3


@pytest.mark.long
def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    told = tmp_path / "internal_linker-0.0.1.dist-info/METADATA"
    write_text(told, "Metadata-Version: 2.1\nName: internal-linker\nVersion: 0.0.1\n")
    with (
        started(1, variables={"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}) as old,
        pytest.raises(ServiceError, match=r"has internal_linker 0\.0\.1, this computer has [^0]*\d"),
    ):
        joined(VECTORS, DaskCompute(old.address, patience=20))


@pytest.mark.long
def test_certificates_let_in_who_has_them(tmp_path: Path) -> None:
    """With the guide's tls:// commands and variables a join runs; without a certificate no scheduler answers."""
    write_certificates(tmp_path)
    program = """
import sys
from pathlib import Path
import numpy as np
from internal_linker.model.arrays import JoinTask
from internal_linker.project.providers import compute_at
from internal_linker.match.neighbours.exact import join_block
vectors = np.eye(8, dtype=np.float16)
block = JoinTask("all", np.arange(8), np.arange(8), 3)
if __name__ == "__main__":
    for _, nearest in compute_at(sys.argv[1]).run(join_block, vectors, np.zeros(8, np.int32), [block]):
        print(nearest.rows.shape)
"""
    with started(1, "tls", tmp_path) as guarded:
        call = [sys.executable, "-c", program, guarded.address]
        let_in = subprocess.run(
            call, env=environment(**TLS_VARIABLES), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert let_in.stdout.strip() == "(8, 3)", let_in.stderr
        with pytest.raises(
            ServiceError, match="no scheduler answers at tls://.* Start it with the certificates"
        ):
            joined(VECTORS, DaskCompute(guarded.address, patience=1))


@pytest.mark.long
def test_vectors_are_those_of_the_local_encoder(cluster: "LocalCluster") -> None:
    """Name, recipe and vectors equal the local encoder's, so that they share a cache; each position comes once."""
    local, there = LocalEncoder(), local_encoder_at(cluster.scheduler_address)
    batches = list(there.encode(TEXTS))
    order = np.argsort([at for batch in batches for at in batch.positions])
    vectors = np.concatenate([batch.vectors for batch in batches])[order]
    np.testing.assert_array_equal(vectors, np.concatenate([b.vectors for b in local.encode(TEXTS)]))
    assert sorted(at for batch in batches for at in batch.positions) == list(range(len(TEXTS)))
    for name in ("name", "model", "dimensions", "recipe", "corpus_bound", "languages", "pages"):
        assert getattr(there, name) == getattr(local, name)
    assert there.estimate(TEXTS).cost_usd == 0 and list(there.encode([])) == []


@pytest.mark.long
def test_closing_early_cancels_the_texts(cluster: "LocalCluster", tmp_path: Path) -> None:
    encoder = DaskEncoder(cluster.scheduler_address, LeavesAFile)
    batches = encoder.encode([Text(str(tmp_path), "")] * (40 * TEXTS_A_TASK))
    next(batches)
    batches.close()
    time.sleep(1)
    assert 1 <= len(list(tmp_path.iterdir())) <= 1 + 2 * IN_FLIGHT


@pytest.mark.long
def test_a_worker_without_the_model_is_one_sentence(cluster: "LocalCluster") -> None:
    encoder = DaskEncoder(cluster.scheduler_address, unfit_encoder)
    with pytest.raises(ConfigurationError, match="On a Dask worker: the local embedding model can't be read"):
        list(encoder.encode(TEXTS))


def test_the_setting_decides_where_work_is_done(tmp_path: Path) -> None:
    project = make_project(tmp_path, {"embedding_provider": "local"})
    assert isinstance(open_project(project).clients.encoder([]), LocalEncoder)
    assert isinstance(compute_at(""), Threads)
    write_settings(project, {"embedding_provider": "local", "dask_scheduler": "tcp://127.0.0.1:8786"})
    assert isinstance(open_project(project).clients.encoder([]), DaskEncoder)
    assert isinstance(compute_at("tcp://127.0.0.1:8786"), DaskCompute)
