"""A source's text compared with its targets: the phrases that could be anchors, and what of the names they say."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from internal_linker.anchors.keyphraseness import Habits
from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.site_words import SiteWords
from internal_linker.anchors.source_text import SourceText
from internal_linker.anchors.sums import between, between_of, extreme, totals
from internal_linker.anchors.target_names import NameKind, TargetNames
from internal_linker.model.arrays import Bools, Ints, Vectors

# Phrases of a text that are compared with a target in full: the best by a rough score. Twice as many change no figure;
# half as many find worse words for a given target.
MOST_PHRASES = 100
# How many words on either side of a phrase tell whether its place is about the target: its sentences.
_AROUND = 25


@dataclass(frozen=True, slots=True)
class Candidates:
    """The phrases of a source's text that share a word with one of its targets, target by target."""

    of: Ints  # (n,) the number of each phrase's target, ascending
    spans: Ints  # (n,) the number of each phrase among the text's spans
    # first, last: (n,) the first and last word of each phrase
    first: Ints
    last: Ints
    sets: Ints  # (n,) uint64 the set of each phrase's stems, see `stem_set`
    named: Bools  # (n,) whether the phrase has a stem of the target's names
    # (n,) whether the target's names or content have all of its words, function words aside; the last one may be
    # another if a phrase ends there anyway, as before a function word
    whole: Bools
    same: Bools  # (n, w) which of the target's names have the same stems

    def at(self, chosen: Bools | Ints) -> "Candidates":
        """Return some of the phrases."""
        return Candidates(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def are(self, names: Bools) -> Bools:
        """Return (n,) whether each phrase has the stems of one of its target's names that (t, w) `names` marks."""
        found: Bools = np.any(self.same & names[self.of], axis=1)
        return found


class SourceFeatures:
    """What the features of phrases take from a source's text, whatever the target."""

    def __init__(self, text: SourceText, words: SiteWords, habits: Habits) -> None:
        self.text, self._words, self._habits = text, words, habits

    @cached_property
    def rarity(self) -> Vectors:
        """(m,) the rarity of each stem."""
        return self._words.rarity(self.text.phrases.stems)

    @property
    def rare(self) -> float:
        """See `SiteWords.rare`."""
        return self._words.rare

    @cached_property
    def verbs(self) -> Bools:
        """(n,) whether each word is mostly a verb on the site, see `SiteWords.verbs`."""
        return self._words.verbs(self.text.phrases.words)

    @cached_property
    def bound(self) -> tuple[Vectors, Vectors]:
        """(n - 1,) how often each word stands before the next one, and that one after it, see `SiteWords.bound`."""
        return self._words.bound(self.text.phrases.words)

    def compute_phrase_features(self, first: Ints, last: Ints) -> list[Vectors]:
        """Return (n,) values of `judge.PHRASE_COLUMNS` for phrases, by their first and last words."""
        text, habits, stops = self.text, self._habits, self.text.phrases.stops
        begin, end = text.stem_at[first], text.stem_at[last + 1]
        inside, words = habits.inside(text.phrases.words), last - first + 1
        signs = totals([inside, stops, text.capital, text.digits, text.code])
        linked, function_words, capitals, digits, code = between(signs, first, last + 1)
        begins, ends = text.pieces
        before, after = np.maximum(first - 1, 0), np.minimum(last + 1, len(stops) - 1)
        precedes, follows = ~begins[first], ~ends[last]
        capital = (precedes & text.capital[before]) | (follows & text.capital[after])
        return [
            between(totals([self.rarity]), begin, end)[0],
            linked / words,
            extreme(np.maximum, inside, first, last + 1),
            habits.last(text.phrases.words[last]),
            text.in_short_line[first],
            words,
            function_words / words,
            capitals / words,
            digits,
            code,
            capital,
            precedes & ~stops[before],
            follows & ~stops[after],
            first / len(stops),
        ]


class Comparison:
    """A source's text compared with t targets.

    Attributes:
        phrases: the phrases that could be anchors; none for a target if the text has no word of its names.
    """

    def __init__(self, source: SourceFeatures, targets: Sequence[TargetNames]) -> None:
        self.source, self.names, text = source, NameTable(targets), source.text
        self._matches = matches = _Matches.from_source(source, self.names)
        of, spans = self._compared()
        first, last = (each[spans] for each in text.spans)
        known = matches.named | matches.about
        named = between_of(totals(matches.named), of, first, last + 1)
        foreign = between_of(totals(~known & ~text.phrases.stops), of, first, last)
        whole = (foreign == 0) & known[of, first] & (known | text.may_end)[of, last]
        sets = text.sets_of(first, last)
        same = self.names.matching(sets, of)
        self.phrases = Candidates(of, spans, first, last, sets, named > 0, whole, same)

    def _compared(self) -> tuple[Ints, Ints]:
        """Return (n,) the targets and the numbers of the text's spans that share a word with each, or of the best."""
        text, matches = self.source.text, self._matches
        first, last = text.spans
        shared = totals(matches.named | matches.told)
        found = shared.take(last + 1, axis=1) > shared.take(first, axis=1)
        found &= matches.named.any(axis=1, keepdims=True)
        of, spans = np.nonzero(found)
        counts = np.bincount(of, minlength=len(found))
        if not (counts > MOST_PHRASES).any():
            return of, spans
        rarity = self.source.rarity
        rough = matches.best + 0.3 * matches.topic * rarity
        rough = rough - 0.5 * rarity * (rough == 0)
        begin, end = text.stem_at[first[spans]], text.stem_at[last[spans] + 1]
        values, ends = between_of(totals(rough), of, begin, end), np.cumsum(counts)
        best = np.ones(len(of), np.bool_)
        for many in np.flatnonzero(counts > MOST_PHRASES).tolist():
            part = slice(ends[many] - counts[many], ends[many])
            best[part] = _highest(values[part], MOST_PHRASES)
        return of[best], spans[best]

    def titled(self, phrases: Candidates) -> Bools:
        """Return (n,) whether one of its target's titles has all stems of each phrase."""
        text, kinds = self.source.text, self.names.kinds
        begin, end = text.stem_at[phrases.first], text.stem_at[phrases.last + 1]
        found = np.zeros(len(begin), np.bool_)
        # Titles come before a target's other names.
        for column in range((kinds == NameKind.TITLE).sum(axis=1).max(initial=0)):
            lacking = totals(self._matches.names[self.names.places[:, column]] == 0)
            is_title = kinds[phrases.of, column] == NameKind.TITLE
            found |= is_title & (between_of(lacking, phrases.of, begin, end) == 0)
        return found

    def shares(self, phrases: Candidates) -> Vectors:
        """Return (n, len(judge.NAME_COLUMNS)) what phrases say of their targets' names."""
        text, names = self.source.text, self.names
        begin, end = text.stem_at[phrases.first], text.stem_at[phrases.last + 1]
        total = np.maximum(between(totals([self.source.rarity]), begin, end)[0], 1e-6)[:, None]
        weights, kinds = names.weights[phrases.of], names.kinds[phrases.of]
        places = names.places[phrases.of]
        shared = between_of(totals(self._matches.names), places, begin[:, None], end[:, None])
        shared = np.minimum(shared, weights)
        is_title = kinds == NameKind.TITLE
        known = phrases.same & (names.links[phrases.of] > 0)
        best, stems = self._matches.best.ravel(), phrases.of * len(text.phrases.stems)
        f1 = 2 * shared / (total + weights)
        columns = [
            f1.max(axis=1, initial=0),
            np.where(is_title, shared / weights, 0).max(axis=1, initial=0),
            (phrases.same & is_title).any(axis=1),
            known.any(axis=1),
            np.minimum(extreme(np.maximum, best, stems + begin, stems + end) / self.source.rare, 1),
            np.where(kinds == NameKind.KNOWN, f1, 0).max(axis=1, initial=0),
        ]
        return np.column_stack(columns).astype(np.float32)

    def around(self, phrases: Candidates) -> list[Vectors]:
        """Return (n,) values of `judge.TARGET_COLUMNS` for phrases, by their first and last words."""
        text, matches, n = self.source.text, self._matches, len(self.source.text.closed)
        of, first, last = phrases.of, phrases.first, phrases.last
        follows = self.names.having(text.word_pairs, lambda target: target.name_word_pairs)
        begin, end = np.maximum(first - _AROUND, 0), np.minimum(last + 1 + _AROUND, n)
        begins, ends = text.pieces
        before, after = np.maximum(first - 1, 0), np.minimum(last + 1, n - 1)
        calls, about = totals(matches.calls), totals(matches.tells)
        return [
            between_of(totals(follows), of, first, last) / np.maximum(last - first, 1),
            between_of(calls, of, begin, end) - between_of(calls, of, first, last + 1),
            between_of(about, of, begin, end) - between_of(about, of, first, last + 1),
            (~begins[first] & matches.named[of, before]) | (~ends[last] & matches.named[of, after]),
        ]


def _highest(values: Vectors, count: int) -> Bools:
    least = np.partition(values, len(values) - count)[len(values) - count]
    highest: Bools = values > least
    equal = np.flatnonzero(values == least)
    highest[equal[: count - np.count_nonzero(highest)]] = True
    return highest


@dataclass(frozen=True, slots=True)
class _Matches:
    """What a source's text of n words and m stems shares with t targets of N names and one more without stems."""

    names: Vectors  # (N + 1, m) the rarity of each stem where it is one of each name's, else 0
    best: Vectors  # (t, m) the rarity of each stem where it is one of any of a target's names, else 0
    topic: Vectors  # (t, m) the stem's weight in a target's content
    # calls, tells: (t, n) the sums over each word's stems of `best`, and of their weight in the target's subject
    calls: Vectors
    tells: Vectors
    # named, told, about: (t, n) whether each word has a stem of a target's name, of its topic, and of its subject
    named: Bools
    told: Bools
    about: Bools

    @classmethod
    def from_source(cls, source: SourceFeatures, table: NameTable) -> "_Matches":
        text, rarity = source.text, source.rarity
        distinct, which = text.distinct
        name, at = table.places_in(distinct)
        in_names = np.zeros((len(table.names) + 1, len(distinct)), np.bool_)
        in_names[name, at] = True
        in_any = np.zeros((len(table.targets), len(distinct)), np.bool_)
        in_any[table.name_targets[name], at] = True
        names, best = (np.where(has[:, which], rarity, np.float32(0)) for has in (in_names, in_any))
        topic = table.weighing(distinct, lambda target: target.topic)[:, which]
        subject = table.weighing(distinct, lambda target: target.subject)[:, which]
        n, t = len(text.closed), len(table.targets)
        owners = (text.phrases.owners + n * np.arange(t)[:, None]).ravel()

        def by_word(stems: Vectors) -> Vectors:
            sums: Vectors = np.bincount(owners, stems.ravel(), n * t).astype(np.float32).reshape(t, n)
            return sums

        calls, tells = by_word(best), by_word(subject)
        return cls(names, best, topic, calls, tells, calls > 0, by_word(topic) > 0, tells > 0)
