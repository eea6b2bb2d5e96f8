"""How many links the text of a page can carry."""

from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Ints

# Links that even a short text may have.
FEW_LINKS = 5


@dataclass(frozen=True, slots=True)
class LinkDensity:
    """The limits beyond which a page has too many links."""

    links: int = 100  # links on a page
    per_100_words: float = 5.0  # links per 100 words of a page's text; each text may have `FEW_LINKS`

    def most(self, words: Ints) -> Ints:
        """Return the most links that texts of these numbers of words can carry; 0 words: unknown."""
        by_length = np.maximum(FEW_LINKS, words / 100 * self.per_100_words).astype(np.int64)
        most: Ints = np.where(words > 0, np.minimum(self.links, by_length), self.links)
        return most

    def room(self, words: int, links: int) -> int:
        """Return how many more links a text of so many words with so many links can carry."""
        return max(0, int(self.most(np.array([words]))[0]) - links)
