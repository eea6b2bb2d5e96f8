"""Names of clusters: the words and pairs of words that set a cluster's titles apart from the others."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from math import log1p

import numpy as np

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.core.arrays import Ints
from internal_linker.text.phrases import Phrases, Reader
from internal_linker.text.stop_words import stop_words
from internal_linker.text.words import UNSPACED

# Terms of a name, and terms in reserve for two clusters that would get the same name.
_TERMS, _MORE = 3, 6
# Words of a term. In a script without spaces a word is a character, or a run of katakana: terms of fewer than two
# characters say nothing, and neither do terms of fewer than three letters.
_MOST_WORDS, _MOST_CHARACTERS = 2, 12
_LEAST_CHARACTERS, _LEAST_LETTERS = 2, 3
# A term that hardly ever occurs without a longer one says less than the longer one: "pour" beside "pour over".
_ALWAYS = 0.8
# A term describes the cluster if this share of its titles have it, at least two (in a cluster of two, one will do), and
# this many times the share of all titles: "coffee" describes nothing on a site about coffee.
_SHARE, _FEW_TITLES, _OFTEN = 0.1, 2, 1.5
# Terms of this level or above make a name only if there is none below.
_VAGUE = 2
# In larger clusters, a term of a single title is not worth its memory.
_MANY_TITLES = 100
# Characters read of a title, and of a term: anything longer is neither a title nor a word.
_LONGEST_TITLE, _LONGEST_TERM = 500, 60
_IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_IS_LETTER = re.compile(r"[^\W\d_]")
_FIRST_EAST_ASIAN = "\u2e80"
UNTITLED = "untitled"
# The stems of a term's words, in their order.
_Gram = tuple[int, ...]
# Spellings in the titles, by gram.
_Written = dict[_Gram, Counter[str]]


@dataclass(frozen=True, slots=True)
class _Terms:
    """The terms of one cluster.

    Attributes:
        written: its terms with their spellings.
        titles: how many titles it has.
        example: its first title, or `UNTITLED`.
    """

    written: _Written
    titles: int
    example: str


def cluster_names(labels: Ints, titles: Sequence[str], languages: Sequence[str], reader: Reader) -> list[str]:
    """Name each cluster; all names differ.

    Terms are ranked by class-based TF-IDF: how many titles of the cluster have the term, times log(1 + A / f), where
    A is the mean number of terms per cluster and f the term's count in all clusters. Forms of a word are one term,
    spelled as in most titles.

    Args:
        labels: (n,) clusters from 0; -1 for a page in none.
        titles: n titles without brand.
        languages: n language codes, "" where unknown.
        reader: finds words, their stems, and stop words.
    """
    clusters = int(labels.max(initial=-1)) + 1
    found = list[_Terms]()
    for label in range(clusters):
        rows = np.flatnonzero(labels == label).tolist()
        found.append(_counted([(titles[row], languages[row]) for row in rows], reader))
    everywhere = Counter[_Gram]()
    for each in found:
        everywhere.update({gram: forms.total() for gram, forms in each.written.items()})
    mean = everywhere.total() / max(1, clusters)
    pages = sum(each.titles for each in found)
    return _different([_best(each, everywhere, mean, pages) for each in found])


def _counted(titles: Sequence[tuple[str, str]], reader: Reader) -> _Terms:
    """Count the terms of a cluster once per title; of a large cluster, keep those of several titles."""
    written: _Written = {}
    for title, language in titles:
        read = title[:_LONGEST_TITLE]
        for gram, text in dict(_grams(read, language, reader.read(read, language))).items():
            written.setdefault(gram, Counter())[text] += 1
    if len(titles) > _MANY_TITLES:
        written = {gram: forms for gram, forms in written.items() if forms.total() > 1}
    example = next(filter(None, (shortened(title) for title, _ in titles)), UNTITLED)
    return _Terms(written, len(titles), example)


def _grams(title: str, language: str, phrases: Phrases) -> Iterator[tuple[_Gram, str]]:
    """Yield each term of a title: its stems and its spelling."""
    stops, stems = phrases.stops, _stems_of(phrases)
    listed = stop_words(language)
    words = [title[start:end] for start, end in zip(phrases.starts, phrases.ends, strict=True)]
    unspaced = [_IS_UNSPACED.match(word) is not None for word in words]
    for first in range(len(words)):
        if stops[first]:
            continue
        for last in range(first, min(len(words), first + _longest(unspaced[first]))):
            if last > first and not _goes_on(phrases, unspaced, last):
                break
            if stops[last]:
                # Hiragana endings occur in the middle of Japanese words.
                if unspaced[last] and words[last] not in listed:
                    continue
                break
            text = " ".join(title[phrases.starts[first] : phrases.ends[last]].split())
            if _tells(text, last - first + 1):
                yield tuple(stem for word in stems[first : last + 1] for stem in word), text


def _longest(unspaced: bool) -> int:
    return _MOST_CHARACTERS if unspaced else _MOST_WORDS


def _goes_on(phrases: Phrases, unspaced: Sequence[bool], word: int) -> bool:
    """Return whether a term may continue with this word: in a script without spaces, if there is none between."""
    if unspaced[word] != unspaced[word - 1] or phrases.segments[word] != phrases.segments[word - 1]:
        return False
    return not unspaced[word] or bool(phrases.starts[word] == phrases.ends[word - 1])


def _tells(text: str, words: int) -> bool:
    if len(text) > _LONGEST_TERM:
        return False
    if not _IS_UNSPACED.match(text):
        return _IS_LETTER.search(text) is not None
    return len(text) >= _LEAST_CHARACTERS if text >= _FIRST_EAST_ASIAN else words >= _LEAST_LETTERS


def _stems_of(phrases: Phrases) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(len(phrases.starts))]
    for owner, stem in zip(phrases.owners.tolist(), phrases.stems.tolist(), strict=True):
        found[owner].append(stem)
    return found


def _best(terms: _Terms, everywhere: Counter[_Gram], mean: float, pages: int) -> tuple[list[str], int]:
    """Return the best terms, none sharing a stem with a better one, and how many of them make the name."""
    counts = {gram: forms.total() for gram, forms in terms.written.items()}
    covered = {
        part
        for gram, times in counts.items()
        for part in (gram[1:], gram[:-1])
        if times >= _ALWAYS * counts.get(part, np.inf)
    }
    ranks = {
        gram: (_level(times, terms.titles, everywhere[gram] / pages), -times * log1p(mean / everywhere[gram]))
        for gram, times in counts.items()
        if gram not in covered
    }
    chosen, levels, taken = list[str](), list[int](), set[int]()
    for gram in sorted(ranks, key=ranks.__getitem__):
        if taken.isdisjoint(gram) and len(chosen) < _MORE:
            chosen.append(terms.written[gram].most_common(1)[0][0])
            levels.append(ranks[gram][0])
            taken.update(gram)
    telling = levels.count(levels[0]) if chosen and levels[0] < _VAGUE else _TERMS
    return chosen or [terms.example], min(telling, _TERMS)


def _level(times: int, titles: int, share: float) -> int:
    """Return 0 for a term that many titles have, and more of them than elsewhere; the higher, the less it says."""
    often = times >= _OFTEN * share * titles
    if times < 2 and titles > _FEW_TITLES:
        return _VAGUE + 1
    if not often:
        return _VAGUE
    return 0 if times >= _SHARE * titles else 1


def _different(terms: Sequence[tuple[Sequence[str], int]]) -> list[str]:
    """Make names of the first terms; of two equal names, the later one gets more of its terms, or a number."""
    names: dict[str, str] = {}
    for each, telling in terms:
        short = ", ".join(each[:telling])
        longer = (", ".join(each[:length]) for length in range(telling, _MORE + 1))
        numbered = (f"{short} ({number})" for number in count(2))
        name = next(one for one in chain(longer, numbered) if one.casefold() not in names)
        names[name.casefold()] = name
    return list(names.values())
