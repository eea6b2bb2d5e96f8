"""Promising targets, whose places in the source's text are judged, and what these places mean for the ranking."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.model.arrays import NO_PAIRS, Ints, Pairs, Vectors, is_in, ranks
from internal_linker.model.edges import beside, score_for, strengths
from internal_linker.rank.fusion import Ranked, with_unknown
from internal_linker.rank.list_scales import scaled_names
from internal_linker.rank.pair_features import PAIR_FEATURES
from internal_linker.rank.rules import LinkRules

# Targets of each source: with 40, six of a hundred editors' links more are within reach, but no more of them are found.
PROMISING = 20
# What a target gains by how much of its title the text has, in standard deviations of the score.
_MENTIONED = {"title covered": 1.5, "title pairs in source": 0.5, "named": 1.0}
# What the places of a target are judged by, besides their words: see `list_scales.scaled`.
PAIR_COLUMNS = (
    "raw match", "raw passage", "raw named", "raw title pairs in source", "raw title covered", "raw target length",
    "raw inlinks", "z match", "z words", "z passage", "z words without hubness", "z named", "z title pairs in source",
    "z votes", "z best inlinker", "z inlinks", "rank match", "rank words", "rank passage", "rank target length",
    "rank folder lift", "rank votes", "rank inlinks",
)  # fmt: skip
_AT = [scaled_names(PAIR_FEATURES).index(name) for name in PAIR_COLUMNS]


@dataclass(frozen=True, slots=True)
class Promising:
    """n promising targets of several sources."""

    of: Ints  # (n,) the source of each, ascending
    rows: Ints  # (n,) its row
    columns: Vectors  # (n, len(PAIR_COLUMNS)) float16, NaN where unknown

    @classmethod
    def among(cls, of: Ints, rows: Ints, score: Vectors, features: Vectors, columns: Vectors) -> "Promising":
        """Return the promising ones among m candidates, by (m,) scores of the ranker and its (m, f) features, also
        `scaled`.
        """
        promise = score.copy()
        for name, weight in _MENTIONED.items():
            promise += weight * np.nan_to_num(features[:, PAIR_FEATURES.index(name)])
        order = np.lexsort((-promise, of))
        best = np.sort(order[ranks(of[order]) < PROMISING])
        return cls(of[best], rows[best], columns[best][:, _AT].astype(np.float16))


NO_PROMISING = Promising(NO_PAIRS.of, NO_PAIRS.rows, np.empty((0, len(PAIR_COLUMNS)), np.float16))

# Returns (n,) the quality of the best place in its source's text for each of n promising targets, 0 to 1; NaN for none.
# It gets (n,) the rows of the sources, and the targets.
PlaceJudge = Callable[[Ints, Promising], Vectors]


def with_places(ranked: Ranked, promising: Promising, quality: Vectors, rules: LinkRules) -> Ranked:
    """Return each source's candidates in a new order: those with a good place, best first, then the others by score.

    With the fusion "fill", search results stay first. `quality` is that of the best place for each promising target, 0
    to 1, NaN without any.
    """
    n = 1 + int(max(ranked.targets.max(initial=0), promising.rows.max(initial=0)))
    places = dict(zip(Pairs(promising.of, promising.rows).keys(n).tolist(), quality.tolist(), strict=True))
    place = np.array([places.get(key, np.nan) for key in Pairs(ranked.of, ranked.targets).keys(n).tolist()])
    pages = beside(rules.least_place) * strengths(ranked.score.astype(np.float64))
    worth = score_for(np.where(place >= rules.least_place, place, pages)).astype(np.float32)
    first = (ranked.serp_rank > 0) & (rules.fusion == "fill")
    order = np.lexsort((np.where(first, 0.0, -np.nan_to_num(worth)), ~first, ranked.of))
    return replace(ranked, worth=worth).at(order)


def with_ruled(ranked: Ranked, ruled: Pairs) -> Ranked:
    """Return the candidates of all sources and the links that rules of the house ask for, which come first."""
    n = 1 + int(max(ranked.targets.max(initial=0), ruled.rows.max(initial=0)))
    keys = ruled.keys(n)
    every = with_unknown(ranked, ruled.at(~is_in(keys, Pairs(ranked.of, ranked.targets).keys(n))))
    first = is_in(Pairs(every.of, every.targets).keys(n), keys)
    worth = np.where(first, score_for(np.ones(1)), every.worth).astype(np.float32)
    return replace(every, worth=worth).at(np.lexsort((~first, every.of)))
