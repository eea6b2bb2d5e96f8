"""Scores of phrases as anchors: which phrases of a text fit best what an anchor for a target should say."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.text.phrases import (
    LEAST_WORDS,
    MOST_WORDS,
    Hashes,
    Phrases,
    TargetPhrases,
    is_among,
    set_hash,
)

# Measured like the weights in target_phrases.py. Costs of a word that does not fit the target, and of a function word.
_UNWANTED, _STOP = 0.15, 0.05
# Editors' habits decide between phrases that fit about equally; twice the weight costs 2 points on one site.
_HABIT = 0.15
# A word that the source itself is about is a weaker anchor for another page.
_OWN = 0.5
# The share of its worth that a word keeps in the next anchor, so that three anchors say different things.
_AGAIN = 0.35
# Prefers the first of two equal phrases, which introduces the subject; too small to decide anything else.
_LATER = 0.01

# After this many phrases whose wording is already used, the text is taken to repeat itself.
_REPEATS = 100

# The first and last word of a phrase.
Span = tuple[int, int]


@dataclass(frozen=True)
class Text:
    """A source's text, prepared for the search for anchors.

    Attributes:
        phrases: the text's words.
        closed: (n,) whether each word is in a link or a heading.
        habits: (n,) how likely editors are to link each word; see `Habits`.
    """

    phrases: Phrases
    closed: Bools
    habits: Vectors

    @cached_property
    def windows(self) -> tuple[Ints, Ints]:
        """The first and last words of all phrases that could be anchors, by length, then by position."""
        ends, free = np.array(self.may_end, np.bool_), np.array(self.free_from, np.int64)
        n = len(ends)
        firsts, lasts = [], []
        for more in range(LEAST_WORDS - 1, min(MOST_WORDS, n)):
            first = np.flatnonzero(ends[: n - more] & ends[more:] & (free[more:] <= np.arange(n - more)))
            firsts.append(first)
            lasts.append(first + more)
        return _joined(firsts), _joined(lasts)

    @cached_property
    def may_end(self) -> list[bool]:
        """(n,) whether a phrase may begin or end with each word."""
        ends: list[bool] = (~(self.phrases.stops | self.closed)).tolist()
        return ends

    @cached_property
    def free_from(self) -> list[int]:
        """(n,) the earliest word with which a phrase that ends with each word may begin; none crosses a break."""
        n = len(self.closed)
        begins = np.ones(n, np.bool_)
        begins[1:] = (np.diff(self.phrases.segments) > 0) | self.closed[1:] | self.closed[:-1]
        free: list[int] = np.maximum.accumulate(np.where(begins, np.arange(n), 0)).tolist()
        return free

    @cached_property
    def stem_at(self) -> Ints:
        """(n + 1,) the position of each word's first stem."""
        return np.searchsorted(self.phrases.owners, np.arange(len(self.phrases.starts) + 1))

    @cached_property
    def base(self) -> Vectors:
        """The score of each window for any target: the habits minus the costs of its words."""
        first, last = self.windows
        worth = _HABIT * self.habits - np.where(self.phrases.stops, _STOP, _UNWANTED)
        return _sums(worth, first, last + 1) - _LATER * first / max(1, len(self.closed))

    @cached_property
    def distinct(self) -> tuple[Hashes, Ints, Vectors]:
        """The sorted distinct stems, each stem's position among them, and a weight for each, lower if repeated."""
        stems, which, times = np.unique(self.phrases.stems, return_inverse=True, return_counts=True)
        return stems, which, 1 / (1 + _OWN * np.log(times))

    @cached_property
    def distinct_pairs(self) -> tuple[Hashes, Ints]:
        """The sorted distinct pairs, and the position of each pair among them."""
        pairs, which = np.unique(self.phrases.pairs, return_inverse=True)
        return pairs, which


def worth(text: Text, target: TargetPhrases) -> tuple[Vectors, Vectors]:
    """Return the worth for a target of each stem of the text, (m,), and of each pair on top of that, (m - 1,)."""
    stems, which, own = text.distinct
    places, there = is_among(target.stems, stems)
    values = np.zeros(len(stems), np.float32)
    values[places[there]] = np.maximum(target.named, target.told * own[places] if len(own) else 0)[there]
    pairs, which_pair = text.distinct_pairs
    places, there = is_among(target.pairs, pairs)
    paired = np.zeros(len(pairs), np.float32)
    paired[places[there]] = target.paired[there]
    return values[which], paired[which_pair]


def best_spans(text: Text, target: TargetPhrases, count: int, said: Collection[bytes] = ()) -> list[Span]:
    """Return up to `count` phrases of the text that fit a target best and do not overlap.

    Each has 2 to 8 words, none of them closed, and no function word at either end. A whole name of the target
    stays as it is; other phrases grow by neighbouring words, up to the next punctuation.

    Args:
        text: the source's text.
        target: what an anchor for the target should say.
        count: maximum of phrases.
        said: wordings not to use; see `wording`.
    """
    stems, pairs = worth(text, target)
    first, last = text.windows
    # A word that is wanted costs nothing.
    matched = np.bincount(text.phrases.owners, stems, len(text.closed)) > 0
    some = np.flatnonzero(matched[first] | matched[last])
    first, last = first[some], last[some]
    begin, end = text.stem_at[first], text.stem_at[last + 1]
    score = text.base[some] + _UNWANTED * _sums(matched, first, last + 1)
    score += _sums(stems, begin, end) + _sums(pairs, begin, np.maximum(end - 1, begin))
    paired, found = bool(pairs.any()), list[Span]()
    wordings, repeats = set(said), 0
    while (
        repeats < _REPEATS and len(found) < count and len(score) and score[best := int(np.argmax(score))] > 0
    ):
        span = _rounded(text, (int(first[best]), int(last[best])), target, found)
        if wording(text, span) in wordings:
            score[best] = -np.inf
            repeats += 1
            continue
        wordings.add(wording(text, span))
        found.append(span)
        if len(found) == count:
            break
        score[(first <= span[1]) & (last >= span[0])] = -np.inf
        part = slice(begin[best], end[best])
        stems, lost = _discounted(stems, text.distinct[1], part)
        score -= _sums(lost, begin, end)
        if not paired:
            continue
        pairs, lost = _discounted(
            pairs, text.distinct_pairs[1], slice(part.start, max(part.stop - 1, part.start))
        )
        score -= _sums(lost, begin, np.maximum(end - 1, begin))
    return found


def wording(text: Text, span: Span) -> bytes:
    """Return a key that is equal for phrases of the same words in the same order, whatever their case and spacing."""
    return text.phrases.words[span[0] : span[1] + 1].tobytes()


def best_place(text: Text, target: TargetPhrases, paragraphs: Ints) -> int:
    """Return the paragraph that fits a link to the target best: much of what it should say, in few words.

    Args:
        text: the source's text.
        target: what an anchor for the target should say.
        paragraphs: (p,) the position at which each paragraph begins, ascending from 0.
    """
    words = text.phrases
    within = np.searchsorted(paragraphs, words.starts, side="right") - 1
    within = within[words.owners]
    _, first = np.unique((within << 32) + words.stems, return_index=True)
    stems = np.where(text.closed[words.owners], 0, worth(text, target)[0])[first]
    fit = np.bincount(within[first], stems, len(paragraphs))
    return int(np.argmax(fit / np.sqrt(1 + np.bincount(within, minlength=len(paragraphs)))))


def _discounted(values: Vectors, which: Ints, part: slice) -> tuple[Vectors, Vectors]:
    """Return the worth of stems or pairs after an anchor said those of a part, and their losses.

    Equal stems or pairs have equal numbers in `which`.
    """
    said = np.zeros(which.max(initial=-1) + 1, np.bool_)
    said[which[part]] = True
    lost = np.where(said[which], values * (1 - _AGAIN), 0)
    return values - lost, lost


def _rounded(text: Text, span: Span, target: TargetPhrases, taken: Collection[Span]) -> Span:
    """Return a phrase extended to the nearest neighbours that may end an anchor, while it stays a valid one."""
    first, last = span
    stems = text.phrases.stems[text.stem_at[first] : text.stem_at[last + 1]]
    if is_among(np.array([set_hash(stems)], np.uint32), target.names)[1][0]:
        return span
    free = text.free_from
    while last - first + 1 < MOST_WORDS:
        wider = (
            other
            for more in range(1, MOST_WORDS - (last - first))
            for other in ((first, last + more), (first - more, last))
            if other[0] >= 0 and other[1] < len(free) and text.may_end[other[0]] and text.may_end[other[1]]
            if free[other[1]] <= other[0]
            if not any(other[0] <= end and other[1] >= begin for begin, end in taken)
        )
        wide = next(wider, None)
        if wide is None:
            break
        first, last = wide
    return first, last


def _sums(values: Vectors | Bools, begin: Ints, end: Ints) -> Vectors:
    """Return the sum of the values from each `begin` up to, but without, its `end`."""
    total = np.zeros(len(values) + 1)
    np.cumsum(values, out=total[1:])
    return total[end] - total[begin]


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
