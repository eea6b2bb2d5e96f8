"""Lists about a whole site: excluded targets with their reasons, near-duplicates and orphan pages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.match.near_duplicates import canonical_candidates
from internal_linker.model.reasons import NoTarget, Reason
from internal_linker.model.records import Collected, Duplicate, ExcludedTarget, Orphan, Targets
from internal_linker.rank.link_features import inlinks
from internal_linker.rank.rank import Ranking
from internal_linker.rank.reverse_candidates import sources_near


def excluded_targets(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Yield the targets excluded for every source, then those excluded for one, rule by rule, in the input's order."""
    yield from _barred(collected, targets)
    yield from _other_languages(collected, targets)
    yield from _linked_already(collected, targets)
    yield from _rejected(collected, targets)


def _barred(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    for key, url in _urls(collected).items():
        if reason := targets.barred.get(key):
            yield ExcludedTarget("", url, reason)


def _other_languages(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Yield pages that are not in the site's most common language: links connect pages of one language."""
    pages = Counter(page.lang for page in collected.pages if page.lang)
    most = max(pages, key=pages.__getitem__, default="")
    for page in collected.pages:
        if page.lang not in ("", most) and page.key in targets.known:
            yield ExcludedTarget("", page.url, Reason(NoTarget.OTHER_LANGUAGE, page.lang))


def _linked_already(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Yield the targets that are excluded only because the source already links to them."""
    reason = Reason(NoTarget.ALREADY_LINKED)
    for key, url in _urls(collected).items():
        for target in targets.linked.get(key, ()):
            if target in targets.known:
                yield ExcludedTarget(url, targets.known[target], reason)


def _rejected(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Yield the targets that an editor rejected, once for all queries of a page."""
    reason = Reason(NoTarget.REJECTED)
    names = {source.end: source.name for source in reversed(collected.sources)}
    for end, rejected in targets.rejected.items():
        for target in rejected:
            if end in names and target in targets.known:
                yield ExcludedTarget(names[end], targets.known[target], reason)


def _urls(collected: Collected) -> dict[str, str]:
    urls = {page.key: page.url for page in collected.pages}
    for source in collected.sources:
        if source.key:
            urls.setdefault(source.key, source.url)
    return urls


# Sources listed for an orphan page: the default number of links per page, enough to choose from by hand.
SOURCES = 5


@dataclass(frozen=True, slots=True)
class SiteLists:
    """The lists that only a run over the whole site makes."""

    # near-duplicates by the rows of both pages, the page to keep second
    duplicates: Mapping[tuple[int, int], Duplicate]
    orphans: Sequence[Orphan] | None  # pages without inlinks; None where no existing link is known


def list_site(ranking: Ranking, collected: Collected) -> SiteLists:
    """Return both lists in the order of the pages; they contain only pages that a link may lead to."""
    linked = inlinks(collected.live_links)
    return SiteLists(
        _duplicates(ranking, linked), _orphans(ranking, linked) if collected.inner_links else None
    )


def _duplicates(ranking: Ranking, linked: Mapping[str, int]) -> Mapping[tuple[int, int], Duplicate]:
    pairs = {
        rows: pair
        for rows, pair in ranking.site.near_duplicates.items()
        if all(ranking.site.pages[row].key in ranking.targets.known for row in rows)
    }
    return canonical_candidates(pairs, ranking.site.pages, linked)


def _orphans(ranking: Ranking, linked: Counter[str]) -> list[Orphan]:
    # Nobody can add a link to an error, a copy or a query.
    editable = [at for at, source in enumerate(ranking.sources) if source.page and source.page.takes_links]
    pages = ranking.site.pages
    unlinked = np.array([not linked[page.key] for page in pages], np.bool_)
    alone = np.flatnonzero(ranking.linkable[: len(pages)] & unlinked)
    near = dict(zip(alone.tolist(), sources_near(ranking, alone, SOURCES, editable), strict=True))
    return [
        Orphan(page.url, tuple(ranking.sources[at].url for at in near.get(row, ())))
        for row, page in enumerate(pages)
        if page.key in ranking.targets.known and not linked[page.key]
    ]
