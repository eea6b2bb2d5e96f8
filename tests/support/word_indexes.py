"""The word index of pages, as a run would read it."""

from collections.abc import Sequence

from internal_linker.match.tokens import tokenize
from internal_linker.match.word_index import WordIndex
from internal_linker.model.records import Collected, Page, Text
from internal_linker.rank.site_words import SiteTerms


def word_index(pages: Sequence[Page]) -> WordIndex:
    """Return the index of the pages' titles and contents."""
    tokens = tokenize([Text("", str(page.content)) for page in pages]).tokens
    return SiteTerms(Collected(tuple(pages), (), (), 0), tokens).index
