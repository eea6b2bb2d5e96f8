"""The stems of texts as numbers, found from the numbers of their words: each word is stemmed once per language."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from internal_linker.core.arrays import Ints
from internal_linker.matching.page_names import Stems

_NONE, _UNKNOWN = -1, -2


class StemNumbers:
    """Finds the stems of numbered words.

    Args:
        vocabulary: the words by their numbers.
        stems: finds the stems of words.
        numbers: the stems that have numbers already, from 0.

    Attributes:
        known: all stems so far, by their numbers.
    """

    def __init__(self, vocabulary: Sequence[str], stems: Stems, numbers: Mapping[str, int]) -> None:
        self._vocabulary, self._stems, self._numbers = vocabulary, stems, dict(numbers)
        self.known = [*numbers]
        self._tables = defaultdict[str, Ints](lambda: np.full(len(vocabulary), _UNKNOWN, np.int32))

    def of(self, words: Ints, starts: Ints, languages: Sequence[str]) -> tuple[Ints, Ints]:
        """Return the stems of some texts, int32, without function words, and where each text's begin.

        New stems are numbered in the order in which they occur.

        Args:
            words: (w,) the words of all the texts, one text after the other.
            starts: (t + 1,) where each text's begin.
            languages: (t,) their languages, "" where unknown.
        """
        distinct = [*dict.fromkeys(languages)]
        places = {language: at for at, language in enumerate(distinct)}
        of_text = np.array([places[language] for language in languages], np.int64)
        of = np.repeat(of_text, np.diff(starts))
        found = self._looked_up(words, of, distinct)
        unknown = np.flatnonzero(found == _UNKNOWN)
        self._learn(words[unknown], of[unknown], distinct)
        found[unknown] = self._looked_up(words[unknown], of[unknown], distinct)
        kept = found != _NONE
        counts: Ints = np.cumsum(np.append(0, kept))
        return found[kept], counts[starts]

    def _looked_up(self, words: Ints, of: Ints, languages: Sequence[str]) -> Ints:
        if len(languages) == 1:
            return self._tables[languages[0]][words]
        found = np.empty(len(words), np.int32)
        for at, language in enumerate(languages):
            here = np.flatnonzero(of == at)
            found[here] = self._tables[language][words[here]]
        return found

    def _learn(self, words: Ints, of: Ints, languages: Sequence[str]) -> None:
        """Find the stems of words, and give new ones numbers in the order in which they occur."""
        keys, first = np.unique(of * len(self._vocabulary) + words, return_index=True)
        order = np.argsort(first)
        of, words = np.divmod(keys[order], len(self._vocabulary))
        stems = np.empty(len(words), np.object_)
        for at, language in enumerate(languages):
            here = np.flatnonzero(of == at)
            ours = [self._vocabulary[word] for word in words[here].tolist()]
            stems[here] = self._stems.each(ours, language)
        for stem in stems.tolist():
            if stem and stem not in self._numbers:
                self._numbers[stem] = len(self.known)
                self.known.append(stem)
        numbers = np.array([self._numbers[stem] if stem else _NONE for stem in stems.tolist()], np.int32)
        for at, language in enumerate(languages):
            here = np.flatnonzero(of == at)
            self._tables[language][words[here]] = numbers[here]
