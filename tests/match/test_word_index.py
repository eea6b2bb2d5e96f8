"""The stems of a site's texts: BM25 weights, telling stems, and titles in other texts, equal to those by hand."""

from collections.abc import Sequence
from itertools import chain
from math import log, log1p

import numpy as np
import pytest

from internal_linker.match.word_index import K1, QUERY, B, WordIndex, WordReader, ones_of


def index(*texts: tuple[str, str], languages: Sequence[int] | None = None) -> WordIndex:
    """Return the index of texts, read in two parts: the stems of title and content, separated by spaces."""
    codes = None if languages is None else np.array(languages, np.int32)
    reader = WordReader([tuple(title.split()) for title, _ in texts], codes)
    numbers = dict(reader.numbers)
    contents = [[numbers.setdefault(stem, len(numbers)) for stem in content.split()] for _, content in texts]
    half = len(contents) // 2
    for some in (contents[:half], contents[half:]):
        reader.read(np.array([*chain(*some)], np.int32), np.cumsum([0, *map(len, some)]))
    return reader.index([*numbers])


def rows(matrix: object) -> list[list[float]]:
    dense: Sequence[Sequence[float]] = matrix.toarray().tolist()  # type: ignore[attr-defined]
    return [sorted((value for value in row if value), reverse=True) for row in dense]


SITE = (("cold brew", "cold brew coffee coffee"), ("grinder", "grinder coffee"), ("", "cold milk steam"))


def idf(texts: int) -> float:
    return log1p((len(SITE) - texts + 0.5) / (texts + 0.5))


def weight(times: float, length: float, mean: float) -> float:
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / mean))


def test_weights_are_those_by_hand() -> None:
    made = index(*SITE)
    assert made.bm25.shape == (3, 2)
    mean = (8 + 4 + 3) / 3
    assert rows(made.bm25) == [
        pytest.approx([weight(3, 8, mean), weight(2, 8, mean)]),
        pytest.approx([weight(1, 4, mean)]),
        pytest.approx([weight(1, 3, mean)]),
    ]
    assert made.lengths.tolist() == [4, 2, 3]
    made = index(*SITE)
    assert rows(made.contents) == [
        pytest.approx([weight(1, 4, 3)]),
        [],
        pytest.approx([weight(1, 3, 3)]),
    ]
    assert made.titles.shape == made.contents.shape == (3, 1)
    assert rows(index(*SITE).titles) == [pytest.approx([idf(2) / (idf(2) + idf(1))]), [], []]
    made = index(*SITE)
    first = log(4) * idf(2), log(3) * idf(2)
    assert rows(made.queries) == [
        pytest.approx([each / sum(first) for each in first]),
        pytest.approx([1]),
        pytest.approx([1]),
    ]
    made = index(*SITE).bm25
    assert ones_of(made).toarray().tolist() == (made.toarray() > 0).astype(float).tolist()
    assert np.shares_memory(ones_of(made).indices, made.indices)


def test_a_query_has_the_rarest_stems() -> None:
    common = " ".join(f"common{number}" for number in range(QUERY))
    rare = " ".join(f"rare{number}" for number in range(QUERY))
    made = index(*[("", common)] * 5, ("", f"{common} {rare}"), ("", rare))
    assert np.diff(made.queries.indptr).tolist() == [QUERY] * 7
    assert made.queries[5].indices.tolist() == made.queries[6].indices.tolist()


def test_pairs_of_titles_are_found_in_contents() -> None:
    made = index(
        ("cold brew ratio", "a b"), ("", "cold brew time"), ("", "brew cold ratio"), ("brew ratio", "")
    )
    assert made.content_pairs.shape == (4, 2)
    assert np.diff(made.content_pairs.indptr).tolist() == [0, 1, 0, 0]
    once, never = log1p(4 / 2), log1p(4 / 1)
    shares = [never / (once + never), once / (once + never)]
    assert rows(made.title_pairs) == [pytest.approx(shares), [], [], pytest.approx([1])]
    found = (made.content_pairs @ made.title_pairs.T).toarray()
    assert found[1, 0] == pytest.approx(shares[1]) and np.count_nonzero(found) == 1


@pytest.mark.parametrize("texts", [(), (("", ""),), (("a title", ""), ("", ""))])
def test_texts_without_words(texts: tuple[tuple[str, str], ...]) -> None:
    made = index(*texts)
    for matrix in (made.bm25, made.queries, made.contents, made.titles, made.content_pairs):
        assert matrix.shape[0] == len(texts) and not matrix.nnz


def test_the_order_of_the_texts_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    texts = [("", " ".join(f"w{number}" for number in rng.integers(0, 200, 80))) for _ in range(12)]
    ours, theirs = ([*texts], [*texts][::-1])
    found = []
    for each in (ours, theirs):
        made = index(*each)
        found.append((made.queries @ made.bm25.T).toarray())
    np.testing.assert_allclose(found[0], found[1][::-1, ::-1], rtol=1e-5)


def test_stems_tell_as_much_as_among_texts_of_their_language() -> None:
    ours = [
        ("cold brew", "cold milk"),
        ("cold", "brew cold cold milk"),
        ("brew", "cold water"),
        ("", "water"),
    ]
    theirs = [("cold tea", "tea milk")] * 20
    together, alone = index(*ours, *theirs, languages=[0] * 4 + [1] * 20), index(*ours)
    for name in ("queries", "titles"):
        found, expected = rows(getattr(together, name))[:4], rows(getattr(alone, name))
        assert found == [pytest.approx(row) for row in expected], name
        mixed = rows(getattr(index(*ours, *theirs), name))[:4]
        assert mixed != [pytest.approx(row) for row in expected], name
