"""Texts -> one vector each, from the cache where it was paid for before, else from the encoder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.arrays import Vectors
from internal_linker.errors import ConfigurationError, ServiceError
from internal_linker.ports import Encoder, Progress, VectorCache
from internal_linker.records import Text, Usage
from internal_linker.sequences import Lazy
from internal_linker.steps.text import distinct, text_hash

# Vectors that come from the cache together: 12 MB of them at 1536 numbers each.
BLOCK = 2_000


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came of the embedding step.

    Attributes:
        vectors: (n, d) unit rows, float16 or float32 as the cache keeps them; all zeros where a text is empty
            or its vector could not be had.
        encoded: distinct texts that the encoder did.
        cached: distinct texts whose vector was there.
        missing: distinct texts without a vector.
        usage: tokens and dollars of the encoder's work.
        hashes: of all n texts, "" for an empty one.
        problem: why vectors are missing, or "".
    """

    vectors: Vectors
    encoded: int
    cached: int
    missing: int
    usage: Usage
    hashes: Sequence[str]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """What is to be encoded.

    Attributes:
        hashes: of all texts, "" for an empty one.
        first: the first position of each distinct text, by its hash.
        missing: those of them whose vector is not in the cache.
    """

    hashes: tuple[str, ...]
    first: dict[str, int]
    missing: dict[str, int]

    @property
    def cached(self) -> int:
        """How many distinct texts have a vector in the cache."""
        return len(self.first) - len(self.missing)


def plan_embedding(
    texts: Sequence[Text],
    encoder: Encoder,
    cache: VectorCache,
    take: Callable[[Sequence[int], Sequence[Vectors]], None] = lambda places, vectors: None,
) -> EmbeddingPlan:
    """Look every distinct text up, `BLOCK` at a time; `take` is given the first positions and their vectors."""
    hashes = hashes_of(texts)
    first = distinct(hashes)
    first.pop("", None)
    missing = dict(first)
    for found in () if encoder.corpus_bound else cached_vectors(list(first), encoder, cache):
        take([missing.pop(key) for key in found], list(found.values()))
    return EmbeddingPlan(hashes, first, missing)


def hashes_of(texts: Sequence[Text]) -> tuple[str, ...]:
    """Each text's hash, "" for an empty one."""
    return tuple(text_hash(text) if text.whole else "" for text in texts)


def cached_vectors(
    hashes: Sequence[str], encoder: Encoder, cache: VectorCache
) -> Iterator[Mapping[str, Vectors]]:
    """Yield the vectors that are in the cache, for `BLOCK` hashes at a time."""
    for first in range(0, len(hashes), BLOCK):
        yield cache.get(encoder, hashes[first : first + BLOCK])


def encodable(
    texts: Sequence[Text], languages: Sequence[str], encoder: Encoder
) -> tuple[Sequence[Text], int]:
    """The texts, blank where the encoder does not know the language, and how many those are.

    Args:
        texts: pages' texts first.
        languages: the pages' codes, "" where unknown; texts beyond them are of no known language.
        encoder: whose languages count.
    """
    known = tuple(encoder.languages)
    # A language may be written as "en", "eng" or "english".
    unknown = {
        row for row, language in enumerate(languages) if known and language and not language.startswith(known)
    }
    return Lazy(len(texts), lambda row: Text("", "") if row in unknown else texts[row]), len(unknown)


def embed(texts: Sequence[Text], encoder: Encoder, cache: VectorCache, progress: Progress) -> Embedded:
    """Encode what the cache lacks; each finished batch is in the cache before the next is waited for.

    A service that fails ends the step, not the run: what was finished is kept, `problem` says why
    the rest is missing. Beside the rows themselves, a block of the cache's vectors or a batch of the
    encoder's is in memory.

    Raises:
        ConfigurationError: the server's model now gives vectors of another length than the cached ones.
    """
    rows = _Rows(len(texts), cache.storage, encoder.name)
    plan = plan_embedding(texts, encoder, cache, rows.put)
    keys, places = list(plan.missing), list(plan.missing.values())
    encoded, tokens, cost, problem = 0, 0, 0.0, ""
    progress.start("Embedding", len(keys), "texts")
    try:
        for batch in encoder.encode(Lazy(len(places), lambda at: texts[places[at]])):
            if not encoder.corpus_bound:
                fresh = zip(batch.positions, batch.vectors, strict=True)
                cache.put(encoder, {keys[at]: vector for at, vector in fresh})
            # As the cache gives them back: the next run must find the same links, to the last digit.
            rows.put([places[at] for at in batch.positions], batch.vectors.astype(cache.storage))
            encoded += len(batch.positions)
            tokens, cost = tokens + batch.usage.tokens, cost + batch.usage.cost_usd
            progress.advance(len(batch.positions))
    except ServiceError as error:
        problem = str(error)
    rows.copy(plan)
    missing = len(keys) - encoded
    lacking = f", {missing} missing" if missing else ""
    progress.finish(f"{encoded} texts embedded, {plan.cached} from the cache{lacking}")
    return Embedded(rows.array, encoded, plan.cached, missing, Usage(tokens, cost), plan.hashes, problem)


def unit_rows(vectors: Vectors) -> Vectors:
    """(n, d) float32 rows of length one: float16 storage and some servers leave lengths slightly off it."""
    rows = vectors.astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    rows /= np.where(norms > 0, norms, 1)
    return rows


class _Rows:
    """(n, d) unit rows, all zeros at first; the first vector tells d."""

    def __init__(self, count: int, storage: str, encoder: str) -> None:
        self.array: Vectors = np.zeros((count, 1), storage)
        self._empty, self._encoder = True, encoder

    def put(self, places: Sequence[int], vectors: Sequence[Vectors] | Vectors) -> None:
        """Vectors of any length but zero for so many rows."""
        if not len(places):
            return
        if self._empty:
            self.array = np.zeros((len(self.array), len(vectors[0])), self.array.dtype)
            self._empty = False
        if {len(vector) for vector in vectors} != {self.array.shape[1]}:
            raise ConfigurationError(
                f"{self._encoder} gives vectors of another length than before: its model has changed. "
                "Set embedding_dimensions to the new length; all pages are then embedded anew."
            )
        self.array[places] = unit_rows(np.asarray(vectors))

    def copy(self, plan: EmbeddingPlan) -> None:
        """Give equal texts the row of the first of them."""
        for row, key in enumerate(plan.hashes):
            if key and plan.first[key] != row:
                self.array[row] = self.array[plan.first[key]]
