"""The numbers that decide how links are chosen: fixed weights, thresholds and limits."""

from dataclasses import dataclass

from internal_linker.core.records import Fusion
from internal_linker.matching.tfidf import FIXED_TERMS, TermWeights
from internal_linker.ranking.last_resort import NOBODY_LAST, LastResortRules

# Pages per source whose passages are compared: NDCG@5 differs by less than 0.002 between 20 and 200 on the
# development sites (tests/quality/WEIGHTS.md, also for the figures below).
CANDIDATES = 50
# Cosine from which two pages may be near-duplicates; their texts decide (matching/near_duplicates.py).
NEAR_DUPLICATE = 0.95


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the signals, which are in standard deviations among a source's candidates.

    They were chosen on both development sites together; the weights of the link signals were chosen so that cold
    pages are found at least 1.05 times as well as by words and passages. tests/quality/WEIGHTS.md has the rule and
    the tables.

    Attributes:
        match: weight of the blend of words and embedding.
        passage: weight of the passage that fits best.
        time: weight of the nearness in time, for pages with a date in their URL.
        votes: weight of the links of similar pages.
        linked_similarity: weight of the similarity to the pages that the source links to.
        unlinked: bonus of a page without inlinks. Such a page has no votes; without the bonus, new pages would be
            found less well than by words alone.
        named: bonus of a page that the source's text names, by its title or as other pages link to it.
    """

    match: float = 1.0
    passage: float = 0.6
    time: float = 0.5
    votes: float = 0.4
    linked_similarity: float = 0.2
    unlinked: float = 1.0
    named: float = 1.5


FIXED_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class TopicWeights:
    """Weights for a query or a planned page, which the topic alone decides; in standard deviations, too.

    Links say which pages are popular, not which ones fit a topic. tests/quality/TOPICS.md has what leaving them out
    costs.

    Attributes:
        meaning: weight of the embedding; the words have it where there is none.
        words: weight of the cosine of words; for a query or a title alone, of the words that a page covers.
        passage: weight of the passage that fits best.
        title: weight of the words of the title that a page covers.
    """

    meaning: float = 1.0
    words: float = 0.4
    passage: float = 0.8
    title: float = 0.6


TOPIC_WEIGHTS = TopicWeights()


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How links are chosen; each attribute is the setting of the same name, where one exists.

    The other attributes are fixed: `python -m tests.quality.weights` measures alternatives.
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
    last: LastResortRules = NOBODY_LAST
