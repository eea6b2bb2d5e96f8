"""The report of a run, and the plan of what a run would do: the records that faces print."""

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
    """The lists about the whole site; None after a run over some rows."""
    below_floor: int = 0
    """The count of search results below `serp_floor`."""
    dropped: int = 0
    """The count of those search results that were dropped."""
    lesson: Lesson | None = None
    """What the ranker learned from existing links; None where they are too few."""
    joined: Joined | None = None
    """How all pages were compared at once; None where each was compared when a source needed it."""
    gaps: list[str] = field(default_factory=list)
    failure: ServiceError | OutputError | None = None
    excluded: Counter[Reason[NoTarget]] = field(default_factory=Counter)
    """Targets left out, by reason."""
    accepted: Sequence[Acceptance] = ()
    """The editors' decisions on proposed links."""
    rephrased: Rephrased | None = None
    """The anchors that a language model chose; None where it is off."""
    memory: Memory | None = None
    """The stored links of this and earlier runs with their statuses; None where no links are stored."""


@dataclass(frozen=True)
class Plan:
    """What a run would do: texts to embed with their cost, and the minimum and maximum of credits."""

    collected: Collected
    sources: int
    searches: int
    least_credits: int
    most_credits: int
    texts: int
    cached_texts: int
    usage: Usage
    sheet_rows: int
