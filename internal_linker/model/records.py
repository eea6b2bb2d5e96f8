"""The records of a run: frozen, without side effects.

They identify a page in three ways:
- Its row is its index in `Collected.pages`, from 0, used within one run. A source's index is its position.
- Its key is the normal form of its URL with the site's canonical host, equal for all spellings, used by tables, search
  results and stores.
- Its URL is the user's own spelling, which people see, with the site's canonical host.
`Collected.rows` maps keys to rows. A link's id (`edges.edge_id`) is derived from the keys of its two ends.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from internal_linker.model.arrays import Vectors
from internal_linker.model.canonical_hosts import CanonicalHosts, Variants
from internal_linker.model.evidence import NO_EVIDENCE, Evidence
from internal_linker.model.reasons import VISITED, FewLinks, NoSource, NoTarget, Reason
from internal_linker.model.sections import SectionFilter
from internal_linker.model.urls import normal_form

Origin = Literal["serp", "semantic", "rule"]
Fusion = Literal["fill", "blend"]


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that can't be used, and why."""

    table: str
    row: int
    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReadReport:
    """What a reader finds out about a table besides its rows; complete after the last row is read."""

    rejects: list[Reject] = field(default_factory=list)  # rows that can't be used
    # count of the rows left out on purpose, by reason
    left_out: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)  # other counts worth reporting
    # what is missing because a service failed, one sentence each
    gaps: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as read: every cell as text, every row with its number in the file or sheet (header = 1)."""

    name: str
    header: tuple[str, ...]
    rows: Sequence[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class TableStream:
    """A table too large for memory: its rows, as in `Table`, can be read one by one, once."""

    name: str
    header: tuple[str, ...]
    rows: Iterator[tuple[int, Sequence[str]]]
    asides: ReadReport = field(default_factory=ReadReport)
    # whether this program made the table from other input, so that nobody needs to check its columns
    made: bool = False
    size: int = 0  # count of the rows, 0 if unknown


class StoredText:
    """A text stored outside of memory and never empty: `str()` reads it."""

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
    issue: Reason[NoTarget] | None = None  # why no link may lead here; None: it is a target
    headings: tuple[int, ...] = ()
    """Line numbers of the headings in the content, from 0, ascending; empty where the input has no headings."""
    closed: tuple[int, ...] = ()
    """Line numbers of code, tables, quotes, captions and lists of links in the content, ascending, as HTML has them."""
    target_only: bool = False  # whether the page gets no links itself
    taken: tuple[int, ...] = ()
    """Where links and code begin and end in the content's other lines, in turn, ascending, as HTML has them."""

    @property
    def name(self) -> str:
        """The title, else the H1; "" without either."""
        return self.title or self.h1

    @property
    def is_visited(self) -> bool:
        """Whether the URL shows a page of its own: not an error, a redirect or a copy."""
        return self.issue is None or self.issue.kind in VISITED

    @property
    def takes_links(self) -> bool:
        """Whether the page gets links: it isn't an error, a redirect, a copy, not indexable, or only a target."""
        return not self.target_only and (self.issue is None or self.issue.kind is NoTarget.SOURCE_ONLY)


@dataclass(frozen=True, slots=True)
class Source:
    """A page, a query, or both, that gets links; one row of Output.csv."""

    # key, url: normal form and URL of the page that the links are for; "" for a query without a page
    key: str
    url: str
    query: str  # the main query; "" without one
    page: Page | None  # the listed page; None if the row's URL is in no list of pages
    in_sheet: bool  # whether the row can take links in the Sheet
    # the URL in the row of the main queries, which may redirect to `url`; "" without such a row
    row_url: str = ""
    # whether the URL is missing from the list of pages: as far as is known, there is no such page
    unlisted: bool = False

    @property
    def identity(self) -> tuple[str, str]:
        """The identity of a row of a table, the Sheet or a stored run: equal for two rows that need the same links."""
        return normal_form(self.row_url) if self.row_url else self.key, fold_query(self.query)

    @property
    def is_page(self) -> bool:
        """Whether editors have a page to add links to; a query without a page only gets suggestions."""
        return bool(self.key) and not self.unlisted

    @property
    def is_redirected(self) -> bool:
        """Whether the row names a page that redirects to, or is a copy of, the page that the links are for."""
        return bool(self.row_url) and normal_form(self.row_url) != self.key

    @property
    def obstacle(self) -> str:
        """Why the page gets no links; "" if it gets some, or is a query without a page."""
        if self.page is None or self.page.takes_links:
            return ""
        return str(self.page.issue) if self.page.issue else NoSource.TARGET_ONLY.message

    @property
    def end(self) -> str:
        """The source's id in the link graph: its key, or the query where it has no URL."""
        return self.key or fold_query(self.query)

    @property
    def name(self) -> str:
        """The name that people see: the URL, or the query where the source has no URL."""
        return self.url or self.query


@dataclass(frozen=True, slots=True)
class ExistingLink:
    """An existing link in a page's text; both ends are normal forms, with the target's redirects followed.

    `start` is its position in the page's plain main content, from 0; -1 if unknown. `followed` is False for a link with
    rel="nofollow", "ugc" or "sponsored", which passes no weight to its target.
    """

    source: str
    target: str
    anchor: str = ""
    start: int = -1
    followed: bool = True


# The key and URL of a page, and why no link may lead to it.
Address = tuple[str, str, Reason[NoTarget] | None]


def addresses(pages: Iterable[Page], sources: Iterable[Source]) -> list[Address]:
    """Return the addresses of pages, then of the sources that are no pages."""
    found: list[Address] = [(page.key, page.url, page.issue) for page in pages]
    return found + [(one.key, one.url, None) for one in sources if one.key and one.page is None]


def grouped(links: Iterable[tuple[str, ExistingLink]]) -> dict[str, list[ExistingLink]]:
    """Return links by the keys that come with them, in their order."""
    found: dict[str, list[ExistingLink]] = {}
    for key, link in links:
        found.setdefault(key, []).append(link)
    return found


@dataclass(frozen=True)
class Collected:
    """The input of a run, in order: sources of the query table first, then pages without a query."""

    pages: Sequence[Page]
    sources: Sequence[Source]
    rejects: tuple[Reject, ...]
    merged_rows: int
    links: Sequence[ExistingLink] = ()  # existing links, each source, target and anchor once
    # final page of each page that redirects or is a copy (normal forms)
    aliases: Mapping[str, str] = field(default_factory=dict)
    inner_links: int = 0  # count of the links from a listed page to a listed page
    # count of the rows in the link table that are not links in a page's text (menus, images, ...)
    skipped_links: int = 0
    # the form in which the site writes its hosts, which all keys have
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)
    variants: Variants = field(default_factory=Variants)  # the URLs that are written in another form

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each page, by its key."""
        return {page.key: row for row, page in enumerate(self.pages)}

    @cached_property
    def languages(self) -> Collection[str]:
        """The codes of the pages' languages; "" if some are unknown."""
        return {page.lang for page in self.pages}

    @cached_property
    def issues(self) -> Mapping[int, Reason[NoTarget]]:
        """The issue of each page that has one, by the page's row."""
        return {row: page.issue for row, page in enumerate(self.pages) if page.issue}

    @cached_property
    def editable(self) -> Sequence[int]:
        """The rows of the pages that take links, ascending."""
        return [row for row, page in enumerate(self.pages) if page.takes_links]

    @cached_property
    def addresses(self) -> Sequence[Address]:
        """The addresses of all pages, then of the sources that are none."""
        return addresses(self.pages, self.sources)

    @cached_property
    def dead(self) -> Collection[str]:
        """The keys of the pages that visitors don't see: errors, redirects and copies."""
        return {page.key for page in self.pages if not page.is_visited}

    @cached_property
    def links_from(self) -> Mapping[str, Sequence[ExistingLink]]:
        """The links of each page that has some, in order, by its key."""
        return grouped((link.source, link) for link in self.links)

    @cached_property
    def anchored_to(self) -> Mapping[str, Sequence[ExistingLink]]:
        """The links with an anchor to each page that gets some, in order, by its key."""
        return grouped((link.target, link) for link in self.links if link.anchor)

    @cached_property
    def linked(self) -> Mapping[str, Collection[str]]:
        """The pages to which each source has live links, in the order of the links, by its key."""
        links = self.live_links
        live = self.links_from if links is self.links else grouped((link.source, link) for link in links)

        return {
            key: dict.fromkeys(link.target for link in found)
            for key, found in live.items()
            if key in self.keys
        }

    @cached_property
    def live_links(self) -> Sequence[ExistingLink]:
        """The links that visitors can follow: without those of errors; those of redirects and copies at their ends."""
        dead = self.dead
        if not any(key in self.links_from for key in dead):
            return self.links
        ends = {key: "" if (end := self.aliases.get(key, "")) in dead else end for key in dead}
        moved = (
            replace(link, source=ends[link.source], start=-1) if link.source in dead else link
            for link in self.links
        )
        return tuple(dict.fromkeys(link for link in moved if link.source not in ("", link.target)))

    @cached_property
    def queries(self) -> Mapping[str, str]:
        """The first main query of each URL that has one, by its key."""
        return {one.key: one.query for one in reversed(self.sources) if one.key and one.query}

    @cached_property
    def keys(self) -> Collection[str]:
        """The keys of the sources; "" stands for queries without a page."""
        return frozenset(self.source_keys)

    @cached_property
    def source_keys(self) -> Sequence[str]:
        """The key of each source; "" for a query without a page."""
        return [source.key for source in self.sources]

    @cached_property
    def source_queries(self) -> Sequence[str]:
        """The query of each source; "" for a page without one."""
        return [source.query for source in self.sources]

    @cached_property
    def by_query(self) -> Mapping[str, int]:
        """The position of the first source of each query, as `fold_query` writes it."""
        queries = self.source_queries
        return {fold_query(queries[at]): at for at in reversed(range(len(queries)))}

    @cached_property
    def text_links(self) -> Mapping[str, int]:
        """How many links each page's text has, by its key; 0 for a page that is not listed here."""
        return Counter(link.source for link in self.links)

    def page(self, key: str) -> Page:
        """Return the listed page of this key."""
        return self.pages[self.rows[key]]

    def find(self, key: str) -> Page | None:
        """Return the page of this key; None if it is not listed."""
        return self.page(key) if key in self.rows else None

    def title(self, key: str) -> str:
        """Return a page's title, else its H1; "" if it has neither or is not listed."""
        page = self.find(key)
        return (page.title or page.h1) if page else ""


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Which sources get links: all, the first `limit`, those in `only` (URLs), or a single `query`."""

    limit: int = 0
    only: tuple[str, ...] = ()
    query: str = ""

    @property
    def partial(self) -> bool:
        """Whether some sources are left out."""
        return bool(self.limit or self.only or self.query)


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a page or query for the embedding and the term index; `key` is the key of the page."""

    title: str
    body: str
    key: str = field(default="", compare=False)

    @property
    def whole(self) -> str:
        """Title and body as one text."""
        return f"{self.title}\n{self.body}".strip()


@dataclass(frozen=True, slots=True)
class SerpHit:
    """One organic result: its link as the service returned it, and its rank over all result pages, from 1."""

    url: str
    rank: int


@dataclass(frozen=True, slots=True)
class SerpMarket:
    """What search results depend on besides the query: part of the cache's key."""

    provider: str  # the search service, as the setting serp_provider names it
    # gl, hl, location: country, language and location of the search; "": the service's default
    gl: str = ""
    hl: str = ""
    location: str = ""

    @property
    def where(self) -> dict[str, str]:
        """Country, language and location by the name of their parameter, without empty ones."""
        named = {"gl": self.gl, "hl": self.hl, "location": self.location}
        return {name: value for name, value in named.items() if value}

    @property
    def place(self) -> str:
        """Country, language and location as one text."""
        return f"{self.gl}|{self.hl}|{self.location}"


@dataclass(frozen=True, slots=True)
class SerpPage:
    """One page of results: organic links in order, and its cost in credits (0 from the cache)."""

    links: tuple[str, ...]
    credits: int


@dataclass(frozen=True, slots=True)
class Targets:
    """Where links may lead."""

    # the user's own spelling of every allowed page in the user's lists, by its normal form
    known: Mapping[str, str]
    barred: Mapping[str, Reason[NoTarget]]  # why no link may lead to a known page, by its normal form
    any_on_site: bool = False  # whether a search result that is in no list may be a target too
    # final page of each page that redirects or is a copy
    aliases: Mapping[str, str] = field(default_factory=dict)
    # the pages that each page already links to
    linked: Mapping[str, Collection[str]] = field(default_factory=dict)
    # the pages that an editor rejected as targets of each page or query
    rejected: Mapping[str, Collection[str]] = field(default_factory=dict)
    # the form in which the site writes its hosts, which all keys have
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)
    sections: SectionFilter = field(default_factory=SectionFilter)  # the sections that links may lead to

    def url_of(self, key: str) -> str:
        """Return the URL to write for a target, "" if no link may lead there."""
        if key in self.barred:
            return ""
        return self.known.get(key, key if self.any_on_site and self.sections.hold(key) else "")

    def new_to(self, source: str, key: str) -> bool:
        """Return whether a link from `source` (its `end`) to a page would be new, and an editor did not reject it.

        A link to the source itself, or to the page that it redirects to, is never new.
        """
        if key in (source, self.aliases.get(source)):
            return False
        return not self.links(source, key) and key not in self.rejected.get(source, ())

    def links(self, source: str, key: str) -> bool:
        """Return whether `source` (its `end`) already links to a page."""
        return key in self.linked.get(source, ())


@dataclass(frozen=True, slots=True)
class SerpTarget:
    """An eligible search result: the target's normal form, the URL to write, and its rank from 1."""

    key: str
    url: str
    rank: int


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of a task in tokens and US dollars; both 0 for the local encoder."""

    tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a language model, and the tokens of question and answer together."""

    text: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """Finished vectors."""

    positions: Sequence[int]  # indices into the texts given to the encoder
    vectors: Vectors  # (len(positions), d) float32
    usage: Usage = field(default_factory=Usage)  # cost of the batch


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible target of one source, with its signals; an unavailable signal is NaN."""

    # key, url: normal form of the target, and its URL
    key: str
    url: str
    # the ranker's score, in standard deviations above the source's average target
    score: float = float("nan")
    similarity: float = float("nan")  # cosine of the embeddings, -1 to 1
    lexical: float = float("nan")  # cosine of TF-IDF, 0 to 1
    serp_rank: int = 0  # rank in the search results, from 1; 0 if the search did not find the target
    # how probable it is that editors add the link, among those that they add to the source, 0 to 1; see
    # `LinkProbability`. NaN for search results that are no pages, and for links of queries and planned pages.
    probability: float = float("nan")


@dataclass(frozen=True, slots=True)
class Link:
    """A recommended link with its rank, from 1, its origin, and the evidence for it."""

    target: Candidate
    rank: int
    origin: Origin
    evidence: Evidence = NO_EVIDENCE


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why a source has only `links` links instead of `wanted`."""

    links: int
    wanted: int
    reason: Reason[FewLinks]

    def __str__(self) -> str:
        return f"{self.links} of {self.wanted} links: {self.reason}"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The links of one source, best first."""

    source: Source  # the source of the links
    links: tuple[Link, ...]  # the links
    remark: str = ""  # what else a person should know, such as why the search step was skipped
    held: tuple[Link, ...] = ()  # links that an editor must accept first
    shortage: Shortage | None = None  # why there are fewer links than wanted
    weak: tuple[int, ...] = ()  # ranks of the links that an editor should look at

    @property
    def note(self) -> str:
        """The remark, the shortage and the weak links in one line, as in the column Note."""
        weak = f"{', '.join(map(str, self.weak))}: weak" if self.weak else ""
        return "; ".join(filter(None, (self.remark, str(self.shortage or ""), weak)))


def fold_query(query: str) -> str:
    """Return a query or an anchor without differences of case and spacing."""
    return " ".join(query.casefold().split())


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A response with a page."""

    url: str  # the requested URL
    headers: Mapping[str, str]  # the headers that the importer reads, with lower-case names
    body: bytes  # the page's bytes


@dataclass(frozen=True, slots=True)
class AddedLink:
    """A link that an editor made, with URLs in the user's spelling.

    `place` is the rank of the target among the source's candidates, from 1; 0 if it was not a candidate.
    """

    source: str
    target: str
    anchor: str
    place: int


@dataclass(frozen=True, slots=True)
class ExcludedTarget:
    """A target that `source` may not link to, and why; URLs in the user's spelling.

    Without a source, the reason says which pages may not link to the target.
    """

    source: str
    target: str
    reason: Reason[NoTarget]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two near-duplicate pages, with URLs in the user's spelling; `canonical` is the one to keep.

    `similarity` and `lexical` are as in `Candidate`; `overlap` is the share of common shingles, 0 to 1.
    """

    page: str
    canonical: str
    similarity: float
    lexical: float
    overlap: float


@dataclass(frozen=True, slots=True)
class Orphan:
    """A page without inlinks and the pages most similar to it, best first; URLs in the user's spelling."""

    page: str
    sources: tuple[str, ...]


SOURCE, TARGET = "source", "target"
_BOTH = frozenset({"", "both", "source and target", "source, target"})


def role_of(cell: str) -> str:
    """Return the only role of a page, "source" or "target"; "" for a page with both roles.

    Raises:
        ValueError: the cell contains something else; the message lists the valid roles.
    """
    role = " ".join(cell.casefold().split())
    if role in (SOURCE, TARGET):
        return role
    if role not in _BOTH:
        raise ValueError("its Role is not source, target or both: it counts as both")
    return ""


@dataclass
class Searched:
    """The result of the search step: eligible results and notes by the source's position, and counts."""

    targets: dict[int, tuple[SerpTarget, ...]] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    calls: int = 0
    credits: int = 0
    cached_pages: int = 0
    saved_pages: int = 0  # the count of pages that were not bought because a short page was the last one
    problem: str = ""
    spent: bool = False  # whether the problem is that nothing was left to spend
