"""The records of a content brief: a page that does not exist yet, and the links that it should have."""

from dataclasses import dataclass
from math import nan

from internal_linker.model.edges import Anchor
from internal_linker.model.results import Columns, Result, columns_of


@dataclass(frozen=True, slots=True)
class Brief:
    """A page that does not exist yet, as far as it is known."""

    title: str  # its title; "" if the text has none
    text: str = ""  # its outline or draft, one line per paragraph; "" if there is only a title
    headings: tuple[int, ...] = ()  # numbers of the lines that are headings, from 0, ascending
    links: tuple[tuple[str, str], ...] = ()  # (address, text) pairs of the draft's links, in order
    query: str = ""  # its main query
    url: str = ""  # where it will be
    lang: str = ""  # its two-letter language code; "": the language of its text
    remarks: tuple[str, ...] = ()  # what was unusual about the draft, one sentence each
    closed: tuple[int, ...] = ()  # numbers of other lines that hold no anchor, as in `records.Page`

    @property
    def name(self) -> str:
        """The name that a person would give it."""
        return self.title or self.query or self.url or self.text.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class BriefLink:
    """A link from the new page or to it, with the reason for it."""

    # source, target: URLs; "" for a new page without a URL
    source: str
    target: str
    title: str  # title of the page at the other end
    rank: int  # its rank in the list, from 1
    place: int  # its rank among all candidates of the source, from 1
    score: int | None = None  # from 0 to 100; None where it is unknown
    why: str = ""  # the reason for the link
    blend: float = nan  # the score of `records.Candidate`, which the score is made of
    # similarity, lexical, probability, serp_rank: as in `records.Candidate`
    similarity: float = nan
    lexical: float = nan
    probability: float = nan
    serp_rank: int = 0
    anchor: str = ""  # the best anchor; "" if there is none
    # the source's sentence around the anchor, or the paragraph in which it could be written
    sentence: str = ""
    verbatim: bool = False  # whether the source's text contains the anchor
    more_anchors: tuple[Anchor, ...] = ()  # further anchors, best first


@dataclass(frozen=True, slots=True)
class LikePage:
    """An existing page that is much like the new one."""

    # url, title: the existing page's
    url: str
    title: str
    why: str  # what both pages have in common
    similarity: float  # cosine similarity of the embeddings, -1 to 1; NaN if unknown


@dataclass(frozen=True, repr=False)
class BriefLinks(Result):
    """The links of a content brief."""

    # title, url, query, lang: the new page's
    title: str
    url: str
    query: str
    lang: str
    like: tuple[LikePage, ...] = ()  # pages of the site that may already be this page, the most similar first
    links_to: tuple[BriefLink, ...] = ()  # the pages it should link to, best first
    links_from: tuple[BriefLink, ...] = ()  # the pages that should link to it, best first
    notes: tuple[str, ...] = ()  # why something is missing or unusual, one sentence each
    gaps: tuple[str, ...] = ()  # what is missing this time, one sentence each

    def tables(self) -> dict[str, Columns]:
        """`links_to` and `links_from`, best first; `like`: pages that may be this page already."""
        columns = [name for name in BriefLink.__dataclass_fields__ if name != "more_anchors"]
        return {
            "links_to": columns_of(self.links_to, *columns),
            "links_from": columns_of(self.links_from, *columns),
            "like": columns_of(self.like, *LikePage.__dataclass_fields__),
        }
