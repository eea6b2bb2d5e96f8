"""The choice of the weights of known links: new pages first, honest cross-validation, and a matching table."""

from collections.abc import Collection

import numpy as np

from internal_linker.evaluation.holdout import by_similarity, cold, hidden
from internal_linker.ranking.metrics import fold, measure
from internal_linker.ranking.rules import FIXED_WEIGHTS
from tests.quality.corpora import ranking, site
from tests.quality.known_links import (
    DRAWS,
    LEAST,
    Figures,
    Reached,
    choose,
    cross_validate,
    default_name,
    drawn,
    figures,
    reached,
    tables,
    variants,
)
from tests.quality.test_weights import written
from tests.quality.weights import DEFAULT, FOLDS

SOURCES = [f"https://site.example/{number}" for number in range(100)]


def made(half: float, cold: float, among: Collection[str] = SOURCES) -> Reached:
    """Return the same NDCG@5 for each source of one site; 0 with half of the links hidden for those not in `among`."""
    return {
        ("half", "site"): [(source, half if source in among else 0.0) for source in SOURCES],
        ("cold", "site"): [(source, cold) for source in SOURCES],
    }


def test_weights_that_find_new_pages_too_badly_are_never_chosen() -> None:
    """Weights below the least cold ratio on any site are never chosen, whatever else they reach."""
    found = {
        "good": Figures([0.4, 0.5], [LEAST, LEAST]),
        "best": Figures([0.4, 0.6], [LEAST, LEAST]),
        "cold elsewhere": Figures([0.9, 0.9], [LEAST + 1, LEAST - 0.001]),
    }
    assert choose(found) == "best"


def test_weights_are_chosen_without_the_fold_that_they_are_scored_on() -> None:
    """Weights that are right in one fold only are never chosen for that fold."""
    found = {
        f"right in {part}": made(1, 1, [one for one in SOURCES if fold(one, FOLDS) == part])
        for part in range(FOLDS)
    }
    base = made(0.5, 0.5)
    chosen, held_out = cross_validate(found, base)
    assert len(chosen) == FOLDS
    assert figures(held_out, base).mean == 0
    assert all(figures(each, base).mean > 0.1 for each in found.values())


def test_the_first_draw_is_that_of_the_product() -> None:
    """The product's commands hide the first draw's half and fifth; each further draw differs."""
    pairs = [(source, target) for source in SOURCES[:10] for target in SOURCES]
    halves = [tuple(drawn("half", number)(*pair) for pair in pairs) for number in range(DRAWS)]
    fifths = [tuple(drawn("cold", number)(*pair) for pair in pairs) for number in range(DRAWS)]
    assert halves[0] == tuple(hidden(*pair) for pair in pairs)
    assert fifths[0] == tuple(cold(target) for _, target in pairs)
    assert len({*halves}) == len({*fifths}) == DRAWS


def test_what_is_measured_is_what_the_product_ranks() -> None:
    """Each draw's values come from the ranking that knows exactly its visible links."""
    draws = [site("sample", drawn("half", number)) for number in range(2)]
    vectors = np.zeros((len(draws[0].pages), 1), np.float32)
    ours = reached(ranking(site("sample"), vectors, DEFAULT), draws, {"fixed": FIXED_WEIGHTS})["fixed"]
    measured = [measure(draw.truth, by_similarity(ranking(draw, vectors, DEFAULT))) for draw in draws]
    assert [source for source, _ in ours] == [source for each in measured for source in each.sources]
    assert [ndcg for _, ndcg in ours] == [ndcg for each in measured for ndcg in each.each[:, 2]]


def test_worse_than_words_alone_is_marked() -> None:
    """A ratio below 1 has an exclamation mark; the base itself has none."""
    names = list(variants())
    found = {name: made(0.5, 0.3 if name == names[0] else 0.6) for name in names}
    lines = list(tables(found, made(0.25, 0.5)))
    assert "| words + passages | 0.2500 | 0.2500 | -0.2500 | 1.000 |" in lines
    assert f"| {names[0]} | 0.5000 | 0.5000 | +0.0000 | 0.600 ! |" in lines
    assert f"| {names[1]} | 0.5000 | 0.5000 | +0.0000 | 1.200 |" in lines


def test_the_written_table_has_the_weights_that_are_measured() -> None:
    """WEIGHTS.md has a row for each variant, in order, and names the product's own weights as the fixed ones."""
    names = list(variants())
    assert [name for name in written(1) if name in names] == names
    assert f"fixed: {default_name()}" in written(1)
