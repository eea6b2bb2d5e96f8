"""The words that two titles have in common and few other titles have."""

import re
from collections import Counter
from collections.abc import Sequence

from internal_linker.text.stop_words import stop_words
from internal_linker.text.words import words

# A word in more of the titles says little: the brand, the site's own topic.
_MOST_SHARE, _FEW = 0.05, 3


class SharedTitles:
    """Finds the words that a title shares with the titles of a site's pages.

    Args:
        titles: the pages' titles.
        languages: the pages' languages; "" if unknown.
    """

    def __init__(self, titles: Sequence[str], languages: Sequence[str]) -> None:
        self._titles = titles
        self._stop_words = {name: stop_words(name) for name in {*languages, "en"}}
        self._languages = languages
        self._words = [words(title) for title in titles]
        counts = Counter(word for each in self._words for word in {*each})
        most = max(_FEW, _MOST_SHARE * len(titles))
        self._common = {word for word, count in counts.items() if count > most}

    def shared(self, title: str, row: int) -> str:
        """Return the longest phrase of telling words that a title shares with that of a page, as the page writes it.

        A phrase of stop words and words of many titles is none; "" if there is no phrase.
        """
        ours, theirs = words(title), self._words[row]
        stops = self._stop_words[self._languages[row] or "en"]
        telling = {
            word for word in theirs if word not in stops and word not in self._common and len(word) > 1
        }
        telling &= {*ours}
        if not telling:
            return ""
        run = max(_runs(ours, theirs), key=lambda run: sum(word in telling for word in run), default=[])
        while run and run[-1] not in telling:
            run = run[:-1]
        while run and run[0] not in telling:
            run = run[1:]
        # Words cut from a script without spaces, or folded, may not stand in the title.
        found = re.search(r"[\W_]+".join(map(re.escape, run)), self._titles[row], re.IGNORECASE)
        return found[0] if found else ""


def _runs(ours: Sequence[str], theirs: Sequence[str]) -> list[list[str]]:
    """Return the longest run of equal words from each pair of places, the first of `theirs` first."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(ours):
        places.setdefault(word, []).append(place)
    runs = []
    for start, word in enumerate(theirs):
        for place in places.get(word, ()):
            length = 1
            while ours[place : place + length + 1] == theirs[start : start + length + 1] and (
                start + length < len(theirs) and place + length < len(ours)
            ):
                length += 1
            runs.append([*theirs[start : start + length]])
    return runs
