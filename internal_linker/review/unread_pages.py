"""The pages of a run whose links stay as the last run stored them: their edges are neither read nor written."""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from itertools import chain, compress
from math import isnan

import numpy as np

from internal_linker.core.edges import Decided, Edge, edge_id, source_id
from internal_linker.core.ports import Anchors, EdgeStore
from internal_linker.core.records import Recommendation
from internal_linker.core.steady_pages import RowPlaces, SteadyLink, SteadyPages
from internal_linker.review.page_links import PageLinks
from internal_linker.review.rows import urgency


@dataclass
class UnreadPages:
    """Says which pages of a run stay, and notes those that would stay in the next one.

    Attributes:
        last: the steady pages of the last run; None: nobody knows any.
        written: the sources, as `edges.source_id`, whose edges changed since.
        links: the links of the pages that stay, by page.
        noted: the pages that would stay if their links came again, with their bases and links.
        times: when the stored edges had been written before this run wrote any.
    """

    last: SteadyPages | None = None
    written: set[str] = field(default_factory=set)
    links: dict[str, Sequence[SteadyLink]] = field(default_factory=dict)
    noted: dict[str, tuple[bytes, Sequence[SteadyLink]]] = field(default_factory=dict)
    times: Collection[datetime] = ()

    def look(self, store: EdgeStore) -> None:
        """Find out which edges somebody wrote since the last run."""
        times = store.times()
        self.times = [*times]
        # Whoever removed stored links left no trace of their pages.
        if self.last and sum(times.values()) < self.last.edges:
            self.last = None
        if self.last:
            known = self.last.times
            self.written |= store.sources_besides({at for at in times if at and at.isoformat() in known})

    def choose(self, bases: Mapping[str, bytes], decided: Decided) -> None:
        """Choose the pages that stay: those of the last run with the same basis, whose edges nobody wrote since.

        Args:
            bases: the basis of each page, see `basis`.
            decided: editors' decisions; pages with decided links are always read.
        """
        for end, known, links in self.last.links() if self.last else ():
            if known == bases.get(end) and not (
                end in decided.rejected or end in decided.accepted or source_id(end) in self.written
            ):
                self.links[end] = links
                self.noted[end] = known, links

    def count_anchors(self, anchors: Anchors) -> None:
        """Count the anchors that stay, before others are chosen."""
        for links in self.links.values():
            for link in links:
                if link.wording:
                    anchors.count(link.target, link.wording)

    @property
    def tiers(self) -> Counter[str]:
        """Count of the links that stay, by tier."""
        return Counter(link.tier for links in self.links.values() for link in links)

    def confirm(self, store: EdgeStore, run: str) -> None:
        """Store that this run proposed the links that stay."""
        if self.last and self.links:
            store.confirm_sources(self.links, self.last.run, run)

    def note(self, page: PageLinks, basis: bytes | None, edges: Iterable[Edge], run: str) -> None:
        """Note a page that would stay, given the edges of this run that differed from the stored ones.

        Pages with links that an editor touched, or that were left out, are none of them.
        """
        now = {edge.target: edge for edge in edges if edge.last_run == run}
        links = [now[key] for key in page.plain if key in now]
        touched = any(edge.verdict or edge.notes or edge.anchor for edge in links)
        if basis is None or touched or len(links) < len(page.plain):
            return
        seen = {*page.seen}
        self.noted[page.end] = (
            basis,
            [
                SteadyLink(
                    edge.target,
                    edge.strength,
                    edge.tier,
                    not edge.rank,
                    edge.anchors[0].text if edge.anchors and edge.target in seen else "",
                )
                for edge in links
            ],
        )

    def foremost(self, store: EdgeStore, most: int, others: Sequence[Edge]) -> Collection[Edge]:
        """Read the edges of the pages that stay which may be among the `most` urgent ones, besides `others`."""
        ours = np.array([_place(False, link.waits, link.strength) for link in chain(*self.links.values())])
        every = np.append(ours, [_place(*urgency(edge)) for edge in others])
        least = -np.partition(-every, most - 1)[most - 1] if len(every) > most else -np.inf
        pairs = ((end, link.target) for end, links in self.links.items() for link in links)
        wanted = compress(pairs, (ours >= least).tolist())
        return store.by_id(edge_id(*pair) for pair in wanted).values()

    def for_the_next(self, store: EdgeStore, run: str, places: RowPlaces, digest: str) -> SteadyPages:
        """Return what the next run needs to know, once all edges are stored.

        Args:
            store: the stored edges.
            run: this run's id.
            places: where the rows of the pages stand in links.csv.
            digest: that of links.csv.
        """
        return SteadyPages.of(
            ((end, *two) for end, two in self.noted.items()),
            run=run,
            # A damaged time is None.
            times=frozenset(at.isoformat() for at in (*self.times, *store.own_times) if at),
            edges=sum(store.times().values()),
            rows=places.now,
            digest=digest,
        )


def basis(
    item: Recommendation,
    state: str,
    hashes: Mapping[str, str],
    *,
    links_in_text: int,
    is_seen: Callable[[float], bool],
    is_unlinked: Callable[[str], bool],
) -> bytes:
    """Return a digest of all that the edges of a page follow from, besides what is stored and the rules of the run.

    Args:
        item: the page's only row.
        state: a digest of the page's text, links and decisions.
        hashes: the hash of the text by page.
        links_in_text: the number of links in the text of the page.
        is_seen: whether editors see a link with this score.
        is_unlinked: whether no page links to a page.
    """
    texts = [item.source.end, item.source.name, item.source.query, state]
    numbers = array("d", [links_in_text])
    for link in (*item.links, *item.held):
        target, evidence = link.target, link.evidence
        texts += (target.key, target.url, hashes.get(target.key, ""), link.origin, evidence.title_words)
        numbers.extend((target.score, target.similarity, target.lexical, target.probability))
        numbers.extend((target.serp_rank, link.rank, *evidence.counts, *evidence.need))
        numbers.extend((is_seen(target.score), is_unlinked(target.key)))
    found = blake2b("\n".join(texts).encode("utf-8", "surrogatepass"), digest_size=16)
    found.update(numbers)
    return found.digest()


def _place(touched: bool, waits: bool, strength: float) -> float:
    """Return a number in the order of `rows.urgency`."""
    return 4 * touched + 2 * waits + (0.0 if isnan(strength) else strength)
