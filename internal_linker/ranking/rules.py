"""How links are chosen, in numbers."""

from dataclasses import dataclass

from internal_linker.core.records import Fusion
from internal_linker.matching.tfidf import FIXED_TERMS, TermWeights

# Pages of which the passages are compared, for each source: with 20 to 200 NDCG@5 differs by less than 0.002
# on the development sites (this and what follows: tests/quality/WEIGHTS.md).
CANDIDATES = 50
# Cosine from which two pages may be near-duplicates; their texts decide (matching/near_duplicates.py).
NEAR_DUPLICATE = 0.95


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts, all in standard deviations among a source's candidates.

    Chosen on both development sites together, those of known links so that cold pages are found at least 1.05
    times as well as by words and passages; tests/quality/WEIGHTS.md has the rule and the tables.

    Attributes:
        match: of the blend of words and embedding.
        passage: of the passage that fits best.
        time: of the nearness in time, for pages with a date in their URL.
        votes: of the links of similar pages.
        alike: of the likeness to what the source links to.
        unlinked: what is added for a page that nobody links to. Votes know nothing of it; without this, new
            pages would be found worse than by words alone.
    """

    match: float = 1.0
    passage: float = 0.6
    time: float = 0.5
    votes: float = 0.4
    alike: float = 0.2
    unlinked: float = 1.0


FIXED_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How links are chosen; each attribute is the setting of that name, where there is one.

    The others are fixed: `python -m tests.quality.weights` measures what else they could be.
    """

    links_per_page: int
    fusion: Fusion
    lexical_weight: float
    min_inlinks: int = 0
    max_inlinks: float = 0.0
    near_duplicate: float = NEAR_DUPLICATE
    serp_floor: float = 0.0
    candidates: int = CANDIDATES
    weights: Weights = FIXED_WEIGHTS
    terms: TermWeights = FIXED_TERMS
