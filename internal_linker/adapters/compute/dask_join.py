"""The blocks of a k-NN join, computed by the workers of a Dask scheduler."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from internal_linker.adapters.compute.dask import PATIENCE, Cluster, Task
from internal_linker.core.arrays import Block, Ints, Nearest, Vectors

Work = Callable[[Vectors, Ints, Block], Nearest]

# Columns of at least this many bytes that several blocks share are sent once; smaller ones with their block.
SHARED_BYTES = 1 << 20
_NONE = np.zeros(0, np.int64)


class DaskCompute:
    """A `ports.Compute` that sends vectors to every worker once, and blocks to idle workers.

    Args:
        address: the scheduler's address, tcp://host:port or tls://host:port.
        patience: seconds without an answer or a worker after which a run fails.

    Raises:
        ConfigurationError: the package `distributed` is not installed.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self._cluster = Cluster(address, patience)

    def run(
        self, work: Work, vectors: Vectors, languages: Ints, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, Nearest]]:
        """Yield each block with its result; other workers repeat the blocks of a killed one.

        Raises:
            ServiceError: scheduler or workers are gone or have other versions, or a block fails on them.
        """
        if not blocks:
            return iter(())
        shared = [vectors, languages, *_common(blocks)]
        tasks = (
            Task(
                block,
                f"block {block.name}",
                (work, vectors, languages, block.columns, replace(block, columns=_NONE)),
            )
            for block in blocks
        )
        return self._cluster.run(_done, tasks, shared, everywhere=len(blocks) > 1)


def _common(blocks: Sequence[Block]) -> list[Ints]:
    """Return the large arrays of columns that several blocks share."""
    large = {id(block.columns): block.columns for block in blocks if block.columns.nbytes >= SHARED_BYTES}
    times = Counter(id(block.columns) for block in blocks)
    return [columns for key, columns in large.items() if times[key] > 1]


def _done(work: Work, vectors: Vectors, languages: Ints, columns: Ints, block: Block) -> Nearest:
    """Compute one block on a worker, with matrix products in one thread."""
    _one_thread_per_product()
    return work(vectors, languages, replace(block, columns=columns))


@cache
def _one_thread_per_product() -> object:
    # Once per process, because its tasks run in parallel; Dask's nannies do the same through the environment.
    return ThreadpoolController().limit(limits=1, user_api="blas")
