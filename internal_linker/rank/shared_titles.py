"""The words that two titles have in common and few other titles have."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from internal_linker.model.records import Page
from internal_linker.text.stop_words import folded_stop_words
from internal_linker.text.words import words

# A word in more of the titles says little: the brand, the site's own topic.
_MOST_SHARE, _FEW = 0.05, 3
# A shorter Latin word names a topic only in capitals: "API", but not "use".
_LETTERS = 4


def common_words(titles: Sequence[str]) -> frozenset[str]:
    """Return the words that say little in a title, since many of the titles have them."""
    counts = Counter(word for title in titles for word in {*words(title)})
    most = max(_FEW, _MOST_SHARE * len(titles))
    return frozenset(word for word, count in counts.items() if count > most)


class EqualTitles:
    """Finds the pages with a title, or an H1, of certain words; 24 bytes a page."""

    def __init__(self, pages: Sequence[Page]) -> None:
        found = [
            (_hash(name), row)
            for row, page in enumerate(pages)
            for name in dict.fromkeys((tuple(words(page.title)), tuple(words(page.h1))))
            if name
        ]
        found.sort()
        self._hashes = np.array([each for each, _ in found], np.uint64)
        self._rows = np.array([row for _, row in found], np.int32)

    def rows(self, title: Sequence[str]) -> list[int]:
        """Return the rows of the pages whose title or H1 has exactly these words, ascending; none for no words."""
        wanted = np.array(_hash(title), np.uint64)
        start, end = (np.searchsorted(self._hashes, wanted, side) for side in ("left", "right"))
        return sorted(set(self._rows[start:end].tolist())) if title else []


def _hash(title: Sequence[str]) -> int:
    found = blake2b(" ".join(title).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(found.digest(), "little")


class SharedTitles:
    """Finds the words that a title shares with the titles of a site's pages.

    A language is "" if unknown; `common` are the `common_words` of the site.
    """

    def __init__(self, titles: Sequence[str], languages: Sequence[str], common: frozenset[str]) -> None:
        self._titles, self._languages, self._common = titles, languages, common

    def words(self, row: int) -> Sequence[str]:
        """Return the words of a page's title."""
        return words(self._titles[row])

    def shared(self, ours: Sequence[str], row: int) -> str:
        """Return the longest phrase that a title shares with that of a page, as the page writes it, or "".

        It begins and ends with telling words: no stop words, and no words of many titles.
        """
        theirs = self.words(row)
        telling = {*theirs} - self._common - folded_stop_words(self._languages[row])
        if telling.isdisjoint(ours):
            return ""
        run = max(_runs(ours, theirs), key=lambda run: sum(word in telling for word in run))
        while run[-1] not in telling:
            run = run[:-1]
        while run[0] not in telling:
            run = run[1:]
        written = _as_written(self._titles[row], run)
        return "" if len(written) < _LETTERS and written.isascii() and not written.isupper() else written


def _as_written(title: str, run: Sequence[str]) -> str:
    """Return words where they stand in the title; "" if they don't: folded, or cut from a script without spaces."""
    folded, phrase = title.casefold(), " ".join(run)
    place = folded.find(phrase) if len(folded) == len(title) else -1
    if place >= 0:
        return title[place : place + len(phrase)]
    found = re.search(r"[\W_]+".join(map(re.escape, run)), title, re.IGNORECASE)
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
