"""How links are chosen, in numbers."""

from dataclasses import dataclass

from internal_linker.core.records import Fusion
from internal_linker.matching.tfidf import FIXED_TERMS, TermWeights
from internal_linker.ranking.features import FIXED_WEIGHTS, Weights

# Pages of which the passages are compared, for each source: with 20 to 200 NDCG@5 differs by less than 0.002
# on the development sites (this and what follows: tests/quality/WEIGHTS.md).
CANDIDATES = 50
# Cosine from which two pages may be near-duplicates; their texts decide (steps/duplicate.py).
NEAR_DUPLICATE = 0.95


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
