"""Blocks of a join -> their results, from the workers of a Dask scheduler."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from internal_linker.adapters.compute.dask import PATIENCE, Cluster, Task
from internal_linker.core.arrays import Block, Ints, Nearest, Vectors

Work = Callable[[Vectors, Ints, Block], Nearest]

# Columns of so many bytes that several blocks have in common travel once; those of a cell, with their block.
SHARED_BYTES = 1 << 20
_NONE = np.zeros(0, np.int64)


class DaskCompute:
    """Implements `ports.Compute`: vectors are sent to every worker once, blocks go to who is idle.

    Args:
        address: the scheduler's, tcp://host:port or tls://host:port.
        patience: seconds without an answer or a worker after which it is given up.

    Raises:
        ConfigurationError: the package that speaks to a scheduler is not installed.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self._cluster = Cluster(address, patience)

    def run(
        self, work: Work, vectors: Vectors, languages: Ints, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, Nearest]]:
        """See `ports.Compute`; blocks that a killed worker had are done again by the others.

        Raises:
            ServiceError: scheduler or workers are gone or don't fit, or a block fails on them.
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
    """The large columns that are those of several blocks."""
    large = {id(block.columns): block.columns for block in blocks if block.columns.nbytes >= SHARED_BYTES}
    times = Counter(id(block.columns) for block in blocks)
    return [columns for key, columns in large.items() if times[key] > 1]


def _done(work: Work, vectors: Vectors, languages: Ints, columns: Ints, block: Block) -> Nearest:
    """On a worker: one block, its products in the one thread that it has."""
    _one_thread_a_product()
    return work(vectors, languages, replace(block, columns=columns))


@cache
def _one_thread_a_product() -> object:
    # Once for the whole process, as Dask's nannies do by the environment: its tasks run side by side.
    return ThreadpoolController().limit(limits=1, user_api="blas")
