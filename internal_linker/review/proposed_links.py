"""The links that a run proposes, by page."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from math import inf, isnan

from internal_linker.model.records import Link, Recommendation, Source
from internal_linker.model.sequences import batched

# Rows whose edges are read and written together.
BLOCK = 1000


def proposed(items: Sequence[Recommendation]) -> tuple[dict[str, tuple[Source, Link]], set[str]]:
    """Return a source's links by target, scored as in its first row, and the targets whose score differs by row."""
    now: dict[str, tuple[Source, Link]] = {}
    several: set[str] = set()
    for item in items:
        for link in (*item.links, *item.held):
            _, first = now.setdefault(link.target.key, (item.source, link))
            if link.target != first.target:
                several.add(link.target.key)
    return now, several


def of_pages(items: Iterable[Recommendation]) -> Iterator[Recommendation]:
    """Return the rows of pages: no page can carry what is suggested for a query without one."""
    return (item for item in items if item.source.is_page)


def least_score_and_counts(
    recommendations: Iterable[Recommendation], most: int
) -> tuple[float, Counter[str]]:
    """Return the least score of the `most` strongest links, -inf if there are fewer, and the count of rows by page."""
    scores, counts = array("d"), Counter[str]()
    for item in of_pages(recommendations):
        counts[item.source.end] += 1
        scores.extend(link.target.score for link in item.links)
    strongest = nlargest(most, (score for score in scores if not isnan(score)))
    return strongest[-1] if len(strongest) == most else -inf, counts


def by_source(
    items: Iterable[Recommendation], counts: Mapping[str, int]
) -> Iterator[dict[str, list[Recommendation]]]:
    """Yield batches of pages with their rows; pages with several rows come last."""
    several: dict[str, list[Recommendation]] = {}
    for some in batched(of_pages(items), BLOCK):
        rows: dict[str, list[Recommendation]] = {}
        for item in some:
            end = item.source.end
            (rows if counts[end] == 1 else several).setdefault(end, []).append(item)
        yield rows
    for ends in batched(several, BLOCK):
        yield {end: several[end] for end in ends}
