"""The memory of links: combines a run's links with earlier ones and editors' decisions; selects what editors see."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from heapq import nlargest
from itertools import chain, count
from math import ceil, inf
from operator import attrgetter

import numpy as np

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.columns import LinkView
from internal_linker.model.count_breakdown import CountBreakdown
from internal_linker.model.edges import (
    Anchor,
    Decided,
    Edge,
    Status,
    Tier,
    Verdict,
    altered,
    is_link,
    kind_of,
    score_of,
    strength,
    strengths,
    tier_of,
)
from internal_linker.model.errors import InputError, ServiceError
from internal_linker.model.link_density import FEW_LINKS, MOST_USUAL, LinkDensity, usual_room
from internal_linker.model.ports import Anchors, Progress, ReviewDesk, Wanted
from internal_linker.model.reasons import FewLinks, Reason
from internal_linker.model.records import (
    Duplicate,
    Link,
    Page,
    Recommendation,
    Shortage,
    Source,
    Targets,
)
from internal_linker.model.sections import Sections
from internal_linker.model.sequences import batched
from internal_linker.model.wordings import warning
from internal_linker.review.former_links import carry_over, hear, is_known, todays
from internal_linker.review.page_links import (
    PageUnderReview,
    as_decided,
    beside_text,
    in_order,
    looked_for,
    steady,
    with_anchor_judged,
    with_stored_anchors,
)
from internal_linker.review.proposed_links import (
    BLOCK,
    by_source,
    least_score_and_counts,
    of_pages,
    proposed,
)
from internal_linker.review.rows import REVIEWABLE, by_page, distinct, urgency
from internal_linker.review.transitions import decided, remembered
from internal_linker.store.edges import EdgeStore
from internal_linker.text.words import word_count

# Rows of the review: as many as two minutes of Google's quota allow.
SHOWN = 20_000
# What people see of an edge, besides what follows from the link's score.
_SHOWN = attrgetter("status", "kind", "tier", "anchors", "anchor", "placed")
# All that is stored of an edge, besides the run that proposed it last.
_BESIDES_RUN = attrgetter(*(one.name for one in fields(Edge) if one.name != "last_run"))
# Share of common text from which one of two pages should rather be removed than linked.
SHARED = 0.9


@dataclass(frozen=True)
class EdgeRules:
    """Thresholds and approval rules for links."""

    # inline, sidebar: strengths from which a link belongs in the text, or beside it, 0 to 1
    inline: float = 0.7
    sidebar: float = 0.7
    # how many links a page and its text can carry; further links belong beside the text
    density: LinkDensity = field(default_factory=LinkDensity)
    # parts of the site whose links an editor must accept first
    approval: Sections = field(default_factory=lambda: Sections(()))
    # the strength below which links are left out, except those to a page that no page links to
    min_strength: float = 0.0
    # links per 1,000 words of text, those that stand there included; None: as many as the site's texts usually have
    per_1000_words: float | None = None
    # whether search results keep their places before all others
    searched_first: bool = False


@dataclass
class Memory:
    """A site's links and editors' decisions on them, for one run."""

    store: EdgeStore  # the store of the edges
    rules: EdgeRules  # thresholds and approval rules
    run: str  # the run's id
    encoder: str  # provider, model and recipe of the vectors
    # the form in which the site writes its hosts, which the run's keys have
    hosts: CanonicalHosts = field(default_factory=CanonicalHosts)
    # the run's time, ISO 8601, UTC
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    hashes: Mapping[str, str] = field(default_factory=dict)  # the hash of the text by page or query
    pages: Mapping[str, Page] = field(default_factory=dict)  # the pages that people see beside links, by key
    decided: Decided = field(default_factory=Decided)  # editors' decisions so far
    reviewed: CountBreakdown | None = (
        None  # how the number of links in the review comes about, after `review_rows`
    )
    # the number of links in the text of each page today; 0 if unknown
    text_links: Mapping[str, int] = field(default_factory=dict)
    usual: Callable[[], float] = lambda: MOST_USUAL  # returns the site's `usual_density`
    heard: bool = True  # whether the editors' cells could be read
    settled: bool = True  # whether scores that hardly moved stay; with other settings, none do
    least: float = -inf  # the lowest score of the `SHOWN` strongest links; weaker links get no anchors
    statuses: Counter[Status] = field(default_factory=Counter)  # the count of links by status, after `keep`
    tiers: Counter[str] = field(default_factory=Counter)  # the count of the run's links by tier, after `keep`
    foremost: list[Edge] = field(default_factory=list)  # the run's links that editors see first
    # the count of links for which the store had no anchors, if `keep` was to find no others
    without_anchors: int = 0
    # the count of accepted links whose anchor is not in the page's text, or only in a link or heading
    unlinkable: int = 0
    # the edges that differ from what their links alone give, by source and target
    differing: dict[tuple[str, str], Edge] = field(default_factory=dict)
    # source and target of the links that are weaker than `min_strength`
    left_out: set[tuple[str, str]] = field(default_factory=set)
    _reviewed: Mapping[str, Edge] = field(default_factory=dict)
    _copies: set[str] = field(default_factory=set)
    _began: datetime = field(default_factory=lambda: datetime.now(UTC))
    _barred: Callable[[str], bool] = lambda _: False
    _unlinked: Callable[[str], bool] = lambda _: False

    def recall(self, desk: ReviewDesk | None, progress: Progress) -> list[str]:
        """Read what editors wrote and store their decisions; return what went wrong, one sentence each.

        Args:
            desk: the editors' place; None: there is none.
            progress: receives what is no decision, as warnings.
        """
        gaps = []
        try:
            for some in batched(desk.read() if desk else (), BLOCK):
                hear(self.store, self.hosts, some, self.at)
            for remark in desk.remarks() if desk else ():
                progress.warn(remark)
        except (InputError, ServiceError) as error:
            self.heard = False
            gaps.append(f"Editors' decisions could not be read, so the review was not updated: {error}")
        self.decided = decided(todays(self.store.each(judged=True), self.hosts))
        return gaps

    def knows(self, said: Sequence[Verdict]) -> bool:
        """Return whether the cells that `review_rows` led to say nothing that the store doesn't know."""
        known = {key: edge for key, edge in self._reviewed.items() if key not in self._copies}
        return is_known(self.store, self.hosts, said, known)

    def approved(self, source: Source) -> Callable[[str], bool]:
        """Return a function that says whether a link of this source to a page needs no approval."""
        approval = self.rules.approval
        if approval.hold(source.key):
            return lambda _: False
        return lambda target: not approval.hold(target)

    def keep(
        self,
        recommendations: Sequence[Recommendation],
        targets: Targets,
        anchors: Anchors | None,
        duplicates: Iterable[Edge],
        progress: Progress,
        *,
        gone: Callable[[str], bool],
        barred: Callable[[str], bool] = lambda _: False,
        unlinked: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Store a run's links; withdraw links that the run no longer proposes.

        Suggestions for queries without a page are not stored, since no page can carry them.

        Args:
            recommendations: the run's links; their pages' other links are withdrawn.
            anchors: finds anchors for the targets of a source; None: links have the anchors that are stored.
            duplicates: edges of near-duplicate pairs, see `duplicate_edge`.
            gone: whether to withdraw the proposed links of a page that has no recommendations.
            barred: whether a page can't carry links: its accepted links are withdrawn, too, and editors don't see any.
            unlinked: whether no page links to a page: links to it are kept, however weak they are.
        """
        self._barred = lambda end: "://" not in end or barred(end)
        self._unlinked = unlinked
        progress.start("Link graph", len(recommendations), "rows")
        carry_over(self.store, self.hosts)
        self.least, counts = least_score_and_counts(recommendations, SHOWN)
        pages = (
            (end, items, known.get(end, ()))
            for rows in by_source(recommendations, counts)
            for known in [self.store.of_sources(rows)]
            for end, items in rows.items()
        )
        for some in batched(self._each(pages, targets, anchors), BLOCK):
            changed, confirmed = list[Edge](), list[str]()
            for page, edges in some:
                for edge in edges:
                    if _is_same(edge, page.stored.get(edge.id)):
                        confirmed.append(edge.id)
                    else:
                        changed.append(edge)
                progress.advance(len(page.items))
            self._put(changed, {key: edge for page, _ in some for key, edge in page.stored.items()})
            self.store.confirm(confirmed, self.run)
            if len(self.foremost) > 2 * SHOWN:
                self.foremost = nlargest(SHOWN, self.foremost, key=urgency)
        self._keep_duplicates(duplicates, targets)
        self._withdraw(gone)
        self.statuses = Counter(self.store.counts())
        progress.finish(self.counted)

    def _put(self, edges: Sequence[Edge], read: Mapping[str, Edge]) -> None:
        """Store edges, with what editors decided on them since they were read: reviews go on during a run."""
        late = self.store.judged_since((edge.id for edge in edges), self._began)
        now = self.store.by_id(
            edge.id for edge in edges if edge.id in late or (edge.id in read and read[edge.id].verdict)
        )
        self.store.put([as_decided(edge, now.get(edge.id), read.get(edge.id)) for edge in edges])

    def _keep_duplicates(self, duplicates: Iterable[Edge], targets: Targets) -> None:
        for pairs in batched(duplicates, BLOCK):
            before = self.store.by_id(edge.id for edge in pairs)
            # A pair is no proposal that could go live, but a link that somebody accepted earlier can.
            decided = {key for key, old in before.items() if old.status != "proposed"}
            live = {
                edge.id for edge in pairs if edge.id in decided and targets.links(edge.source, edge.target)
            }
            edges = [remembered(before.get(edge.id), edge, edge.id in live, self.at) for edge in pairs]
            confirmed = [edge.id for edge in edges if _is_same(edge, before.get(edge.id))]
            self.store.put([edge for edge in edges if not _is_same(edge, before.get(edge.id))])
            self.store.confirm(confirmed, self.run)
            self._copies.update(edge.id for edge in pairs)

    @property
    def counted(self) -> str:
        """The count of links by status, in one line."""
        counted = ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        return counted or "no links"

    def restore(self, items: Sequence[Recommendation]) -> None:
        """Let `edge_of` return the stored edges of links that an earlier run proposed."""
        _, counts = least_score_and_counts(items, SHOWN)
        for rows in by_source(items, counts):
            for stored in self.store.of_sources(rows).values():
                links = filter(is_link, stored)
                self.differing |= {(edge.source, edge.target): edge for edge in links}

    def _tell(self, edge: Edge, plain: Edge, *, several: bool) -> None:
        """Remember an edge of the run for `edge_of` if its link alone gives another one."""
        moved = score_of(edge.strength) != score_of(plain.strength)
        if several or (edge.rank and (moved or _SHOWN(edge) != _SHOWN(plain))):
            self.differing[edge.source, edge.target] = edge

    def _withdraw(self, gone: Callable[[str], bool]) -> None:
        """Withdraw the links of pages that no longer exist, are no longer part of runs, or can't carry links."""
        left = self.store.each("proposed", "accepted", "edited", besides=self.run)
        ended = (
            edge
            for edge in left
            if (is_link(edge) and self._barred(edge.source))
            or (edge.status == "proposed" and gone(edge.source))
        )
        for some in batched(ended, BLOCK):
            self.store.put([remembered(edge, None, False, self.at) for edge in some])

    def preview(self, recommendations: Iterable[Recommendation], targets: Targets, anchors: Anchors) -> None:
        """Prepare `edge_of` for links of a few pages, one item each, as `keep` does, but store nothing."""
        pages = (
            (end, [item], self.store.of_sources([end]).get(end, ()))
            for item in of_pages(recommendations)
            for end in [item.source.end]
        )
        for _ in self._each(pages, targets, anchors):
            pass

    def edge_of(self, source: Source, link: Link) -> Edge:
        """Return the edge of one of the links that `keep` entered or `preview` prepared."""
        return self.differing.get((source.end, link.target.key)) or self._edge(source.end, source, link)

    def view_of(self, source: Source, link: Link) -> LinkView:
        """Return a link as `edge_of` has it, with its pages."""
        return self._view(self.edge_of(source, link))

    def _view(self, edge: Edge) -> LinkView:
        return LinkView(edge, self.pages.get(edge.source), self.pages.get(edge.target))

    def _rating(self, end: str, link: Link) -> tuple[float, Tier]:
        """Return the strength and the tier of one of the run's links, as `edge_of` has them."""
        if edge := self.differing.get((end, link.target.key)):
            return edge.strength, edge.tier
        strong = strength(link.target.score)
        return strong, tier_of(strong, self.rules.inline, self.rules.sidebar)

    def _in_order(self, end: str, links: Sequence[Link], strong: Sequence[float]) -> tuple[Link, ...]:
        """Return the links of a source in the order of their strengths; see `page_links.in_order`."""
        accepted = {edge.target for edge in self.decided.accepted.get(end, ())}
        searched = self.rules.searched_first
        stays = [
            link.origin == "rule" or link.target.key in accepted or (searched and link.target.serp_rank > 0)
            for link in links
        ]
        return in_order(links, [score_of(each) or 0 for each in strong], stays)

    def ordered(self, item: Recommendation) -> Recommendation:
        """Return a recommendation with its links in the order of the scores that people read."""
        end = item.source.end
        links = self._in_order(end, item.links, [self._rating(end, link)[0] for link in item.links])
        return item if links == item.links else replace(item, links=links)

    def shown(self, item: Recommendation) -> Recommendation:
        """Return a recommendation as people get it: without the links that `keep` left out; the weak ones are named."""
        end, wanted = item.source.end, len(item.links)
        links, shortage = item.links, item.shortage
        if self.left_out:
            links = tuple(link for link in links if (end, link.target.key) not in self.left_out)
        if len(links) < wanted:
            reason = Reason(FewLinks.TOO_WEAK, str(wanted - len(links)))
            shortage = Shortage(len(links), shortage.wanted if shortage else wanted, reason)
            item = replace(item, links=links, shortage=shortage)
        item = self.ordered(item)
        weak = tuple(link.rank for link in item.links if self._rating(end, link)[1] == "review")
        return replace(item, weak=weak) if weak else item

    def duplicate_edge(self, pair: Duplicate, source: str, target: str) -> Edge:
        """Return the edge of a near-duplicate pair; `source` and `target` are the pages' normal forms."""
        return Edge(
            source,
            target,
            pair.page,
            pair.canonical,
            kind="canonical" if pair.overlap >= SHARED else "duplicate",
            similarity=pair.similarity,
            lexical=pair.lexical,
            encoder=self.encoder,
            first_run=self.run,
            last_run=self.run,
            at=self.at,
        )

    def review_rows(self) -> list[LinkView]:
        """Return the links for editors in the order of `by_page`: waiting links and decided ones."""
        others = (
            edge
            for edge in self.store.each(*REVIEWABLE, besides=self.run)
            if is_link(edge) and not self._barred(edge.source)
        )
        of_run, earlier = self.tiers.total(), count()
        former = (edge for edge, _ in zip(others, earlier, strict=False))
        shown = nlargest(SHOWN, chain(self.foremost, former), key=urgency)
        former_links = next(earlier)
        beyond = of_run + former_links - len(shown)
        parts = [(of_run, "links of this run"), (former_links, "of earlier runs")]
        self.reviewed = CountBreakdown([*parts, (-beyond, f"beyond the {SHOWN:,} foremost")])
        rows = by_page(shown)
        self._reviewed = {edge.id: edge for edge in rows}
        return [self._view(edge) for edge in rows]

    def _each(
        self,
        pages: Iterable[tuple[str, Sequence[Recommendation], Sequence[Edge]]],
        targets: Targets,
        anchors: Anchors | None,
    ) -> Iterator[tuple[PageUnderReview, list[Edge]]]:
        """Yield the edges of each page that differ from the stored ones, given its rows and its stored edges."""
        ahead = deque[PageUnderReview]()

        def wanted() -> Iterator[Wanted]:
            for end, items, known in pages:
                ahead.append(self._page(end, items, known, anchors))
                yield ahead[-1].wanted

        for found in anchors.propose_each(wanted()) if anchors else (() for _ in wanted()):
            page = ahead.popleft()
            yield page, [*self._of_page(page, found, targets, anchors)]

    def _page(
        self, end: str, items: Sequence[Recommendation], known: Sequence[Edge], anchors: Anchors | None
    ) -> PageUnderReview:
        """Return the links of a page and what is known of their anchors."""
        old = {edge.target: edge for edge in known if is_link(edge)}
        now, several = proposed(items)
        strong = strengths(np.array([link.target.score for _, link in now.values()])).tolist()
        plain = {
            key: self._edge(end, source, link, strong=each)
            for (key, (source, link)), each in zip(now.items(), strong, strict=True)
        }
        page = PageUnderReview(
            end, items[0].source, items, {edge.id: edge for edge in known}, old, plain, several
        )
        self._ask(page, anchors)
        return page

    def _ask(self, page: PageUnderReview, anchors: Anchors | None) -> None:
        """Note which links of a page editors see, which anchors stay, and for which links others are wanted."""
        if anchors is None or page.source.page is None:
            return
        plain, old = page.plain, page.old
        page.seen = [key for key, edge in plain.items() if self._is_seen(edge, old.get(key))]
        page.same = [key for key in page.seen if key in old and old[key].texts == plain[key].texts]
        settled = [
            key
            for key in page.same
            if old[key].verdict or anchors.settled(page.source.key, key, old[key].anchors)
        ]
        # If two links of a page have the same anchor text, an accepted one keeps it, then one that was not withdrawn.
        settled.sort(key=lambda key: (not old[key].verdict, old[key].status == "withdrawn"))
        page.known = distinct({key: old[key].anchors for key in settled})
        if missing := [key for key in page.seen if not page.known.get(key)]:
            said = [one for kept in page.known.values() for one in kept]
            # What an editor accepted stays the anchor of its link, even if a text changed.
            said += [old[key].chosen for key in missing if key in old and old[key].verdict]
            page.wanted = (page.source.key, missing, said)

    def _of_page(
        self,
        page: PageUnderReview,
        found: Sequence[tuple[Anchor, ...]],
        targets: Targets,
        anchors: Anchors | None,
    ) -> Iterator[Edge]:
        """Yield the edges of a page that differ from the stored ones; `found` are the anchors that it wanted."""
        end, old = page.end, page.old
        anchored = self._anchored(page, found, anchors)
        edges = {key: with_anchor_judged(edge) for key, edge in anchored.items()}
        for key in [key for key, edge in edges.items() if self._is_too_weak(edge, old.get(key))]:
            del edges[key]
            self.left_out.add((end, key))
        edges |= self._beside(page.source, edges, old, self.text_links.get(end, 0))
        if self.settled:
            edges = {key: steady(edge, old.get(key), page.plain[key]) for key, edge in edges.items()}
        # The ranks of the first row count.
        for item in reversed(page.items):
            links = [link for link in item.links if link.target.key in edges]
            strong = [edges[link.target.key].strength for link in links]
            for key, rank in ((link.target.key, link.rank) for link in self._in_order(end, links, strong)):
                edges[key] = altered(edges[key], rank=rank)
        for key in {**old, **edges}:
            edge = remembered(old.get(key), edges.get(key), targets.links(end, key), self.at)
            if edge.verdict in ("accepted", "edited") and edge.status == edge.verdict and warning(edge):
                self.unlinkable += 1
            if key in edges:
                self.tiers[edge.tier] += 1
                self.foremost.append(edge)
                self._tell(edge, page.plain[key], several=key in page.several)
            if edge != old.get(key):
                yield edge

    def _anchored(
        self, page: PageUnderReview, found: Sequence[tuple[Anchor, ...]], anchors: Anchors | None
    ) -> dict[str, Edge]:
        """Return the edges of a page, with anchors for those that editors see."""
        edges, old = page.plain, page.old
        if anchors is None:
            restored = {key: with_stored_anchors(edge, old.get(key)) for key, edge in edges.items()}
            self.without_anchors += sum(not edge.anchors for edge in restored.values())
            return restored
        done, known = dict(edges), page.known
        if missing := page.wanted[1]:
            known = distinct({**known, **dict(zip(missing, found, strict=True))})
        for key in page.seen:
            found_now = anchors.varied(key, known[key], page.decided_text(key))
            placed = partial(anchors.placed, page.source.key)
            done[key] = looked_for(edges[key], found_now, old.get(key), placed, unchanged=key in page.same)
        return done

    def _beside(
        self, source: Source, edges: Mapping[str, Edge], old: Mapping[str, Edge], links: int
    ) -> dict[str, Edge]:
        """Return the weakest links that belong beside the text, because it can or should carry no more links."""
        accepted = {key for key, edge in old.items() if edge.verdict in ("accepted", "edited")}
        inline = [key for key, edge in edges.items() if edge.tier == "inline"]
        density, wanted = self.rules.density, self.rules.per_1000_words
        # Reading the text takes time, and any text usually carries a few links.
        few = wanted is None and links + len(inline) <= min(FEW_LINKS, density.links)
        if source.page is None or not inline or few:
            return {}
        words = word_count(str(source.page.content).strip())
        room = density.room(words, links)
        if words:
            if wanted is None:
                more = usual_room(words, links, self._usual_density)
            else:
                more = max(0, ceil(words * wanted / 1000) - links)
            room = min(room, more)
        inline.sort(key=lambda key: (key not in accepted, -edges[key].strength))
        return {key: beside_text(edges[key]) for key in inline[room:] if key not in accepted}

    @cached_property
    def _usual_density(self) -> float:
        return self.usual()

    def _is_too_weak(self, edge: Edge, old: Edge | None) -> bool:
        rescues = self._unlinked(edge.target)
        return edge.strength < self.rules.min_strength and not rescues and not (old and old.verdict)

    def _is_seen(self, edge: Edge, old: Edge | None) -> bool:
        return not edge.rank or not edge.score < self.least or bool(old and old.verdict)

    def _edge(self, end: str, source: Source, link: Link, *, strong: float | None = None) -> Edge:
        target, rules = link.target, self.rules
        strong = strength(target.score) if strong is None else strong
        return Edge(
            end,
            target.key,
            source.name,
            target.url,
            query=source.query,
            rank=link.rank,
            origin=link.origin,
            kind=kind_of(end, target.key),
            tier=tier_of(strong, rules.inline, rules.sidebar),
            score=target.score,
            similarity=target.similarity,
            lexical=target.lexical,
            probability=target.probability,
            serp_rank=target.serp_rank,
            strength=strong,
            inline=rules.inline,
            sidebar=rules.sidebar,
            encoder=self.encoder,
            source_hash=self.hashes.get(end, ""),
            target_hash=self.hashes.get(target.key, ""),
            first_run=self.run,
            last_run=self.run,
            at=self.at,
            evidence=link.evidence,
        )


def _is_same(edge: Edge, before: Edge | None) -> bool:
    """Return whether nothing about an edge changed besides the run that proposed it."""
    return before is not None and _BESIDES_RUN(before) == _BESIDES_RUN(edge)
