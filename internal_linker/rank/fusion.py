"""Fusion of search results and similar pages into one ranking of candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.model.arrays import NO_PAIRS, Bools, Ints, Pairs, Vectors, is_in, ranks
from internal_linker.model.records import Fusion, Page, SerpTarget

# The first search result adds this to the score, in standard deviations, the n-th 1/n of it. With a title search
# instead of a SERP, 0.5 costs 0.01 of NDCG@5 on one development site with half of its links known; less makes no
# difference. With results that begin with 40% of the editors' links, 0.5 gains 0.01.
SERP_WEIGHT = 0.25


class Numbers:
    """Numbers of possible targets: a page's number is its row; other search results are numbered after the pages."""

    def __init__(self, pages: Sequence[Page], rows: Mapping[str, int]) -> None:
        self._pages, self._rows = pages, rows
        self._others: list[SerpTarget] = []
        self._numbers: dict[str, int] = {}

    def assign_number(self, hit: SerpTarget) -> int:
        """Return the number of a search result."""
        if hit.key in self._rows:
            return self._rows[hit.key]
        if hit.key not in self._numbers:
            self._numbers[hit.key] = len(self._pages) + len(self._others)
            self._others.append(hit)
        return self._numbers[hit.key]

    def page(self, number: int) -> Page | SerpTarget:
        """Return the page or search result of this number."""
        at = number - len(self._pages)
        return self._pages[number] if at < 0 else self._others[at]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates of several sources; all arrays are (m,)."""

    of: Ints  # position of the source, ascending
    targets: Ints  # number of the candidate
    serp_rank: Ints  # rank in the search results, from 1; 0 where the search did not find the candidate
    # score, similarity, lexical, probability: as in `records.Candidate`
    score: Vectors
    similarity: Vectors
    lexical: Vectors
    probability: Vectors
    worth: Vectors  # what counts when links are chosen: the score, or that of the link and its place together

    def at(self, positions: Ints | Bools | slice) -> "Ranked":
        """Return the candidates at these positions, in their order."""
        return Ranked(*(getattr(self, name)[positions] for name in Ranked.__slots__))


_NONE = np.empty(0, np.float32)
NO_RANKED = Ranked(NO_PAIRS.of, NO_PAIRS.rows, NO_PAIRS.rows, _NONE, _NONE, _NONE, _NONE, _NONE)


def fuse(found: Pairs, serp_ranks: Ints, matches: Ranked, fusion: Fusion) -> Ranked:
    """Rank all candidates of each source, best first, each once; ties are broken by number.

    Args:
        found: numbers of each source's eligible search results, by rank.
        serp_ranks: (len(found),) ranks of the search results.
        matches: pages with their similarity signals, in any order; may contain search results too.
        fusion: "fill" puts search results first, in their order, and the most similar pages after them; "blend" ranks
            both by score, to which a search result adds `SERP_WEIGHT` / its position.
    """
    n = 1 + int(max(found.rows.max(initial=0), matches.targets.max(initial=0)))
    keys, wanted = Pairs(matches.of, matches.targets).keys(n), found.keys(n)
    new = ~is_in(wanted, keys)
    both, keys = with_unknown(matches, found.at(new)), np.concatenate([keys, wanted[new]])
    order = np.argsort(keys, kind="stable")
    at = order[np.searchsorted(keys, wanted, sorter=order)]
    position, serp_rank = np.zeros((2, len(keys)), np.int32)
    position[at], serp_rank[at] = ranks(found.of) + 1, serp_ranks
    # A page without content counts as the source's average target.
    score = np.nan_to_num(both.score)
    if fusion == "fill":
        first = np.where(position > 0, position, len(found.rows) + 1)
        ours = replace(both, serp_rank=serp_rank)
    else:
        first = np.zeros(len(position))
        score = score + np.divide(SERP_WEIGHT, position, out=np.zeros(len(position)), where=position > 0)
        ours = replace(both, score=score, worth=score, serp_rank=serp_rank)
    return ours.at(np.lexsort((both.targets, -score, first, both.of)))


def with_unknown(matches: Ranked, new: Pairs) -> Ranked:
    """Return the matches followed by the new candidates, none of whose signals is known."""
    unknown = np.full(len(new.rows), np.nan)
    signals = matches.score, matches.similarity, matches.lexical, matches.probability, matches.worth
    return Ranked(
        np.concatenate([matches.of, new.of]),
        np.concatenate([matches.targets, new.rows]),
        np.concatenate([matches.serp_rank, np.zeros(len(new.rows), np.int32)]),
        *(np.concatenate([each, unknown]) for each in signals),
    )
