"""Agreement of the proposed anchors with those that editors chose for the same links."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from internal_linker.anchors.finder import Anchoring
from internal_linker.core.errors import InputError
from internal_linker.core.records import Collected, Page
from internal_linker.ranking.metrics import Estimate, estimates, fold

# Folds of the source pages; anchors for each are learned from the links on the other folds' pages.
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far anchors agree.

    Attributes:
        pairs: count of linked pairs of pages whose anchor is in the source's main content.
        absent: count of linked pairs whose anchor isn't there; they are not measured.
        overlap: share of the pairs, 0 to 1, in which a proposed anchor overlaps an editor's anchor.
        first: share of the pairs, 0 to 1, in which the best proposed anchor overlaps an editor's anchor.
        exact: share of the pairs, 0 to 1, in which a proposed anchor is an editor's anchor.
        found: share of the pairs, 0 to 1, with a proposed anchor in the text.
        verbatim: share of the anchors marked as verbatim, 0 to 1, that are in the text at their position.
    """

    pairs: int
    absent: int
    overlap: Estimate
    first: Estimate
    exact: Estimate
    found: Estimate
    verbatim: Estimate


def agreement(collected: Collected) -> Agreement:
    """Propose anchors for each pair of pages that editors linked, as if it weren't linked, and compare them.

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
            "No anchors can be compared: no link between your pages has an anchor that is in the source's main "
            "content. Check that files/existing_links.csv has the column Anchor."
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
