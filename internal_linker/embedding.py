"""Texts -> one vector each, from the cache where it was paid for before, else from the encoder."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.arrays import Vectors
from internal_linker.errors import ConfigurationError, ServiceError
from internal_linker.ports import Encoder, Progress, VectorCache
from internal_linker.records import Text, Usage
from internal_linker.steps.text import distinct, text_hash


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came of the embedding step.

    Attributes:
        vectors: (n, d) float32 unit rows; all zeros where a text is empty or its vector could not be had.
        encoded: distinct texts that the encoder did.
        cached: distinct texts whose vector was there.
        missing: distinct texts without a vector.
        usage: tokens and dollars of the encoder's work.
        problem: why vectors are missing, or "".
    """

    vectors: Vectors
    encoded: int
    cached: int
    missing: int
    usage: Usage
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """What is to be encoded: `hashes` of all texts ("" for an empty one), the vectors there are, the rest."""

    hashes: tuple[str, ...]
    cached: dict[str, Vectors]
    missing: dict[str, int]


def plan_embedding(texts: Sequence[Text], encoder: Encoder, cache: VectorCache) -> EmbeddingPlan:
    """Look every distinct text up; `missing` maps its hash to the first position it stands at."""
    hashes = tuple(text_hash(text) if text.whole else "" for text in texts)
    first = distinct(hashes)
    first.pop("", None)
    cached = {} if encoder.corpus_bound else dict(cache.get(encoder, list(first)))
    return EmbeddingPlan(hashes, cached, {key: at for key, at in first.items() if key not in cached})


def encodable(texts: Sequence[Text], languages: Sequence[str], encoder: Encoder) -> tuple[list[Text], int]:
    """The texts, blank where the encoder does not know the language, and how many those are.

    Args:
        texts: pages' texts first.
        languages: the pages' codes, "" where unknown; texts beyond them are of no known language.
        encoder: whose languages count.
    """
    known = tuple(encoder.languages)
    # A language may be written as "en", "eng" or "english".
    unknown = [bool(known and language and not language.startswith(known)) for language in languages]
    texts = list(texts)
    kept = [Text("", "") if skip else text for skip, text in zip(unknown, texts, strict=False)]
    return kept + texts[len(unknown) :], sum(unknown)


def embed(texts: Sequence[Text], encoder: Encoder, cache: VectorCache, progress: Progress) -> Embedded:
    """Encode what the cache lacks; each finished batch is in the cache before the next is waited for.

    A service that fails ends the step, not the run: what was finished is kept, `problem` says why
    the rest is missing.

    Raises:
        ConfigurationError: the server's model now gives vectors of another length than the cached ones.
    """
    plan = plan_embedding(texts, encoder, cache)
    vectors = dict(plan.cached)
    keys, positions = list(plan.missing), list(plan.missing.values())
    tokens, cost, problem = 0, 0.0, ""
    progress.start("Embedding", len(keys), "texts")
    try:
        for batch in encoder.encode([texts[at] for at in positions]):
            fresh = {keys[at]: vector for at, vector in zip(batch.positions, batch.vectors, strict=True)}
            if not encoder.corpus_bound:
                cache.put(encoder, fresh)
            vectors |= fresh
            tokens, cost = tokens + batch.usage.tokens, cost + batch.usage.cost_usd
            progress.advance(len(fresh))
    except ServiceError as error:
        problem = str(error)
    if len({len(vector) for vector in vectors.values()}) > 1:
        raise ConfigurationError(
            f"{encoder.name} gives vectors of another length than before: its model has changed. "
            "Set embedding_dimensions to the new length; all pages are then embedded anew."
        )
    encoded = len(vectors) - len(plan.cached)
    missing = len(keys) - encoded
    lacking = f", {missing} missing" if missing else ""
    progress.finish(f"{encoded} texts embedded, {len(plan.cached)} from the cache{lacking}")
    usage = Usage(tokens, cost)
    return Embedded(_rows(plan.hashes, vectors), encoded, len(plan.cached), missing, usage, problem)


def _rows(hashes: Sequence[str], vectors: dict[str, Vectors]) -> Vectors:
    width = len(next(iter(vectors.values()))) if vectors else 1
    rows = np.zeros((len(hashes), width), np.float32)
    for at, key in enumerate(hashes):
        if key in vectors:
            rows[at] = vectors[key]
    # float16 storage and some servers leave lengths slightly off one.
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = rows / np.where(norms > 0, norms, 1)
    return unit
