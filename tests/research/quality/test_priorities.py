"""Needs of pages: the bound of their loss on the development sites, and the written tables."""

from pathlib import Path

import numpy as np
import pytest

from internal_linker.insight.evaluation.holdout import HIDINGS
from internal_linker.rank.priorities import bonuses
from internal_linker.rank.rules import NEED_BONUS, LinkRules
from tests.research.quality.priorities import HIDDEN, MOST_LOSS, STRENGTHS, Measuring, needs_of
from tests.support.corpora import ABSENT, DEVELOPMENT, no_vectors, present, ranking, site

TABLES = (Path(__file__).parent / "PRIORITIES.md").read_text(encoding="utf-8")
LOSSES, GAINS = (part.split("\n| needs")[1] for part in TABLES.split("\n## ")[1:])


def measuring(name: str, hiding: str) -> Measuring:
    """Return a site without embedding, with the product's own limits of in-links."""
    if not present(name):
        pytest.skip(ABSENT)
    hidden = site(name, HIDINGS[hiding])
    rules = LinkRules(5, "fill", 1.0, min_inlinks=2, max_inlinks=10.0)
    return Measuring(hidden, ranking(hidden, no_vectors(hidden.pages), rules))


def test_the_written_losses_are_within_the_bound() -> None:
    """PRIORITIES.md has no loss above 2% in the column of the product's own bonus, for any needs."""
    place = 3 + STRENGTHS.index(NEED_BONUS)
    lines = [line.strip("| ").split(" | ") for line in LOSSES.splitlines() if line.endswith("% |")]
    assert len(lines) == 6 * len(DEVELOPMENT) * len(HIDDEN)
    assert max(float(cells[place].rstrip("%")) for cells in lines) <= 100 * MOST_LOSS


@pytest.mark.parametrize(
    ("name", "hiding"),
    [
        ("vue-fa-ar", "half"),
        pytest.param("vue-fa-ar", "all", marks=pytest.mark.long),
        pytest.param("18f-blog", "all", marks=pytest.mark.long),
        pytest.param("18f-blog", "half", marks=pytest.mark.long),
    ],
)
def test_no_needs_cost_more_than_the_bound(name: str, hiding: str) -> None:
    """The worst bonus for each single link costs at most 2% of NDCG@5, with and without limits of in-links."""
    measured = measuring(name, hiding)
    worst = np.where(measured.wanted, 0.0, NEED_BONUS)
    for limits in (False, True):
        plain, ours = (
            measured.ndcg(measured.lists(bonus, limits=limits)) for bonus in (np.zeros(len(worst)), worst)
        )
        print(f"{name}, {hiding}: NDCG@5 {ours:.4f}, {plain:.4f} without needs")
        assert ours >= (1 - MOST_LOSS) * plain


def test_needy_pages_get_more_in_links() -> None:
    """A tenth of the pages, drawn at random, gets more in-links with the product's bonus than without."""
    measured = measuring("vue-fa-ar", "half")
    values = np.zeros(len(measured.hidden.pages))
    values[np.random.default_rng(0).permutation(len(values))[: len(values) // 10]] = 1.0
    needy = {page.url for page, value in zip(measured.hidden.pages, values, strict=True) if value}
    then, now = (
        sum(target in needy for targets in measured.lists(bonus).values() for target in targets)
        for bonus in (
            np.zeros(len(measured.wanted)),
            bonuses(measured.candidates, needs_of(values), NEED_BONUS),
        )
    )
    assert now > 1.02 * then
