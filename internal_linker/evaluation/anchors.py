"""A site's pages and the links that its editors made -> how far the proposed anchors agree with the editors'."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from internal_linker.anchors.finder import Anchoring
from internal_linker.core.errors import InputError
from internal_linker.core.records import Collected, Page
from internal_linker.ranking.metrics import Estimate, estimates, fold

# What editors link is learned from the links of the other parts' pages.
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far anchors agree, as shares, 0 to 1.

    Attributes:
        pairs: linked pairs of pages whose anchor stands in the source's main content.
        absent: linked pairs whose anchor doesn't; they are not measured.
        overlap: pairs in which one of the anchors has a character of an editor's.
        first: pairs in which the best anchor has.
        exact: pairs in which one of the anchors is an editor's.
        found: pairs with an anchor that stands in the text.
        verbatim: anchors that are said to stand in the text and do, at their place.
    """

    pairs: int
    absent: int
    overlap: Estimate
    first: Estimate
    exact: Estimate
    found: Estimate
    verbatim: Estimate


def agreement(collected: Collected) -> Agreement:
    """Propose anchors for each pair of pages that editors linked, as if this pair weren't linked, and compare.

    Raises:
        InputError: no link between two pages of one language has its anchor in the source's main content.
    """
    anchoring = Anchoring(collected)
    by_fold = [anchoring.knowing(partial(_outside, part)) for part in range(FOLDS)]
    absent, each, stand = 0, [], []
    for source, target in _linked(collected):
        editors = anchoring.places(source.key, target.key)
        if not editors:
            absent += 1
            continue
        content = str(source.content)
        anchors = by_fold[fold(source.key, FOLDS)].propose_unlinked(source.key, target.key)
        anchors = tuple(anchor for anchor in anchors if anchor.verbatim)
        places = [(anchor.start, anchor.start + len(anchor.text)) for anchor in anchors]
        stand += [content[anchor.start :].startswith(anchor.text) for anchor in anchors]
        meets = [any(a < end and b > start for start, end in editors) for a, b in places]
        each.append((any(meets), any(meets[:1]), any(place in editors for place in places), bool(anchors)))
    if not each:
        raise InputError(
            "There is no anchor to compare with: none of the links between your pages has an anchor that stands in "
            "the source's main content. See whether files/existing_links.csv has the column Anchor."
        )
    overlap, first, exact, found = estimates(np.array(each, np.float64))
    return Agreement(
        len(each), absent, overlap, first, exact, found, estimates(np.array(stand, np.float64)[:, None])[0]
    )


def _outside(part: int, source: str) -> bool:
    return fold(source, FOLDS) != part


def _linked(collected: Collected) -> Iterator[tuple[Page, Page]]:
    """Yield the linked pairs of two pages of one language, sorted by their keys."""
    for ends in sorted({(link.source, link.target) for link in collected.links}):
        source, target = map(collected.find, ends)
        if source and target and source is not target and source.lang == target.lang:
            yield source, target
