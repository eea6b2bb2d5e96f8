"""What the words of a site's texts say for its ranking: which pages they name, and their index for searches."""

from collections.abc import Sequence

from internal_linker.core.records import Collected
from internal_linker.matching.candidates import language_codes
from internal_linker.matching.page_names import Stems
from internal_linker.matching.word_index import WordIndex, WordReader
from internal_linker.ranking.named_pages import NamedPages
from internal_linker.ranking.text_features import title_brands, title_stems


class SiteWords:
    """Reads the text of each page once, in order, before anything else.

    Args:
        collected: the pages, their main queries and existing links.

    Attributes:
        named: the pages that the texts name.
        brands: the brands at the end of the titles, outermost first.
    """

    def __init__(self, collected: Collected) -> None:
        pages, self._stems = collected.pages, Stems()
        self._languages = [page.lang for page in pages]
        self.named = NamedPages(collected, self._stems)
        self.brands = title_brands(pages)
        titles = title_stems(pages, self._stems, self.brands)
        self._reader = WordReader([*titles], language_codes(self._languages))
        self._read = 0

    def read(self, text: Sequence[str]) -> None:
        """Read the next text: the words of its content, as `text.words` folds them."""
        stems = self._stems.of(text, self._languages[self._read])
        self.named.read(stems)
        self._reader.read(stems)
        self._read += 1

    def index(self) -> WordIndex:
        """Return the index of all texts; call it once."""
        return self._reader.index()
