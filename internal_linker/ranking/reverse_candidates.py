"""A ranking -> for each page the sources that are most similar to it: who could link to it, where nobody does."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from internal_linker.core.arrays import pairs_of, ranks
from internal_linker.ranking.rank import BLOCK, Ranking


def sources_near(
    ranking: Ranking, keys: Sequence[str], keep: int, among: Iterable[int] | None = None
) -> Iterator[list[int]]:
    """Yield for each page the places of the most similar sources that a link to it would be new for, best first.

    Args:
        ranking: of all sources.
        keys: the pages, of `ranking.linkable`.
        keep: how many sources at the most; none of which neither words nor embedding speak for it.
        among: the places of the sources that count; all if not given. Only those with a page are found.
    """
    site, weight = ranking.site, ranking.rules.lexical_weight
    places = range(len(ranking.sources)) if among is None else among
    at = {ranking.row(ranking.sources[place]): place for place in places}
    sources = np.zeros(len(site.with_text), np.bool_)
    sources[[*at]] = True
    sources &= site.with_text
    linking, rows = _linking(ranking), np.array(site.rows_of(keys), np.int64)
    site.prepare(rows.tolist())
    for first in range(0, len(rows), BLOCK):
        texts = rows[first : first + BLOCK]
        old = pairs_of([linking.get(row, ()) for row in texts.tolist()])
        new, _ = site.fresh(texts, site.matches(texts, sources, weight), keep, sources, weight, old)
        near = new.at(np.fmax(new.similarity, new.lexical) > 0)
        near = near.at(ranks(near.of) < keep)
        found: list[list[int]] = [[] for _ in texts]
        for place, source in zip(near.of.tolist(), near.rows.tolist(), strict=True):
            found[place].append(at[source])
        yield from found


def offers(ranking: Ranking, keep: int) -> Mapping[int, Sequence[int]]:
    """Source's place -> rows of the pages of which it is among the `keep` most similar sources."""
    offered: defaultdict[int, list[int]] = defaultdict(list)
    keys = list(ranking.linkable)
    for key, places in zip(keys, sources_near(ranking, keys, keep), strict=True):
        for place in places:
            offered[place].append(ranking.site.rows[key])
    return offered


def _linking(ranking: Ranking) -> Mapping[int, Sequence[int]]:
    """For each page's row the rows of the sources that a link to it would not be new for."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for source in ranking.sources:
        if source.page:
            for row in ranking.old(source):
                found[row].append(ranking.site.rows[source.key])
    return found
