"""Search results and similar pages -> one ranking of candidates."""

from dataclasses import dataclass, replace

import numpy as np

from internal_linker.arrays import Ints, Vectors, is_in
from internal_linker.records import Fusion

# What the first search result adds to the z-scored blend; the n-th adds 1/n of it. Measured with a
# title search for a SERP, more did harm on one development site and less made no difference.
SERP_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates of one source; all arrays are (m,).

    Attributes:
        targets: a number of each candidate's own.
        serp_rank: rank in the search, from 1; 0 where the search did not find it.
        score, similarity, lexical, probability: as in `records.Candidate`.
    """

    targets: Ints
    serp_rank: Ints
    score: Vectors
    similarity: Vectors
    lexical: Vectors
    probability: Vectors

    def at(self, places: Ints) -> "Ranked":
        """Those at the given places, in their order."""
        signals = self.score, self.similarity, self.lexical, self.probability
        return Ranked(self.targets[places], self.serp_rank[places], *(each[places] for each in signals))


def fuse(found: Ints, ranks: Ints, matches: Ranked, fusion: Fusion) -> Ranked:
    """Rank all candidates of one source, best first, each once; equals by their numbers.

    Args:
        found: (k,) numbers of the eligible search results, in the order of their rank.
        ranks: (k,) those ranks.
        matches: pages with their similarity signals, in any order; may hold search results too.
        fusion: "fill" puts search results first, in their order, and the most similar pages after
            them; "blend" ranks both by score, to which a search result adds `SERP_WEIGHT` / its place.
    """
    both = _with(matches, found[~is_in(found, matches.targets)])
    order = np.argsort(both.targets, kind="stable")
    at = order[np.searchsorted(both.targets, found, sorter=order)]
    place, serp_rank = np.zeros((2, len(both.targets)), np.int32)
    place[at], serp_rank[at] = np.arange(1, len(found) + 1), ranks
    # A page without content stands at the source's average.
    score = np.nan_to_num(both.score)
    if fusion == "fill":
        first = np.where(place > 0, place, len(found) + 1)
        ours = replace(both, serp_rank=serp_rank)
    else:
        first = np.zeros(len(place))
        score = score + np.divide(SERP_WEIGHT, place, out=np.zeros(len(place)), where=place > 0)
        ours = replace(both, score=score, serp_rank=serp_rank)
    return ours.at(np.lexsort((both.targets, -score, first)))


def _with(matches: Ranked, new: Ints) -> Ranked:
    """And candidates of which no signal is known."""
    unknown = np.full(len(new), np.nan)
    signals = matches.score, matches.similarity, matches.lexical, matches.probability
    return Ranked(
        np.concatenate([matches.targets, new]),
        np.concatenate([matches.serp_rank, np.zeros(len(new), np.int32)]),
        *(np.concatenate([each, unknown]) for each in signals),
    )
