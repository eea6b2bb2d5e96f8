"""Search results and similar pages -> one ranking of candidates."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isnan

from internal_linker.records import Candidate, Fusion, SerpTarget

# What the first search result adds to the z-scored blend; the n-th adds 1/n of it. Measured with a
# title search for a SERP, more did harm on one development site and less made no difference.
SERP_WEIGHT = 0.5


def fuse(serp: Sequence[SerpTarget], matches: Iterable[Candidate], fusion: Fusion) -> tuple[Candidate, ...]:
    """Rank all candidates of one source, best first, each once.

    Args:
        serp: eligible search results in the order of their rank.
        matches: pages with their similarity signals, in any order; may hold search results too.
        fusion: "fill" puts search results first, in their order, and the most similar pages after
            them; "blend" ranks both by score, to which a search result adds `SERP_WEIGHT` / its place.
    """
    by_key = {candidate.key: candidate for candidate in matches}
    for target in serp:
        known = by_key.get(target.key, Candidate(target.key, target.url))
        by_key[target.key] = replace(known, serp_rank=target.rank)
    place = {target.key: number for number, target in enumerate(serp, 1)}
    if fusion == "fill":
        return tuple(
            sorted(
                by_key.values(), key=lambda c: (place.get(c.key, len(place) + 1), -_or_zero(c.score), c.key)
            )
        )
    blended = [
        replace(c, score=_or_zero(c.score) + (SERP_WEIGHT / place[c.key] if c.key in place else 0.0))
        for c in by_key.values()
    ]
    return tuple(sorted(blended, key=lambda c: (-c.score, c.key)))


def _or_zero(score: float) -> float:
    """A page without content stands at the source's average."""
    return 0.0 if isnan(score) else score
