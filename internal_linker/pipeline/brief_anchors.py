"""Anchors for the links of a planned page, both ways, with the sentences that they are in."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from internal_linker.anchors.finder import ANCHORS, Anchoring
from internal_linker.core.briefs import BriefLink
from internal_linker.core.edges import Anchor, score_of, strength
from internal_linker.core.evidence import sentences
from internal_linker.core.records import Link, Page, Source, fold_query
from internal_linker.pipeline.brief_page import NOWHERE, Planned
from internal_linker.text.words import words

# A link to the new page: its source, and the link with its rank among all candidates of the source.
Inward = tuple[Source, Link]


def links_to(plan: Planned, anchoring: Anchoring, links: Sequence[Link]) -> Iterator[BriefLink]:
    """Yield the new page's links, best first, with anchors that are in the draft or name the target."""
    names = _Names(plan, [link.target.key for link in links])
    anchors = anchoring.propose(plan.page.key, [link.target.key for link in links])
    for rank, (link, ours) in enumerate(zip(links, anchors, strict=True), 1):
        target = link.target
        other, known = plan.collected.find(target.key), names.added(target.key, ours)
        yield _link(_url(plan), target.url, other, link, known, rank=rank)


def links_from(plan: Planned, anchoring: Anchoring, found: Sequence[Inward]) -> Iterator[BriefLink]:
    """Yield the links to the new page, best first, with anchors that are in their sources or name the new page."""
    key, names = plan.page.key, _Names(plan, [plan.page.key])
    for rank, (source, link) in enumerate(found, 1):
        (ours,) = anchoring.propose(source.key, [key])
        known = names.added(key, ours)
        yield _link(source.url, _url(plan), source.page, link, known, rank=rank)


class _Names:
    """Names of some pages other than their titles: their main queries, then the anchors of the links to them."""

    def __init__(self, plan: Planned, keys: Iterable[str]) -> None:
        self._site = site = plan.collected
        self._queries: dict[str, list[str]] = {key: [] for key in keys}
        for key, query in zip(site.source_keys, site.source_queries, strict=True):
            if query and key in self._queries:
                self._queries[key].append(query)

    def added(self, key: str, anchors: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
        """Return the anchors of a link to a page, with other names of it if none of the anchors is in the source."""
        page = self._site.find(key)
        if any(anchor.verbatim for anchor in anchors) or page is None:
            return anchors
        known = {fold_query(anchor.text): anchor for anchor in anchors}
        place = anchors[0] if anchors else Anchor("")
        title_words = {*words(f"{page.title} {page.h1}")}
        anchored = Counter(link.anchor for link in self._site.anchored_to.get(key, ()))
        for name in (*self._queries[key], *(anchor for anchor, _ in anchored.most_common())):
            # "Read more" doesn't name a page.
            if title_words.isdisjoint(words(name)):
                continue
            known.setdefault(fold_query(name), Anchor(name, place.sentence, place.start, verbatim=False))
        return tuple(known.values())[:ANCHORS]


def _url(plan: Planned) -> str:
    return "" if plan.page.key == NOWHERE else plan.page.url


def _link(
    source: str,
    target: str,
    other: Page | None,
    link: Link,
    anchors: tuple[Anchor, ...],
    *,
    rank: int,
) -> BriefLink:
    signals, best = link.target, anchors[0] if anchors else Anchor("", verbatim=False)
    mentions = best.text if best.verbatim else ""
    return BriefLink(
        source,
        target,
        title=(other.title or other.h1) if other else "",
        rank=rank,
        place=link.rank,
        score=score_of(strength(signals.score)),
        why=sentences(link.evidence, serp_rank=signals.serp_rank, score=signals.score, mentions=mentions),
        blend=signals.score,
        similarity=signals.similarity,
        lexical=signals.lexical,
        probability=signals.probability,
        serp_rank=signals.serp_rank,
        anchor=best.text,
        sentence=best.sentence,
        verbatim=best.verbatim,
        more_anchors=anchors[1:],
    )
