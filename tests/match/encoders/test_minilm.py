"""The keyless encoder: the real model, what it reads of a page, and how it computes while a consumer writes."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Sequence

import numpy as np
import onnxruntime
import pytest
from tokenizers import BertWordPieceTokenizer

from internal_linker.match.encoders import minilm
from internal_linker.match.encoders.minilm import (
    CHARS_A_ROUND,
    FastEncoder,
    LocalEncoder,
    verified_model,
)
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import EncodedBatch, Text
from tests.support.small_project import environment

TEXTS = [
    Text("Green tea", "How long green tea leaves should steep. " * 12),
    Text("", "A body without a title."),
    Text("A title without a body", ""),
    Text("", ""),
    Text("tea " * 100, "A title of more than 48 tokens. " * 60),
    Text("Long", "One of more than four chunks: kettles, cups, water and milk. " * 120),
    Text("الشاي الأخضر", "茶 ☕ \ud83c naïve café"),
]
# One chunk each, too long to share a batch with another.
SHORT = [Text(f"Page {number:04}", "tea leaves " * 40) for number in range(600)]
# The sizes of the first rounds: each one is twice the one before until it has `CHARS_A_ROUND` characters.
ROUNDS = [-(-CHARS_A_ROUND // (share * len(SHORT[0].title + SHORT[0].body))) for share in (8, 4, 2, 1)]
SHORT = SHORT[: sum(ROUNDS)]
# Prints the rise of this process's peak memory in MB, and the number of cores.
MEMORY = """
import os, resource
from internal_linker.model.records import Text
from internal_linker.match.encoders.minilm import LocalEncoder
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
encoder = LocalEncoder()
texts = [Text("Tea", "kettle " * length) for length in range(100, 900, 50)]
before = peak()
list(encoder.encode(texts))
print(peak() - before, os.cpu_count())
"""


@pytest.fixture(scope="module")
def encoder() -> LocalEncoder:
    return LocalEncoder()


def vectors(encoder: LocalEncoder, texts: Sequence[Text]) -> Vectors:
    """Return all vectors after checking that the positions come in order, each once."""
    batches = list(encoder.encode(texts))
    assert [at for batch in batches for at in batch.positions] == list(range(len(texts)))
    return np.concatenate([batch.vectors for batch in batches])


def by_the_recipe(
    text: Text, session: onnxruntime.InferenceSession, most: int = 4, tokens: int = 254
) -> Vectors:
    """Compute title+4x254/v1 in the plainest way: four padded chunks as one batch, masked means, no threads."""
    tokenizer = BertWordPieceTokenizer(str(minilm._vocabulary()), lowercase=True)
    title, body = (
        tokenizer.encode(part.replace("\ud83c", "?"), add_special_tokens=False).ids
        for part in (text.title, text.body)
    )
    title = title[:48]
    room = tokens - len(title)
    chunks = [[101, *title, *body[at : at + room], 102] for at in range(0, most * room, room)]
    chunks = [chunk for chunk in chunks if len(chunk) > len(title) + 2] or chunks[:1]
    ids, mask = np.zeros((2, len(chunks), 256), np.int64)
    for row, chunk in enumerate(chunks):
        ids[row, : len(chunk)], mask[row, : len(chunk)] = chunk, 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": 0 * ids}
    states = session.run(None, feed)[0] * mask[:, :, None]
    means = states.sum(axis=1) / mask.sum(axis=1)[:, None]
    pooled = (means / np.linalg.norm(means, axis=1, keepdims=True)).sum(axis=0)
    unit: Vectors = (pooled / np.linalg.norm(pooled)).astype(np.float32)
    return unit


@pytest.fixture(scope="module")
def plain() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(verified_model()), providers=["CPUExecutionProvider"])


@pytest.mark.long
def test_a_vector_is_what_its_recipe_says(encoder: LocalEncoder, plain: onnxruntime.InferenceSession) -> None:
    assert encoder.recipe == "title+4x254/v1"
    found = vectors(encoder, TEXTS)
    assert found.dtype == np.float32 and found.shape == (len(TEXTS), encoder.dimensions)
    np.testing.assert_allclose(found, [by_the_recipe(text, plain) for text in TEXTS], atol=1e-5)


def test_a_vector_of_first_words_is_what_its_recipe_says(plain: onnxruntime.InferenceSession) -> None:
    fast = FastEncoder()
    assert fast.recipe == "title+1x62/v1"
    found = vectors(fast, TEXTS)
    np.testing.assert_allclose(found, [by_the_recipe(text, plain, 1, 62) for text in TEXTS], atol=1e-5)
    np.testing.assert_array_equal(found, [vectors(fast, [text])[0] for text in TEXTS])
    longer = Text(TEXTS[0].title, f"{TEXTS[0].body}More words that it does not read.")
    np.testing.assert_array_equal(vectors(fast, [longer])[0], found[0])


def test_a_vector_depends_neither_on_its_neighbours_nor_on_the_end_of_a_huge_cell(
    encoder: LocalEncoder,
) -> None:
    together = vectors(encoder, TEXTS)
    np.testing.assert_array_equal(together, vectors(encoder, TEXTS[::-1])[::-1])
    np.testing.assert_array_equal(together[:3], [vectors(encoder, [text])[0] for text in TEXTS[:3]])
    start, huge = "tea leaves " * 3000, Text("Tea", "tea leaves " * 10**6)
    found = vectors(encoder, [huge])
    assert list(encoder.encode([])) == []
    np.testing.assert_array_equal(found, vectors(encoder, [Text("Tea", start)]))


class Held(LocalEncoder):
    """An encoder that passes `free` chunks without the model; the others wait for `gate`, and one may fail."""

    def __init__(self, free: int, failing: int = -1) -> None:
        super().__init__()
        self.free, self.failing, self.begun, self.gate = free, failing, 0, threading.Event()
        self._counting = threading.Lock()

    def _forward(self, chunks: Sequence[Sequence[int]]) -> Vectors:
        assert len(chunks) == 1
        with self._counting:
            at, self.begun = self.begun, self.begun + 1
        if at >= self.free:
            self.gate.wait()
        if at == self.failing:
            raise MemoryError
        return np.ones((1, self.dimensions), np.float32)


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("encode")]


@pytest.mark.long
def test_one_more_round_is_computed_while_the_last_is_written() -> None:
    encoder = Held(free=len(SHORT))
    batches = encoder.encode(SHORT)
    next(batches)
    deadline = time.monotonic() + 30
    while encoder.begun < sum(ROUNDS[:2]) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    assert encoder.begun == sum(ROUNDS[:2])
    assert [len(batch.vectors) for batch in batches] == ROUNDS[1:]


@pytest.mark.long
def test_closing_early_ends_the_work() -> None:
    encoder = Held(free=ROUNDS[0])
    batches: Generator[EncodedBatch, None, None] = encoder.encode(SHORT)
    next(batches)
    threading.Timer(0.2, encoder.gate.set).start()
    batches.close()
    assert encoder.begun <= ROUNDS[0] + (os.cpu_count() or 1)
    assert threads() == []


def test_a_failing_chunk_costs_no_finished_round() -> None:
    encoder = Held(free=len(SHORT), failing=ROUNDS[0] + 3)
    done: list[EncodedBatch] = []
    with pytest.raises(MemoryError):
        done.extend(encoder.encode(SHORT))
    assert [list(batch.positions) for batch in done] == [list(range(ROUNDS[0]))]
    assert threads() == []


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read the Linux way")
def test_memory_grows_by_a_chunk_a_core() -> None:
    """Encoding texts of many lengths needs at most 25 MB per core beside the model."""
    told = subprocess.run(
        [sys.executable, "-c", MEMORY], env=environment(), capture_output=True, text=True, check=True
    ).stdout.split()
    assert float(told[0]) < 30 + 25 * int(told[1])
