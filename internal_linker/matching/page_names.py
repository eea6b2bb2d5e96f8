"""Names in texts: where titles and known anchors stand in the content of other pages, inflected or not."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from internal_linker.core.arrays import Ints, Pairs
from internal_linker.text.stemming import OTHER_SCRIPTS, stem
from internal_linker.text.stop_words import folded_stop_words

# Longer names stand in no other text.
_MOST_WORDS = 8
# A name on more than this share of the pages means something else on most of them ("contact"); among a handful of
# pages, a share says nothing.
_COMMON_SHARE, _FEW = 0.05, 5
# Words whose stems are kept per language: the numbers and typos of a million pages would fill the memory.
_MOST_KNOWN = 300_000

# The stems of a name, in order.
Name = tuple[str, ...]


class Stems:
    """Finds the stems of words."""

    def __init__(self) -> None:
        self._known: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def of(self, words: Sequence[str], language: str) -> Name:
        """Return the stems of words, as `text.words` folds them; function words have none."""
        known = self._known[language]
        if len(known) > _MOST_KNOWN:
            known.clear()
        stops = folded_stop_words(language)
        if language[:2].lower() in OTHER_SCRIPTS:
            stops = stops | folded_stop_words("en")
        for word in set(words).difference(known):
            known[word] = "" if word in stops else stem(word, language)
        return tuple(filter(None, map(known.__getitem__, words)))


class PageNames:
    """Finds names in texts, by their stems.

    Args:
        names: the stems of each name.
    """

    def __init__(self, names: Iterable[Name]) -> None:
        found = dict.fromkeys(name for name in names if 0 < len(name) <= _MOST_WORDS)
        self._numbers = {name: number for number, name in enumerate(found)}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for name in self._numbers:
            lengths[name[0]].add(len(name))
        self._lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}
        self._found: list[list[int]] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, name: Name) -> int | None:
        """Return the number of a name, from 0; None for one with too many words, or none, and an unknown one."""
        return self._numbers.get(name)

    def read(self, text: Name) -> None:
        """Find the names in the next text; see `in_text`."""
        self._found.append(self.in_text(text))

    def in_text(self, text: Name) -> list[int]:
        """Return the numbers of the names in a text, by its stems; of overlapping ones, the first and longest."""
        found, end, lengths = dict[int, None](), 0, self._lengths
        for at in [at for at, first in enumerate(text) if first in lengths]:
            if at < end:
                continue
            for length in lengths[text[at]]:
                number = self._numbers.get(text[at : at + length])
                if number is not None:
                    found[number] = None
                    end = at + length
                    break
        return [*found]

    def found(self) -> tuple[Pairs, Ints]:
        """Return the numbers of the names in each text that was read, and of those that too many have."""
        of = np.repeat(np.arange(len(self._found)), [len(each) for each in self._found])
        numbers = np.array([number for each in self._found for number in each], np.int64)
        times = np.bincount(numbers, minlength=len(self))
        few = times <= max(_FEW, _COMMON_SHARE * len(self._found))
        return Pairs(of, numbers).at(few[numbers]), np.flatnonzero(~few)
