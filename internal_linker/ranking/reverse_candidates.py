"""A ranking -> for each page the sources that are most similar to it: who could link to it, where nobody does."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from internal_linker.core.arrays import Ints, pairs_of, ranks
from internal_linker.ranking.rank import BLOCK, Ranking


def sources_near(
    ranking: Ranking, rows: Ints, keep: int, among: Iterable[int] | None = None
) -> Iterator[list[int]]:
    """Yield for each page the places of the most similar sources that a link to it would be new for, best first.

    Args:
        ranking: of all sources.
        rows: the pages, of `ranking.linkable`.
        keep: how many sources at the most; none of which neither words nor embedding speak for it.
        among: the places of the sources that count; all if not given. Only those with a page are found.
    """
    site, weight = ranking.site, ranking.rules.lexical_weight
    places = range(len(ranking.sources)) if among is None else among
    at = {int(ranking.own[place]): place for place in places}
    sources = np.zeros(len(site.with_text), np.bool_)
    sources[[*at]] = True
    sources &= site.with_text
    linking = _linking(ranking)
    site.prepare(rows.tolist())
    for first in range(0, len(rows), BLOCK):
        texts = rows[first : first + BLOCK]
        old = pairs_of([linking.get(row, ()) for row in texts.tolist()])
        matches = site.matches(texts, sources, weight)
        new, _ = site.fresh(texts, matches, keep, among=sources, lexical_weight=weight, old=old)
        near = new.at(np.fmax(new.similarity, new.lexical) > 0)
        near = near.at(ranks(near.of) < keep)
        found: list[list[int]] = [[] for _ in texts]
        for place, source in zip(near.of.tolist(), near.rows.tolist(), strict=True):
            found[place].append(at[source])
        yield from found


def offers(ranking: Ranking, keep: int) -> Mapping[int, Sequence[int]]:
    """Source's place -> rows of the pages of which it is among the `keep` most similar sources."""
    offered: defaultdict[int, list[int]] = defaultdict(list)
    rows = np.flatnonzero(ranking.linkable)
    for row, places in zip(rows.tolist(), sources_near(ranking, rows, keep), strict=True):
        for place in places:
            offered[place].append(row)
    return offered


def _linking(ranking: Ranking) -> Mapping[int, Sequence[int]]:
    """For each page's row the rows of the sources that a link to it would not be new for."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for place, source in enumerate(ranking.sources):
        if source.page:
            for row in ranking.old(place):
                found[row].append(int(ranking.own[place]))
    return found
