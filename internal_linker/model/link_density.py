"""How many links the text of a page can carry."""

from dataclasses import dataclass

import numpy as np

from internal_linker.model.arrays import Ints

# Links that even a short text may have; new ones that a text may get whatever it has, one for so many words.
FEW_LINKS = 5
NEW_LINKS, WORDS_PER_NEW_LINK = 3, 100
# Links per 1,000 words that a site's own texts can make usual, how many of these must be known, and their words.
MOST_USUAL, LEAST_TEXTS, LONG_TEXT = 5.0, 20, 300


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


def usual_density(words: Ints, links: Ints) -> float:
    """Return how many links per 1,000 words a site's editors set: the median of long texts, `MOST_USUAL` at most.

    Where too few texts are known, it is `MOST_USUAL`. Both arrays are those of the texts that have links.
    """
    is_long = words >= LONG_TEXT
    if np.count_nonzero(is_long) < LEAST_TEXTS:
        return MOST_USUAL
    return min(MOST_USUAL, float(np.median(1000 * links[is_long] / words[is_long])))


def usual_room(words: int, links: int, density: float) -> int:
    """Return how many more links a text of so many words with so many links gets at a usual density."""
    room = max(FEW_LINKS, int(words * density / 1000)) - links
    return max(room, min(NEW_LINKS, words // WORDS_PER_NEW_LINK))
