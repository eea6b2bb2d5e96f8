"""What a run did, and what it would do: the records that faces print."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from internal_linker.anchors.llm import Rephrased
from internal_linker.core.errors import OutputError, ServiceError
from internal_linker.core.reasons import NoTarget, Reason
from internal_linker.core.records import Collected, Recommendation, Searched, Usage
from internal_linker.embeddings.embed import Embedded
from internal_linker.matching.neighbours.knn_join import Joined
from internal_linker.ranking.site_lists import Listed
from internal_linker.ranking.training import Lesson
from internal_linker.review.acceptance import Acceptance
from internal_linker.review.link_memory import Memory


@dataclass
class Report:
    """What a run did; the face prints it."""

    run_id: str
    collected: Collected
    searched: Searched
    embedded: Embedded
    recommendations: Sequence[Recommendation]
    listed: Listed | None
    """None where the run saw a part of the site only."""
    below_floor: int = 0
    """Search results that are less similar than `serp_floor`, and how many of them were dropped."""
    dropped: int = 0
    lesson: Lesson | None = None
    """What was learned of the site's own links; None where they are too few."""
    joined: Joined | None = None
    """How all pages were compared; None where each was when it was its turn."""
    gaps: list[str] = field(default_factory=list)
    failure: ServiceError | OutputError | None = None
    excluded: Counter[Reason[NoTarget]] = field(default_factory=Counter)
    """Targets left out, by reason."""
    accepted: Sequence[Acceptance] = ()
    """What editors made of proposed links."""
    rephrased: Rephrased | None = None
    """What a language model made of the anchors; None where it is off."""
    memory: Memory | None = None
    """What became of this and earlier runs' links; None where nothing is remembered."""


@dataclass(frozen=True)
class Plan:
    """What a run would do: texts to embed with their cost, and the least and most credits."""

    collected: Collected
    sources: int
    searches: int
    least_credits: int
    most_credits: int
    texts: int
    cached_texts: int
    usage: Usage
    sheet_rows: int
