"""Simulated arrivals: the links of groups of pages are hidden together, as if editors were about to add them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.records import Collected
from internal_linker.evaluation.holdout import SAME, Hidden, Row, readable
from internal_linker.ranking.metrics import Measured, estimates
from internal_linker.ranking.simulated_arrivals import simulated_arrivals


def arrivals(collected: Collected, *, cut_anchors: bool) -> Iterator[Hidden]:
    """Yield the site as it was before each group of its pages was new; all with the same texts.

    Args:
        collected: the pages and their links.
        cut_anchors: whether to cut the anchors of all links between the pages from their text.
    """
    pages = readable(collected, cut_anchors=cut_anchors)
    for found in simulated_arrivals(collected.rows, collected.links):
        truth: defaultdict[str, set[str]] = defaultdict(set)
        for source, target in ((collected.page(one), collected.page(other)) for one, other in found.added):
            if source.lang == target.lang and target.issue is None:
                truth[source.url].add(target.url)
        if truth:
            yield Hidden(pages, found.known, dict(truth), sum(map(len, truth.values())), collected.queries)


def together(groups: Sequence[tuple[Hidden, Sequence[Row]]]) -> list[Row]:
    """Return the figures over several groups of new pages; those of a page are the mean of its groups.

    Ways of ranking that some groups lack are left out, unless they would be the same as another way there.

    Args:
        groups: the site before each group was new, with the figures of each way of ranking.
    """
    by_name = [{row.name: row for row in rows} for _, rows in groups]
    pairs = [hidden.pairs for hidden, _ in groups]
    found = []
    names = dict.fromkeys(name for rows in sorted(by_name, key=len, reverse=True) for name in rows)
    for name in names:
        known = [row for each in by_name if (row := _found(name, each))]
        if len(known) == len(groups):
            found.append(_mean(name, known, pairs))
    return found


def _found(name: str, rows: Mapping[str, Row]) -> Row | None:
    """Return the figures of a way, or of the one that is the same where there is nothing to learn from."""
    return rows.get(name) or (_found(SAME[name], rows) if name in SAME else None)


def _mean(name: str, rows: Sequence[Row], pairs: Sequence[int]) -> Row:
    """Return one way's figures over all groups, which have so many links to be found."""
    each = defaultdict[str, list[Vectors]](list)
    for row in rows:
        for source, values in zip(row.measured.sources, row.measured.each, strict=True):
            each[source].append(values)
    sources = tuple(sorted(each))
    values = np.array([np.mean(each[source], axis=0) for source in sources])
    hit, recall, ndcg, mrr = estimates(values)
    reach = sum(row.reach * count for row, count in zip(rows, pairs, strict=True)) / sum(pairs)
    return Row(name, Measured(sources, hit, recall, ndcg, mrr, values), reach)
