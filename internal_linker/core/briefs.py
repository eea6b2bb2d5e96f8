"""The records of a page that does not exist yet: its brief, and the links that it should have."""

from dataclasses import dataclass
from math import nan

from internal_linker.core.edges import Anchor
from internal_linker.core.results import Columns, Result, columns_of


@dataclass(frozen=True, slots=True)
class Brief:
    """A page that does not exist yet, as far as it is known.

    Attributes:
        title: its title; "" where the text has none.
        text: its outline or draft, a line a paragraph; "" where there is only a title.
        headings: which lines of the text, from 0, are headings; rising.
        links: (address, text) of the links that the draft has, in their order.
        query: its main query.
        url: where it will be.
        lang: its language's two-letter code; "": that of its text.
        remarks: what a person should know of the reading, a sentence each.
    """

    title: str
    text: str = ""
    headings: tuple[int, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    query: str = ""
    url: str = ""
    lang: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.title or self.query or self.url or self.text.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class BriefLink:
    """A link from the new page or to it, with the reason for it.

    Attributes:
        source, target: URLs; the new page's is "" where it is not known.
        title: of the page at the other end.
        rank: its place in the list, from 1.
        place: its place among all that the source could link to, from 1.
        score, similarity, lexical, probability, serp_rank: as in `records.Candidate`.
        anchor: the best text for the link; "" where there is none.
        sentence: the source's sentence that the anchor stands in, or the paragraph in which it may be written.
        verbatim: whether the anchor stands in the source as it is.
        more_anchors: others, best first.
    """

    source: str
    target: str
    title: str
    rank: int
    place: int
    score: float = nan
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
    """A page that is there already and is much like the new one.

    Attributes:
        url, title: its own.
        why: what both have in common.
        similarity: cosine of the embeddings, -1 to 1; NaN where it can't be had.
    """

    url: str
    title: str
    why: str
    similarity: float


@dataclass(frozen=True, repr=False)
class BriefLinks(Result):
    """What a brief asks for.

    Attributes:
        title, url, query, lang: the new page's.
        like: pages of the site that may be this page already, the most similar first.
        links_to: what it should link to, best first.
        links_from: the pages that should link to it, best first.
        notes: why something is missing or unusual, a sentence each.
        gaps: what could not be had this time, a sentence each.
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
