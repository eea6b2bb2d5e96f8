"""Synthetic sites of random words and links, ranked without vectors, so that the result of training is known."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from internal_linker.match.compute.processes import Processes
from internal_linker.match.embed import page_text
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Collected, ExistingLink, Page, Searched, Source, Targets
from internal_linker.rank.rank import Ranking
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.selection import linked
from tests.support.builders import page, url

RULES = LinkRules(5, "fill", 0.65)
Pairs = Sequence[tuple[int, int]]


def pages(count: int, seed: int = 0) -> tuple[Page, ...]:
    """Return pages of random words without topics."""
    rng = np.random.default_rng(seed)
    return tuple(
        page(number, " ".join(f"w{word}" for word in rng.integers(0, 400, 40))) for number in range(count)
    )


def random_pairs(n: int, count: int, seed: int, popularity: float = 0.0) -> list[tuple[int, int]]:
    """Draw pairs of n pages; with `popularity`, targets follow 1 / k ** `popularity`, without the last fifth."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n + 1) ** popularity
    if popularity:
        share[-n // 5 :] = 0
    found: set[tuple[int, int]] = set()
    while len(found) < count:
        source, target = int(rng.integers(n)), int(rng.choice(n, p=share / share.sum()))
        if source != target:
            found.add((source, target))
    return sorted(found)


def existing(pairs: Iterable[tuple[int, int]]) -> list[ExistingLink]:
    """Return the existing links between pages of these numbers."""
    return [ExistingLink(url(source), url(target), "here") for source, target in pairs]


def ranking(site: Sequence[Page], pairs: Pairs, *queries: str, workers: Processes | None = None) -> Ranking:
    """Return the ranking for every page and for queries without a page, given these existing links."""
    found = ranked_site(site, [*pages_of(site), *map(query_of, queries)], links=existing(pairs))
    found.work(workers)
    return found


def pages_of(site: Sequence[Page]) -> list[Source]:
    return [Source(each.key, each.url, "", each, in_sheet=False) for each in site]


def query_of(query: str) -> Source:
    return Source("", "", query, None, in_sheet=False)


def ranked_site(
    site: Sequence[Page],
    sources: Sequence[Source] | None = None,
    *,
    links: Iterable[ExistingLink] = (),
    searched: Searched | None = None,
    rules: LinkRules = RULES,
    vectors: Vectors | None = None,
    **allowed: Any,
) -> Ranking:
    """Return the ranking for these sources, by default the site's pages; `allowed` are fields of `Targets`."""
    links, sources = tuple(links), tuple(pages_of(site) if sources is None else sources)
    targets = Targets(
        {each.key: each.url for each in site}, {}, **{"linked": linked(sources, links), **allowed}
    )
    texts = [page_text(each) for each in site]
    texts += [page_text(page(each.query, each.query)) for each in sources if each.page is None]
    return Ranking(
        Collected(tuple(site), sources, (), 0, links=links),
        sources,
        targets,
        searched or Searched(),
        texts=texts,
        vectors=np.zeros((len(texts), 1), np.float32) if vectors is None else vectors,
        rules=rules,
    )
