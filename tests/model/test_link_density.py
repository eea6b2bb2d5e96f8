"""How many links the texts of a site usually have."""

import numpy as np
import pytest

from internal_linker.model.link_density import LEAST_TEXTS, LONG_TEXT, MOST_USUAL, usual_density


@pytest.mark.parametrize(
    ("links", "count", "usual"),
    [(2, LEAST_TEXTS, 2.0), (9, LEAST_TEXTS, MOST_USUAL), (2, LEAST_TEXTS - 2, MOST_USUAL)],
)
def test_the_usual_density_is_that_of_long_texts_up_to_a_limit(links: int, count: int, usual: float) -> None:
    words = np.array([1000] * count + [LONG_TEXT - 1] * count + [500])
    assert usual_density(words, np.array([links] * count + [1] * count + [200])) == usual


def test_without_a_text_the_usual_density_is_the_limit() -> None:
    assert usual_density(np.empty(0, np.int64), np.empty(0, np.int64)) == MOST_USUAL
