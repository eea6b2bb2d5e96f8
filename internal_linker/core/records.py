"""The records that travel through a run: frozen, without behaviour that touches the outside.

They name a page in three ways:
- Its row is its number in `Collected.pages`, from 0: what one run uses inside. A source's number is its place.
- Its key is the normal form of its URL, equal for all spellings: what tables, search results and stores know it by.
- Its URL is the user's own spelling: what people see.
`Collected.rows` leads from keys to rows. A link's id (`edges.edge_id`) follows from the keys of its two ends.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from internal_linker.core.arrays import Vectors
from internal_linker.core.reasons import VISITED, FewLinks, NoTarget, Reason

Origin = Literal["serp", "semantic"]
Fusion = Literal["fill", "blend"]


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that could not be used, and why."""

    table: str
    row: int
    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Asides:
    """What reading a table's rows tells beside them; complete when all of them were gone through.

    `rejects` became no row, `left_out` counts what became none on purpose, `facts` what else is worth a number.
    """

    rejects: list[Reject] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it came: every cell text, every row with its number in the file or sheet (header = 1)."""

    name: str
    header: tuple[str, ...]
    rows: Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class TableStream:
    """A table too large to be held: its rows, as in `Table`, come one by one and can be gone through once.

    `made`: by this program, of what is no table, so that nobody need look at its columns. `size`: rows, 0 if unknown.
    """

    name: str
    header: tuple[str, ...]
    rows: Iterator[tuple[int, Sequence[str]]]
    asides: Asides = field(default_factory=Asides)
    made: bool = False
    size: int = 0


class StoredText:
    """A text outside of memory: `str()` reads it; never an empty one."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the site, with its key and its URL."""

    key: str
    url: str
    title: str = ""
    h1: str = ""
    content: str | StoredText = ""
    lang: str = ""
    issue: Reason[NoTarget] | None = None
    """Why no link may lead here; None: it is a target."""
    headings: tuple[int, ...] = ()
    """Which lines of the content, from 0, are headings, where the input tells; rising."""
    target_only: bool = False
    """Whether no links are wanted for it."""

    @property
    def is_visited(self) -> bool:
        """Whether the address shows a page of its own: no error, no redirect, no copy."""
        return self.issue is None or self.issue.kind in VISITED

    @property
    def takes_links(self) -> bool:
        """Whether links may be set in the page's text: it is no error or copy, and no target alone."""
        return not self.target_only and (self.issue is None or self.issue.kind is NoTarget.SOURCE_ONLY)


@dataclass(frozen=True, slots=True)
class Source:
    """What links are wanted for: a page, a query, or both; one row of Output.csv."""

    key: str
    url: str
    query: str
    page: Page | None
    in_sheet: bool

    @property
    def identity(self) -> tuple[str, str]:
        """What a row of a table, the Sheet or a kept run is known by: equal if two ask for the same links."""
        return self.key, fold_query(self.query)

    @property
    def end(self) -> str:
        """What the link graph knows it by: its key, or the query where there is no URL."""
        return self.key or fold_query(self.query)

    @property
    def name(self) -> str:
        """What people see: the URL, or the query where there is no URL."""
        return self.url or self.query


@dataclass(frozen=True, slots=True)
class ExistingLink:
    """A link that stands in a page's text already; both ends are normal forms, the target's redirects followed.

    `start` is its place in the page's plain main content, from 0; -1 where nobody says so.
    """

    source: str
    target: str
    anchor: str = ""
    start: int = -1


@dataclass(frozen=True)
class Collected:
    """The input of a run, in order: sources of the query table first, then pages without a query.

    Attributes:
        links: what is linked already, each source, target and anchor once.
        aliases: page that redirects or is a copy -> the page that it leads to in the end (normal forms).
        inner_links: how many of `links` lead from a listed page to a listed page.
        skipped_links: rows of the link table that are no links in a page's text (menus, images, ...).
    """

    pages: tuple[Page, ...]
    sources: tuple[Source, ...]
    rejects: tuple[Reject, ...]
    merged_rows: int
    links: tuple[ExistingLink, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    inner_links: int = 0
    skipped_links: int = 0

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each page, by its key."""
        return {page.key: row for row, page in enumerate(self.pages)}

    @cached_property
    def queries(self) -> Mapping[str, str]:
        """The first main query of each URL that has one, by its key."""
        return {one.key: one.query for one in reversed(self.sources) if one.key and one.query}

    def page(self, key: str) -> Page:
        """Return the listed page of this key."""
        return self.pages[self.rows[key]]

    def find(self, key: str) -> Page | None:
        """Return the page of this key; None where it is not listed."""
        return self.page(key) if key in self.rows else None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which sources get links: all, the first `limit`, those of `only` (URLs), or a `query` of its own."""

    limit: int = 0
    only: tuple[str, ...] = ()
    query: str = ""

    @property
    def partial(self) -> bool:
        """Whether some sources are left out."""
        return bool(self.limit or self.only or self.query)


@dataclass(frozen=True, slots=True)
class Text:
    """What stands for a page or query in the embedding and the term index; `key`: the page's, whose vector it is."""

    title: str
    body: str
    key: str = field(default="", compare=False)

    @property
    def whole(self) -> str:
        """Title and body as one text."""
        return f"{self.title}\n{self.body}".strip()


@dataclass(frozen=True, slots=True)
class SerpHit:
    """One organic result: its link as the service gave it and its rank over all result pages, from 1."""

    url: str
    rank: int


@dataclass(frozen=True, slots=True)
class SerpMarket:
    """What decides search results beside the query: part of the cache's key.

    Attributes:
        provider: the search service, as the setting serp_provider names it.
        gl, hl, location: country, language and place of the search; "": the service's default.
    """

    provider: str
    gl: str = ""
    hl: str = ""
    location: str = ""

    @property
    def where(self) -> dict[str, str]:
        """Country, language and place by their parameter's name, as far as they are given."""
        named = {"gl": self.gl, "hl": self.hl, "location": self.location}
        return {name: value for name, value in named.items() if value}

    @property
    def place(self) -> str:
        """Country, language and place as one text."""
        return f"{self.gl}|{self.hl}|{self.location}"


@dataclass(frozen=True, slots=True)
class SerpPage:
    """One page of results: organic links in order, and the credits that it cost (0 from the cache)."""

    links: tuple[str, ...]
    credits: int


@dataclass(frozen=True, slots=True)
class Targets:
    """Where links may lead.

    Attributes:
        known: normal form -> the user's own writing, of every allowed page of the user's lists.
        barred: normal form -> why no link may lead to this known page.
        any_on_site: whether a search result that is in no list may be a target too.
        aliases: page that redirects or is a copy -> the page that it leads to in the end.
        linked: page -> the pages that it links to already.
        rejected: page or query -> the pages that an editor doesn't want it to link to.
    """

    known: Mapping[str, str]
    barred: Mapping[str, Reason[NoTarget]]
    any_on_site: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    linked: Mapping[str, Collection[str]] = field(default_factory=dict)
    rejected: Mapping[str, Collection[str]] = field(default_factory=dict)

    def url_of(self, key: str) -> str:
        """The URL to write for a target, or "" where no link may lead."""
        if key in self.barred:
            return ""
        return self.known.get(key, key if self.any_on_site else "")

    def new_to(self, source: str, key: str) -> bool:
        """Whether a link from `source` (its `end`) to a page would be new, to another one, and was not rejected."""
        if key in (source, self.aliases.get(source)):
            return False
        return not self.links(source, key) and key not in self.rejected.get(source, ())

    def links(self, source: str, key: str) -> bool:
        """Whether a link from `source` (its `end`) to a page stands already."""
        return key in self.linked.get(source, ())


@dataclass(frozen=True, slots=True)
class SerpTarget:
    """An eligible result: the target's normal form, the URL to write, and its rank from 1."""

    key: str
    url: str
    rank: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and US dollars of one piece of work; both 0 for the local encoder."""

    tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """What a language model answered, and the tokens of question and answer together."""

    text: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """Finished vectors: `positions` index the texts given to the encoder, `vectors` is (len, d) float32."""

    positions: Sequence[int]
    vectors: Vectors
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible target of one source, with every signal that speaks for it.

    `score` is the blend of the z-scored signals (standard deviations above this source's average
    target), `similarity` the cosine of the embeddings (-1 to 1), `lexical` the cosine of TF-IDF (0 to 1).
    `probability` (0 to 1) is how many of a hundred such pairs turned out to be links of the site's
    editors, where that could be learned. A signal that could not be had is NaN.
    """

    key: str
    url: str
    score: float = float("nan")
    similarity: float = float("nan")
    lexical: float = float("nan")
    serp_rank: int = 0
    probability: float = float("nan")


@dataclass(frozen=True, slots=True)
class Link:
    """A recommendation: `rank` from 1, and where it came from."""

    target: Candidate
    rank: int
    origin: Origin


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why there are `links` links where `wanted` were asked for."""

    links: int
    wanted: int
    reason: Reason[FewLinks]

    def __str__(self) -> str:
        return f"{self.links} of {self.wanted} links: {self.reason}"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The links of one source, best first.

    Attributes:
        source: what the links are for.
        links: the links.
        remark: what else a person should know, such as why nothing was searched.
        held: what an editor must accept before it may be among the links.
        shortage: why there are fewer links than wanted.
    """

    source: Source
    links: tuple[Link, ...]
    remark: str = ""
    held: tuple[Link, ...] = ()
    shortage: Shortage | None = None

    @property
    def note(self) -> str:
        """The remark and the shortage in one line, as it stands in the column Note."""
        return "; ".join(filter(None, (self.remark, str(self.shortage or ""))))


def fold_query(query: str) -> str:
    """Return a query or an anchor without differences of case and spacing."""
    return " ".join(query.casefold().split())


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """An answer with a page.

    Attributes:
        url: what was asked for.
        headers: those that are looked at later, their names in lower case.
        body: the page's bytes.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes


class PageCache(Protocol):
    """Pages by their URL."""

    def get(self, url: str) -> FetchedPage | None:
        """The page as it was fetched last, if it is there and sound."""

    def put(self, page: FetchedPage) -> None:
        """Keep a page in the place of what was fetched before, durable when this returns."""


@dataclass(frozen=True, slots=True)
class AddedLink:
    """A link that an editor made, as the user writes its URLs, and its target's place for its source, from 1.

    0: it was not among the candidates.
    """

    source: str
    target: str
    anchor: str
    place: int


@dataclass(frozen=True, slots=True)
class ExcludedTarget:
    """Where no link of `source` may lead, and why: URLs as the user writes them; no source: see the reason."""

    source: str
    target: str
    reason: Reason[NoTarget]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two pages of nearly the same text, as the user writes their URLs; `canonical` is the one to keep.

    `similarity` and `lexical` are as in `Candidate`, `overlap` the share of their shingles, 0 to 1.
    """

    page: str
    canonical: str
    similarity: float
    lexical: float
    overlap: float


@dataclass(frozen=True, slots=True)
class Orphan:
    """A page that no other links to today, and the pages most similar to it, best first: the user's own URLs."""

    page: str
    sources: tuple[str, ...]


SOURCE, TARGET = "source", "target"
_BOTH = frozenset({"", "both", "source and target", "source, target"})


def role_of(cell: str) -> str:
    """What a page is alone, "source" or "target"; "" for one that is both.

    Raises:
        ValueError: the cell says something else; the message says what it may say.
    """
    role = " ".join(cell.casefold().split())
    if role in (SOURCE, TARGET):
        return role
    if role not in _BOTH:
        raise ValueError("its Role is none of source, target and both: it counts as both")
    return ""


@dataclass
class Searched:
    """What came of the search step: results and notes by the source's place, and the counts."""

    targets: dict[int, tuple[SerpTarget, ...]] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    calls: int = 0
    credits: int = 0
    cached_pages: int = 0
    problem: str = ""
