"""The numbers that decide how links are chosen: weights of topics, thresholds and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from internal_linker.match.tfidf import FIXED_TERMS, TermWeights
from internal_linker.model.house_rules import LinkRule, TargetGoal
from internal_linker.model.records import Fusion
from internal_linker.rank.demotion import NO_DEMOTIONS, DemotionRules

# How good the places of links in texts must be.
Anchors = Literal["strict", "balanced", "broad"]
# Most similar pages of a source that are candidates, beside those that searches and known links find.
CANDIDATES = 64
# Cosine from which two pages may be near-duplicates; their texts decide (matching/near_duplicates.py).
NEAR_DUPLICATE = 0.95
# What the greatest need adds to a score when links are chosen, in the score's unit: standard deviations above the
# page's average target. So no link gives way for need to one that scores more than this below it. On both development
# sites no needs at all, not even those that an enemy would choose link by link, cost more than 2% of NDCG@5:
# tests/research/quality/PRIORITIES.md.
NEED_BONUS = 0.06
# Links to one page with the same words before other words come first.
MOST_SAME = 3


# The quality from which a place is good enough, by the setting `anchors`.
LEAST_PLACE: Mapping[Anchors, float] = {"strict": 0.55, "balanced": 0.33, "broad": 0.2}
BALANCED = LEAST_PLACE["balanced"]


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
    max_new_inlinks: int = 0
    near_duplicate: float = NEAR_DUPLICATE
    serp_floor: float = 0.0
    candidates: int = CANDIDATES
    terms: TermWeights = FIXED_TERMS
    last: DemotionRules = NO_DEMOTIONS
    # the quality from which a place in a text is good enough for a link, 0 to 1
    least_place: float = BALANCED
    # which words link to which page; of "always", `recommend` takes the links
    house: tuple[LinkRule, ...] = ()
    goals: tuple[TargetGoal, ...] = ()  # the limits of in-links of some pages
    # Not in the text that stands for these rules: runs without needs don't depend on it.
    need_bonus: float = field(default=NEED_BONUS, repr=False)
    # Words don't change which links are chosen.
    max_same_anchor: int = field(default=MOST_SAME, repr=False)

    @property
    def highest_least(self) -> int:
        """The most links that any page should get at least."""
        return max(self.min_inlinks, *(goal.least for goal in self.goals), 0)
