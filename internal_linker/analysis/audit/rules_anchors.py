"""The anchors of a site's links -> those that name several pages, that always say the same, or that mislead."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from internal_linker.analysis.audit.records import Finding, Limits, Rule
from internal_linker.core.arrays import Ints, Vectors

# Cosine, 0 to 1, of an anchor with the title words of the page that it names: two words of three equally rare ones
# give 0.8. What the target itself has at most: a third of the anchor's words at best.
NAMES = 0.75
STRANGE = 0.4
# A word in more titles than this share of them, or than 50, tells no page from another.
_COMMON = 0.01
_FEW = 50
# Anchors compared with all titles at a time.
_BLOCK = 4096
# Targets that a sentence names.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class AnchoredLinks:
    """Links between the n pages that have an anchor, each source, target and anchor once.

    Attributes:
        sources, targets: (m,) rows.
        anchors: (m,) places in `texts`.
        texts: (a) the anchors, each as it is written first.
    """

    sources: Ints
    targets: Ints
    anchors: Ints
    texts: Sequence[str]


def ambiguous_anchors(links: AnchoredLinks, urls: Sequence[str]) -> Iterator[Finding]:
    """One finding an anchor that leads to several pages; its page is the one that it leads to most often."""
    pairs, counts = _counted(links.anchors, links.targets, len(urls))
    order = np.lexsort((pairs[1], -counts, pairs[0]))
    starts = np.flatnonzero(np.diff(pairs[0][order], prepend=-1))
    for group in np.split(order, starts[1:]) if len(order) else []:
        if len(group) > 1:
            named = [urls[row] for row in pairs[1][group[:_NAMED]].tolist()]
            more = f" and {len(group) - _NAMED} more" if len(group) > _NAMED else ""
            text = links.texts[int(pairs[0][group[0]])]
            detail = f"“{text}” leads to {len(group)} pages: {', '.join(named)}{more}."
            yield Finding(Rule.AMBIGUOUS_ANCHOR, named[0], detail, named[1])


def repeated_anchors(links: AnchoredLinks, urls: Sequence[str], limits: Limits) -> Iterator[Finding]:
    """Targets for which one anchor stands on more than `same_anchor` pages and in most of the links."""
    pairs, counts = _counted(links.targets, links.anchors, max(1, len(links.texts)))
    every = np.bincount(links.targets, minlength=len(urls))
    for at in np.flatnonzero((counts > limits.same_anchor) & (2 * counts > every[pairs[0]])).tolist():
        row, text = int(pairs[0][at]), links.texts[int(pairs[1][at])]
        detail = f"{counts[at]} of the {every[row]} links to it have the anchor “{text}”."
        yield Finding(Rule.REPEATED_ANCHOR, urls[row], detail)


def misleading_anchors(
    links: AnchoredLinks,
    anchor_words: Sequence[Sequence[str]],
    page_words: Sequence[Sequence[str]],
    urls: Sequence[str],
) -> Iterator[Finding]:
    """Links whose anchor names another page than their target, clearly, by the rarer words of titles.

    Args:
        links: the links.
        anchor_words: (a) the words of each anchor.
        page_words: (n) the words of each page's title, H1 and address.
        urls: (n) of the pages.
    """
    anchors, pages = _weighed(anchor_words, page_words)
    pairs, _ = _counted(links.anchors, links.targets, len(urls))
    # Most anchors name their target: only the others are compared with all titles.
    own = np.asarray(anchors[pairs[0]].multiply(pages[pairs[1]]).sum(axis=1)).ravel()
    strange = np.flatnonzero(own < STRANGE)
    for first in range(0, len(strange), _BLOCK):
        ours = strange[first : first + _BLOCK]
        best, most = _best((anchors[pairs[0][ours]] @ pages.T).tocsr())
        wrong = most >= NAMES
        yield from _misled(links, urls, ours[wrong], pairs, best[wrong])


def _misled(
    links: AnchoredLinks, urls: Sequence[str], which: Ints, pairs: tuple[Ints, Ints], better: Ints
) -> Iterator[Finding]:
    """A finding for each link of these pairs of anchor and target, unless the page that it names is its own."""
    named = dict(
        zip(
            zip(pairs[0][which].tolist(), pairs[1][which].tolist(), strict=True), better.tolist(), strict=True
        )
    )
    if not named:
        return
    wanted = np.isin(links.anchors * len(urls) + links.targets, [one * len(urls) + two for one, two in named])
    ends = (part[wanted].tolist() for part in (links.sources, links.targets, links.anchors))
    for source, target, anchor in zip(*ends, strict=True):
        other = named[anchor, target]
        if other != source:
            detail = f"“{links.texts[anchor]}” leads to {urls[target]}, but names {urls[other]}."
            yield Finding(Rule.MISLEADING_ANCHOR, urls[source], detail, urls[target])


def _counted(one: Ints, other: Ints, n: int) -> tuple[tuple[Ints, Ints], Ints]:
    """The distinct pairs, ascending, and how often each stands there; `other` is below n."""
    keys, counts = np.unique(one.astype(np.int64) * n + other, return_counts=True)
    return np.divmod(keys, n), counts


def _best(scores: sparse.csr_matrix) -> tuple[Ints, Vectors]:
    """Of each row the column of the largest value, the first of equals, and the value; 0 and 0 for an empty row."""
    if not scores.shape[1]:
        return np.zeros(scores.shape[0], np.int64), np.zeros(scores.shape[0])
    best = np.asarray(scores.argmax(axis=1)).ravel()
    most = scores.max(axis=1).toarray().ravel()
    return best, most


def _weighed(
    anchors: Sequence[Sequence[str]], pages: Sequence[Sequence[str]]
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Unit rows of the words of both that stand in few titles, the rarer the heavier."""
    column: dict[str, int] = {}
    for title in pages:
        for word in title:
            column.setdefault(word, len(column))
    of_pages = _rows(pages, column)
    frequency = np.bincount(of_pages.indices, minlength=len(column))
    weights = np.log((1 + len(pages)) / (1 + frequency)) + 1
    weights[frequency > max(_FEW, _COMMON * len(pages))] = 0
    # A word of no title is nobody's name: it makes an anchor longer, and so less clear.
    unknown = np.array([float(any(word not in column for word in words)) for words in anchors])
    both = _unit(of_pages, weights), _unit(_rows(anchors, column), weights, unknown * weights.max(initial=0))
    return both[1], both[0]


def _rows(texts: Sequence[Sequence[str]], column: dict[str, int]) -> sparse.csr_matrix:
    known = [sorted({column[word] for word in words if word in column}) for words in texts]
    starts = np.cumsum([0, *map(len, known)])
    indices = np.array([at for row in known for at in row], np.int64)
    return sparse.csr_matrix(
        (np.ones(len(indices)), indices, starts), shape=(len(texts), max(1, len(column)))
    )


def _unit(rows: sparse.csr_matrix, weights: Vectors, beside: Vectors | float = 0.0) -> sparse.csr_matrix:
    """The rows with their words' weights, of unit length together with what is `beside` them."""
    if not len(weights):
        return rows
    data = weights[rows.indices]
    rows = sparse.csr_matrix((data, rows.indices, rows.indptr), shape=rows.shape)
    rows.eliminate_zeros()
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() + np.square(beside)
    rows.data /= np.repeat(np.sqrt(squares).clip(min=1e-9), np.diff(rows.indptr))
    return rows
