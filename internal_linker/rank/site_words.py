"""What the words of a site's texts say for its ranking: which pages they name, and their index for searches."""

import numpy as np

from internal_linker.match.candidates import language_codes
from internal_linker.match.page_names import StemNumbers, Stems
from internal_linker.match.tokens import Tokens
from internal_linker.match.word_index import WordReader
from internal_linker.model.records import Collected
from internal_linker.rank.named_pages import NamedPages
from internal_linker.rank.text_features import title_brands, title_stems

# Words to read at a time, so that temporary arrays stay small.
_AT_A_TIME = 1 << 18


class SiteTerms:
    """The stems of a site's texts.

    Attributes:
        named: the pages that the texts name.
        brands: the brands at the end of the titles, outermost first.
    """

    def __init__(self, collected: Collected, tokens: Tokens) -> None:
        pages, stems = collected.pages, Stems()
        languages = [page.lang for page in pages]
        self.named = NamedPages(collected, stems)
        self.brands = title_brands(pages)
        reader = WordReader([*title_stems(pages, stems, self.brands)], language_codes(languages))
        numbers = StemNumbers(tokens.vocabulary, stems, reader.numbers)
        bodies = tokens.bodies
        starts = np.cumsum([0, *map(len, bodies)])
        first = 0
        while first < len(bodies):
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + _AT_A_TIME, "right")) - 1)
            words, begins = np.concatenate(bodies[first:last]), starts[first : last + 1] - starts[first]
            found = numbers.number_stems(words, begins, languages[first:last])
            self.named.read(*found, numbers.known)
            reader.read(*found)
            first = last
        self.index = reader.index(numbers.known)
