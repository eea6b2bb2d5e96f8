"""Features from the places of pages: folders that URLs share, and how often sections link to each other."""

from math import log

import numpy as np
import pytest

from internal_linker.model.arrays import NO_PAIRS, pairs_of
from internal_linker.rank.place_features import PLACE_FEATURES, Lift, PagePositions

SITE = "https://shop.example"
KEYS = [
    SITE,
    f"{SITE}/tea",
    f"{SITE}/tea/green",
    f"{SITE}/tea/black.html",
    f"{SITE}/tea/index.html",
    f"{SITE}/pots/clay/small",
    f"{SITE}/pots/clay/large?page=2",
    f"{SITE}/{'/'.join('abcdefghijklmnop')}",
    f"{SITE}/{'/'.join('abcdefghijklmnox')}",
]


@pytest.mark.parametrize(
    ("own", "other", "values"),
    [
        (2, 3, {"shared folders": 1, "share of folders": 1, "same folder": 1, "depth": 2}),
        (2, 1, {"shared folders": 1, "share of folders": 1, "parent": 1, "depth": 1}),
        (2, 4, {"shared folders": 1, "share of folders": 1, "parent": 1, "depth": 1}),
        (1, 2, {"shared folders": 1, "share of folders": 1, "child": 1, "depth": 2}),
        (2, 0, {"parent": 1}),
        (2, 5, {"depth": 3}),
        (5, 6, {"shared folders": 2, "share of folders": 1, "same folder": 1, "depth": 3}),
        (0, 1, {"child": 1, "same folder": 1, "depth": 1}),
        (7, 8, {"shared folders": 12, "share of folders": 12 / 15, "same folder": 1, "depth": 16}),
    ],
)
def test_places_are_compared_by_their_folders(own: int, other: int, values: dict[str, float]) -> None:
    found = PagePositions(KEYS).compare_pages(np.array([own]), np.array([other]))
    assert tuple(found) == PLACE_FEATURES
    assert {name: float(value[0]) for name, value in found.items() if value[0]} == pytest.approx(values)


def test_sections_are_first_folders() -> None:
    made = PagePositions(KEYS[:7])
    assert made.sections.tolist() == [0, 0, 1, 1, 0, 2, 2]
    assert made.folders.tolist() == [0, 0, 1, 1, 0, 2, 2]


def test_lift_compares_links_with_those_expected() -> None:
    """Of 3 links from the first section, 2 lead to the second one, which has half of the pages."""
    sections, links = np.array([0, 0, 1, 1]), pairs_of([[2, 3], [0], [], []])
    own, others = np.array([0, 1, 2]), np.array([3, 0, 0])
    expected = [log(2.5 / 2), log(1.5 / 2), 0]
    assert Lift(sections, links).compute_lift(own, others).tolist() == pytest.approx(expected)
    assert Lift(sections, NO_PAIRS).compute_lift(own, others).tolist() == [0, 0, 0]
    made, none = PagePositions([]), np.empty(0, np.int64)
    assert [len(value) for value in made.compare_pages(none, none).values()] == [0] * len(PLACE_FEATURES)
    assert Lift(made.sections, NO_PAIRS).compute_lift(none, none).tolist() == []
