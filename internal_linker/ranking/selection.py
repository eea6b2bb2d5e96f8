"""One ranking of candidates -> the links of a source: the rules that no link may break."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from internal_linker.core.reasons import FewLinks, NoTarget, Reason
from internal_linker.core.records import (
    Candidate,
    ExistingLink,
    Link,
    Page,
    Recommendation,
    SerpTarget,
    Shortage,
    Source,
    Targets,
)

T = TypeVar("T", Candidate, SerpTarget)


def link_targets(
    pages: Iterable[Page],
    sources: Iterable[Source],
    excluded: Callable[..., str],
    *,
    any_on_site: bool,
    links: Iterable[ExistingLink] = (),
    aliases: Mapping[str, str] | None = None,
) -> Targets:
    """Where links may lead: known URLs that are no error, no copy, and match no exclusion pattern.

    A query's URL without a page is a target too, but only a search result can lead there.

    Args:
        pages: the listed pages.
        sources: what links are wanted for, of all rows.
        excluded: tells which pattern, if any, forbids a URL.
        any_on_site: whether a search result that is in no list may be a target too.
        links: what is linked already.
        aliases: page that redirects or is a copy -> the page that it leads to in the end.
    """
    sources = tuple(sources)
    known: dict[str, str] = {}
    barred: dict[str, Reason[NoTarget]] = {}
    for key, url, issue in _known(pages, sources):
        if key in known or key in barred:
            continue
        pattern = excluded(url, key)
        if issue or pattern:
            barred[key] = issue or Reason(NoTarget.EXCLUDED, pattern)
        else:
            known[key] = url
    return Targets(known, barred, any_on_site, aliases or {}, linked(sources, links))


def linked(sources: Iterable[Source], links: Iterable[ExistingLink]) -> dict[str, dict[str, None]]:
    """For each source that has any the targets of its links (normal forms), in the order of the links."""
    listed = {source.key for source in sources if source.key}
    found: dict[str, dict[str, None]] = {}
    for link in links:
        if link.source in listed:
            found.setdefault(link.source, {})[link.target] = None
    return found


def eligible(source: Source, ranked: Iterable[T], targets: Targets) -> Iterator[T]:
    """Those that may be linked to, in order: never itself, a barred, foreign or linked page; none twice."""
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
) -> Recommendation:
    """Take the best `count` of the candidates that may be linked to, and say why there are fewer.

    Args:
        source: what links are wanted for.
        ranked: its candidates, best first.
        targets: where links may lead.
        count: how many links at the most.
        remark: what else is to be said of the source.
        accepted: links that keep their places (their ranks) as long as they may be there at all.
        approved: whether a link to this page (normal form) needs no editor's yes; others are held.
    """
    if accepted:
        ranked = list(ranked)
    fresh = {candidate.key: candidate for candidate in ranked} if accepted else {}
    kept = [replace(link, target=fresh.get(link.target.key, link.target)) for link in accepted]
    stays = {candidate.key for candidate in eligible(source, (link.target for link in kept), targets)}
    places = _places([link for link in kept if link.target.key in stays], count)
    held: list[Candidate] = []
    others = (candidate for candidate in eligible(source, ranked, targets) if candidate.key not in stays)
    for candidate in others:
        if len(places) == count:
            break
        if approved(candidate.key):
            places[next(rank for rank in range(1, count + 1) if rank not in places)] = candidate
        elif len(held) < count:
            held.append(candidate)
    # Ranks without a gap, should there be too few links.
    links = tuple(_link(places[place], rank) for rank, place in enumerate(sorted(places), 1))
    shortage = None
    if len(links) < count:
        reason = Reason(FewLinks.WAITING, str(len(held))) if held else Reason(_why_few(source, targets))
        shortage = Shortage(len(links), count, reason)
    return Recommendation(source, links, remark, tuple(_link(candidate, 0) for candidate in held), shortage)


def _places(links: Iterable[Link], count: int) -> dict[int, Candidate]:
    """Links by their ranks; where one is taken, or beyond the last, the nearest free one before or behind."""
    places: dict[int, Candidate] = {}
    for link in sorted(links, key=lambda one: one.rank):
        free = [rank for rank in range(1, count + 1) if rank not in places]
        if free:
            places[min(free, key=lambda rank: abs(rank - link.rank))] = link.target
    return places


def _link(candidate: Candidate, rank: int) -> Link:
    return Link(candidate, rank, "serp" if candidate.serp_rank else "semantic")


def _known(
    pages: Iterable[Page], sources: Iterable[Source]
) -> Iterable[tuple[str, str, Reason[NoTarget] | None]]:
    for page in pages:
        yield page.key, page.url, page.issue
    for source in sources:
        if source.key and source.page is None:
            yield source.key, source.url, None


def _why_few(source: Source, targets: Targets) -> FewLinks:
    if source.page is None and not source.query:
        return FewLinks.NOTHING_KNOWN
    page = source.page
    if page is not None and not (page.content or page.title or page.h1 or source.query):
        return FewLinks.NO_CONTENT
    return FewLinks.REST_LINKED if targets.linked.get(source.key) else FewLinks.NO_TARGET
