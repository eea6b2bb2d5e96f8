"""Features of pairs of pages from their texts: similarity, passages, search by words both ways, titles in texts."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy

import numpy as np

from internal_linker.match.candidates import Matches
from internal_linker.match.guest_rows import GrownMatrix
from internal_linker.match.page_names import Name, Stems
from internal_linker.match.row_products import row_products
from internal_linker.match.site_index import Site
from internal_linker.match.word_index import WordIndex, ones_of
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.records import Page
from internal_linker.text.brands import found_brands, without_brands
from internal_linker.text.words import words as words_of

TEXT_FEATURES = (
    "match", "words", "embedding", "passage", "time", "words without hubness", "embedding without hubness", "named",
    "bm25 in target", "bm25 in source", "title in source", "title covered", "title pairs in source", "titles",
    "target length",
)  # fmt: skip


def title_brands(pages: Sequence[Page]) -> Sequence[str]:
    """Return the brands at the end of the pages' titles, outermost first."""
    return found_brands([page.title or page.h1 for page in pages])


def title_stems(pages: Sequence[Page], stems: Stems, brands: Sequence[str]) -> Iterator[Name]:
    """Yield the stems of each page's title, else its H1, without the site's brands."""
    for page in pages:
        title = page.title or page.h1
        yield stems.stem_words(words_of(without_brands(title, brands) or title), page.lang)


class TextFeatures:
    """Computes the features of pairs from their texts."""

    def __init__(self, site: Site, words: WordIndex) -> None:
        self._site, self._words = site, words
        self._has_content = ones_of(words.contents)
        self._has_title = ones_of(words.titles)

    def with_guests(self, site: Site, words: WordIndex) -> "TextFeatures":
        """Return the features of the same texts and of guests; see the arguments above."""
        other, first = copy(self), self._words.bm25.shape[0]
        other._site, other._words = site, words
        guests = np.arange(first, words.bm25.shape[0])
        other._has_content = GrownMatrix(self._has_content, ones_of(words.contents[guests]))
        other._has_title = GrownMatrix(self._has_title, ones_of(words.titles[guests]))
        return other

    def compute_features(
        self, texts: Ints, matches: Matches, passages: Sequence[Vectors], named: Bools
    ) -> Mapping[str, Vectors]:
        """Return (m,) values of each of `TEXT_FEATURES` but for the scale of a list; NaN where unknown.

        `passages` says how well each source's best passage fits each candidate, 0 to 1; `named`, whether its text has a
        name of it. The rest is as in `PairFeatures.compute_features`.
        """
        of, others, pairs, words = matches.of, matches.rows, matches.pairs, self._words
        hubness = self._site.hubness(others)
        in_source, covered, own_title = row_products(
            [words.contents, self._has_content, self._has_title], texts, words.titles, pairs
        )
        (other_title,) = row_products([words.titles], texts, self._has_title, pairs)
        (in_target,) = row_products([words.queries], texts, words.bm25, pairs)
        (of_target,) = row_products([words.bm25], texts, words.queries, pairs)
        (title_pairs,) = row_products([words.content_pairs], texts, words.title_pairs, pairs)
        values = (
            matches.score,
            matches.lexical,
            matches.similarity,
            np.concatenate([np.empty(0, np.float32), *passages]),
            self._site.nearness(texts[of], others),
            matches.lexical - hubness[0],
            matches.similarity - hubness[1],
            named.astype(np.float32),
            in_target,
            of_target,
            in_source,
            covered,
            title_pairs,
            own_title + other_title,
            np.log1p(words.lengths[others]),
        )
        return dict(zip(TEXT_FEATURES, values, strict=True))
