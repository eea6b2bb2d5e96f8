"""Texts -> one vector each, from the cache where it was paid for before, else from the encoder."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.core.arrays import Vectors, shortened, unit_rows
from internal_linker.core.errors import ConfigurationError, InputError, ServiceError
from internal_linker.core.ports import Encoder, Progress, VectorCache
from internal_linker.core.records import EncodedBatch, Page, Text, Usage
from internal_linker.core.sequences import Lazy


def page_text(page: Page) -> Text:
    """Title (else H1) and main content."""
    return Text((page.title or page.h1).strip(), str(page.content).strip(), page.key)


def all_texts(pages: Sequence[Page], names: Mapping[str, str], queries: Sequence[str]) -> Sequence[Text]:
    """The text of every page, then of every query, each made when it is asked for: contents may lie in a file.

    Args:
        pages: all pages.
        names: for pages, by their keys, the main query that stands for one without any text.
        queries: those without a page.
    """

    def text(row: int) -> Text:
        if row >= len(pages):
            return Text(queries[row - len(pages)], "")
        found = page_text(pages[row])
        return found if found.title or found.body else replace(found, title=names.get(found.key, ""))

    return Lazy(len(pages) + len(queries), text)


def text_hash(text: Text) -> str:
    """SHA-256 of title and body, hexadecimal: the same text has the same vector, whatever its URL."""
    return hashlib.sha256(f"{text.title}\x00{text.body}".encode("utf-8", "surrogatepass")).hexdigest()


def distinct(hashes: Sequence[str]) -> dict[str, int]:
    """Each hash with the first position it stands at, so that equal texts are encoded once."""
    first: dict[str, int] = {}
    for position, value in enumerate(hashes):
        first.setdefault(value, position)
    return first


_BY_WORDS = "they are matched by their words alone."
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
    hashes = hashes_of(texts, encoder.pages)
    first = distinct(hashes)
    first.pop("", None)
    missing = dict(first)
    for found in () if encoder.corpus_bound else cached_vectors(list(first), encoder, cache):
        take([missing.pop(key) for key in found], list(found.values()))
    return EmbeddingPlan(hashes, first, missing)


def hashes_of(texts: Sequence[Text], pages: Collection[str] | None = None) -> tuple[str, ...]:
    """Each text's hash, "" for an empty one.

    Args:
        texts: of pages and queries.
        pages: see `Encoder.pages`; where it isn't None, the page counts beside the text, and another page's is "".
    """
    if pages is None:
        return tuple(text_hash(text) if text.whole else "" for text in texts)
    return tuple(f"{text_hash(text)} {text.key}" if text.key in pages else "" for text in texts)


def cached_vectors(
    hashes: Sequence[str], encoder: Encoder, cache: VectorCache
) -> Iterator[Mapping[str, Vectors]]:
    """Yield the vectors that are in the cache, for `BLOCK` hashes at a time."""
    for first in range(0, len(hashes), BLOCK):
        yield cache.get(encoder, hashes[first : first + BLOCK])


def encodable(
    texts: Sequence[Text], languages: Sequence[str], encoder: Encoder
) -> tuple[Sequence[Text], str]:
    """The texts, blank where the encoder does not know the language; and a sentence on those that it leaves out.

    Args:
        texts: pages' texts first.
        languages: the pages' codes, "" where unknown; texts beyond them are of no known language.
        encoder: whose languages count, or whose pages.

    Raises:
        InputError: it was given vectors, and none of them is of one of these pages.
    """
    if encoder.pages is not None:
        return texts, _left_out([text.key for text in texts], len(languages), encoder)
    known = tuple(encoder.languages)
    # A language may be written as "en", "eng" or "english".
    unknown = {
        row for row, language in enumerate(languages) if known and language and not language.startswith(known)
    }
    some = f"{len(unknown)} pages are in a language that {encoder.name} does not know: {_BY_WORDS}"
    return Lazy(
        len(texts), lambda row: Text("", "") if row in unknown else texts[row]
    ), some if unknown else ""


def _left_out(keys: Sequence[str], pages: int, encoder: Encoder) -> str:
    """How many of these pages, and of the queries behind them, have no vector; "" where all have."""
    given = encoder.pages or ()
    without = [key for key in keys[:pages] if key not in given]
    if pages and len(without) == pages:
        raise InputError(
            f"{encoder.name} has vectors of {len(given)} pages, and none of them is yours: "
            f"there {min(given, default='none')}, in your tables {without[0]}. "
            "Write the URLs there as they are in your tables."
        )
    counts = {"pages": len(without), "queries without a page": len(keys) - pages}
    some = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{some} have no vector in {encoder.name}: {_BY_WORDS}" if some else ""


class Shortened:
    """An `Encoder` whose vectors count with their first numbers only.

    The cache keeps them whole: another number costs nothing anew.

    Args:
        whole: the encoder; its name with the number is this one's.
        first: numbers of a vector that count.

    Raises:
        ConfigurationError: its vectors are known to be shorter than that.
    """

    def __init__(self, whole: Encoder, first: int) -> None:
        if 0 < whole.dimensions < first:
            raise ConfigurationError(
                f"matryoshka_dimensions: {whole.name} gives vectors of {whole.dimensions} numbers, fewer than {first}."
            )
        self._whole, self.first = whole, first
        self.name, self.model, self.dimensions = (
            f"{whole.name} (first {first})",
            whole.model,
            whole.dimensions,
        )
        self.recipe, self.corpus_bound, self.languages = whole.recipe, whole.corpus_bound, whole.languages
        self.pages = whole.pages

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """As the encoder does: whole vectors."""
        return self._whole.encode(texts)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """As the encoder does."""
        return self._whole.estimate(texts)


def embed(texts: Sequence[Text], encoder: Encoder, cache: VectorCache, progress: Progress) -> Embedded:
    """Encode what the cache lacks; each finished batch is in the cache before the next is waited for.

    A service that fails ends the step, not the run: what was finished is kept, `problem` says why
    the rest is missing. Beside the rows themselves, a block of the cache's vectors or a batch of the
    encoder's is in memory.

    Raises:
        ConfigurationError: the server's model now gives vectors of another length than the cached ones.
    """
    first = encoder.first if isinstance(encoder, Shortened) else 0
    rows = _Rows(len(texts), cache.storage, encoder.name, first)
    plan = plan_embedding(texts, encoder, cache, rows.put)
    keys, places = list(plan.missing), list(plan.missing.values())
    encoded, tokens, cost, problem = 0, 0, 0.0, ""
    # Statistics of all words come at once: a bar would stand still until they are there.
    progress.start("Embedding", 0 if encoder.corpus_bound else len(keys), "texts")
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


class _Rows:
    """(n, d) unit rows, all zeros at first; the first vector tells d, or how much of it counts."""

    def __init__(self, count: int, storage: str, encoder: str, first: int) -> None:
        self.array: Vectors = np.zeros((count, 1), storage)
        self._length, self._encoder, self._first = 0, encoder, first

    def put(self, places: Sequence[int], vectors: Sequence[Vectors] | Vectors) -> None:
        """Vectors of any length but zero for so many rows."""
        if not len(places):
            return
        if not self._length:
            self._length = len(vectors[0])
            self.array = np.zeros((len(self.array), self._first or self._length), self.array.dtype)
        if {len(vector) for vector in vectors} != {self._length}:
            raise ConfigurationError(
                f"{self._encoder} gives vectors of another length than before: its model has changed. "
                "Set embedding_dimensions to the new length; all pages are then embedded anew."
            )
        whole = np.asarray(vectors)
        self.array[places] = shortened(whole, self._first) if self._first else unit_rows(whole)

    def copy(self, plan: EmbeddingPlan) -> None:
        """Give equal texts the row of the first of them."""
        for row, key in enumerate(plan.hashes):
            if key and plan.first[key] != row:
                self.array[row] = self.array[plan.first[key]]
