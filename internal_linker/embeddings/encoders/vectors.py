"""What an embeddings server answered -> unit vectors."""

import base64
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from internal_linker.adapters.openai.api import Answers
from internal_linker.core.arrays import Vectors
from internal_linker.core.errors import ServiceError


class VectorReader:
    """Reads the vectors of one model; safe between threads.

    Args:
        answers: whose they are.
        dimensions: numbers that each vector must have; 0 for as many as the first.
    """

    def __init__(self, answers: Answers, dimensions: int) -> None:
        self._answers = answers
        self._asked = self._length = dimensions
        self._lock = threading.Lock()

    def read(self, answer: Mapping[str, Any], count: int) -> Vectors:
        """The vectors in the order of the texts, (count, d) float32, each of length 1.

        Raises:
            ServiceError: a text has none, or one that is no vector; retryable.
        """
        try:
            # The service promises no order, and nobody else checks that each text has its vector.
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(count)):
                raise self._answers.unusable("not each text has one vector")
            matrix = np.stack([_numbers(item["embedding"]) for item in items])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._answers.unusable("its vectors can't be read") from None
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.square(matrix).sum(axis=-1))
        if matrix.ndim != 2 or not (np.isfinite(lengths) & (lengths > 0)).all():
            raise self._answers.unusable("a vector is zero or not finite")
        self._agree(matrix.shape[1])
        unit: Vectors = (matrix / lengths[:, np.newaxis]).astype(np.float32)
        return unit

    def _agree(self, length: int) -> None:
        with self._lock:
            self._length = self._length or length
        if length == self._length:
            return
        if self._asked:
            problem = f"its vectors have {length} numbers, not {self._asked}. Set embedding_dimensions = 0."
            raise ServiceError(self._answers.service, problem)
        raise self._answers.unusable(f"vectors of {length} numbers after some of {self._length}")


def _numbers(embedding: object) -> NDArray[np.float64]:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), dtype="<f4").astype(np.float64)
    return np.asarray(embedding, dtype=np.float64)
