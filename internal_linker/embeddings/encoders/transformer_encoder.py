"""Texts -> vectors by a model of sentence-transformers, in batches as large as the device's memory takes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.core.arrays import Vectors, unit_rows
from internal_linker.core.errors import ConfigurationError, ServiceError
from internal_linker.core.records import EncodedBatch, Text, Usage
from internal_linker.embeddings.encoders.batch_size import tokens_at_once
from internal_linker.embeddings.encoders.sentence_transformers import LoadedModel

# As the packaged model reads a page (see minilm.py): the title before each of the first four chunks.
CHUNKS = 4
TITLE_TOKENS = 48
_CHARS_A_TOKEN, _LEAST_ROOM = 24, 8
# Finished, and so cached, at a time; a GPU wants many chunks to choose batches of one length from.
PAGES_A_ROUND = {"cpu": 16, "mps": 64, "cuda": 256}
# What CUDA, Metal and the processor's allocator say, in errors of one class or another.
_NO_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Chunk:
    text: str
    tokens: int


class TransformerEncoder:
    """Implements `ports.Encoder`: title-prefixed chunks, the first four, each pooled as the model does, their mean.

    A batch has as many tokens as the device's free memory takes; one that finds none all the same is tried again in
    halves, and later batches stay as small.

    Args:
        loaded: the model.

    Raises:
        ConfigurationError: the model gives no vector of a text.
    """

    corpus_bound = False
    languages: frozenset[str] = frozenset()
    pages = None

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded, self._model, self._tokens = loaded, loaded.model, tokens_at_once(loaded)
        self.name, self.model = f"transformers/{loaded.name}", loaded.name
        self.recipe = f"title+{CHUNKS}x{loaded.length}/{loaded.pooling}/{loaded.mark[:16]}/v1"
        try:
            self._room = loaded.length - self._length_of_nothing()
            if self._room < _LEAST_ROOM:
                raise ValueError(f"{loaded.length} tokens at a time are too few")
            self.dimensions = self._vectors([Text("A title", "and a body.")]).shape[1]
        except (
            ServiceError,
            NotImplementedError,
            TypeError,
            ValueError,
            LookupError,
            AttributeError,
        ) as error:
            raise ConfigurationError(
                f"the model {loaded.name} gives no vector of a text ({shortened(str(error), 200)})."
            ) from None

    @property
    def facts(self) -> str:
        """What `check` says of it."""
        loaded = self._loaded
        return (
            f"{self.name} on {loaded.device}, {self.dimensions} numbers each, {loaded.length} tokens at a time, "
            f"pooling {loaded.pooling}"
        )

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (len, d) float32 unit vectors, in order.

        Raises:
            ServiceError: not even one chunk finds memory, or the model fails.
        """
        round_ = PAGES_A_ROUND[self._loaded.device]
        for first in range(0, len(texts), round_):
            positions = range(first, min(first + round_, len(texts)))
            yield EncodedBatch(positions, self._vectors([texts[at] for at in positions]))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: the model runs here."""
        return Usage()

    def _length_of_nothing(self) -> int:
        """Tokens that stand in each chunk: special ones, and the model's own prompt."""
        tokenizer, prompts = self._model.tokenizer, self._model.prompts or {}
        prompt = prompts.get(self._model.default_prompt_name or "", "")
        return int(tokenizer.num_special_tokens_to_add()) + len(tokenizer.tokenize(prompt))

    def _vectors(self, texts: Sequence[Text]) -> Vectors:
        """(n, d) float32: for each text the mean of its chunks' vectors, of length one."""
        chunks = [self._chunks(text) for text in texts]
        found = unit_rows(self._forward([chunk for some in chunks for chunk in some]))
        if not np.isfinite(found).all():
            raise self._failure('its vectors are not finite. Set transformer_precision = "float32"')
        starts = np.cumsum([0, *map(len, chunks[:-1])])
        return unit_rows(np.add.reduceat(found, starts, axis=0))

    def _chunks(self, text: Text) -> list[_Chunk]:
        """One at least, four at most; cut between tokens, so that the model reads each as it stands."""
        title, ends = self._cut(text.title, TITLE_TOKENS)
        used = min(len(ends), TITLE_TOKENS, self._room // 2)
        head, room = title[: ends[used - 1][1]] if used else "", self._room - used
        body, spans = self._cut(text.body, CHUNKS * room)
        pieces = [spans[at : at + room] for at in range(0, min(len(spans), CHUNKS * room), room)] or [[]]
        return [
            _Chunk(f"{head}\n{body[piece[0][0] : piece[-1][1]] if piece else ''}".strip(), used + len(piece))
            for piece in pieces
        ]

    def _cut(self, text: str, tokens: int) -> tuple[str, list[tuple[int, int]]]:
        """The beginning that so many tokens can need, and where its tokens begin and end."""
        # The tokenizer refuses half a surrogate pair, as broken exports hold it.
        start = text[: tokens * _CHARS_A_TOKEN].encode("utf-8", "replace").decode()
        found = self._model.tokenizer(
            start, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
        )
        return start, [(first, last) for first, last in found["offset_mapping"] if last > first]

    def _forward(self, chunks: Sequence[_Chunk]) -> Vectors:
        """(n, d) float32, in the order of the chunks; the longest go first, side by side with their like."""
        order = sorted(range(len(chunks)), key=lambda at: -chunks[at].tokens)
        found: dict[int, Vectors] = {}
        while rest := order[len(found) :]:
            longest = max(chunks[rest[0]].tokens, 1)
            some = rest[: max(self._tokens // longest, 1)]
            vectors = self._tried([chunks[at].text for at in some])
            if vectors is not None:
                found |= zip(some, vectors, strict=True)
            elif len(some) > 1:
                self._tokens = longest * (len(some) // 2)
            else:
                raise self._failure(
                    f"the memory of {self._loaded.device} is too small for {longest} tokens. "
                    'Lower transformer_max_length, or set transformer_device = "cpu"'
                )
        return np.stack([found[at] for at in range(len(chunks))])

    def _tried(self, texts: list[str]) -> Vectors | None:
        """(n, d) float32; None where there is too little memory for so many."""
        try:
            vectors: Any = self._model.encode(texts, batch_size=len(texts), show_progress_bar=False)
            return np.asarray(vectors, np.float32)
        except (RuntimeError, MemoryError) as error:
            if not (isinstance(error, MemoryError) or _NO_MEMORY.search(str(error))):
                raise self._failure(shortened(str(error), 200)) from None
        # Not in the handler: the error's frames hold what fills the memory.
        if self._loaded.device != "cpu":
            getattr(import_module("torch"), self._loaded.device).empty_cache()
        return None

    def _failure(self, problem: str) -> ServiceError:
        return ServiceError(self.name, f"{problem}.")
