"""Embedding: one vector for each text, from the cache if an earlier run paid for it, else from the encoder."""

import hashlib
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.model.arrays import Vectors, shortened, unit_rows
from internal_linker.model.errors import SPENT, ConfigurationError, InputError, ServiceError
from internal_linker.model.ports import Encoder, Progress
from internal_linker.model.records import EncodedBatch, Page, Text, Usage
from internal_linker.model.sequences import Lazy, counted
from internal_linker.store.embeddings import EmbeddingCache


def page_text(page: Page) -> Text:
    """Return a page's title (else its H1) and main content."""
    return Text((page.title or page.h1).strip(), str(page.content).strip(), page.key)


def all_texts(pages: Sequence[Page], names: Mapping[str, str], queries: Sequence[str]) -> Sequence[Text]:
    """Return the text of every page, then of every query; each is built on access, as contents may be in a file.

    A page without any text gets its main query, by page key in `names`, as its title.
    """

    def text(row: int) -> Text:
        if row >= len(pages):
            return Text(queries[row - len(pages)], "")
        found = page_text(pages[row])
        return found if found.title or found.body else replace(found, title=names.get(found.key, ""))

    return Lazy(len(pages) + len(queries), text)


def text_hash(text: Text) -> str:
    """Return the hexadecimal SHA-256 of title and body: equal texts have one vector, whatever their URLs."""
    return hashlib.sha256(f"{text.title}\x00{text.body}".encode("utf-8", "surrogatepass")).hexdigest()


def distinct(hashes: Sequence[str]) -> dict[str, int]:
    """Return the first position of each hash, so that the encoder sees equal texts once."""
    first: dict[str, int] = {}
    for position, value in enumerate(hashes):
        first.setdefault(value, position)
    return first


# Vectors read from the cache at a time: 12 MB at 1,536 dimensions.
BLOCK = 2_000


@dataclass(frozen=True, slots=True)
class Embedded:
    """The result of the embedding step, with counts of distinct texts."""

    # (n, d) unit rows, float16 or float32 as the cache keeps them; zeros for an empty text and for a missing vector.
    vectors: Vectors
    encoded: int
    cached: int
    missing: int
    usage: Usage
    hashes: Sequence[str]  # of all n texts, "" for an empty one
    problem: str = ""  # why vectors are missing
    spent: bool = False  # the problem is that nothing was left to spend


@dataclass(frozen=True, slots=True)
class EmbeddingPlan:
    """The texts to encode."""

    hashes: tuple[str, ...]  # of all texts, "" for an empty one
    first: dict[str, int]  # the first position of each distinct text, by hash
    missing: dict[str, int]  # the items of `first` whose vectors are not in the cache

    @property
    def cached(self) -> int:
        """The count of distinct texts whose vectors are in the cache."""
        return len(self.first) - len(self.missing)


def plan_embedding(
    texts: Sequence[Text],
    encoder: Encoder,
    cache: EmbeddingCache,
    take: Callable[[Sequence[int], Sequence[Vectors]], None] = lambda places, vectors: None,
) -> EmbeddingPlan:
    """Look up each distinct text, `BLOCK` at a time, and pass `take` the first positions and their vectors."""
    hashes = hashes_of(texts, encoder.pages)
    first = distinct(hashes)
    first.pop("", None)
    missing = dict(first)
    for found in () if encoder.corpus_bound else cached_vectors(list(first), encoder, cache):
        take([missing.pop(key) for key in found], list(found.values()))
    return EmbeddingPlan(hashes, first, missing)


def hashes_of(texts: Sequence[Text], pages: Collection[str] | None = None) -> tuple[str, ...]:
    """Return each text's hash, "" for an empty one; with an encoder's `pages` it is that of the page, "" for others."""
    if pages is None:
        return tuple(text_hash(text) if text.whole else "" for text in texts)
    return tuple(f"{text_hash(text)} {text.key}" if text.key in pages else "" for text in texts)


def cached_vectors(
    hashes: Sequence[str], encoder: Encoder, cache: EmbeddingCache
) -> Iterator[Mapping[str, Vectors]]:
    """Yield the cached vectors for `BLOCK` hashes at a time."""
    for first in range(0, len(hashes), BLOCK):
        yield cache.get(encoder, hashes[first : first + BLOCK])


def encodable(
    texts: Sequence[Text], languages: Sequence[str], encoder: Encoder
) -> tuple[Sequence[Text], str]:
    """Return the texts, blank if the encoder does not know the language, and a sentence on those left out.

    Texts of pages come first, with their language codes, "" if unknown; the language of further texts is unknown.

    Raises:
        InputError: the encoder reads vectors from a file that has none for these pages.
    """
    if encoder.pages is not None:
        return texts, _left_out([text.key for text in texts], len(languages), encoder)
    known = tuple(encoder.languages)
    # A page may name its language as "en", "eng" or "english".
    unknown = {
        row for row, language in enumerate(languages) if known and language and not language.startswith(known)
    }
    are, matched = ("is", "it is") if len(unknown) == 1 else ("are", "they are")
    some = (
        f"{counted(len(unknown), 'page')} {are} in a language that {encoder.name} does not support: "
        f"{matched} matched by {'its' if len(unknown) == 1 else 'their'} words alone."
    )
    return Lazy(
        len(texts), lambda row: Text("", "") if row in unknown else texts[row]
    ), some if unknown else ""


def _left_out(keys: Sequence[str], pages: int, encoder: Encoder) -> str:
    """Return a sentence with the count of pages, and of queries after them, without a vector; "" if none."""
    given = encoder.pages or ()
    without = [key for key in keys[:pages] if key not in given]
    if pages and len(without) == pages:
        raise InputError(
            f"{encoder.name} has vectors for {len(given)} pages, but none of these pages is in your tables: "
            f"the file has {min(given, default='none')}, your tables have {without[0]}. "
            "Write the URLs in the file as in your tables."
        )
    queries = len(keys) - pages
    counts = ((len(without), "page", "pages"), (queries, "query without a page", "queries without a page"))
    some = " and ".join(counted(count, *names) for count, *names in counts if count)
    if not some:
        return ""
    if len(without) + queries == 1:
        return f"{some} has no vector in {encoder.name}: it is matched by its words alone."
    return f"{some} have no vector in {encoder.name}: they are matched by their words alone."


class Shortened:
    """An `Encoder` whose vectors are cut to their `first` dimensions; the cache keeps them whole for another cut.

    Raises:
        ConfigurationError: the encoder's vectors are known to have fewer dimensions.
    """

    def __init__(self, whole: Encoder, first: int) -> None:
        if 0 < whole.dimensions < first:
            raise ConfigurationError(
                f"matryoshka_dimensions is {first}, but {whole.name} has only {whole.dimensions} dimensions. Lower it."
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
        """Yield whole vectors; see `Encoder.encode`."""
        return self._whole.encode(texts)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return what encoding would cost; see `Encoder.estimate`."""
        return self._whole.estimate(texts)


# Texts encoded to find out how fast this computer is.
_PROBED = 8
# The characters of a text that count as work: about what the local models read of it.
_CHARS_READ = 5_000
# OpenAI's rate limit for accounts of the lowest tier: a million tokens a minute.
_TOKENS_A_SECOND = 1_000_000 / 60


def embedding_seconds(texts: Sequence[Text], encoder: Encoder, usage: Usage) -> float:
    """Return about how long encoding takes; NaN for a server of unknown speed.

    A model on this computer encodes a few of the texts to find out; their vectors are not kept.
    """
    if usage.tokens:
        return usage.tokens / _TOKENS_A_SECOND if usage.cost_usd else math.nan
    if not len(texts) or encoder.pages is not None or encoder.corpus_bound:
        return 0.0
    step = max(1, len(texts) // _PROBED)
    probed = [texts[at] for at in range(0, len(texts), step)][:_PROBED]
    for _ in encoder.encode(probed[:1]):
        """Let the model load and its threads start before the clock does."""
    began = time.monotonic()
    for _ in encoder.encode(probed):
        """Only the time counts."""
    seconds = time.monotonic() - began
    return seconds * sum(map(_work, texts)) / sum(map(_work, probed))


def _work(text: Text) -> int:
    return min(len(text.title) + len(text.body), _CHARS_READ) + 1


def embed(texts: Sequence[Text], encoder: Encoder, cache: EmbeddingCache, progress: Progress) -> Embedded:
    """Encode what the cache lacks; cache each finished batch before waiting for the next.

    A service that fails ends the step, not the run: the result has what was finished, and `problem` says why the rest
    is missing. Memory also holds one block of cached vectors or one batch of encoded ones.

    Raises:
        ConfigurationError: the server's vectors have other dimensions than the cached ones.
    """
    first = encoder.first if isinstance(encoder, Shortened) else 0
    rows = _Rows(len(texts), cache.storage, encoder.name, first)
    plan = plan_embedding(texts, encoder, cache, rows.put)
    keys, places = list(plan.missing), list(plan.missing.values())
    encoded, tokens, cost, problem, spent = 0, 0, 0.0, "", False
    # A corpus-bound encoder finishes all texts at once: a progress bar would show nothing until then.
    progress.start("Embedding", 0 if encoder.corpus_bound else len(keys), "texts")
    try:
        for batch in encoder.encode(Lazy(len(places), lambda at: texts[places[at]])):
            if not encoder.corpus_bound:
                fresh = zip(batch.positions, batch.vectors, strict=True)
                cache.put(encoder, {keys[at]: vector for at, vector in fresh})
            # The cache's dtype: the next run, which reads the cache, must find exactly the same links.
            rows.put([places[at] for at in batch.positions], batch.vectors.astype(cache.storage))
            encoded += len(batch.positions)
            tokens, cost = tokens + batch.usage.tokens, cost + batch.usage.cost_usd
            progress.advance(len(batch.positions))
    except ServiceError as error:
        problem, spent = str(error), isinstance(error, SPENT)
    rows.copy(plan)
    missing = len(keys) - encoded
    lacking = f", {missing} missing" if missing else ""
    progress.finish(f"{counted(encoded, 'text')} embedded, {plan.cached} from the cache{lacking}")
    usage = Usage(tokens, cost)
    return Embedded(rows.array, encoded, plan.cached, missing, usage, plan.hashes, problem, spent)


class _Rows:
    """(n, d) unit rows, zeros at first; the first vector sets d, unless it is cut to `first` dimensions."""

    def __init__(self, count: int, storage: str, encoder: str, first: int) -> None:
        self.array: Vectors = np.zeros((count, 1), storage)
        self._length, self._encoder, self._first = 0, encoder, first

    def put(self, places: Sequence[int], vectors: Sequence[Vectors] | Vectors) -> None:
        """Normalise and store vectors; none has norm zero."""
        if not len(places):
            return
        if not self._length:
            self._length = len(vectors[0])
            self.array = np.zeros((len(self.array), self._first or self._length), self.array.dtype)
        if {len(vector) for vector in vectors} != {self._length}:
            raise ConfigurationError(
                f"{self._encoder} returns vectors of a different length than before: its model has changed. "
                "Set embedding_dimensions to the new count; the next run then embeds all pages again."
            )
        whole = np.asarray(vectors)
        self.array[places] = shortened(whole, self._first) if self._first else unit_rows(whole)

    def copy(self, plan: EmbeddingPlan) -> None:
        for row, key in enumerate(plan.hashes):
            if key and plan.first[key] != row:
                self.array[row] = self.array[plan.first[key]]
