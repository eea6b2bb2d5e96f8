"""The links that a new page should have, both ways -> the same with texts for them, and where these may stand."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from internal_linker.anchors.finder import ANCHORS, Anchoring
from internal_linker.core.briefs import BriefLink
from internal_linker.core.edges import Anchor
from internal_linker.core.records import Candidate, Page, Source, fold_query
from internal_linker.pipeline.brief_page import NOWHERE, Planned
from internal_linker.text.words import words

# A link to the new page: from where, with which signals, and its place among all that its source could link to.
Inward = tuple[Source, Candidate, int]


def links_to(plan: Planned, anchoring: Anchoring, targets: Sequence[Candidate]) -> Iterator[BriefLink]:
    """Yield the new page's links, best first, with anchors that stand in the draft or name the target."""
    pages = {page.key: page for page in plan.collected.pages}
    names = _Names(plan, pages)
    anchors = anchoring.propose(plan.page.key, [target.key for target in targets])
    for rank, (target, ours) in enumerate(zip(targets, anchors, strict=True), 1):
        ends = _url(plan), target.url
        yield _link(ends, pages.get(target.key), rank, rank, target, names.added(target.key, ours))


def links_from(plan: Planned, anchoring: Anchoring, found: Sequence[Inward]) -> Iterator[BriefLink]:
    """Yield the links to the new page, best first, with anchors that stand in their sources or name the new page."""
    key, names = plan.page.key, _Names(plan, {plan.page.key: plan.page})
    for rank, (source, signals, place) in enumerate(found, 1):
        (ours,) = anchoring.propose(source.key, [key])
        ends = source.url, _url(plan)
        yield _link(ends, source.page, rank, place, signals, names.added(key, ours))


class _Names:
    """What pages are called, beside their titles: by their main queries, and by the links to them."""

    def __init__(self, plan: Planned, pages: Mapping[str, Page]) -> None:
        self._pages = pages
        self._names: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for source in plan.collected.sources:
            if source.query:
                # Before what others may have written.
                self._names[source.key][source.query] += len(plan.collected.links) + 1
        for link in plan.collected.links:
            self._names[link.target][link.anchor] += 1

    def added(self, key: str, anchors: tuple[Anchor, ...]) -> tuple[Anchor, ...]:
        """The anchors of a link to a page; where none of them stands in the source, with other names."""
        if any(anchor.verbatim for anchor in anchors) or key not in self._pages:
            return anchors
        page, known = self._pages[key], {fold_query(anchor.text): anchor for anchor in anchors}
        place = anchors[0] if anchors else Anchor("")
        told = {*words(f"{page.title} {page.h1}")}
        for name, _ in self._names[key].most_common():
            # "Read more" names no page.
            if told.isdisjoint(words(name)):
                continue
            known.setdefault(fold_query(name), Anchor(name, place.sentence, place.start, verbatim=False))
        return tuple(known.values())[:ANCHORS]


def _url(plan: Planned) -> str:
    return "" if plan.page.key == NOWHERE else plan.page.url


def _link(
    ends: tuple[str, str],
    other: Page | None,
    rank: int,
    place: int,
    signals: Candidate,
    anchors: tuple[Anchor, ...],
) -> BriefLink:
    best = anchors[0] if anchors else Anchor("", verbatim=False)
    return BriefLink(
        *ends,
        (other.title or other.h1) if other else "",
        rank,
        place,
        signals.score,
        signals.similarity,
        signals.lexical,
        signals.probability,
        signals.serp_rank,
        best.text,
        best.sentence,
        best.verbatim,
        anchors[1:],
    )
