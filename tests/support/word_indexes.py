"""The word index of pages, as a run would read it."""

from collections.abc import Sequence

from internal_linker.core.records import Page
from internal_linker.matching.candidates import language_codes
from internal_linker.matching.page_names import Stems
from internal_linker.matching.word_index import WordIndex, WordReader
from internal_linker.ranking.text_features import title_brands, title_stems
from internal_linker.text.boilerplate import Boilerplate
from internal_linker.text.words import words


def word_index(pages: Sequence[Page]) -> WordIndex:
    """Return the index of the pages' titles and contents."""
    stems = Stems()
    titles = title_stems(pages, stems, title_brands(pages))
    reader = WordReader([*titles], language_codes([page.lang for page in pages]))
    boilerplate = Boilerplate(str(page.content) for page in pages)
    for page in pages:
        reader.read(stems.of(words(boilerplate.without(str(page.content))), page.lang))
    return reader.index()
