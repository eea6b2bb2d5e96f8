"""What the tools answer: records that say what an assistant needs, without NaN, which JSON lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from internal_linker.insight.audit.states import AuditStates
from internal_linker.model.briefs import BriefLink, BriefLinks
from internal_linker.model.edges import TIER_NAMES, Edge, score_of
from internal_linker.model.wordings import full_reason, shown_wording, warning
from internal_linker.project.run import PageLink, PageLinks

# Without slots: the schema of an answer would have their descriptors for defaults.


@dataclass(frozen=True)
class SuggestedLink:
    """A link to add.

    Attributes:
        source, target: URLs; "" for a page that has none yet.
        title: the title of the page at the other end.
        score: how likely an editor is to accept it, 0 to 100; None: unknown.
        place: where it belongs: in the text, related box, or needs a look.
        anchor: the words to link; "" if there are none.
        sentence: the sentence around the anchor, or the paragraph in which the link fits.
        in_text: whether the text already contains the anchor.
        why: the reason.
    """

    source: str
    target: str
    title: str
    score: int | None
    place: str
    anchor: str
    sentence: str
    in_text: bool
    why: str


@dataclass(frozen=True)
class SuggestedLinks:
    """Links to add, best first, with what was unusual."""

    links: Sequence[SuggestedLink]
    notes: Sequence[str]


@dataclass(frozen=True)
class SimilarPage:
    """A page like another one; `similarity` is 0 to 1, and `linked` says whether either links to the other."""

    url: str
    title: str
    similarity: float
    linked: bool


@dataclass(frozen=True)
class SimilarPagesAnswer:
    """Pages like another one, the most similar first; `compared` says when the site was compared."""

    pages: Sequence[SimilarPage]
    compared: str


@dataclass(frozen=True)
class DraftLinks:
    """The links of a page that doesn't exist yet.

    Attributes:
        links_to: the pages it should link to, best first.
        links_from: the pages that should link to it, best first.
        already: pages that may be this page already.
        notes: what is missing or unusual.
    """

    links_to: Sequence[SuggestedLink]
    links_from: Sequence[SuggestedLink]
    already: Sequence[SimilarPage]
    notes: Sequence[str]


@dataclass(frozen=True)
class AuditFigure:
    """A figure today, with the accepted links, and with all proposed ones; None: unknown."""

    name: str
    today: float | None
    accepted: float | None
    proposed: float | None


@dataclass(frozen=True)
class AuditFinding:
    """A rule with its number of findings today, with the accepted links, and with all proposed ones."""

    rule: str
    severity: str
    meaning: str
    today: int
    accepted: int
    proposed: int


@dataclass(frozen=True)
class AuditAction:
    """Something useful to do; `helps` is the number of pages."""

    what: str
    helps: int
    why: str
    pages: Sequence[str]


@dataclass(frozen=True)
class AuditSummary:
    """How the links of a site stand; `audited` says when."""

    audited: str
    site: str
    pages: int
    actions: Sequence[AuditAction]
    figures: Sequence[AuditFigure]
    findings: Sequence[AuditFinding]


@dataclass(frozen=True)
class QueuedLink:
    """A proposed link that waits for a decision; `link_id` names it.

    `wording` is the sentence with the words that are to be added in square brackets; "" for none.
    """

    link_id: str
    source: str
    target: str
    score: int | None
    place: str
    anchor: str
    sentence: str
    wording: str
    why: str
    warning: str
    notes: str


@dataclass(frozen=True)
class ReviewQueue:
    """Some of the links that wait; `waiting` is their number."""

    waiting: int
    links: Sequence[QueuedLink]


@dataclass(frozen=True)
class RecordedDecision:
    """What a decision changed: the link's new status, and how many links still wait."""

    link_id: str
    status: str
    waiting: int


def of_page(found: PageLinks, notes: Sequence[str]) -> SuggestedLinks:
    """Return the links of a lookup."""
    told = [*notes, *(f"{name}: {note}" for name, note in found.notes), *found.gaps]
    return SuggestedLinks([_page_link(link, to=found.to is not None) for link in found.links], told)


def of_draft(found: BriefLinks, notes: Sequence[str]) -> DraftLinks:
    """Return the links of a content brief."""
    like = [
        SimilarPage(page.url, page.title, round(page.similarity, 3), linked=False)
        for page in found.like
        if page.similarity == page.similarity
    ]
    told = [*notes, *found.notes, *found.gaps]
    return DraftLinks(
        list(map(_brief_link, found.links_to)), list(map(_brief_link, found.links_from)), like, told
    )


def of_audit(found: AuditStates) -> AuditSummary:
    """Return the summary of an audit."""
    return AuditSummary(
        found.made,
        found.site,
        len(found.urls),
        [
            AuditAction(
                one.what,
                one.pages,
                one.detail,
                [*one.where, *dict.fromkeys(link.source for link in one.links)][:20],
            )
            for one in found.actions
        ],
        [AuditFigure(each.name, *each.values) for each in found.measures.itertuples()],
        [
            AuditFinding(each["rule"], each["severity"], each["message"], *each["counts"])
            for each in found.rules
        ],
    )


def queued(edge: Edge) -> QueuedLink:
    """Return a link that waits."""
    return QueuedLink(
        edge.id,
        edge.source_url,
        edge.target_url,
        score_of(edge.strength),
        TIER_NAMES[edge.tier],
        edge.chosen.text,
        edge.chosen.sentence,
        shown_wording(edge),
        full_reason(edge),
        warning(edge),
        edge.notes,
    )


def _page_link(link: PageLink, *, to: bool) -> SuggestedLink:
    return SuggestedLink(
        link.source or link.query,
        link.target,
        link.source_title if to else link.target_title,
        link.score,
        TIER_NAMES[link.tier],
        link.anchor,
        link.sentence,
        link.verbatim,
        link.why,
    )


def _brief_link(link: BriefLink) -> SuggestedLink:
    place = "in the text" if link.verbatim else "related box"
    return SuggestedLink(
        link.source,
        link.target,
        link.title,
        link.score,
        place,
        link.anchor,
        link.sentence,
        link.verbatim,
        link.why,
    )
