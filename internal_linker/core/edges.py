"""The records of the link graph: proposed links as edges with a memory, and what editors say of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from math import nan
from typing import Literal

import numpy as np

from internal_linker.core.arrays import Vectors
from internal_linker.core.records import Origin

Status = Literal["proposed", "accepted", "rejected", "edited", "live", "withdrawn"]
Tier = Literal["inline", "sidebar", "review"]
EdgeKind = Literal["contextual", "recommendation", "duplicate", "canonical", "taxonomy"]

# Pairs of nearly the same text: no links, and never proposed.
COPIES: tuple[EdgeKind, ...] = ("duplicate", "canonical")
# What editors may say; the other statuses are the tool's own.
VERDICTS: tuple[Status, ...] = ("accepted", "rejected", "edited")


@dataclass(frozen=True, slots=True)
class Anchor:
    """Text for a link, and where it stands.

    Attributes:
        text: the anchor.
        sentence: the sentence that it stands in, or the paragraph in which the link fits best; "" for none.
        start: its first character's place in the page's plain main content, from 0; of an anchor that is
            not `verbatim`, the paragraph's.
        verbatim: it stands in the page as it is; otherwise it is made from the target's title.
        asked: a language model was asked about the link; it chose this anchor, or none that could be used.
    """

    text: str
    sentence: str = ""
    start: int = 0
    verbatim: bool = True
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Cells:
    """An editor's cells beside a link, as they were found."""

    status: str = ""
    anchor: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link that was proposed once, and what became of it.

    Attributes:
        id: 20 hex digits that name the link wherever it is kept; the first half is the source's.
        source, target: normal forms; `source` is the query where there is no URL.
        source_url, target_url: as the user writes them.
        rank: its place among its source's links when it was last proposed, from 1; 0: it waited for approval.
        score, similarity, lexical, probability, serp_rank: as in `Candidate`.
        strength: the score as 0 to 1, NaN where there is none.
        inline, sidebar: the strengths from which the tiers began.
        encoder: provider, model and recipe of the vectors.
        source_hash, target_hash: of the texts that were compared.
        anchors: best first; what `formerly` names was the best one in earlier runs.
        first_run, last_run: run ids.
        status: what it is now; `verdict` is what an editor said of it last, if anything.
        by, at: who set the status, and when (ISO 8601, UTC).
        anchor, notes: the editor's own words.
        cells: what a review place held when it was read last.
    """

    source: str
    target: str
    source_url: str
    target_url: str
    query: str = ""
    rank: int = 0
    origin: Origin = "semantic"
    kind: EdgeKind = "recommendation"
    tier: Tier = "review"
    score: float = nan
    similarity: float = nan
    lexical: float = nan
    probability: float = nan
    serp_rank: int = 0
    strength: float = nan
    inline: float = 1.0
    sidebar: float = 1.0
    encoder: str = ""
    source_hash: str = ""
    target_hash: str = ""
    anchors: tuple[Anchor, ...] = ()
    formerly: tuple[str, ...] = ()
    first_run: str = ""
    last_run: str = ""
    status: Status = "proposed"
    verdict: Status | Literal[""] = ""
    by: str = ""
    at: str = ""
    anchor: str = ""
    notes: str = ""
    cells: Cells = Cells()
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", edge_id(self.source, self.target))

    @property
    def texts(self) -> tuple[str, str]:
        """The hashes of both ends' texts."""
        return self.source_hash, self.target_hash


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an editor wrote beside a link, as it was found.

    Attributes:
        id: the link's.
        status: one of the statuses; "" where the cell is empty or holds something else.
        anchor: the cell's text.
        notes: the cell's text.
        by: who said so, as far as the place tells: "Review tab", "review.xlsx", a name.
    """

    id: str
    status: Status | Literal[""]
    anchor: str = ""
    notes: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A proposed link as an editor sees it.

    `score` is 0 to 1, NaN where there is none; `source` and `target` are the user's own URLs (or the query).
    """

    id: str
    status: Status
    anchor: str
    sentence: str
    source: str
    target: str
    score: float
    tier: Tier
    why: str
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """What editors decided, by source: normal form, or query.

    Attributes:
        rejected: targets that are not proposed again.
        accepted: edges that stay where they are, `edited` ones too.
    """

    rejected: Mapping[str, Sequence[str]] = field(default_factory=dict)
    accepted: Mapping[str, Sequence[Edge]] = field(default_factory=dict)


def edge_id(source: str, target: str) -> str:
    """20 hex digits for a pair of ends; the first 10 are `source_id`."""
    return source_id(source) + _digest(target)


def source_id(source: str) -> str:
    """10 hex digits for a source."""
    return _digest(source)


# The links of a block of sources, and what was known of them, are read, compared and kept together.
@lru_cache(maxsize=2**14)
def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


# Standard deviations above the source's average target. At the middle a link has strength 0.5, one scale further
# 0.73.
MIDDLE, SCALE = 2.0, 1.5


def strengths(scores: Vectors) -> Vectors:
    """The strengths of many links, of the scores' shape; NaN where there is no score."""
    # 1 / (1 + exp(-x)), which would overflow far below the middle.
    found: Vectors = 0.5 + 0.5 * np.tanh((scores - MIDDLE) / (2 * SCALE))
    return found


def strength(score: float) -> float:
    """The logistic function of the score, 0 to 1; NaN where there is none."""
    return float(strengths(np.array(score)))


def tier_of(strength: float, inline: float, sidebar: float) -> Tier:
    """The tier of a link by its strength; one without strength is for review.

    Args:
        strength: 0 to 1, or NaN.
        inline: the least strength of a link in the text, 0 to 1.
        sidebar: the least one of a link beside it; not above `inline`.
    """
    if strength >= inline:
        return "inline"
    return "sidebar" if strength >= sidebar else "review"


def is_link(edge: Edge) -> bool:
    """Whether the edge is a link, and no pair of nearly the same pages."""
    return edge.kind not in COPIES


def kind_of(source: str, target: str) -> EdgeKind:
    """What a link would be before its place in the text is known: to a folder that the page lies in, or not."""
    path = target.partition("://")[2].rstrip("/") + "/"
    return "taxonomy" if source.partition("://")[2].startswith(path) else "recommendation"
