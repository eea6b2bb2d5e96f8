"""The embedding step encodes every text once and loses no finished vector."""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from internal_linker.match import embed as steps
from internal_linker.match.embed import (
    BLOCK,
    Embedded,
    Shortened,
    embed,
    embedding_seconds,
    plan_embedding,
    text_hash,
)
from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Encoder
from internal_linker.model.records import EncodedBatch, Text, Usage
from tests.support.builders import Letters, MemoryVectors, Told

TEXTS = [Text(word, "") for word in ("tea", "coffee", "water", "milk", "juice")]
ANY = st.lists(
    st.builds(Text, st.sampled_from(["", "tea", "pot"]), st.sampled_from(["", "a", "b"])), max_size=12
)


def run(texts: Sequence[Text], encoder: Encoder, cache: MemoryVectors | None = None) -> Embedded:
    return embed(texts, encoder, MemoryVectors() if cache is None else cache, Told())


@given(ANY, ANY)
def test_a_text_is_encoded_once_whatever_its_page(first: list[Text], second: list[Text]) -> None:
    encoder, cache = Letters(), MemoryVectors()
    run(first, encoder, cache)
    result = run(second, encoder, cache)
    assert len(encoder.asked) == len(set(encoder.asked))
    assert set(encoder.asked) == {text for text in first + second if text.whole}
    assert result.encoded + result.cached == len({text for text in second if text.whole})
    assert result.missing == 0


@given(ANY)
def test_each_row_is_the_unit_vector_of_its_own_text(texts: list[Text]) -> None:
    result = run(texts, Letters())
    assert result.vectors.dtype == np.float32
    assert len(result.vectors) == len(texts)
    for text, row in zip(texts, result.vectors, strict=True):
        raw = Letters.vector(text)
        np.testing.assert_allclose(row, raw / np.linalg.norm(raw) if text.whole else 0 * row, atol=1e-6)


class Shuffled(Letters):
    def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
        for at in reversed(range(len(texts))):
            yield EncodedBatch([at], self.vector(texts[at])[None], Usage())


def test_batches_may_come_in_any_order() -> None:
    np.testing.assert_array_equal(run(TEXTS, Shuffled()).vectors, run(TEXTS, Letters()).vectors)


def test_a_batch_is_kept_before_the_next_is_waited_for() -> None:
    cache = MemoryVectors()
    kept: list[int] = []

    class Watching(Letters):
        def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
            for batch in super().encode(texts):
                yield batch
                kept.append(len(cache.hashes))

    run(TEXTS, Watching(), cache)
    assert kept == [2, 4, 5]


def test_a_service_that_fails_loses_nothing_that_was_finished() -> None:
    cache, encoder = MemoryVectors(), Letters(fails_after=1)
    result = run([*TEXTS, Text("", "")], encoder, cache)
    assert (result.encoded, result.missing, result.problem) == (2, 3, "Letters: the service is down.")
    assert result.usage == Usage(10, 0.5)
    assert result.vectors.any(axis=1).tolist() == [True, True, False, False, False, False]
    healthy = Letters()
    again = run(TEXTS, healthy, cache)
    assert healthy.asked == TEXTS[2:]
    assert (again.encoded, again.cached, again.missing, again.problem) == (3, 2, 0, "")


def test_no_vector_at_all_is_still_a_table_of_rows() -> None:
    result = run(TEXTS, Letters(fails_after=0))
    assert not result.vectors.any()
    assert (len(result.vectors), result.missing) == (5, 5)
    assert run([], Letters()).vectors.shape[0] == 0
    told = Told()
    embed(TEXTS, Letters(fails_after=2), MemoryVectors(), told)
    assert told.done == 4
    assert told.outcomes == ["4 texts embedded, 0 from the cache, 1 missing"]
    cache, encoder = MemoryVectors(), Letters()
    cache.put(encoder, {text_hash(TEXTS[0]): np.ones(26, np.float32)})
    plan = plan_embedding([*TEXTS[:2], Text("", ""), TEXTS[1], TEXTS[2]], encoder, cache)
    assert plan.missing == {text_hash(TEXTS[1]): 1, text_hash(TEXTS[2]): 4}
    assert (plan.cached, plan.hashes[2]) == (1, "")
    assert (encoder.asked, len(cache.hashes)) == ([], 1)


def test_an_interrupted_run_is_not_taken_for_a_failing_service() -> None:
    class Interrupting(Letters):
        def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
            yield next(super().encode(texts))
            raise KeyboardInterrupt

    cache = MemoryVectors()
    with pytest.raises(KeyboardInterrupt):
        run(TEXTS, Interrupting(), cache)
    assert cache.hashes == {text_hash(text) for text in TEXTS[:2]}


def test_vectors_that_depend_on_the_other_texts_are_never_kept() -> None:
    """LSA vectors belong to one run: they are neither written to the cache nor read from it."""
    cache, encoder = MemoryVectors(), Letters(corpus_bound=True)
    cache.put(encoder, {text_hash(TEXTS[0]): np.ones(26, np.float32)})
    before = cache.hashes
    for _ in range(2):
        assert run(TEXTS, encoder, cache).cached == 0
    assert cache.hashes == before
    assert encoder.asked == TEXTS * 2


def test_vectors_stay_as_the_cache_keeps_them() -> None:
    cache = MemoryVectors("float16")
    exact, rounded = run([*TEXTS, TEXTS[0]], Letters()), run([*TEXTS, TEXTS[0]], Letters(), cache)
    assert rounded.vectors.dtype == np.float16
    np.testing.assert_allclose(rounded.vectors, exact.vectors, atol=5e-4)
    np.testing.assert_array_equal(rounded.vectors[0], rounded.vectors[-1])


def test_a_model_that_changed_its_vectors_is_told() -> None:
    cache = MemoryVectors()
    cache.put(Letters(), {text_hash(TEXTS[0]): np.ones(25, np.float32)})
    with pytest.raises(ConfigurationError, match="letters returns vectors of a different length than before"):
        run(TEXTS, Letters(), cache)
    assert cache.hashes == {text_hash(text) for text in TEXTS[:3]}


class Endless(MemoryVectors):
    def __init__(self) -> None:
        super().__init__("float16")
        self.asked: list[int] = []

    def get(self, encoder: Encoder, hashes: Sequence[str]) -> Mapping[str, Vectors]:
        self.asked.append(len(hashes))
        return {key: np.full(256, int(key[:8], 16) + 1, np.float32) for key in hashes}


def test_vectors_of_the_cache_come_in_blocks() -> None:
    texts, cache = [Text(str(number), "") for number in range(2 * BLOCK + 1)], Endless()
    result = run(texts, Letters(), cache)
    assert (result.cached, cache.asked) == (2 * BLOCK + 1, [BLOCK, BLOCK, 1])


def test_shortened_vectors_are_cut_behind_the_cache() -> None:
    cache, letters = MemoryVectors(), Letters()
    whole = run(TEXTS, letters, cache).vectors
    for first in (5, 26):
        result = run(TEXTS, Shortened(letters, first), cache)
        beginning = whole[:, :first]
        np.testing.assert_allclose(
            result.vectors, beginning / np.linalg.norm(beginning, axis=1, keepdims=True), atol=1e-6
        )
        assert (result.encoded, result.cached) == (0, len(TEXTS))
    fresh = run(TEXTS, Shortened(Letters(), 5), other := MemoryVectors())
    stored = other.get(Letters(), [*other.hashes]).values()
    assert fresh.encoded == len(stored) == len(TEXTS) and {*map(len, stored)} == {26}


def test_a_shortened_encoder_has_another_name_the_same_cache_and_no_more_numbers_than_it_has() -> None:
    letters, short = Letters(), Shortened(Letters(), 5)
    assert short.name == "letters (first 5)"
    assert (short.model, short.dimensions, short.recipe) == (
        letters.model,
        letters.dimensions,
        letters.recipe,
    )
    assert short.estimate(TEXTS) == letters.estimate(TEXTS)
    with pytest.raises(ConfigurationError, match="matryoshka_dimensions is 27, but letters has only 26"):
        Shortened(Letters(), 27)
    unknown = Letters()
    unknown.dimensions = 0
    with pytest.raises(ConfigurationError, match="vectors of 26 numbers can't be shortened to 27"):
        run(TEXTS, Shortened(unknown, 27))


def test_the_time_of_a_local_model_is_tried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(steps, "time", SimpleNamespace(monotonic=lambda: now[0]))

    class Slow(Letters):
        def encode(self, texts: Sequence[Text]) -> Iterator[EncodedBatch]:
            for batch in super().encode(texts):
                now[0] += 0.01
                yield batch

    texts = [Text("tea", "x" * 996)] * 400
    encoder = Slow()
    seconds = embedding_seconds(texts, encoder, Usage())
    # Eight texts are four batches; 400 texts take fifty times as long.
    assert len(encoder.asked) < 12 and seconds == pytest.approx(50 * 4 * 0.01)
    assert embedding_seconds([], encoder, Usage()) == 0


def test_the_time_of_a_service_is_not_tried_out() -> None:
    """A paid service gets no request: its rate limit counts. The speed of your own server is unknown."""
    encoder = Letters()
    assert embedding_seconds([Text("tea", "")], encoder, Usage(2_000_000, 0.04)) == pytest.approx(120)
    assert math.isnan(embedding_seconds([Text("tea", "")], encoder, Usage(2_000_000, 0.0)))
    assert encoder.asked == []
