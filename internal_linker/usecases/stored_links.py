"""The links of a project's store for people who look through them: listed by filters, page by page, in all detail."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from internal_linker.adapters.database.engine import file_of
from internal_linker.core.edges import TIER_NAMES, Edge, Status, Tier, is_link, score_of
from internal_linker.core.errors import InputError
from internal_linker.core.ports import Progress
from internal_linker.core.records import Origin
from internal_linker.core.sections import SectionFilter, Sections, section_of
from internal_linker.core.urls import is_address, normal_form
from internal_linker.review.rows import review_row, warning_of
from internal_linker.usecases.project import Project, open_project
from internal_linker.usecases.site_texts import Passage, SiteTexts, TextReader

Order = Literal["page", "score", "source", "target", "status", "tier", "section", "anchor"]
# Links of a page that are listed one by one.
MOST_OF_A_PAGE = 200
# Of the tree: links of the page, and of each page that they lead to.
BRANCHES = 5
# Lists of different filters that are kept: each is as long as the table at most.
_MOST_LISTS = 8


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A stored link in a list.

    Attributes:
        id: its id.
        source, target: keys; `source` is the query if there is no page.
        source_url, target_url: as the user writes them.
        source_title, target_title: "" for a page without one, or that is not listed.
        section: the first folder of the source.
        score: 0 to 100; None: unknown.
        tier, status, origin: as in links.csv.
        rank: its place among the page's links; 0: it waits for approval.
        anchor: the text to link.
        decided: the editor's last decision, "" without one.
        by, at: who set the status, and when.
        notes: the editor's notes.
    """

    id: str
    source: str
    source_url: str
    source_title: str
    target: str
    target_url: str
    target_title: str
    section: str
    score: int | None
    tier: Tier
    status: Status
    origin: Origin
    rank: int
    anchor: str
    decided: str
    by: str
    at: str
    notes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFilter:
    """Which links are listed, and in which order; an empty attribute leaves none out.

    Attributes:
        include, exclude: paths of the pages that the links start at, as in `Sections`.
        section, tier, origin: as in `LinkRow`.
        status: a status; "waiting" for links that nobody has decided, "decided" for the others with a decision.
        text: words that URLs, titles, anchor or notes contain, in any case.
        source: the key of the page or the query that the links start at.
        order: the column to sort by; "page": page by page, those with the strongest waiting links first.
        descending: from the end.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    section: str = ""
    tier: str = ""
    origin: str = ""
    status: str = ""
    text: str = ""
    source: str = ""
    order: Order = "page"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class LinkList:
    """A part of the links that a filter takes.

    Attributes:
        total: how many it takes.
        rows: some of them.
        statuses: how many of them have each status.
        problem: why titles are missing; "" if they aren't.
    """

    total: int
    rows: Sequence[LinkRow]
    statuses: Mapping[str, int]
    problem: str


@dataclass(frozen=True, slots=True)
class Facets:
    """The values to filter by, with the count of their links."""

    sections: Mapping[str, int]
    tiers: Mapping[str, int]
    origins: Mapping[str, int]
    statuses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OtherAnchor:
    """Another text for a link: with its sentence, and a warning if it can't be linked there."""

    text: str
    sentence: str
    warning: str


@dataclass(frozen=True, slots=True)
class LinkDetail:
    """A link with all that an editor needs to decide on it.

    Attributes:
        row: the link as in a list.
        why: the reason for it.
        warning: why its anchor can't be linked where it stands; "" if it can.
        passage: the sentence in its paragraph.
        in_text: whether the page's text contains the anchor; else it is new text.
        others: other anchors, best first.
        target_lines: the first words of the target.
        source_links: how many links the source's text has.
        target_links: how many existing links lead to the target.
    """

    row: LinkRow
    why: str
    warning: str
    passage: Passage
    in_text: bool
    others: Sequence[OtherAnchor]
    target_lines: str
    source_links: int
    target_links: int


@dataclass(frozen=True, slots=True)
class PlacedAnchor:
    """Whether words can be linked in a page: `warning` says why not, `passage` where they stand."""

    text: str
    warning: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class ExistingEnd:
    """The other end of a link that the site has: its page, and the anchor."""

    url: str
    title: str
    anchor: str


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A page in a tree of links; `score` is that of the link that leads to it."""

    key: str
    name: str
    url: str
    score: int | None
    children: Sequence["TreeNode"]


@dataclass(frozen=True, slots=True)
class PageDetail:
    """A page with its links in both directions.

    Attributes:
        key, url, title: the page.
        outbound, inbound: stored links from and to it, the best first; withdrawn ones are left out.
        reasons: why each of them is proposed, by its id.
        links, linked_from: links that the site has, up to `MOST_OF_A_PAGE` of each.
        link_count, linked_count: how many there are.
        tree: the page's best five links, and those of their targets.
    """

    key: str
    url: str
    title: str
    outbound: Sequence[LinkRow]
    inbound: Sequence[LinkRow]
    reasons: Mapping[str, str]
    links: Sequence[ExistingEnd]
    linked_from: Sequence[ExistingEnd]
    link_count: int
    linked_count: int
    tree: TreeNode


class LinkNotFound(InputError):
    """No stored link or page is the one that was asked for."""


@dataclass
class _Table:
    """The rows in memory, as of the last look at the store."""

    rows: dict[str, LinkRow] = field(default_factory=dict)
    by_source: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    by_target: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    # Pairs of near-duplicates, which are stored beside the links.
    others: set[str] = field(default_factory=set)
    mark: object = None
    times: Mapping[datetime, int] = field(default_factory=dict)
    texts: SiteTexts = field(default_factory=SiteTexts)
    # What filters took since the last change: people turn pages.
    lists: dict[LinkFilter, Sequence[LinkRow]] = field(default_factory=dict)

    # Damaged rows: `cache verify` counts them.
    unreadable: int = 0

    @property
    def size(self) -> int:
        """How many edges were read."""
        return len(self.rows) + len(self.others)

    def take(self, edges: Iterable[Edge]) -> list[LinkRow]:
        """Take edges in place of their former rows; return the rows."""
        taken = []
        for edge in edges:
            if not is_link(edge):
                self.others.add(edge.id)
                continue
            row = _row(edge, self.texts)
            if row.id not in self.rows:
                self.by_source[row.source].append(row.id)
                self.by_target[row.target].append(row.id)
            self.rows[row.id] = row
            taken.append(row)
        if taken:
            self.lists = {}
        return taken


class StoredLinks:
    """A project's links, kept in memory and read again when the store changes; several threads may use it.

    Args:
        root: the project folder.
        progress: shows the reading of the pages.
    """

    def __init__(self, root: Path, progress: Progress) -> None:
        self.root, self._progress = root, progress
        self._reader, self._lock = TextReader(root), threading.RLock()
        self._table = _Table()

    def texts(self) -> SiteTexts:
        """Return the site's pages as they are now."""
        return self._reader.read(open_project(self.root), self._progress)

    def part(self, wanted: LinkFilter, offset: int = 0, limit: int = 100) -> LinkList:
        """Return some of the links that a filter takes, in its order.

        Raises:
            InternalLinkerError: settings or the store can't be read.
        """
        rows = self.filtered(wanted)
        statuses: Mapping[str, int] = Counter(row.status for row in rows)
        return LinkList(len(rows), rows[offset : offset + limit], statuses, self._table.texts.problem)

    def filtered(self, wanted: LinkFilter) -> Sequence[LinkRow]:
        """Return all links that a filter takes, in its order."""
        with self._lock:
            table = self._fresh()
            if (kept := table.lists.get(wanted)) is not None:
                return kept
            rows, lists = [*table.rows.values()], table.lists
            if wanted.source:
                rows = [table.rows[each] for each in table.by_source.get(wanted.source, ())]
        takes = _predicate(wanted)
        found = _ordered([row for row in rows if takes(row)], wanted)
        if len(lists) < _MOST_LISTS:
            # A change of the table has put another dictionary in its place.
            lists[wanted] = found
        return found

    def facets(self) -> Facets:
        """Return the values to filter by."""
        with self._lock:
            rows = [*self._fresh().rows.values()]
        counts = (
            Counter(getattr(row, name) for row in rows) for name in ("section", "tier", "origin", "status")
        )
        return Facets(*(dict(sorted(count.items())) for count in counts))

    def detail(self, link: str) -> LinkDetail:
        """Return a link with all that an editor needs to decide on it.

        Raises:
            LinkNotFound: no link has this id.
        """
        edge = self._edges([link]).get(link)
        if edge is None:
            raise LinkNotFound("This link is no longer stored: reload the list.")
        with self._lock:
            row = self._fresh().rows.get(link) or _row(edge, self.texts())
        texts, shown, chosen = self.texts(), review_row(edge), edge.chosen
        others = [
            OtherAnchor(one.text, one.sentence, "" if one.verbatim else "not in the text")
            for one in edge.anchors
            if one.text != chosen.text
        ]
        links = texts.site.text_links if texts.site else {}
        return LinkDetail(
            row,
            shown.why,
            shown.warning,
            texts.passage(edge.source, chosen),
            bool(chosen.text) and chosen.verbatim,
            others,
            texts.first_lines(edge.target),
            links.get(edge.source, 0),
            texts.inbound[edge.target],
        )

    def place(self, link: str, text: str) -> PlacedAnchor:
        """Return whether words can be linked in a link's page, and where they stand.

        Raises:
            LinkNotFound: no link has this id.
        """
        edge = self._edges([link]).get(link)
        if edge is None:
            raise LinkNotFound("This link is no longer stored: reload the list.")
        words = " ".join(text.split())
        placed = self.texts().placed(edge.source, words)
        if placed is None:
            return PlacedAnchor(words, "", Passage())
        return PlacedAnchor(words, warning_of(placed), self.texts().passage(edge.source, placed))

    def page(self, address: str) -> PageDetail:
        """Return a page with its links in both directions.

        Args:
            address: its URL or key, or a query.

        Raises:
            LinkNotFound: it is neither listed nor an end of a link.
        """
        with self._lock:
            table, texts = self._fresh(), self.texts()
            key = _key(address, table, texts)
            outbound = _best(table.rows[each] for each in table.by_source.get(key, ()))
            inbound = _best(table.rows[each] for each in table.by_target.get(key, ()))
            tree = _tree(table, key, texts)
        shown = [*outbound[:MOST_OF_A_PAGE], *inbound[:MOST_OF_A_PAGE]]
        reasons = {
            each: review_row(edge).why for each, edge in self._edges([row.id for row in shown]).items()
        }
        site = texts.site
        live = site.live_links if site else ()
        out = [link for link in live if link.source == key]
        incoming = [link for link in live if link.target == key]
        page = texts.page(key)
        urls = {row.source: row.source_url for row in outbound} | {
            row.target: row.target_url for row in inbound
        }

        def end(of: str, anchor: str) -> ExistingEnd:
            other = texts.page(of)
            return ExistingEnd(other.url if other else of, texts.title(of), anchor)

        return PageDetail(
            key,
            page.url if page else urls.get(key, key),
            texts.title(key),
            outbound[:MOST_OF_A_PAGE],
            inbound[:MOST_OF_A_PAGE],
            reasons,
            [end(link.target, link.anchor) for link in out[:MOST_OF_A_PAGE]],
            [end(link.source, link.anchor) for link in incoming[:MOST_OF_A_PAGE]],
            len(out),
            len(incoming),
            tree,
        )

    def changed(self, edges: Iterable[Edge]) -> Sequence[LinkRow]:
        """Take edges that were just stored into the list; return their rows."""
        with self._lock:
            return self._table.take(edges)

    def _edges(self, ids: Sequence[str]) -> Mapping[str, Edge]:
        with open_project(self.root).graph() as (edges, _):
            return {key: edge for key, edge in edges.by_id(ids).items() if is_link(edge)}

    def _fresh(self) -> _Table:
        """Return the table after a look at the store; only what was written since the last look is read."""
        project = open_project(self.root)
        texts = self._reader.read(project, self._progress)
        mark = _mark(project)
        if texts is not self._table.texts:
            self._table = _Table(texts=texts)
        if mark is not None and mark == self._table.mark:
            return self._table
        with project.graph() as (edges, _):
            table, times = self._table, edges.times()
            table.take(edges.written(at for at, count in times.items() if count > table.times.get(at, 0)))
            if table.size + table.unreadable != sum(times.values()):
                self._table = table = _Table(texts=texts)
                table.take(edges.each())
                table.unreadable = sum(times.values()) - table.size
        table.times, table.mark = times, mark
        return table


def _mark(project: Project) -> object:
    """Return what changes whenever the store's file does; None for a server."""
    path = file_of(project.settings.store_url, project.root)
    if path is None:
        return None
    found = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            status = each.stat()
            # Whoever opens the file to read it makes an empty log for a moment.
            found += [(status.st_ino, status.st_size, status.st_mtime_ns)] if status.st_size else []
    return tuple(found)


def _row(edge: Edge, texts: SiteTexts) -> LinkRow:
    return LinkRow(
        edge.id,
        edge.source,
        edge.source_url,
        texts.title(edge.source),
        edge.target,
        edge.target_url,
        texts.title(edge.target),
        section_of(edge.source),
        score_of(edge.strength),
        edge.tier,
        edge.status,
        edge.origin,
        edge.rank,
        edge.chosen.text,
        edge.verdict,
        edge.by,
        edge.at,
        edge.notes,
    )


def _predicate(wanted: LinkFilter) -> Callable[[LinkRow], bool]:
    """Return whether a filter takes a row; only the conditions that are set are looked at."""
    tests: list[Callable[[LinkRow], bool]] = []
    for name in ("section", "tier", "origin"):
        if value := getattr(wanted, name):
            tests.append(lambda row, name=name, value=value: getattr(row, name) == value)  # type: ignore[misc]
    if wanted.status == "waiting":
        tests.append(lambda row: row.status == "proposed")
    elif wanted.status == "decided":
        tests.append(lambda row: bool(row.decided))
    elif wanted.status:
        tests.append(lambda row: row.status == wanted.status)
    if paths := SectionFilter(Sections(wanted.include), Sections(wanted.exclude)):
        held = cache(paths.hold)
        tests.append(lambda row: held(row.source))
    if words := wanted.text.casefold().split():
        tests.append(lambda row: all(word in _told(row) for word in words))
    return lambda row: all(test(row) for test in tests)


def _told(row: LinkRow) -> str:
    """Return all words of a row that people search for."""
    texts = (row.source_url, row.source_title, row.target_url, row.target_title, row.anchor, row.notes)
    return "\n".join(texts).casefold()


_KEYS: Mapping[str, Callable[[LinkRow], Any]] = {
    "score": lambda row: -1 if row.score is None else row.score,
    "source": lambda row: row.source_url,
    "target": lambda row: row.target_url,
    "status": lambda row: row.status,
    "tier": lambda row: [*TIER_NAMES].index(row.tier),
    "section": lambda row: row.section,
    "anchor": lambda row: row.anchor.casefold(),
}


def _ordered(rows: list[LinkRow], wanted: LinkFilter) -> list[LinkRow]:
    if wanted.order == "page":
        return _by_page(rows)
    # Rows of the same value keep one order, so that pages of the list don't overlap.
    rows.sort(key=lambda row: row.id)
    return sorted(rows, key=_KEYS[wanted.order], reverse=wanted.descending)


def _by_page(rows: list[LinkRow]) -> list[LinkRow]:
    """Return rows page by page: pages with the strongest waiting links first, and of a page waiting links first."""
    best: defaultdict[str, int] = defaultdict(lambda: -1)
    for row in rows:
        if row.status == "proposed" and row.score is not None:
            best[row.source] = max(best[row.source], row.score)

    def place(row: LinkRow) -> tuple[Any, ...]:
        score = -1 if row.score is None else row.score
        return (-best[row.source], row.source_url, row.status != "proposed", -score, row.rank, row.id)

    return sorted(rows, key=place)


def _best(rows: Iterable[LinkRow]) -> list[LinkRow]:
    known = (row for row in rows if row.status != "withdrawn")
    return sorted(known, key=lambda row: (row.rank == 0, -(row.score or 0), row.rank, row.id))


def _key(address: str, table: _Table, texts: SiteTexts) -> str:
    """Return the key of a page or query that is listed, or an end of a link."""
    if address in table.by_source or address in table.by_target:
        return address
    whole = f"https://{address}" if is_address(address) and "://" not in address else address
    try:
        key = texts.site.hosts.key(whole) if texts.site else normal_form(whole)
    except ValueError:
        key = address
    if key in table.by_source or key in table.by_target or texts.page(key):
        return key
    raise LinkNotFound(f"Page {address[:200]} not found: it is neither in your pages nor an end of a link.")


def _tree(table: _Table, key: str, texts: SiteTexts) -> TreeNode:
    """Return a page with its best links and, below each, the best links of that page."""

    def below(of: str, depth: int) -> Iterator[TreeNode]:
        rows = _best(table.rows[each] for each in table.by_source.get(of, ()))
        for row in [row for row in rows if row.status != "rejected"][:BRANCHES]:
            children = tuple(below(row.target, depth - 1)) if depth > 1 else ()
            yield TreeNode(
                row.target, row.target_title or row.target_url, row.target_url, row.score, children
            )

    page = texts.page(key)
    url = page.url if page else key
    return TreeNode(key, texts.title(key) or url, url, None, tuple(below(key, 2)))
