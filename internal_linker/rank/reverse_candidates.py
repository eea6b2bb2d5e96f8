"""Reverse candidates: for each page the most similar sources, which could link to it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from internal_linker.model.arrays import Ints, Pairs, pairs_of, ranks
from internal_linker.model.records import Candidate
from internal_linker.rank.rank import BLOCK, Ranking

# The most similar sources of a page; its best sources are those of them whose link to it scores highest.
SHORTLIST = 100
# Weight of how well a source fits the topic of a page that does not exist yet; its own candidates' order has the rest.
TOPIC = 0.75


def sources_near(
    ranking: Ranking,
    rows: Ints,
    keep: int,
    among: Iterable[int] | None = None,
    *,
    linking: Mapping[int, Sequence[int]] | None = None,
) -> Iterator[list[int]]:
    """Yield for each page the positions of the most similar sources without a link to it, best first.

    Sources of last resort follow all others.

    Args:
        rows: rows of the pages, all in `ranking.linkable`.
        keep: the maximum number of sources for a page; sources without any similarity to it never count.
        among: positions of the sources to choose from; None: all. Only sources with a page are found.
        linking: the rows of the sources from which a link to a page would not be new, by its row; None: all are asked.
    """
    site, weight = ranking.site, ranking.rules.lexical_weight
    positions = np.array(range(len(ranking.sources)) if among is None else [*among], np.int64)
    # The first position of each row.
    at = np.full(len(site.with_text), -1, np.int64)
    at[ranking.source_rows[positions[::-1]]] = positions[::-1]
    sources = (at >= 0) & site.with_text
    linking = _linking(ranking, rows) if linking is None else linking
    site.prepare(rows.tolist())
    for first in range(0, len(rows), BLOCK):
        texts = rows[first : first + BLOCK]
        old = pairs_of([linking.get(row, ()) for row in texts.tolist()])
        matches = site.matches(texts, sources, weight)
        new, _ = site.fresh(texts, matches, keep, among=sources, lexical_weight=weight, old=old)
        near = new.at(np.fmax(new.similarity, new.lexical) > 0)
        last = ranking.last.are_last(near.rows) | ranking.last.are_siblings(near.rows, texts[near.of])
        near = near.at(np.lexsort((last, near.of)))
        near = near.at(ranks(near.of) < keep)
        found: list[list[int]] = [[] for _ in texts]
        for position, source in zip(near.of.tolist(), near.rows.tolist(), strict=True):
            found[position].append(int(at[source]))
        yield from found


def best_sources(
    ranking: Ranking,
    row: int,
    among: Sequence[int],
    limit: int,
    fit: Callable[[int], float | None] = lambda row: None,
    *,
    linking: Mapping[int, Sequence[int]] | None = None,
) -> list[tuple[int, Candidate, int]]:
    """Return the new links to a page that score highest from their sources' point of view, best first.

    Sources of last resort follow all others.

    Args:
        row: the page's row; no link leads to a page that is not in `ranking.linkable`.
        limit: the maximum number of links, at most 50.
        fit: returns the score of a source (its row) from the page's point of view, which counts `TOPIC`; None: only the
            source's counts.
        linking: as in `sources_near`.

    Returns:
        For each link the position of its source, the page's signals, and its rank among all candidates of the source,
        from 1.
    """
    found = list[tuple[int, Candidate, int]]()
    if not ranking.linkable[row]:
        return found
    near = next(sources_near(ranking, np.array([row]), SHORTLIST, among, linking=linking))
    for block in ranking.ranked(near, {position: [row] for position in near}):
        ranked = block.at(np.lexsort((ranking.last_of(near, block), block.of)))
        here = np.flatnonzero(ranked.targets == row)
        positions = [near[at] for at in ranked.of[here].tolist()]
        places = (ranks(ranked.of)[here] + 1).tolist()
        for position, link, place in zip(positions, ranking.candidates(ranked.at(here)), places, strict=True):
            ours = fit(int(ranking.source_rows[position]))
            score = link.score if ours is None else (1 - TOPIC) * link.score + TOPIC * ours
            found.append((position, replace(link, score=score), place))
    rows = ranking.source_rows[np.array([position for position, *_ in found], np.int64)]
    last = ranking.last.are_last(rows) | ranking.last.are_siblings(rows, np.full(len(rows), row))
    order = sorted(range(len(found)), key=lambda at: (last[at], -found[at][1].score))
    best = [found[at] for at in order]
    return [one for one in best if one[1].score > 0][:limit]


def offers(ranking: Ranking, keep: int, among: Sequence[int], rows: Ints) -> Pairs:
    """Return row of a page and position of a source that is among the `keep` most similar ones of that page.

    The sources are chosen from `among`; the pages are all in `ranking.linkable`.
    """
    found = pairs_of([*sources_near(ranking, rows, keep, among)])
    return Pairs(rows[found.of], found.rows)


def _linking(ranking: Ranking, rows: Ints) -> Mapping[int, Sequence[int]]:
    """Map each of these rows to the rows of the sources from which a link to it would not be new."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    wanted = {ranking.pages[row].key: row for row in rows.tolist()}
    for position, source in enumerate(ranking.sources):
        if source.page:
            for row in {wanted[key] for key in ranking.old_keys(position) if key in wanted}:
                found[row].append(int(ranking.source_rows[position]))
    return found
