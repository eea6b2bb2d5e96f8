"""Everything known of pages and queries -> the recommendations: match, fuse, select, one source after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.records import (
    Candidate,
    Collected,
    Fusion,
    Page,
    Recommendation,
    SerpTarget,
    Source,
    Targets,
    Text,
    Vectors,
)
from internal_linker.searching import Searched
from internal_linker.steps.fuse import fuse
from internal_linker.steps.match import Index, Matches, language_codes, match, term_index
from internal_linker.steps.select import select


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How links are chosen; each attribute is the setting of that name."""

    links_per_page: int
    fusion: Fusion
    lexical_weight: float


def recommend(
    collected: Collected,
    sources: Sequence[Source],
    targets: Targets,
    searched: Searched,
    texts: Sequence[Text],
    vectors: Vectors,
    rules: LinkRules,
) -> Iterator[Recommendation]:
    """Yield the links of each source, in order.

    Args:
        collected: the whole input.
        sources: what links are wanted for.
        targets: where links may lead.
        searched: search results of the sources.
        texts: one for each page, then one for each source without a page.
        vectors: (len(texts), d) float32 unit rows, zeros where there is none.
        rules: how many links and how they are ranked.
    """
    pages = collected.pages
    rows = _Rows(pages, sources)
    languages = [page.lang for page in pages] + [""] * (len(texts) - len(pages))
    index = Index(vectors, term_index([text.whole for text in texts]), language_codes(languages))
    found = match(
        index,
        [rows.of(source) for source in sources],
        [row for row, page in enumerate(pages) if page.key in targets.known and texts[row].whole],
        # Search results may take places that similar pages would have had.
        keep=2 * rules.links_per_page,
        lexical_weight=rules.lexical_weight,
        asked=[rows.of_targets(searched.targets.get(source.identity, ())) for source in sources],
    )
    for source, matches in zip(sources, found, strict=True):
        serp = searched.targets.get(source.identity, ())
        ranked = fuse(serp, _candidates(matches, pages), rules.fusion)
        note = searched.notes.get(source.identity, "")
        yield select(source, ranked, targets, rules.links_per_page, note)


class _Rows:
    """Which row of the index stands for a source or target."""

    def __init__(self, pages: Sequence[Page], sources: Sequence[Source]) -> None:
        self._pages = {page.key: row for row, page in enumerate(pages)}
        own = (source for source in sources if source.page is None)
        self._own = {source.identity: len(pages) + at for at, source in enumerate(own)}

    def of(self, source: Source) -> int:
        return self._own[source.identity] if source.page is None else self._pages[source.key]

    def of_targets(self, targets: Sequence[SerpTarget]) -> list[int]:
        return [self._pages[target.key] for target in targets if target.key in self._pages]


def _candidates(matches: Matches, pages: Sequence[Page]) -> Iterator[Candidate]:
    for row, score, similarity, lexical in zip(
        matches.rows, matches.score, matches.similarity, matches.lexical, strict=True
    ):
        # A pair that may not be matched (another language) has no score; only a search result names it.
        if not np.isnan(score):
            yield Candidate(pages[row].key, pages[row].url, float(score), float(similarity), float(lexical))
