"""The numbers that decide how links are chosen: weights of topics, thresholds and limits."""

from dataclasses import dataclass, field

from internal_linker.core.records import Fusion
from internal_linker.matching.tfidf import FIXED_TERMS, TermWeights
from internal_linker.ranking.last_resort import NOBODY_LAST, LastResortRules

# Most similar pages of a source that are candidates, beside those that searches and known links find.
CANDIDATES = 64
# Cosine from which two pages may be near-duplicates; their texts decide (matching/near_duplicates.py).
NEAR_DUPLICATE = 0.95
# What the greatest need adds to a score when links are chosen, in the score's unit: standard deviations above the
# page's average target. So no link gives way for need to one that scores more than this below it. On both development
# sites no needs at all, not even those that an enemy would choose link by link, cost more than 2% of NDCG@5:
# tests/research/quality/PRIORITIES.md.
NEED_BONUS = 0.06


@dataclass(frozen=True, slots=True)
class TopicWeights:
    """Weights for a query or a planned page, which the topic alone decides; in standard deviations, too.

    Links say which pages are popular, not which ones fit a topic. tests/research/quality/TOPICS.md has what leaving
    them out costs.
    """

    meaning: float = 1.0  # weight of the embedding; the words have it where there is none
    # weight of the cosine of words; for a query or a title alone, of the words that a page covers
    words: float = 0.4
    passage: float = 0.8  # weight of the passage that fits best
    title: float = 0.6  # weight of the words of the title that a page covers


TOPIC_WEIGHTS = TopicWeights()


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How links are chosen; each attribute is the setting of the same name, where one exists."""

    links_per_page: int
    fusion: Fusion
    lexical_weight: float
    min_inlinks: int = 0
    max_inlinks: float = 0.0
    near_duplicate: float = NEAR_DUPLICATE
    serp_floor: float = 0.0
    candidates: int = CANDIDATES
    terms: TermWeights = FIXED_TERMS
    last: LastResortRules = NOBODY_LAST
    # Not in the text that stands for these rules: runs without needs don't depend on it.
    need_bonus: float = field(default=NEED_BONUS, repr=False)
