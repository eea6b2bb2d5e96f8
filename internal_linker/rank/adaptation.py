"""Adapts the packaged ranker to a site: weights near the packaged ones, learned from its links and rejections."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from internal_linker.model.arrays import NO_PAIRS, Bools, Ints, Pairs, Vectors, is_in, pairs_of
from internal_linker.model.records import ExistingLink, Source
from internal_linker.rank.list_scales import scale_values
from internal_linker.rank.listwise import Choices, Prior, fit_weights
from internal_linker.rank.metrics import GAINS, TOP, Estimate, estimates, fold
from internal_linker.rank.pair_features import PAIR_FEATURES, hidden
from internal_linker.rank.rank import BLOCK, Ranking
from internal_linker.rank.ranker import LearnedRanker
from internal_linker.rank.simulated_arrivals import simulated_arrivals

# With fewer links, weights follow chance.
LEAST_LINKS = 100
# Parts of the links, of which one is hidden at a time.
HIDINGS = 4
# Source pages to learn from while some links are hidden: more take longer and change the weights little.
MOST_SOURCES = 150
# Strength of the packaged weights as a prior. With a third of it, the weights of more sites seem better than they are.
STRENGTH = 1500.0
# Weight of a list with links hidden at random; one of simulated arrivals has 1. They teach what old pages lack, which
# is the smaller part of what editors add.
AT_RANDOM = 0.25
# Weight of a list with rejected links: a link that is rejected had a small share of the list, so that it changes the
# weights less than a link that was hidden, by a factor of about this.
REJECTIONS = 5.0
# Share of candidates whose known links are hidden, as if they were new pages.
HIDDEN_SHARE = 0.6
# The least gain in NDCG@5, by the lower bound of its interval, for which the adapted weights are used: a smaller gain
# isn't worth another order, and the interval is slightly too narrow, since many lists share their targets.
LEAST_GAIN = 0.005
# Share of the texts, links or rejections that may differ from those that weights were learned from: learning them takes
# as long as to rank a thousand pages, and other samples of one site's links change them more.
SAME_EXAMPLES = 0.02
# The message where the links are too few to learn from.
TOO_FEW = (
    f"packaged weights; to adapt them to your site requires at least {LEAST_LINKS} existing links between your "
    "pages, from many of them"
)


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What the ranker gains from the site's own links, cross-validated on simulated arrivals."""

    links: int  # count of the links that it learned from, accepted ones included
    rejected: int  # count of the rejected links that it learned from
    packaged: Estimate  # NDCG@5 of the packaged weights
    adapted: Estimate  # NDCG@5 of adapted weights; those for a group of pages learned from the other groups
    gain: Estimate  # gain of the adapted weights, list by list
    used: bool  # whether the adapted weights are used

    def __str__(self) -> str:
        gain = f"{self.gain.mean:+.3f} [{self.gain.low:+.3f}, {self.gain.high:+.3f}]"
        gain = f"NDCG@5 {self.adapted.mean:.3f} against {self.packaged.mean:.3f}: {gain}; 1 is the best order"
        of = f"{self.links} links" + (f" and {self.rejected} rejected ones" if self.rejected else "")
        if self.used:
            return f"weights adapted to your site by its {of} ({gain})"
        return f"packaged weights; adapted by your site's {of}, they are not clearly better ({gain})"


@dataclass(frozen=True, slots=True)
class Examples:
    """What weights are learned from, as ascending digests, to find out how much of it changed."""

    texts: Ints  # of the pages with their texts
    links: Ints  # of the links
    rejections: Ints  # of the rejected links

    @classmethod
    def from_ranking(
        cls, ranking: Ranking, links: Sequence[ExistingLink], hashes: Sequence[str]
    ) -> "Examples":
        """Return the digests of what `adapted` learns from; `hashes` are those of the pages' texts."""
        pages = (page.key for page in ranking.site.pages)
        rejected = ((end, target) for end, targets in ranking.targets.rejected.items() for target in targets)
        ends = ((link.source, link.target) for link in links)
        return cls(*(_digests(pairs) for pairs in (zip(pages, hashes, strict=True), ends, rejected)))

    def are_nearly(self, others: "Examples") -> bool:
        """Return whether so little differs that the same weights serve both."""
        pairs = ((getattr(self, name), getattr(others, name)) for name in self.__slots__)
        return all(
            max(len(np.setdiff1d(ours, theirs)), len(np.setdiff1d(theirs, ours))) <= SAME_EXAMPLES * len(ours)
            for ours, theirs in pairs
        )


def _digests(pairs: Iterable[tuple[str, str]]) -> Ints:
    numbers = (blake2b("\n".join(pair).encode("utf-8", "surrogatepass"), digest_size=8) for pair in pairs)
    return np.unique(
        np.array([int.from_bytes(each.digest(), "big", signed=True) for each in numbers], np.int64)
    )


@dataclass(frozen=True, slots=True)
class _Lists:
    """The candidates of l sources, m in all, while some links are hidden."""

    groups: Ints  # (l,) in which of the simulated arrivals each source is new
    of: Ints  # (m,) position of each candidate's source, ascending
    rows: Ints  # (m,) row of each candidate
    features: Vectors  # (m, f) features of the candidates
    unlinked: Bools  # (m,) to which candidates no link leads, not even a hidden one
    found: Bools  # (m,) which candidates are links to be found, or rejected links
    count: Ints  # (l,) how many such links there are from each source; candidates may lack some
    weight: float  # weight of each list
    arrivals: bool = False  # whether the links to be found are simulated arrivals
    rejected: bool = False  # whether the links are rejected ones

    def at(self, where: Bools) -> "_Lists":
        names = ("of", "rows", "features", "unlinked", "found")
        return replace(self, **{name: getattr(self, name)[where] for name in names})


def adapted(ranking: Ranking, links: Sequence[ExistingLink]) -> tuple[Ranking, Adaptation | None]:
    """Return the ranking by weights that are adapted to the site, if they are better, and the cross-validation.

    With too few links, return the ranking unchanged, and None. `ranking` is one by the packaged ranker, which also
    learns from the links that editors rejected; `links` are known or accepted ones.
    """
    whole, ranker = ranking.with_links(links, ()), ranking.ranker
    if whole.graph.size < LEAST_LINKS:
        return ranking, None
    rejected = [
        (page.key, target)
        for page in whole.site.pages
        for target in dict.fromkeys(ranking.targets.rejected.get(page.key, ()))
        if target in whole.rows
    ]
    lists = [*_lists(whole, links, rejected)]
    learned = [part for number, each in enumerate(lists) if (part := _choices(each, ranker, number))]
    arrivals = [each for each in lists if each.arrivals and len(each.count)]
    if not learned or not arrivals:
        return ranking, None
    prior = Prior(ranker.weights, STRENGTH)
    weights = fit_weights([choices for choices, _ in learned], prior)
    ours, packaged = list[Vectors](), list[Vectors]()
    for group in sorted({group for each in arrivals for group in each.groups.tolist()}):
        others = [replace(choices, weights=choices.weights * (of != group)) for choices, of in learned]
        apart = replace(ranker, weights=fit_weights(others, prior, weights))
        for each in arrivals:
            here = each.groups == group
            ours.append(_ndcgs(each, apart)[here])
            packaged.append(_ndcgs(each, ranker)[here])
    both = np.stack([np.concatenate(ours), np.concatenate(packaged)], axis=1)
    after, before, gain = estimates(np.column_stack([both, both[:, 0] - both[:, 1]]))
    used = gain.low >= LEAST_GAIN
    adaptation = Adaptation(whole.graph.size, len(rejected), before, after, gain, used)
    return ranking.with_ranker(replace(ranker, weights=weights)) if used else ranking, adaptation


def _lists(
    whole: Ranking, links: Sequence[ExistingLink], rejected: Collection[tuple[str, str]]
) -> Iterator[_Lists]:
    """Yield the lists of each hiding: simulated arrivals, links hidden at random, and none with `rejected` links."""
    arrivals = [*simulated_arrivals([page.key for page in whole.site.pages], links)]
    groups = {key: number for number, each in enumerate(arrivals) for key in each.new}
    for each in arrivals:
        yield _hidden(whole, each.known, each.added, groups, arrivals=True)
    parts = [fold(f"{link.source}\n{link.target}", HIDINGS) for link in links]
    for number in range(HIDINGS):
        known = [link for link, part in zip(links, parts, strict=True) if part != number]
        gone = [(link.source, link.target) for link, part in zip(links, parts, strict=True) if part == number]
        yield _hidden(whole, known, gone, groups, weight=AT_RANDOM)
    if rejected:
        yield replace(_hidden(whole, links, rejected, groups, weight=REJECTIONS), rejected=True)


def _hidden(
    whole: Ranking,
    known: Sequence[ExistingLink],
    pairs: Iterable[tuple[str, str]],
    groups: Mapping[str, int],
    *,
    weight: float = 1.0,
    arrivals: bool = False,
) -> _Lists:
    """Return the candidates of up to `MOST_SOURCES` pages, where only some links are known.

    Args:
        whole: a ranking that knows all links.
        pairs: (source, target) keys of the links to be found, or of rejected ones.
        groups: in which of the simulated arrivals each page is new.
    """
    rows, n = whole.rows, len(whole.linkable)
    found = defaultdict[str, set[int]](set)
    for source, target in pairs:
        if source in rows and target in rows and source != target:
            found[source].add(rows[target])
    chosen = sorted(found, key=lambda key: (fold(f"from {key}", 2**32), key))[:MOST_SOURCES]
    pages = [whole.site.pages[row] for row in sorted(rows[key] for key in chosen)]
    variant = whole.with_links(
        known, [Source(page.key, page.url, "", page, in_sheet=False) for page in pages]
    )
    of, targets, features = [NO_PAIRS.of], [NO_PAIRS.rows], [np.zeros((0, len(PAIR_FEATURES)), np.float32)]
    blocks = variant.features(range(len(pages)), [variant])
    for first, ((block,), (values,)) in zip(range(0, len(pages), BLOCK), blocks, strict=True):
        of.append(block.matches.of + first)
        targets.append(block.matches.rows)
        features.append(values)
    candidates = Pairs(np.concatenate(of), np.concatenate(targets))
    wanted = pairs_of([sorted(found[page.key]) for page in pages])
    is_wanted = is_in(candidates.keys(n), wanted.keys(n))
    linked = is_in(candidates.keys(n), whole.graph.targets(variant.source_rows).keys(n))
    lists = _Lists(
        np.array([groups.get(page.key, -1) for page in pages], np.int64),
        candidates.of,
        candidates.rows,
        np.concatenate(features),
        whole.graph.degrees[candidates.rows] == 0,
        is_wanted,
        np.bincount(wanted.of, minlength=len(pages)),
        weight,
        arrivals,
    )
    # A link that is neither known nor to be found says nothing.
    return lists.at(is_wanted | ~linked)


def _choices(lists: _Lists, ranker: LearnedRanker, seed: int) -> tuple[Choices, Ints] | None:
    """Return what to learn from lists, and the group of each list's source; None without a link among the candidates.

    A rejected link gives its share, by the packaged weights, to the other candidates.
    """
    # Whether editors want to link to a page to which no link leads is unknown: it may be new.
    lists = lists if lists.rejected else lists.at(~lists.unlinked)
    count = len(lists.groups)
    found, others = (np.bincount(lists.of, each, count) > 0 for each in (lists.found, ~lists.found))
    lists = lists.at((found & others)[lists.of])
    if not len(lists.of):
        return None
    some, of = np.unique(lists.of, return_inverse=True)
    hide = np.random.default_rng(seed).random(len(of)) < HIDDEN_SHARE
    features = lists.features if lists.rejected else hidden(lists.features, hide)
    columns = ranker.standardised(scale_values(features, of))
    target = lists.found.astype(np.float64)
    if lists.rejected:
        scores = (columns @ ranker.weights).astype(np.float64)
        top = np.maximum.reduceat(scores, np.searchsorted(of, np.arange(len(some))))
        target = np.exp(scores - top[of]) * ~lists.found
    target /= np.bincount(of, target)[of]
    starts = np.searchsorted(of, np.arange(len(some)))
    return Choices(columns, starts, target, np.full(len(some), lists.weight)), lists.groups[some]


def _ndcgs(lists: _Lists, ranker: LearnedRanker) -> Vectors:
    order = np.lexsort((lists.rows, -ranker.score(lists.features, lists.of), lists.of))
    ends = np.searchsorted(lists.of, np.arange(len(lists.groups) + 1)).tolist()
    found = np.zeros(len(lists.groups))
    for at, ((start, end), count) in enumerate(zip(pairwise(ends), lists.count.tolist(), strict=True)):
        first = lists.found[order[start:end]][:TOP]
        found[at] = (first @ GAINS[: len(first)]) / GAINS[:count].sum()
    return found
