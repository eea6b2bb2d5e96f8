"""TF-IDF: page weights equal an independent calculation, and a passage is compared like a page of its own."""

import math
from itertools import pairwise

import numpy as np
import pytest

from internal_linker.match.tfidf import (
    COVERAGE_B,
    COVERAGE_K1,
    COVERAGE_POWER,
    IDF_POWER,
    PAIR_SHARE,
    PASSAGE,
    TITLE_COUNT,
    TermFit,
    TermIndex,
    index_terms,
)
from internal_linker.match.tokens import tokenize
from internal_linker.model.arrays import Ints, Vectors
from internal_linker.model.records import Text


def index_of(*texts: tuple[str, str]) -> TermIndex:
    return index_terms(tokenize([Text(title, body) for title, body in texts]).tokens)


def passage_scores(index: TermIndex, row: int, others: Ints) -> Vectors:
    return TermFit(index).compare_passages(np.array([row]), [others], [()])[0][0]


def cosines(index: TermIndex) -> Vectors:
    dense: Vectors = (index.rows @ index.rows.T).toarray()
    return dense


def by_hand(one: tuple[str, str], other: tuple[str, str], texts: list[tuple[str, str]]) -> float:
    """Compute the cosine of two texts with dictionaries."""

    def counts(title: str, body: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for part, times in ((title.split(), TITLE_COUNT), (body.split(), 1)):
            for term in [*part, *(f"{a} {b}" for a, b in pairwise(part))]:
                found[term] = found.get(term, 0) + times
        return found

    def weights(text: tuple[str, str]) -> dict[str, float]:
        found = {}
        for term, times in counts(*text).items():
            frequency = sum(term in counts(*each) for each in texts)
            idf = 1 + math.log((1 + len(texts)) / (1 + frequency))
            found[term] = (1 + math.log(times)) * idf**IDF_POWER
        return found

    a, b = weights(one), weights(other)
    lengths = math.sqrt(sum(w**2 for w in a.values()) * sum(w**2 for w in b.values()))
    return sum(weight * b.get(term, 0) for term, weight in a.items()) / lengths


def test_the_weights_are_those_of_a_count_by_hand() -> None:
    texts = [
        ("green tea", "how to brew green tea at home"),
        ("black tea", "black tea is green tea left to wither"),
        ("espresso", "how to pull a shot"),
        ("", "brew brew brew"),
    ]
    found = cosines(index_of(*texts))
    for i, one in enumerate(texts):
        for j, other in enumerate(texts):
            # One-letter words don't count.
            clean = [(title, body.replace(" a ", " ")) for title, body in texts]
            assert found[i, j] == pytest.approx(by_hand(clean[i], clean[j], clean), abs=1e-5) or (
                i == j and found[i, j] < 1
            ), (one, other)


def test_words_match_in_any_script_and_case() -> None:
    found = cosines(
        index_of(("", "Green tea"), ("", "green TEA"), ("", "كتاب دمی"), ("", "کتاب ترک"), ("", ""))
    )
    assert found[0, 1] == pytest.approx(1)
    assert 0 < found[2, 3] < 1
    assert found[0, 2] == 0
    assert not found[4].any()
    texts = [("", f"menu cart contact word{number} pair{number // 2}") for number in range(40)]
    found = cosines(index_of(*texts))
    assert found[0, 2] == 0
    assert found[0, 1] > 0.1


@pytest.mark.parametrize("bodies", [[], [""], ["", "?!"], ["menu"] * 40])
def test_texts_without_a_telling_word_have_empty_rows(bodies: list[str]) -> None:
    index = index_of(*(("", body) for body in bodies))
    assert index.rows.shape[0] == len(bodies)
    assert index.rows.nnz == 0
    for row in range(len(bodies)):
        np.testing.assert_array_equal(
            passage_scores(index, row, np.arange(len(bodies))), np.zeros(len(bodies))
        )


def test_a_short_page_is_its_own_passage() -> None:
    index = index_of(("", "brew green tea"), ("", "green tea pot"), ("", "steel pot"))
    fit = passage_scores(index, 0, np.array([1, 2]))
    np.testing.assert_allclose(fit, cosines(index)[0, 1:], atol=1e-6)
    assert passage_scores(index_of(("", "green tea")), 0, np.array([], np.int64)).shape == (0,)


def test_one_passage_about_a_page_is_found_in_a_long_text() -> None:
    filler = [f"filler{number % 37} other{number % 41}" for number in range(400)]
    about = "grinder burrs stay sharp for years"
    target, far = (
        ("burr grinder", "grinder burrs and how they stay sharp"),
        ("filter paper", "paper for pour over"),
    )
    alone = index_of(("", about), target, far)
    expected = passage_scores(alone, 0, np.array([1]))[0]
    for place in (0, PASSAGE // 2, PASSAGE - 3, 399):
        body = " ".join([*filler[:place], about, *filler[place:]])
        index = index_of(("", body), target, far)
        fit = passage_scores(index, 0, np.array([1, 2]))
        assert fit[0] > 2 * cosines(index)[0, 1]
        assert 0 < fit[0] <= expected + 0.2
        assert fit[1] < fit[0] / 5


def test_likeness_to_linked_pages_is_the_mean_cosine() -> None:
    bodies = ["tea pot clay", "tea cup clay", "iron pan", "iron pot pan", "tea tin", "wood spoon", ""]
    index = index_of(*(("", body) for body in bodies))
    fit, others, each = TermFit(index), np.arange(len(bodies)), cosines(index)
    groups = [np.array(rows, np.int64) for rows in ([3], [0, 2, 4], [])]
    ((passages, alike),) = fit.compare_passages(np.array([1]), [others], [groups])
    np.testing.assert_allclose(alike[0], each[3], atol=1e-6)
    np.testing.assert_allclose(alike[1], each[[0, 2, 4]].mean(axis=0), atol=1e-6)
    assert alike[2].tolist() == [0] * len(bodies)
    np.testing.assert_array_equal(passages, passage_scores(index, 1, others))


@pytest.mark.long
def test_pairs_that_share_a_place_in_the_table_are_told_apart() -> None:
    dice = np.random.default_rng(3)
    few = [("", " ".join(f"w{word}" for word in dice.integers(0, 20, 40))) for _ in range(9)]
    found = cosines(index_of(*few))
    for i, one in enumerate(few):
        for j, other in enumerate(few):
            assert i == j or found[i, j] == pytest.approx(by_hand(one, other, few), abs=1e-5)


def test_coverage_of_a_title_is_bm25_by_hand() -> None:
    texts = [
        ("", "the tea pot and one kettle for the tea " * 3),
        ("tea pot", "of clay"),
        ("kettle", "boils water " * 40 + "tea"),
        ("unrelated", "words without any of them"),
        ("tea pot kettle", ""),
        ("tea pot kettle", "one draft with words of its own"),
    ]
    index = index_of(*texts)
    ours, drafted = TermFit(index).coverage(np.array([4, 5]), [np.arange(4), np.arange(4)])
    assert ours.tolist() == pytest.approx(drafted.tolist())
    lengths = [len(body.split()) for _, body in texts]

    def covered(page: int) -> float:
        found = total = 0.0
        for term in ("tea", "pot", "kettle", "tea pot", "pot kettle"):
            times = [
                f" {title} ".count(f" {term} ") * TITLE_COUNT + f" {body} ".count(f" {term} ")
                for title, body in texts
            ]
            idf = 1 + math.log((1 + len(texts)) / (1 + sum(map(bool, times))))
            weight = idf ** (IDF_POWER * COVERAGE_POWER) * (PAIR_SHARE if " " in term else 1)
            length = lengths[page] / (sum(lengths) / len(lengths))
            total += weight
            found += (
                weight * times[page] / (times[page] + COVERAGE_K1 * (1 - COVERAGE_B + COVERAGE_B * length))
            )
        return found / total

    assert ours.tolist() == pytest.approx([covered(page) for page in range(4)], abs=1e-4)
    assert ours[0] > ours[1] > ours[2] > ours[3] == 0
    assert TermFit(index).coverage(np.array([3]), [np.arange(0)])[0].shape == (0,)
