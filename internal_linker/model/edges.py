"""The records of the link graph: proposed links as edges with their history, and editors' decisions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from internal_linker.model.arrays import Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.evidence import NO_EVIDENCE, Evidence, sentences
from internal_linker.model.records import ExistingLink, Origin

Status = Literal["proposed", "accepted", "rejected", "edited", "live", "withdrawn"]
Tier = Literal["inline", "sidebar", "review"]
EdgeKind = Literal["contextual", "recommendation", "duplicate", "canonical", "taxonomy"]

# What people read for a tier.
TIER_NAMES: Mapping[Tier, str] = {"inline": "in the text", "sidebar": "related box", "review": "needs a look"}

# Pairs of near-duplicates: they are not links, and never proposed.
COPIES: tuple[EdgeKind, ...] = ("duplicate", "canonical")
# Editors' decisions; the other statuses are the tool's own.
VERDICTS: tuple[Status, ...] = ("accepted", "rejected", "edited")


@dataclass(frozen=True, slots=True)
class Anchor:
    """An anchor for a link, and its position."""

    text: str  # the anchor text
    sentence: str = ""  # the sentence around it, or the paragraph in which the link fits best; "" for none
    # its first character's place in the page's plain main content, from 0; of an anchor that is not `verbatim`, the
    # paragraph's
    start: int = 0
    verbatim: bool = True  # whether the page's text contains it; otherwise it comes from the target's title
    # whether a language model was asked about the link; it chose this anchor, or none that was usable
    asked: bool = False
    quality: float = nan  # how likely an editor is to accept these words for the link, 0 to 1; NaN unknown
    # of an anchor that is not `verbatim`, the sentence with words added that have the anchor; "" for none
    wording: str = ""
    # the language model that chose the words, and its prompt's version, such as "openai/x, prompt v1"; "" for none
    model: str = ""
    # how sure it is that an editor would publish its wording, 0 to 1; None if it didn't say
    confidence: float | None = None
    is_query: bool = False  # whether it is a search query by which people find the target


@dataclass(frozen=True, slots=True)
class Cells:
    """An editor's cells beside a link, as they were read."""

    status: str = ""
    anchor: str = ""
    notes: str = ""


# Without slots, `altered` can copy the dictionary of attributes.
@dataclass(frozen=True)
class Edge:
    """A link that was proposed at some time, and its history."""

    # source, target: keys; `source` is the query if there is no URL
    source: str
    target: str
    # source_url, target_url: the user's own spelling
    source_url: str
    target_url: str
    query: str = ""
    # its rank among its source's links when it was last proposed, from 1; 0: it waited for approval
    rank: int = 0
    origin: Origin = "semantic"
    kind: EdgeKind = "recommendation"
    tier: Tier = "review"
    # score, similarity, lexical, probability, serp_rank: as in `Candidate`
    score: float = nan
    similarity: float = nan
    lexical: float = nan
    probability: float = nan
    serp_rank: int = 0
    strength: float = nan  # the score mapped to 0 to 1, NaN if there is none
    # inline, sidebar: the thresholds of the tiers at that time, 0 to 1
    inline: float = 1.0
    sidebar: float = 1.0
    encoder: str = ""  # provider, model and recipe of the vectors
    # source_hash, target_hash: hashes of the texts that were compared
    source_hash: str = ""
    target_hash: str = ""
    # best first; `formerly` lists the texts that were the best in earlier runs
    anchors: tuple[Anchor, ...] = ()
    formerly: tuple[str, ...] = ()
    # first_run, last_run: run ids
    first_run: str = ""
    last_run: str = ""
    # the current status; `verdict` is the editor's last decision, if there is one
    status: Status = "proposed"
    verdict: Status | Literal[""] = ""
    # by, at: who set the status, and when (ISO 8601, UTC)
    by: str = ""
    at: str = ""
    # anchor, notes: the editor's own anchor and notes
    anchor: str = ""
    notes: str = ""
    wording: str = ""  # the suggested wording that the editor accepted with the link; "" for none
    # the link's anchor as it was last looked for in the page's text, see `ports.Anchors.placed`; only for an editor's
    # anchor and one that is not `verbatim`, otherwise its text is ""
    placed: Anchor = Anchor("")
    cells: Cells = Cells()  # the editor's cells as a review place had them when it was last read
    former_ids: tuple[str, ...] = ()  # the ids that the link had while the site's URLs had another form
    # what spoke for the link when it was last proposed; none for a link of an earlier version
    evidence: Evidence = NO_EVIDENCE
    # 20 hex digits that identify the link everywhere; the first half identifies the source
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", edge_id(self.source, self.target))

    @property
    def chosen(self) -> Anchor:
        """The link's anchor: the editor's own, else the best proposal; its text is "" if there is none."""
        best = self.anchors[0] if self.anchors else Anchor("")
        if not self.anchor:
            return best
        own = self.placed if self.placed.text == self.anchor else Anchor(self.anchor)
        return replace(own, sentence=own.sentence or best.sentence)

    @property
    def texts(self) -> tuple[str, str]:
        """The hashes of the texts of both ends."""
        return self.source_hash, self.target_hash


def altered(edge: Edge, **changes: Any) -> Edge:
    """Return a link with other facts and the same ends.

    A run does this several times for each link; `dataclasses.replace` would take many times as long.
    """
    made = object.__new__(Edge)
    made.__dict__.update(edge.__dict__, **changes)
    return made


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an editor wrote beside a link."""

    id: str  # the link's id
    status: Status | Literal[""]  # one of the statuses; "" if the cell is empty, or is `unread`
    anchor: str = ""  # the text of the anchor's cell
    notes: str = ""  # the text of the notes' cell
    by: str = ""  # who decided, as far as the place tells: "Review tab", "review.xlsx", or a name
    # the anchor that a run last wrote into the row; None: the place does not tell
    proposed: str | None = None
    written: str | None = None  # the status that a run last wrote into the row; None: the place does not tell
    # which of "status", "anchor" and "notes" say nothing, because their column is missing or the text is no status
    unread: tuple[str, ...] = ()
    # the suggested wording that the editor saw, with the added words in square brackets; "" for none
    wording: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """Editors' decisions by source: its key, or its query."""

    rejected: Mapping[str, Sequence[str]] = field(default_factory=dict)  # targets that no run proposes again
    # edges that keep their ranks, including `edited` ones
    accepted: Mapping[str, Sequence[Edge]] = field(default_factory=dict)

    def accepted_links(self) -> list[ExistingLink]:
        """Return the accepted links as if they stood in their pages already."""
        return [
            ExistingLink(edge.source, edge.target, edge.chosen.text)
            for edges in self.accepted.values()
            for edge in edges
        ]

    def rejected_at_ends(self, aliases: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """Return the rejected targets, also by the final pages (`aliases`) of sources and targets that redirect."""
        if not aliases:
            return self.rejected
        found: defaultdict[str, list[str]] = defaultdict(list)
        for source, targets in self.rejected.items():
            both = list(dict.fromkeys([*targets, *(aliases.get(target, target) for target in targets)]))
            for end in dict.fromkeys((source, aliases.get(source, source))):
                found[end] += both
        return dict(found)


def with_hosts(edge: Edge, hosts: CanonicalHosts) -> Edge:
    """Return an edge with the keys that its pages have in the site's form of each host."""
    source, target = hosts.restored(edge.source), hosts.restored(edge.target)
    if (source, target) == (edge.source, edge.target):
        return edge
    return replace(
        edge,
        source=source,
        target=target,
        source_url=hosts.written(edge.source_url),
        target_url=hosts.written(edge.target_url),
        former_ids=tuple(dict.fromkeys((*edge.former_ids, edge.id))),
    )


def edge_id(source: str, target: str) -> str:
    """Return 20 hex digits for a pair of ends; the first 10 are the `source_id`."""
    return source_id(source) + _digest(target)


def source_id(source: str) -> str:
    """Return 10 hex digits for a source."""
    return _digest(source)


# The links of a block of sources, and what was known of them, are read, compared and kept together.
@lru_cache(maxsize=2**14)
def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


# In standard deviations above the source's average target: round values near the share of usable pairs by score,
# 0.50 at the middle and 0.73 one scale above it. Of 335 links of both development sites, 279 were judged by blind
# readers when an earlier ranking proposed them; one person, who knew which they were, judged the 56 that are new.
MIDDLE, SCALE = 1.0, 1.0
# What the strength of two pages counts at most where no place in the text is good enough for the link.
_BESIDE = 0.33


def strengths(scores: Vectors) -> Vectors:
    """Return the strengths of links, in the scores' shape; NaN where there is no score."""
    # This is 1 / (1 + exp(-x)) without its overflow far below the middle.
    found: Vectors = 0.5 + 0.5 * np.tanh((scores - MIDDLE) / (2 * SCALE))
    return found


def strength(score: float) -> float:
    """Return the logistic function of the score, 0 to 1; NaN for NaN."""
    return float(strengths(np.array(score)))


def score_for(strength: Vectors) -> Vectors:
    """Return the scores of links of these strengths, 0 to 1: the inverse of `strengths`."""
    inside = np.clip(strength, 1e-6, 1 - 1e-6)
    score: Vectors = MIDDLE + SCALE * np.log(inside / (1 - inside))
    return score


def beside(inline: float) -> float:
    """Return what the strength of two pages, 0 to 1, counts for a link beside the text: less than any link in it.

    `inline` is the lowest strength of a link in the text, 0 to 1.
    """
    return min(_BESIDE, inline)


def score_of(strength: float) -> int | None:
    """Return a strength (0 to 1) as the score that people read, 0 to 100, rounded down; None for NaN.

    A link whose score is that of a threshold with two decimals thus reaches it: its tier is never a lower one.
    """
    if isnan(strength):
        return None
    # 100 * 0.29 is below 29, and 100 times the number before 0.7 is 70.
    near = round(100 * strength)
    return near if near / 100 <= strength else near - 1


def why(edge: Edge) -> str:
    """Return the reason for a link in one or two sentences."""
    state = "Accepted by an editor" if edge.verdict in ("accepted", "edited") else ""
    if not edge.rank and edge.status == "proposed":
        state = "Waits for an editor's approval"
    elif edge.origin == "rule" and not state:
        state = "By a rule in config/link_rules.csv"
    return sentences(
        edge.evidence,
        serp_rank=edge.serp_rank,
        query=edge.query,
        score=edge.score,
        state=state,
        mentions=edge.chosen.text if edge.tier == "inline" and edge.kind == "contextual" else "",
        mentions_query=edge.chosen.is_query,
        is_query="://" not in edge.source,
    )


def tier_of(strength: float, inline: float, sidebar: float) -> Tier:
    """Return the tier of a link by its strength, 0 to 1; without one (NaN) it is "review".

    `inline` and `sidebar`, not above it, are the lowest strengths of links in the text and beside it.
    """
    if strength >= inline:
        return "inline"
    return "sidebar" if strength >= sidebar else "review"


def is_link(edge: Edge) -> bool:
    """Return whether the edge is a link rather than a pair of near-duplicates."""
    return edge.kind not in COPIES


def kind_of(source: str, target: str) -> EdgeKind:
    """Return a link's kind before its anchor is known: "taxonomy" if it leads to a parent folder of the page."""
    path = target.partition("://")[2].rstrip("/") + "/"
    return "taxonomy" if source.partition("://")[2].startswith(path) else "recommendation"
