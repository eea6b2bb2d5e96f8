"""The stems of a site's texts as numbers, and the names of its pages in them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from internal_linker.match.tokens import PairSieve
from internal_linker.model.arrays import Ints, Pairs
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

    def stem_words(self, words: Sequence[str], language: str) -> Name:
        """Return the stems of words, as `text.words` folds them; function words have none."""
        return tuple(filter(None, self.each(words, language)))

    def each(self, words: Sequence[str], language: str) -> Sequence[str]:
        """Return the stem of each word, "" for a function word."""
        known = self._known[language]
        if len(known) > _MOST_KNOWN:
            known.clear()
        stops = folded_stop_words(language)
        if language[:2].lower() in OTHER_SCRIPTS:
            stops = stops | folded_stop_words("en")
        for word in set(words).difference(known):
            known[word] = "" if word in stops else stem(word, language)
        return [*map(known.__getitem__, words)]


class PageNames:
    """Finds names in texts, by their stems."""

    def __init__(self, names: Iterable[Name]) -> None:
        found = dict.fromkeys(name for name in names if 0 < len(name) <= _MOST_WORDS)
        self._numbers = {name: number for number, name in enumerate(found)}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for name in self._numbers:
            lengths[name[0]].add(len(name))
        self._lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}
        self._found: list[list[int]] = []
        # Made by `read`.
        self._stem_codes: dict[str, int] = {}
        self._codes: Ints = np.empty(0, np.int32)

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, name: Name) -> int | None:
        """Return the number of a name, from 0; None for one with too many words, or none, and an unknown one."""
        return self._numbers.get(name)

    def read(self, stems: Ints, starts: Ints, known: Sequence[str]) -> None:
        """Find the names in the next texts, in (s,) the numbers of all their stems; (t + 1,) `starts` says where each
        begins.
        """
        codes = self._codes_of(known)[stems]
        last = np.zeros(len(stems), np.bool_)
        last[starts[1:][np.diff(starts) > 0] - 1] = True
        # Whether a name begins at each place, as far as its first two stems tell.
        begins, pairs = self._alone[codes], np.flatnonzero((codes[:-1] > 0) & (codes[1:] > 0) & ~last[:-1])
        begins[pairs] |= self._may_begin(codes[pairs], codes[pairs + 1])
        places = np.flatnonzero(begins)
        ends = np.searchsorted(places, starts).tolist()
        for text, (first, end) in enumerate(pairwise(ends)):
            of_text = stems[starts[text] : starts[text + 1]]
            here = (places[first:end] - starts[text]).tolist()
            nearby = (
                (at, tuple(known[one] for one in of_text[at : at + _MOST_WORDS].tolist())) for at in here
            )
            self._found.append(self._in_text(nearby))

    def in_text(self, text: Name) -> list[int]:
        """Return the numbers of the names in a text, by its stems; of overlapping ones, the first and longest."""
        places = (at for at, first in enumerate(text) if first in self._lengths)
        return self._in_text((at, text[at : at + _MOST_WORDS]) for at in places)

    def _in_text(self, places: Iterable[tuple[int, Name]]) -> list[int]:
        found, end, lengths = dict[int, None](), 0, self._lengths
        for at, following in places:
            if at < end:
                continue
            for length in lengths.get(following[0], ()):
                number = self._numbers.get(following[:length])
                if number is not None:
                    found[number] = None
                    end = at + length
                    break
        return [*found]

    def _codes_of(self, known: Sequence[str]) -> Ints:
        if not self._stem_codes:
            begins = (stem for name in self._numbers for stem in name[:2])
            self._stem_codes = {stem: code for code, stem in enumerate(dict.fromkeys(begins), 1)}
            of = self._stem_codes
            self._alone = np.zeros(len(of) + 1, np.bool_)
            self._alone[[of[name[0]] for name in self._numbers if len(name) == 1]] = True
            pairs = [(of[name[0]], of[name[1]]) for name in self._numbers if len(name) > 1]
            self._may_begin = PairSieve(*np.array(pairs, np.int64).reshape(-1, 2).T)
        more = [self._stem_codes.get(stem, 0) for stem in known[len(self._codes) :]]
        self._codes = np.append(self._codes, np.array(more, np.int32))
        return self._codes

    def found(self) -> tuple[Pairs, Ints]:
        """Return the numbers of the names in each text that was read, and of those that too many have."""
        of = np.repeat(np.arange(len(self._found)), [len(each) for each in self._found])
        numbers = np.array([number for each in self._found for number in each], np.int64)
        times = np.bincount(numbers, minlength=len(self))
        few = times <= max(_FEW, _COMMON_SHARE * len(self._found))
        return Pairs(of, numbers).at(few[numbers]), np.flatnonzero(~few)


_NONE, _UNKNOWN = -1, -2


class StemNumbers:
    """Finds the stems of numbered words; `known` has all so far, by their numbers."""

    def __init__(self, vocabulary: Sequence[str], stems: Stems, numbers: Mapping[str, int]) -> None:
        self._vocabulary, self._stems, self._numbers = vocabulary, stems, dict(numbers)
        self.known = [*numbers]
        self._tables = defaultdict[str, Ints](lambda: np.full(len(vocabulary), _UNKNOWN, np.int32))

    def number_stems(self, words: Ints, starts: Ints, languages: Sequence[str]) -> tuple[Ints, Ints]:
        """Return the int32 stems of some texts' words, without function words, and (t + 1,) where each text's begin.

        New stems are numbered in the order in which they occur.
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
        keys, first = np.unique(of * len(self._vocabulary) + words, return_index=True)
        order = np.argsort(first)
        of, words = np.divmod(keys[order], len(self._vocabulary))
        stems = np.empty(len(words), np.object_)
        for at, language in enumerate(languages):
            here = np.flatnonzero(of == at)
            ours = [self._vocabulary[word] for word in words[here].tolist()]
            stems[here] = self._stems.each(ours, language)
        each = stems.tolist()
        for name in each:
            if name and name not in self._numbers:
                self._numbers[name] = len(self.known)
                self.known.append(name)
        numbers = np.array([self._numbers[name] if name else _NONE for name in each], np.int32)
        for at, language in enumerate(languages):
            here = np.flatnonzero(of == at)
            self._tables[language][words[here]] = numbers[here]
