"""What was collected, and where links may lead -> every target that is left out, with the reason."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.core.reasons import NoTarget, Reason
from internal_linker.core.records import Collected, Duplicate, ExcludedTarget, Orphan, Targets
from internal_linker.matching.near_duplicates import canonical_candidates
from internal_linker.ranking.link_features import inlinks
from internal_linker.ranking.rank import Ranking
from internal_linker.ranking.reverse_candidates import sources_near


def excluded_targets(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Yield what holds for every source, then what holds for one, each rule in its turn, in the input's order."""
    yield from _barred(collected, targets)
    yield from _other_languages(collected, targets)
    yield from _linked_already(collected, targets)
    yield from _rejected(collected, targets)


def _barred(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Errors, copies, redirects and excluded patterns."""
    for key, url in _urls(collected).items():
        if reason := targets.barred.get(key):
            yield ExcludedTarget("", url, reason)


def _other_languages(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """Pages that are not in the site's most common language: a link joins pages of one language."""
    pages = Counter(page.lang for page in collected.pages if page.lang)
    most = max(pages, key=pages.__getitem__, default="")
    for page in collected.pages:
        if page.lang not in ("", most) and page.key in targets.known:
            yield ExcludedTarget("", page.url, Reason(NoTarget.OTHER_LANGUAGE, page.lang))


def _linked_already(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """What a source links to and could be a target otherwise."""
    reason = Reason(NoTarget.ALREADY_LINKED)
    for key, url in _urls(collected).items():
        for target in targets.linked.get(key, ()):
            if target in targets.known:
                yield ExcludedTarget(url, targets.known[target], reason)


def _rejected(collected: Collected, targets: Targets) -> Iterator[ExcludedTarget]:
    """What an editor rejected; of a page's queries one stands for all."""
    reason = Reason(NoTarget.REJECTED)
    names = {source.end: source.name for source in reversed(collected.sources)}
    for end, rejected in targets.rejected.items():
        for target in rejected:
            if end in names and target in targets.known:
                yield ExcludedTarget(names[end], targets.known[target], reason)


def _urls(collected: Collected) -> dict[str, str]:
    """The user's own writing of every listed page, by its normal form."""
    urls = {page.key: page.url for page in collected.pages}
    for source in collected.sources:
        if source.key:
            urls.setdefault(source.key, source.url)
    return urls


# Sources named for an orphan: as many as a page has links by default, enough to choose from by hand.
SOURCES = 5


@dataclass(frozen=True, slots=True)
class Listed:
    """What a whole run tells of the site.

    Attributes:
        duplicates: pairs of nearly the same text by the rows of their pages, the one to keep second.
        orphans: pages that nobody links to; None where no existing link is known.
    """

    duplicates: Mapping[tuple[int, int], Duplicate]
    orphans: Sequence[Orphan] | None


def list_site(ranking: Ranking, collected: Collected) -> Listed:
    """Both lists in the order of the pages; only pages that a link may lead to are in them."""
    linked = inlinks(collected.links)
    return Listed(_duplicates(ranking, linked), _orphans(ranking, linked) if collected.inner_links else None)


def _duplicates(ranking: Ranking, linked: Mapping[str, int]) -> Mapping[tuple[int, int], Duplicate]:
    pairs = {
        rows: pair
        for rows, pair in ranking.site.near_duplicates.items()
        if all(ranking.site.pages[row].key in ranking.targets.known for row in rows)
    }
    return canonical_candidates(pairs, ranking.site.pages, linked)


def _orphans(ranking: Ranking, linked: Counter[str]) -> list[Orphan]:
    # An error or a copy is no place for a link, and a query is no page.
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
