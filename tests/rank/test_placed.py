"""Links with a good place in the text come first, by the place; the others follow by their pages."""

import numpy as np
import pytest

from internal_linker.model.arrays import Vectors
from internal_linker.model.edges import beside, score_for, strengths
from internal_linker.model.records import Fusion
from internal_linker.rank.fusion import Ranked
from internal_linker.rank.pair_features import PAIR_FEATURES
from internal_linker.rank.promising_targets import PAIR_COLUMNS, PROMISING, Promising, with_places
from internal_linker.rank.rules import BALANCED, LEAST_PLACE, LinkRules


def ordered(
    quality: list[float],
    found: list[int],
    fusion: Fusion = "blend",
    *,
    least: float = BALANCED,
    fits: float = 3.0,
) -> tuple[list[int], Vectors]:
    """Return the targets 0 to 3 of one source in their new order, and their strengths.

    Args:
        quality: of the best place of each; NaN for none.
        found: ranks in the search results.
        least: the quality from which a place is good enough.
        fits: the score of the page that fits best.
    """
    score = np.array([fits, 2.0, 1.0, 0.0], np.float32)
    ranked = Ranked(np.zeros(4, np.int64), np.arange(4), np.array(found), score, score, score, score, score)
    columns = np.zeros((3, len(PAIR_COLUMNS)), np.float16)
    promising = Promising(np.zeros(3, np.int64), np.array([3, 1, 2]), columns)
    rules = LinkRules(5, fusion, 0.5, least_place=least)
    placed = with_places(ranked, promising, np.array([quality[at] for at in (3, 1, 2)]), rules)
    assert placed.score.tolist() == score[placed.targets].tolist(), "that of the pages stays"
    return placed.targets.tolist(), strengths(placed.worth)


def test_good_places_come_first_by_their_quality() -> None:
    nan = float("nan")
    targets, strength = ordered([nan, BALANCED - 0.01, 0.8, 0.9], [0, 0, 0, 0])
    assert targets == [3, 2, 0, 1]
    pages = beside(BALANCED) * strengths(np.array([3.0, 2.0]))
    assert strength == pytest.approx([0.9, 0.8, *pages], abs=1e-6)


@pytest.mark.parametrize("least", LEAST_PLACE.values())
def test_no_link_without_a_place_is_worth_as_much_as_one_with_it(least: float) -> None:
    """Whatever `anchors` says: the two pages may fit as well as they like."""
    nan = float("nan")
    targets, strength = ordered([nan, nan, nan, least], [0, 0, 0, 0], least=least, fits=9.0)
    assert targets == [3, 0, 1, 2]
    assert strength[0] == pytest.approx(least) and strength[1] < least


def test_search_results_stay_first_where_they_fill() -> None:
    nan = float("nan")
    assert ordered([nan, nan, 0.9, nan], [0, 1, 0, 2], "fill")[0] == [1, 3, 2, 0]
    assert ordered([nan, nan, 0.9, nan], [0, 1, 0, 2])[0] == [2, 0, 1, 3]


def test_scores_and_strengths_are_each_others_inverse() -> None:
    values = np.linspace(0.01, 0.99, 30)
    assert strengths(score_for(values)) == pytest.approx(values)


def test_the_promising_targets_fit_well_or_are_mentioned() -> None:
    n = PROMISING + 5
    of, rows = np.repeat([0, 1], n), np.tile(np.arange(n), 2)
    score, features = np.tile(-np.arange(n, dtype=float), 2), np.full((2 * n, len(PAIR_FEATURES)), np.nan)
    # The last target of the second source is a page that its text names.
    features[-1, PAIR_FEATURES.index("named")] = n
    columns = np.zeros((2 * n, 3 * len(PAIR_FEATURES)), np.float32)
    found = Promising.among(of, rows, score, features, columns)
    assert np.bincount(found.of).tolist() == [PROMISING, PROMISING]
    assert found.rows[found.of == 0].tolist() == [*range(PROMISING)]
    assert found.rows[found.of == 1].tolist() == [*range(PROMISING - 1), n - 1]
    assert found.columns.shape == (2 * PROMISING, len(PAIR_COLUMNS))
