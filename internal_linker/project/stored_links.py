"""The links of a project's store for people who look through them: listed by filters, page by page, in all detail."""

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from internal_linker.model.applied_links import LinkState, link_states
from internal_linker.model.edges import Edge, is_link
from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress
from internal_linker.model.urls import is_address, normal_form
from internal_linker.model.wordings import full_reason, warning, warning_of
from internal_linker.project.link_lists import (
    LinkFilter,
    LinkRow,
    best_first,
    link_row,
    on_site,
    ordered,
    predicate,
)
from internal_linker.project.project import Project, open_project
from internal_linker.project.site_texts import (
    MOST_SHOWN,
    Paragraph,
    SentenceInContext,
    SiteTexts,
    TextReader,
)

# Links of a page that are listed one by one.
MOST_OF_A_PAGE = 200
# Of the tree: links of the page, and of each page that they lead to.
BRANCHES = 5
# Lists of different filters that are kept: each is as long as the table at most.
_MOST_LISTS = 8


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
        others: other anchors, best first.
        target_lines: the first words of the target.
        source_links: how many links the source's text has.
        target_links: how many existing links lead to the target.
    """

    row: LinkRow
    why: str
    warning: str
    passage: SentenceInContext
    others: Sequence[OtherAnchor]
    target_lines: str
    source_links: int
    target_links: int


@dataclass(frozen=True, slots=True)
class PlacedAnchor:
    """Whether words can be linked in a page: `warning` says why not, `passage`, `start` and `end` where they stand."""

    text: str
    warning: str
    passage: SentenceInContext
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class LinkPlace:
    """A link of a page, and `start` and `end` of its anchor in the page's text, as `SiteTexts.span` has them."""

    row: LinkRow
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ExistingEnd:
    """The other end of a link that the site has: its page, and the anchor with its place in a text that is read."""

    url: str
    title: str
    anchor: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class PageReading:
    """The text of a page with the places of its links.

    Attributes:
        paragraphs: the text's lines.
        is_cut: whether the text goes on after them.
        links: stored links from the page, the best first and rejected ones last; withdrawn ones are left out.
        linked: the links that the page has, wherever their anchors stand if nobody knows which place is the link; in
            the order of the text, without overlaps.
    """

    paragraphs: Sequence[Paragraph]
    is_cut: bool
    links: Sequence[LinkPlace]
    linked: Sequence[ExistingEnd]


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
    # What became of links that were applied, as of a version of their store.
    states: Mapping[str, LinkState] = field(default_factory=dict)
    applied: Sequence[tuple[str, int, int]] = ()

    # Damaged rows: `cache verify` counts them.
    unreadable: int = 0

    @property
    def size(self) -> int:
        return len(self.rows) + len(self.others)

    def take(self, edges: Iterable[Edge]) -> list[LinkRow]:
        """Take edges in place of their former rows; return the rows."""
        taken = []
        for edge in edges:
            if not is_link(edge):
                self.others.add(edge.id)
                continue
            row = link_row(edge, self.texts, self.states.get(edge.id))
            if row.id not in self.rows:
                self.by_source[row.source].append(row.id)
                self.by_target[row.target].append(row.id)
            self.rows[row.id] = row
            taken.append(row)
        if taken:
            self.lists = {}
        return taken

    def take_states(self, states: Mapping[str, LinkState], version: Sequence[tuple[str, int, int]]) -> None:
        """Take what became of applied links, as of this version of their store."""
        before, self.states, self.applied, self.lists = self.states, states, version, {}
        for key in before.keys() | states.keys():
            if row := self.rows.get(key):
                self.rows[key] = replace(row, on_site=on_site(row.status, states.get(key)))


class StoredLinks:
    """A project's links, kept in memory and read again when the store changes; several threads may use it."""

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
        takes = predicate(wanted)
        found = ordered([row for row in rows if takes(row)], wanted)
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
            row = self._fresh().rows.get(link) or link_row(edge, self.texts())
        texts, chosen = self.texts(), edge.chosen
        others = [
            OtherAnchor(one.text, one.sentence, "" if one.verbatim else "not in the text")
            for one in edge.anchors
            if one.text != chosen.text
        ]
        links = texts.site.text_links if texts.site else {}
        return LinkDetail(
            row,
            full_reason(edge),
            warning(edge),
            texts.passage(edge.source, chosen),
            others,
            texts.first_lines(edge.target),
            links.get(edge.source, 0),
            texts.inbound[edge.target],
        )

    def reading(self, source: str) -> PageReading:
        """Return the text of a page, named by its key, with the places of its links."""
        with self._lock:
            table, texts = self._fresh(), self.texts()
            rows = best_first(table.rows[each] for each in table.by_source.get(source, ()))
        rows = sorted(rows, key=lambda row: row.status == "rejected")[:MOST_OF_A_PAGE]
        edges = self._edges([row.id for row in rows])
        links = [LinkPlace(row, *texts.span(source, edges[row.id].chosen)) for row in rows if row.id in edges]
        page = texts.page(source)
        is_cut = page is not None and len(str(page.content)) > MOST_SHOWN
        spans, linked = texts.linked(source), list[ExistingEnd]()
        for (start, end), link in sorted(spans.items(), key=lambda each: (each[0][0], -each[0][1])):
            if not linked or start >= linked[-1].end:
                linked.append(_existing(texts, link.target, link.anchor, start, end))
        return PageReading([*texts.paragraphs(source, spans)], is_cut, links, linked)

    def place(self, link: str, text: str, near: int = 0) -> PlacedAnchor:
        """Return whether words can be linked in a link's page, and where they stand; nearest to the character `near`.

        Raises:
            LinkNotFound: no link has this id.
        """
        edge = self._edges([link]).get(link)
        if edge is None:
            raise LinkNotFound("This link is no longer stored: reload the list.")
        words = " ".join(text.split())
        texts = self.texts()
        placed = texts.placed(edge.source, words, near)
        if placed is None:
            return PlacedAnchor(words, "", SentenceInContext())
        passage = texts.passage(edge.source, placed)
        return PlacedAnchor(words, warning_of(placed), passage, *texts.span(edge.source, placed))

    def page(self, address: str) -> PageDetail:
        """Return a page with its links in both directions.

        `address` is its URL or key, or a query.

        Raises:
            LinkNotFound: it is neither listed nor an end of a link.
        """
        with self._lock:
            table, texts = self._fresh(), self.texts()
            key = _key(address, table, texts)
            outbound = best_first(table.rows[each] for each in table.by_source.get(key, ()))
            inbound = best_first(table.rows[each] for each in table.by_target.get(key, ()))
            tree = _tree(table, key, texts)
        shown = [*outbound[:MOST_OF_A_PAGE], *inbound[:MOST_OF_A_PAGE]]
        reasons = {each: full_reason(edge) for each, edge in self._edges([row.id for row in shown]).items()}
        site = texts.site
        live = site.live_links if site else ()
        out = [link for link in live if link.source == key]
        incoming = [link for link in live if link.target == key]
        page = texts.page(key)
        urls = {row.source: row.source_url for row in outbound} | {
            row.target: row.target_url for row in inbound
        }
        return PageDetail(
            key,
            page.url if page else urls.get(key, key),
            texts.title(key),
            outbound[:MOST_OF_A_PAGE],
            inbound[:MOST_OF_A_PAGE],
            reasons,
            [_existing(texts, link.target, link.anchor) for link in out[:MOST_OF_A_PAGE]],
            [_existing(texts, link.source, link.anchor) for link in incoming[:MOST_OF_A_PAGE]],
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
        with project.applications() as (edges, applied):
            table, times = self._table, edges.times()
            if (version := applied.version()) != table.applied:
                table.take_states(link_states(applied.writes(), ()), version)
            table.take(edges.written(at for at, count in times.items() if count > table.times.get(at, 0)))
            if table.size + table.unreadable != sum(times.values()):
                self._table = table = _Table(texts=texts, states=table.states, applied=table.applied)
                table.take(edges.each())
                table.unreadable = sum(times.values()) - table.size
        table.times, table.mark = times, mark
        return table


def _existing(texts: SiteTexts, key: str, anchor: str, *place: int) -> ExistingEnd:
    page = texts.page(key)
    return ExistingEnd(page.url if page else key, texts.title(key), anchor, *place)


def _mark(project: Project) -> object:
    """Return what changes whenever the store's file does; None for a server."""
    path = project.databases.file
    if path is None:
        return None
    found = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            status = each.stat()
            # Whoever opens the file to read it makes an empty log for a moment.
            found += [(status.st_ino, status.st_size, status.st_mtime_ns)] if status.st_size else []
    return tuple(found)


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
        rows = best_first(table.rows[each] for each in table.by_source.get(of, ()))
        for row in [row for row in rows if row.status != "rejected"][:BRANCHES]:
            children = tuple(below(row.target, depth - 1)) if depth > 1 else ()
            yield TreeNode(
                row.target, row.target_title or row.target_url, row.target_url, row.score, children
            )

    page = texts.page(key)
    url = page.url if page else key
    return TreeNode(key, texts.title(key) or url, url, None, tuple(below(key, 2)))
