"""The word index of pages, as a run would read it."""

from collections.abc import Sequence

from internal_linker.core.records import Collected, Page, Text
from internal_linker.matching.tokens import tokenize
from internal_linker.matching.word_index import WordIndex
from internal_linker.ranking.site_words import SiteTerms


def word_index(pages: Sequence[Page]) -> WordIndex:
    """Return the index of the pages' titles and contents."""
    tokens = tokenize([Text("", str(page.content)) for page in pages]).tokens
    return SiteTerms(Collected(tuple(pages), (), (), 0), tokens).index
