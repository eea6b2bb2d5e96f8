"""An encoder that runs a local encoder on the workers of a Dask scheduler."""

from collections.abc import Callable, Generator, Sequence
from functools import cache
from threading import Lock

import numpy as np

from internal_linker.match.compute.dask import PATIENCE, DaskCluster, Task
from internal_linker.model.arrays import Vectors
from internal_linker.model.ports import Encoder
from internal_linker.model.records import EncodedBatch, Text, Usage

# Texts that are finished, and so cached, at a time: about eight seconds on one core for pages of 500 words.
TEXTS_A_TASK = 32
_building = Lock()


class DaskEncoder:
    """Implements `ports.Encoder` with the name, recipe and vectors of the local encoder that it runs.

    Args:
        address, patience: see `DaskCluster`.
        make: a module-level class or function that builds the local encoder for a count of threads; called
            here, to learn the encoder's properties, and once on each worker.
    """

    def __init__(self, address: str, make: Callable[[int], Encoder], patience: float = PATIENCE) -> None:
        self._cluster, self._make, local = DaskCluster(address, patience), make, make(1)
        self.name, self.model, self.dimensions = local.name, local.model, local.dimensions
        self.recipe, self.corpus_bound, self.languages = local.recipe, local.corpus_bound, local.languages
        self.pages = local.pages

    def encode(self, texts: Sequence[Text]) -> Generator[EncodedBatch, None, None]:
        """Yield (len, d) float32 unit vectors, `TEXTS_A_TASK` texts at a time, as they arrive; closing cancels.

        Raises:
            ServiceError: the scheduler or its workers are gone or incompatible.
            ConfigurationError: a worker lacks the encoder.
        """
        if not texts:
            return
        starts = range(0, len(texts), TEXTS_A_TASK)
        parts = (range(start, min(start + TEXTS_A_TASK, len(texts))) for start in starts)
        tasks = (
            Task(part, f"texts {part.start + 1} to {part.stop}", (self._make, [texts[at] for at in part]))
            for part in parts
        )
        for part, vectors in self._cluster.run(_encoded, tasks):
            yield EncodedBatch(part, vectors)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return a usage of zero: the workers are your own."""
        return Usage()


def _encoded(make: Callable[[int], Encoder], texts: Sequence[Text]) -> Vectors:
    """Return (len, d) float32 vectors; runs on a worker."""
    with _building:
        encoder = _built(make)
    batches = list(encoder.encode(texts))
    order = np.argsort([at for batch in batches for at in batch.positions])
    vectors: Vectors = np.concatenate([batch.vectors for batch in batches])[order]
    return vectors


@cache
def _built(make: Callable[[int], Encoder]) -> Encoder:
    """Load the model once per worker; its tasks run in parallel, each in one thread."""
    return make(1)
