"""The records of a content brief: a page that does not exist yet, and the links that it should have."""

from dataclasses import dataclass
from math import nan

from internal_linker.core.edges import Anchor
from internal_linker.core.results import Columns, Result, columns_of


@dataclass(frozen=True, slots=True)
class Brief:
    """A page that does not exist yet, as far as it is known.

    Attributes:
        title: its title; "" if the text has none.
        text: its outline or draft, one line per paragraph; "" if there is only a title.
        headings: numbers of the lines that are headings, from 0, ascending.
        closed: numbers of other lines that hold no anchor, as in `records.Page`.
        links: (address, text) pairs of the draft's links, in order.
        query: its main query.
        url: where it will be.
        lang: its two-letter language code; "": the language of its text.
        remarks: what was unusual about the draft, one sentence each.
    """

    title: str
    text: str = ""
    headings: tuple[int, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    query: str = ""
    url: str = ""
    lang: str = ""
    remarks: tuple[str, ...] = ()
    closed: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name that a person would give it."""
        return self.title or self.query or self.url or self.text.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class BriefLink:
    """A link from the new page or to it, with the reason for it.

    Attributes:
        source, target: URLs; "" for a new page without a URL.
        title: title of the page at the other end.
        rank: its rank in the list, from 1.
        place: its rank among all candidates of the source, from 1.
        score: from 0 to 100; None where it is unknown.
        why: the reason for the link.
        blend: the score of `records.Candidate`, which the score is made of.
        similarity, lexical, probability, serp_rank: as in `records.Candidate`.
        anchor: the best anchor; "" if there is none.
        sentence: the source's sentence around the anchor, or the paragraph in which it could be written.
        verbatim: whether the source's text contains the anchor.
        more_anchors: further anchors, best first.
    """

    source: str
    target: str
    title: str
    rank: int
    place: int
    score: int | None = None
    why: str = ""
    blend: float = nan
    similarity: float = nan
    lexical: float = nan
    probability: float = nan
    serp_rank: int = 0
    anchor: str = ""
    sentence: str = ""
    verbatim: bool = False
    more_anchors: tuple[Anchor, ...] = ()


@dataclass(frozen=True, slots=True)
class LikePage:
    """An existing page that is much like the new one.

    Attributes:
        url, title: the existing page's.
        why: what both pages have in common.
        similarity: cosine similarity of the embeddings, -1 to 1; NaN if unknown.
    """

    url: str
    title: str
    why: str
    similarity: float


@dataclass(frozen=True, repr=False)
class BriefLinks(Result):
    """The links of a content brief.

    Attributes:
        title, url, query, lang: the new page's.
        like: pages of the site that may already be this page, the most similar first.
        links_to: the pages it should link to, best first.
        links_from: the pages that should link to it, best first.
        notes: why something is missing or unusual, one sentence each.
        gaps: what is missing this time, one sentence each.
    """

    title: str
    url: str
    query: str
    lang: str
    like: tuple[LikePage, ...] = ()
    links_to: tuple[BriefLink, ...] = ()
    links_from: tuple[BriefLink, ...] = ()
    notes: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    def tables(self) -> dict[str, Columns]:
        """`links_to` and `links_from`, best first; `like`: pages that may be this page already."""
        columns = [name for name in BriefLink.__dataclass_fields__ if name != "more_anchors"]
        return {
            "links_to": columns_of(self.links_to, *columns),
            "links_from": columns_of(self.links_from, *columns),
            "like": columns_of(self.like, *LikePage.__dataclass_fields__),
        }
