"""Selection of a source's links from its ranked candidates, by the rules that no link may break."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from internal_linker.model.canonical_hosts import CanonicalHosts
from internal_linker.model.reasons import FewLinks, NoTarget, Reason
from internal_linker.model.records import (
    Address,
    Candidate,
    ExistingLink,
    Link,
    Recommendation,
    SerpTarget,
    Shortage,
    Source,
    Targets,
)
from internal_linker.model.sections import SectionFilter

T = TypeVar("T", Candidate, SerpTarget)


def link_targets(
    addresses: Iterable[Address],
    excluded: Callable[..., str],
    *,
    any_on_site: bool,
    linked: Mapping[str, Collection[str]] | None = None,
    aliases: Mapping[str, str] | None = None,
    hosts: CanonicalHosts | None = None,
    sections: SectionFilter | None = None,
) -> Targets:
    """Return where links may lead: known URLs that are not an error or a copy and match no exclusion pattern.

    A query's URL without a page is a target too, but only search results can propose it.

    Args:
        excluded: returns the pattern that forbids a URL (URL, key), "" if none does.
        any_on_site: whether a search result that is in no list may be a target too.
        linked: the pages that each page already links to.
        aliases: final page of each page that redirects or is a copy.
        sections: the sections that links may lead to; None: all.
    """
    sections = sections or SectionFilter()
    known: dict[str, str] = {}
    barred: dict[str, Reason[NoTarget]] = {}
    for key, url, issue in addresses:
        if key in known or key in barred:
            continue
        pattern = excluded(url, key)
        if issue or pattern:
            barred[key] = issue or Reason(NoTarget.EXCLUDED, pattern)
        elif not sections.hold(key):
            barred[key] = _OTHER_SECTION
        else:
            known[key] = url
    return Targets(
        known,
        barred,
        any_on_site,
        aliases or {},
        {} if linked is None else linked,
        hosts=hosts or CanonicalHosts(),
        sections=sections,
    )


# Millions of pages can share this reason, which saves memory.
_OTHER_SECTION = Reason(NoTarget.OTHER_SECTION)


def linked(sources: Iterable[Source], links: Iterable[ExistingLink]) -> dict[str, dict[str, None]]:
    """Map each source with links to their targets (normal forms), in the order of the links."""
    listed = {source.key for source in sources if source.key}
    found: dict[str, dict[str, None]] = {}
    for link in links:
        if link.source in listed:
            found.setdefault(link.source, {})[link.target] = None
    return found


def eligible(source: Source, ranked: Iterable[T], targets: Targets) -> Iterator[T]:
    """Yield the candidates that the source may link to, in order.

    The source itself, repeated candidates, and barred, foreign and already linked pages are omitted.
    """
    used = {source.key}
    for candidate in ranked:
        fresh = candidate.key not in used and targets.new_to(source.end, candidate.key)
        if fresh and targets.url_of(candidate.key):
            used.add(candidate.key)
            yield candidate


def select(
    source: Source,
    ranked: Iterable[Candidate],
    targets: Targets,
    count: int,
    remark: str,
    *,
    accepted: Sequence[Link] = (),
    approved: Callable[[str], bool] = lambda _: True,
    full: bool = False,
) -> Recommendation:
    """Take the best `count` eligible candidates, and give the reason if there are fewer.

    Args:
        remark: what else a person should know about the source.
        accepted: links that keep their ranks while they are eligible.
        approved: whether a link to this page (normal form) needs no editor's approval; links that need it are held.
        full: whether candidates are missing because their pages get enough new links.
    """
    if accepted:
        ranked = list(ranked)
    fresh = {candidate.key: candidate for candidate in ranked} if accepted else {}
    kept = [replace(link, target=fresh.get(link.target.key, link.target)) for link in accepted]
    stays = {candidate.key for candidate in eligible(source, (link.target for link in kept), targets)}
    slots = _slots([link for link in kept if link.target.key in stays], count)
    held: list[Candidate] = []
    others = (candidate for candidate in eligible(source, ranked, targets) if candidate.key not in stays)
    for candidate in others:
        if len(slots) == count:
            break
        if approved(candidate.key):
            slots[next(rank for rank in range(1, count + 1) if rank not in slots)] = candidate
        elif len(held) < count:
            held.append(candidate)
    # With too few links, ranks still have no gaps.
    links = tuple(_link(slots[slot], rank) for rank, slot in enumerate(sorted(slots), 1))
    shortage = None
    if len(links) < count:
        reason = Reason(FewLinks.WAITING, str(len(held))) if held else Reason(_why_few(source, targets, full))
        shortage = Shortage(len(links), count, reason)
    return Recommendation(source, links, remark, tuple(_link(candidate, 0) for candidate in held), shortage)


def _slots(links: Iterable[Link], count: int) -> dict[int, Candidate]:
    """Return the targets by rank; a rank that is taken or above `count` becomes the nearest free one."""
    slots: dict[int, Candidate] = {}
    for link in sorted(links, key=lambda one: one.rank):
        free = [rank for rank in range(1, count + 1) if rank not in slots]
        if free:
            slots[min(free, key=lambda rank: abs(rank - link.rank))] = link.target
    return slots


def _link(candidate: Candidate, rank: int) -> Link:
    return Link(candidate, rank, "serp" if candidate.serp_rank else "semantic")


def _why_few(source: Source, targets: Targets, full: bool) -> FewLinks:
    if full:
        return FewLinks.TARGETS_FULL
    if source.page is None and not source.query:
        return FewLinks.NOTHING_KNOWN
    page = source.page
    if page is not None and not (page.content or page.title or page.h1 or source.query):
        return FewLinks.NO_CONTENT
    return FewLinks.REST_LINKED if targets.linked.get(source.key) else FewLinks.NO_TARGET
