"""Draws targets at random whose links are held back, so that they can be compared with the others."""

from collections.abc import Mapping, Sequence

import numpy as np

BLOCK = 5
"""One of so many targets is drawn."""


def drawn_at_random(
    levels: Mapping[str, float], strata: Mapping[str, str], rng: np.random.Generator
) -> Sequence[str]:
    """Return one in five targets, drawn from blocks of similar ones.

    Pages are drawn rather than links: what is measured, a page's clicks, can't be told apart by link.

    Args:
        levels: the clicks a week of each target; 0 where nobody knows.
        strata: the section and language of each target.
        rng: draws.
    """
    order = sorted(levels, key=lambda page: (strata.get(page, ""), -levels[page], page))
    held = list[str]()
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        # Of a last block that is not full, one is drawn as often as its size says.
        at = int(rng.integers(BLOCK))
        held += block[at : at + 1]
    if order and not held:
        # With fewer targets than a block has, most draws hold none back, and an experiment needs at least one.
        held.append(order[int(rng.integers(len(order)))])
    return held
