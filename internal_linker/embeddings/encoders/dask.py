"""Texts -> vectors, by encoders on the workers of a Dask scheduler that are the same as the one here."""

from collections.abc import Callable, Generator, Sequence
from functools import cache
from threading import Lock

import numpy as np

from internal_linker.adapters.compute.dask import PATIENCE, Cluster, Task
from internal_linker.core.arrays import Vectors
from internal_linker.core.ports import Encoder
from internal_linker.core.records import EncodedBatch, Text, Usage

# Finished, and so cached, at a time: some eight seconds of one core with pages of 500 words.
TEXTS_A_TASK = 32
_building = Lock()


class DaskEncoder:
    """Implements `ports.Encoder`: the name, recipe and vectors of the local encoder that it stands for.

    Args:
        address: the scheduler's, tcp://host:port or tls://host:port.
        make: a class or function of a module that builds the local encoder for so many threads; it is called
            here, to know the encoder, and once on each worker.
        patience: seconds without an answer or a worker after which it is given up.

    Raises:
        ConfigurationError: the encoder, or the package that speaks to a scheduler, is not installed.
    """

    def __init__(self, address: str, make: Callable[[int], Encoder], patience: float = PATIENCE) -> None:
        self._cluster, self._make, local = Cluster(address, patience), make, make(1)
        self.name, self.model, self.dimensions = local.name, local.model, local.dimensions
        self.recipe, self.corpus_bound, self.languages = local.recipe, local.corpus_bound, local.languages
        self.pages = local.pages

    def encode(self, texts: Sequence[Text]) -> Generator[EncodedBatch, None, None]:
        """Yield (len, d) float32 unit vectors, `TEXTS_A_TASK` texts at a time, as they come; closing it cancels.

        Raises:
            ServiceError: scheduler or workers are gone or don't fit.
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
        """Nothing: the workers are one's own."""
        return Usage()


def _encoded(make: Callable[[int], Encoder], texts: Sequence[Text]) -> Vectors:
    """On a worker: (len, d) float32."""
    with _building:
        encoder = _built(make)
    batches = list(encoder.encode(texts))
    order = np.argsort([at for batch in batches for at in batch.positions])
    vectors: Vectors = np.concatenate([batch.vectors for batch in batches])[order]
    return vectors


@cache
def _built(make: Callable[[int], Encoder]) -> Encoder:
    """A model is read once a worker; tasks run side by side there, each in the one thread that it has."""
    return make(1)
