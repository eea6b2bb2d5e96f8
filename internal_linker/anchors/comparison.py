"""A source's text compared with its targets: the phrases that could be anchors, and their features."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from internal_linker.anchors.features import Columns, SourceFeatures, filled
from internal_linker.anchors.name_table import NameTable
from internal_linker.anchors.sums import between, between_of, extreme, totals
from internal_linker.anchors.target_names import Kind, TargetNames
from internal_linker.core.arrays import Bools, Ints, Vectors

# Phrases of a text that are compared with a target in full: the best by a rough score. Twice as many change no figure.
MOST_PHRASES = 200
# How many words around a phrase tell whether its place is about the target: its clause, and its sentences.
_NEAR, _FAR = 10, 25


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

    def at(self, chosen: Bools) -> "Candidates":
        """Return some of the phrases."""
        return Candidates(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def are(self, names: Bools) -> Bools:
        """Return (n,) whether each phrase has the stems of one of its target's names that (t, w) `names` marks."""
        found: Bools = np.any(self.same & names[self.of], axis=1)
        return found


class Comparison:
    """A source's text compared with t targets.

    Attributes:
        source: the text.
        names: the names of all targets.
        phrases: the phrases that could be anchors; none for a target if the text has no word of its names.
    """

    def __init__(self, source: SourceFeatures, targets: Sequence[TargetNames]) -> None:
        self.source, self.names, text = source, NameTable(targets), source.text
        self._matches = matches = _Matches.of(source, self.names)
        of, spans = self._compared()
        first, last = (each[spans] for each in text.spans)
        known = matches.named | (matches.about > 0)
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
        for column in range((kinds == Kind.TITLE).sum(axis=1).max(initial=0)):
            lacking = totals(self._matches.names[self.names.places[:, column]] == 0)
            is_title = kinds[phrases.of, column] == Kind.TITLE
            found |= is_title & (between_of(lacking, phrases.of, begin, end) == 0)
        return found

    def features(self, chosen: Bools) -> Vectors:
        """Return (k, len(FEATURES)) float32 the features of some of the phrases."""
        phrases = self.phrases.at(chosen)
        # Some features compare a phrase with all of its target's phrases.
        wanted = np.isin(np.arange(len(self.names.targets)), phrases.of)
        known = wanted[self.phrases.of]
        rivals, chosen = self.phrases.at(known), chosen[known]
        columns = {
            **self._name_features(rivals, chosen, wanted),
            **self._content_features(phrases),
            **self._place_features(phrases),
            **self._repetition(rivals, chosen),
        }
        return filled(self.source.of(phrases.spans), columns)

    def _name_features(self, phrases: Candidates, chosen: Bools, wanted: Bools) -> Columns:
        """Return how much of each name the chosen phrases of the wanted targets say, and how much else they say."""
        text, names = self.source.text, self.names
        begin, end = text.stem_at[phrases.first], text.stem_at[phrases.last + 1]
        total = np.maximum(between(totals([self.source.rarity]), begin, end)[0], 1e-6)[:, None]
        used = np.append(wanted[names.of], True)
        sums, row = totals(self._matches.names[used]), np.cumsum(used) - 1
        weights = names.weights[phrases.of]
        shared = between_of(sums, row[names.places[phrases.of]], begin[:, None], end[:, None])
        shared = np.minimum(shared, weights)
        f1 = 2 * shared / (total + weights)
        any_best = f1.max(axis=1, initial=0)
        place = np.empty(len(total))
        place[np.lexsort((-any_best, phrases.of))] = np.arange(len(total))
        place -= np.searchsorted(phrases.of, phrases.of)
        of, begin, end = (each[chosen] for each in (phrases.of, begin, end))
        total, weights, shared, f1 = (each[chosen] for each in (total, weights, shared, f1))
        same, kinds = phrases.same[chosen], names.kinds[of]

        def best(values: Vectors, first: Kind, last: Kind) -> Vectors:
            most: Vectors = np.where((kinds >= first) & (kinds <= last), values, 0).max(axis=1, initial=0)
            return most

        known = kinds == Kind.KNOWN
        links = np.where(known, names.links[of], 0)
        times = np.where(same, links, 0).max(axis=1, initial=0)
        both = names.having(text.phrases.pairs, lambda target: target.name_pairs)
        pairs = between_of(totals(both), of, begin, np.maximum(end - 1, begin))
        recall = shared / weights
        return {
            "title f1": best(f1, Kind.TITLE, Kind.TITLE),
            "title precision": best(shared / total, Kind.TITLE, Kind.TITLE),
            "title recall": best(recall, Kind.TITLE, Kind.TITLE),
            "name recall": best(recall, Kind.TITLE, Kind.PART),
            "part f1": best(f1, Kind.PART, Kind.PART),
            "slug f1": best(f1, Kind.SLUG, Kind.SLUG),
            "known f1": best(f1, Kind.KNOWN, Kind.KNOWN),
            "known share": (links * f1).sum(axis=1) / np.maximum(links.sum(axis=1), 1),
            "best f1": any_best[chosen],
            "best f1 place": np.log1p(place[chosen]),
            "is title": (same & (kinds == Kind.TITLE)).any(axis=1),
            "is part": (same & ((kinds == Kind.PART) | (kinds == Kind.SLUG))).any(axis=1),
            "is known": times > 0,
            "known links": np.log1p(times),
            "name pairs": pairs / np.maximum(end - begin - 1, 1),
        }

    def _content_features(self, phrases: Candidates) -> Columns:
        """Return how much a phrase says of what the target's content says."""
        text, matches, of = self.source.text, self._matches, phrases.of
        begin, end = text.stem_at[phrases.first], text.stem_at[phrases.last + 1]
        count, last = np.maximum(end - begin, 1), np.maximum(end - 1, begin)
        distinct, which = text.distinct_pairs
        times = self.names.weighing(distinct, lambda target: (target.pairs, target.times))[:, which]
        told = between_of(totals(matches.topic * self.source.rarity), of, begin, end)
        topic = between_of(totals(matches.topic), of, begin, end)
        pairs = between_of(totals(times > 0), of, begin, last)
        pair_times = between_of(totals(times), of, begin, last)
        # A phrase with one stem has no pair: another number stands for it.
        times = np.concatenate([times, np.zeros((len(times), 2))], axis=1)
        row, stems = of * times.shape[1], of * len(text.phrases.stems)
        least = extreme(np.minimum, times.ravel(), row + begin, row + np.maximum(last, begin + 1))
        return {
            "topic": told,
            "topic share": topic / count,
            "subject most": extreme(np.maximum, matches.subject.ravel(), stems + begin, stems + end),
            "content pairs": pairs / np.maximum(count - 1, 1),
            "content pair times": pair_times / np.maximum(count - 1, 1),
            "content least pair": np.where(count > 1, least, 0),
        }

    def _place_features(self, phrases: Candidates) -> Columns:
        """Return which words of a phrase and around it are about the target."""
        text, matches, n = self.source.text, self._matches, len(self.source.text.closed)
        of, first, last = phrases.of, phrases.first, phrases.last
        begins, ends = text.pieces
        previous, following = np.maximum(first - 1, 0), np.minimum(last + 1, n - 1)
        unwanted = ~(matches.named | matches.told | text.phrases.stops)
        abouts, called = totals(matches.about), totals(matches.calls)
        about, calls = (between_of(each, of, first, last + 1) for each in (abouts, called))

        def around(sums: Vectors, words: int) -> Vectors:
            return between_of(sums, of, np.maximum(first - words, 0), np.minimum(last + 1 + words, n))

        about_near, calls_near = around(abouts, _NEAR), around(called, _NEAR)
        about_far, calls_far = around(abouts, _FAR), around(called, _FAR)
        places = np.arange(n)
        windows = between(abouts, np.maximum(places - _FAR, 0), np.minimum(places + _FAR + 1, n))
        most = np.maximum(windows.max(axis=1, initial=0), 1e-6)
        return {
            "other words": between_of(totals(unwanted), of, first, last + 1),
            "named first": matches.named[of, first],
            "named last": matches.named[of, last],
            "named follows": ~ends[last] & matches.named[of, following],
            "named precedes": ~begins[first] & matches.named[of, previous],
            "subject": about / (last - first + 1),
            "subject near": about_near - about,
            "subject far": about_far - about,
            "subject place": (about_far - about + about) / most[of],
            "names near": (calls_near - calls) / _NEAR,
            "names far": (calls_far - calls) / _FAR,
        }

    def _repetition(self, phrases: Candidates, chosen: Bools) -> Columns:
        """Return how often the text has the chosen phrases' stems in a phrase."""
        order = np.lexsort((phrases.sets, phrases.of))
        of, sets = phrases.of[order], phrases.sets[order]
        starts = np.append(True, (of[1:] != of[:-1]) | (sets[1:] != sets[:-1]))[: len(of)]
        which = np.empty(len(order), np.int64)
        which[order] = np.cumsum(starts) - 1
        times = np.bincount(which)[which[chosen]]
        earliest = np.minimum.reduceat(phrases.first[order], np.flatnonzero(starts))[which[chosen]]
        return {
            "repeated": np.log(times),
            "first time": earliest == phrases.first[chosen],
            "names": self.names.counts[phrases.of[chosen]] / 10,
        }


def _highest(values: Vectors, count: int) -> Bools:
    """Return (n,) which values are the highest ones, the first of equal ones; n is more than `count`."""
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
    # topic, subject: (t, m) the stem's weight in a target's content
    topic: Vectors
    subject: Vectors
    # named, told: (t, n) whether each word has a stem of a target's name, and one of its topic
    named: Bools
    told: Bools
    # about, calls: (t, n) the sums of `subject` and `best` over each word's stems
    about: Vectors
    calls: Vectors

    @classmethod
    def of(cls, source: SourceFeatures, table: NameTable) -> "_Matches":
        text, rarity = source.text, source.rarity
        distinct, which = text.distinct
        name, at = table.places_in(distinct)
        in_names = np.zeros((len(table.names) + 1, len(distinct)), np.bool_)
        in_names[name, at] = True
        in_any = np.zeros((len(table.targets), len(distinct)), np.bool_)
        in_any[table.of[name], at] = True
        names, best = (np.where(has[:, which], rarity, np.float32(0)) for has in (in_names, in_any))
        topic = table.weighing(distinct, lambda target: target.topic)[:, which]
        subject = table.weighing(distinct, lambda target: target.subject)[:, which]
        n, t = len(text.closed), len(table.targets)
        owners = (text.phrases.owners + n * np.arange(t)[:, None]).ravel()

        def by_word(stems: Vectors) -> Vectors:
            return np.bincount(owners, stems.ravel(), n * t).reshape(t, n).astype(np.float32)

        calls, about = by_word(best), by_word(subject)
        return cls(
            names,
            best,
            topic,
            subject,
            calls > 0,
            by_word(topic) > 0,
            about,
            calls,
        )
