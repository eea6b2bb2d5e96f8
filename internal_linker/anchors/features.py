"""The features of phrases as anchors for a target: what the learned model judges them by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from internal_linker.anchors.keyphraseness import LONGEST, Habits
from internal_linker.anchors.site_words import SiteWords
from internal_linker.anchors.source_text import SourceText
from internal_linker.anchors.target_names import Kind, TargetNames
from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.text.phrases import Hashes, is_among

# Phrases of a text that are compared with a target in full: the best by a rough score. Twice as many change no figure.
MOST_PHRASES = 200
# How many words around a phrase tell whether its place is about the target: its clause, and its sentences.
_NEAR, _FAR = 10, 25
# The features that tell nothing of a target are computed once for all phrases of a text, unless there are more phrases:
# 16 MB.
_MOST_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class Candidates:
    """The phrases of a source's text that share a word with a target.

    Attributes:
        first, last: (n,) the first and last word of each phrase.
        sets: (n,) uint64 the set of each phrase's stems, see `stem_set`.
        named: (n,) whether the phrase has a stem of the target's names.
        whole: (n,) whether the target's names or content have all of its words, function words aside; the last one
            may be another if a phrase ends there anyway, as before a function word.
    """

    first: Ints
    last: Ints
    sets: Ints
    named: Bools
    whole: Bools

    def at(self, chosen: Bools) -> "Candidates":
        """Return some of the phrases."""
        return Candidates(*(getattr(self, name)[chosen] for name in Candidates.__slots__))


class SourceFeatures:
    """What the features of phrases take from a source's text, whatever the target.

    Args:
        text: the text.
        words: the words of the site.
        habits: what the site's editors link.
    """

    def __init__(self, text: SourceText, words: SiteWords, habits: Habits) -> None:
        self.text, self._words, self._habits = text, words, habits

    def of(self, spans: Ints) -> Vectors:
        """Return (k, len(FEATURES)) float32 for some of the text's spans: their features, those of a target all 0."""
        if len(self.text.spans[0]) <= _MOST_KEPT:
            kept: Vectors = self._kept[spans]
            return kept
        return self._features(spans)

    @cached_property
    def rarity(self) -> Vectors:
        """(m,) the rarity of each stem."""
        return self._words.rarity(self.text.phrases.stems)

    @cached_property
    def verbs(self) -> Bools:
        """(n,) whether each word is mostly a verb on the site, see `SiteWords.verbs`."""
        return self._words.verbs(self.text.phrases.words)

    @cached_property
    def bound(self) -> tuple[Vectors, Vectors]:
        """(n - 1,) how often each word stands before the next one, and that one after it, see `SiteWords.bound`."""
        return self._words.bound(self.text.phrases.words)

    @cached_property
    def around(self) -> tuple[Ints, Ints]:
        """(n,) the first of the words around each word, and the end of the last."""
        n = len(self.text.closed)
        places = np.arange(n)
        return np.maximum(places - _FAR, 0), np.minimum(places + _FAR + 1, n)

    @cached_property
    def _kept(self) -> Vectors:
        return self._features(np.arange(len(self.text.spans[0])))

    def _features(self, spans: Ints) -> Vectors:
        first, last = (each[spans] for each in self.text.spans)
        columns = {
            **self._stem_features(first, last),
            **self._habit_features(first, last),
            **self._form_features(first, last),
            **self._place_features(first, last),
        }
        return _filled(np.zeros((len(spans), len(FEATURES)), np.float32), columns)

    def _stem_features(self, first: Ints, last: Ints) -> "_Columns":
        """Return how rare a phrase's stems are, and how often the text and its title have them."""
        text = self.text
        begin, end = text.stem_at[first], text.stem_at[last + 1]
        count = np.maximum(end - begin, 1)
        titled = is_among(text.phrases.stems, np.unique(text.title.stems))[1]
        rarity, times, said = _between(_totals(self.rarity, np.log(text.times), titled), begin, end)
        return {
            "rarity mean": rarity / count,
            "rarity least": _extreme(np.minimum, self.rarity, begin, end),
            "rarity most": _extreme(np.maximum, self.rarity, begin, end),
            "rarity sum": rarity,
            "own": times / count,
            "own title": said / count,
            "one stem": end - begin <= 1,
        }

    def _habit_features(self, first: Ints, last: Ints) -> "_Columns":
        """Return how the site's editors link a phrase's words, and where phrases of the site begin and end."""
        habits, words, text = self._habits, self._words, self.text.phrases.words
        length, inside = last - first + 1, habits.inside(text)
        opens, closes = words.opens(text), words.closes(text)
        return {
            "linked": _between(_totals(inside), first, last + 1)[0] / length,
            "linked most": _extreme(np.maximum, inside, first, last + 1),
            "linked first": habits.first(text)[first],
            "linked last": habits.last(text)[last],
            "linked length": habits.lengths[np.minimum(length, LONGEST)],
            "linked whole": np.log1p(habits.times_linked(self.text.sets_of(first, last))),
            "first opens": opens[first],
            "first closes": closes[first],
            "last opens": opens[last],
            "last closes": closes[last],
            "links known": np.full(len(first), habits.known),
        }

    def _form_features(self, first: Ints, last: Ints) -> "_Columns":
        """Return a phrase's length and signs."""
        text, length = self.text, last - first + 1
        signs = _totals(text.phrases.stops, text.capital, text.capitals, text.code, text.digits)
        stops, capital, capitals, code, digits = _between(signs, first, last + 1)
        opening, closing = text.quoted
        return {
            **{f"{words} words": length == words for words in range(1, 9)},
            "stop words": stops,
            "stop share": stops / length,
            "capital first": text.capital[first],
            "capital share": capital / length,
            "capitals": capitals > 0,
            "code": code > 0,
            "digits": digits > 0,
            "quote before": opening[first],
            "quote after": closing[last],
        }

    def _place_features(self, first: Ints, last: Ints) -> "_Columns":
        """Return what stands beside a phrase, and where it stands in the text."""
        text, stops, n = self.text, self.text.phrases.stops, len(self.text.closed)
        begins, ends = text.pieces
        before, after = ~begins[first], ~ends[last]
        previous, following = np.maximum(first - 1, 0), np.minimum(last + 1, n - 1)
        return {
            "piece begins": ~before,
            "piece ends": ~after,
            "word follows": after & ~stops[following],
            "word precedes": before & ~stops[previous],
            "stop word follows": after & stops[following],
            "stop word precedes": before & stops[previous],
            "capital within": text.capital[first] & before,
            "capital begins": text.capital[first] & ~before,
            "place": first / max(n, 1),
            "words of the text": np.full(len(first), np.log1p(n) / 10),
        }


class Comparison:
    """A source's text compared with a target.

    Args:
        source: the text.
        target: the names of the target.

    Attributes:
        phrases: the phrases that could be anchors; none if the text has no word of the target's names.
    """

    def __init__(self, source: SourceFeatures, target: TargetNames) -> None:
        self._source, self._target, text = source, target, source.text
        self._matches = matches = _Matches.of(text, source.rarity, target)
        self._spans = self._compared()
        first, last = (each[self._spans] for each in text.spans)
        stops = text.phrases.stops
        known = matches.named | (matches.about > 0)
        totals = _totals(matches.named, ~known & ~stops)
        named, foreign = _between(totals, first, last + 1)[0], _between(totals, first, last)[1]
        whole = (foreign == 0) & known[first] & (known | text.may_end)[last]
        self.phrases = Candidates(first, last, text.sets_of(first, last), named > 0, whole)

    def _compared(self) -> Ints:
        """Return (n,) the numbers of the text's spans that share a word with the target, or of the best of them."""
        text, matches = self._source.text, self._matches
        if not matches.named.any():
            return np.empty(0, np.int64)
        first, last = text.spans
        shared = np.append(0, np.cumsum(matches.named | matches.told))
        spans = np.flatnonzero(shared[last + 1] > shared[first])
        if len(spans) > MOST_PHRASES:
            rarity = self._source.rarity
            rough = matches.best + 0.3 * matches.topic * rarity
            rough = rough - 0.5 * rarity * (rough == 0)
            begin, end = text.stem_at[first[spans]], text.stem_at[last[spans] + 1]
            order = np.argsort(-_between(_totals(rough), begin, end)[0], kind="stable")[:MOST_PHRASES]
            order.sort()
            spans = spans[order]
        return spans

    def features(self, chosen: Bools) -> Vectors:
        """Return (k, len(FEATURES)) float32 the features of some of the phrases."""
        phrases = self.phrases.at(chosen)
        columns = {
            **self._name_features(chosen),
            **self._content_features(phrases),
            **self._place_features(phrases),
            **self._repetition(chosen),
        }
        return _filled(self._source.of(self._spans[chosen]), columns)

    def _name_features(self, chosen: Bools) -> "_Columns":
        """Return how much of each name a phrase says, and how much else it says."""
        text, names, sets = self._source.text, self._target.names, self.phrases.sets[chosen]
        begin, end = text.stem_at[self.phrases.first], text.stem_at[self.phrases.last + 1]
        sums = _between(_totals(self._source.rarity, *self._matches.names), begin, end)
        total = np.maximum(sums[0], 1e-6)
        weights = np.array([name.weight for name in names])[:, None]
        shared = np.minimum(sums[1:], weights)
        f1 = 2 * shared / (total + weights)
        any_best = f1.max(axis=0, initial=0)
        place = np.empty(len(total))
        place[np.argsort(-any_best, kind="stable")] = np.arange(len(total))
        begin, end, total, shared, f1 = (
            begin[chosen],
            end[chosen],
            total[chosen],
            shared[:, chosen],
            f1[:, chosen],
        )
        rows = self._target.rows

        def best(values: Vectors, first: Kind, last: Kind) -> Vectors:
            most: Vectors = values[rows[first].start : rows[last].stop].max(axis=0, initial=0)
            return most

        links = np.array([name.links for name in names[rows[Kind.KNOWN]]])
        exactly = {name.whole: name.links for name in names if name.kind is Kind.KNOWN}
        times = np.array([exactly.get(each, 0) for each in sets.tolist()], np.int64)
        both = is_among(text.phrases.pairs, self._target.name_pairs)[1]
        pairs = _between(_totals(both), begin, np.maximum(end - 1, begin))[0]
        recall = shared / weights
        return {
            "title f1": best(f1, Kind.TITLE, Kind.TITLE),
            "title precision": best(shared / total, Kind.TITLE, Kind.TITLE),
            "title recall": best(recall, Kind.TITLE, Kind.TITLE),
            "name recall": best(recall, Kind.TITLE, Kind.PART),
            "part f1": best(f1, Kind.PART, Kind.PART),
            "slug f1": best(f1, Kind.SLUG, Kind.SLUG),
            "known f1": best(f1, Kind.KNOWN, Kind.KNOWN),
            "known share": np.dot(links, f1[rows[Kind.KNOWN]]) / links.sum()
            if len(links)
            else np.zeros(len(sets)),
            "best f1": any_best[chosen],
            "best f1 place": np.log1p(place[chosen]),
            "is title": _is_one_of(sets, [name.whole for name in names if name.kind is Kind.TITLE]),
            "is part": _is_one_of(
                sets, [name.whole for name in names if name.kind in (Kind.PART, Kind.SLUG)]
            ),
            "is known": times > 0,
            "known links": np.log1p(times),
            "name pairs": pairs / np.maximum(end - begin - 1, 1),
        }

    def _content_features(self, phrases: Candidates) -> "_Columns":
        """Return how much a phrase says of what the target's content says."""
        text, target, matches = self._source.text, self._target, self._matches
        begin, end = text.stem_at[phrases.first], text.stem_at[phrases.last + 1]
        count, last = np.maximum(end - begin, 1), np.maximum(end - 1, begin)
        at, there = is_among(text.phrases.pairs, target.pairs)
        times = np.where(there, target.times[at], 0) if len(target.pairs) else np.zeros(len(there))
        told, topic = _between(_totals(matches.topic * self._source.rarity, matches.topic), begin, end)
        pairs, pair_times = _between(_totals(there, times), begin, last)
        least = _extreme(np.minimum, np.append(times, 0), begin, np.maximum(last, begin + 1))
        return {
            "topic": told,
            "topic share": topic / count,
            "subject most": _extreme(np.maximum, matches.subject, begin, end),
            "content pairs": pairs / np.maximum(count - 1, 1),
            "content pair times": pair_times / np.maximum(count - 1, 1),
            "content least pair": np.where(count > 1, least, 0),
        }

    def _place_features(self, phrases: Candidates) -> "_Columns":
        """Return which words of a phrase and around it are about the target."""
        text, matches, n = self._source.text, self._matches, len(self._source.text.closed)
        first, last = phrases.first, phrases.last
        begins, ends = text.pieces
        previous, following = np.maximum(first - 1, 0), np.minimum(last + 1, n - 1)
        unwanted = ~(matches.named | matches.told | text.phrases.stops)
        totals = _totals(matches.about, matches.calls, unwanted)
        about, calls, others = _between(totals, first, last + 1)

        def around(words: int) -> Vectors:
            return _between(totals[:2], np.maximum(first - words, 0), np.minimum(last + 1 + words, n))

        (about_near, calls_near), (about_far, calls_far) = around(_NEAR), around(_FAR)
        most = _between(totals[:1], *self._source.around).max(initial=0)
        return {
            "other words": others,
            "named first": matches.named[first],
            "named last": matches.named[last],
            "named follows": ~ends[last] & matches.named[following],
            "named precedes": ~begins[first] & matches.named[previous],
            "subject": about / (last - first + 1),
            "subject near": about_near - about,
            "subject far": about_far - about,
            "subject place": (about_far - about + about) / max(float(most), 1e-6),
            "names near": (calls_near - calls) / _NEAR,
            "names far": (calls_far - calls) / _FAR,
        }

    def _repetition(self, chosen: Bools) -> "_Columns":
        """Return how often the text has a phrase's stems in a phrase."""
        first = self.phrases.first
        _, which, times = np.unique(self.phrases.sets, return_inverse=True, return_counts=True)
        earliest = np.full(len(times), len(self._source.text.closed))
        np.minimum.at(earliest, which, first)
        which = which[chosen]
        return {
            "repeated": np.log(times[which]),
            "first time": earliest[which] == first[chosen],
            "names": np.full(len(which), len(self._target.names) / 10),
        }


@dataclass(frozen=True, slots=True)
class _Matches:
    """What a source's text shares with a target.

    Attributes:
        names: (k, m) the rarity of each stem where it is one of each name's, else 0.
        best: (m,) the rarity of each stem where it is one of any name's, else 0.
        topic, subject: (m,) the stem's weight in the target's content.
        named, told: (n,) whether each word has a stem of a name, and one of the topic.
        about, calls: (n,) the sums of `subject` and `best` over each word's stems.
    """

    names: Vectors
    best: Vectors
    topic: Vectors
    subject: Vectors
    named: Bools
    told: Bools
    about: Vectors
    calls: Vectors

    @classmethod
    def of(cls, text: SourceText, rarity: Vectors, target: TargetNames) -> "_Matches":
        distinct, which = text.distinct
        stems, name_of = target.name_stems
        at, there = is_among(stems, distinct)
        is_named = np.zeros((len(target.names), len(distinct)), np.bool_)
        is_named[name_of[there], at[there]] = True
        names = np.where(is_named[:, which], rarity, np.float32(0))
        best = names.max(axis=0, initial=0)
        topic, subject = (stem_weights(distinct, each)[which] for each in (target.topic, target.subject))
        owners, n = text.phrases.owners, len(text.closed)
        calls, about = np.bincount(owners, best, n), np.bincount(owners, subject, n)
        told = np.bincount(owners, topic, n) > 0
        return cls(
            names,
            best,
            topic,
            subject,
            calls > 0,
            told,
            about.astype(np.float32),
            calls.astype(np.float32),
        )


# The columns of features by their names.
_Columns = Mapping[str, Vectors | Bools | Ints]


def _filled(features: Vectors, columns: _Columns) -> Vectors:
    """Return the features with some of their columns, by name, replaced."""
    for name, values in columns.items():
        features[:, _AT[name]] = values
    return features


def stem_weights(stems: Hashes, weighted: tuple[Hashes, Vectors]) -> Vectors:
    """Return (u,) the weights of distinct, sorted stems; 0 of all without any."""
    at, there = is_among(weighted[0], stems)
    weights = np.zeros(len(stems), np.float32)
    weights[at[there]] = weighted[1][there]
    return weights


def _is_one_of(sets: Ints, names: Sequence[int]) -> Bools:
    found: Bools = (sets[:, None] == np.array(names, np.uint64)).any(axis=1)
    return found


def _totals(*rows: Vectors | Bools) -> Vectors:
    """Return (r, n + 1) the sum of the first 0, 1 ... n values of each row."""
    totals = np.zeros((len(rows), len(rows[0]) + 1))
    for total, row in zip(totals, rows, strict=True):
        np.add.accumulate(row, out=total[1:], dtype=np.float64)
    return totals


def _between(totals: Vectors, begin: Ints, end: Ints) -> Vectors:
    """Return (r, k) the sums of the values from each `begin` up to, but without, its `end`."""
    sums: Vectors = totals.take(end, axis=1) - totals.take(begin, axis=1)
    return sums


def _extreme(of: np.ufunc, values: Vectors, begin: Ints, end: Ints) -> Vectors:
    """Return the least or greatest of the values from each `begin` up to, but without, its later `end`."""
    if not len(begin):
        return np.zeros(0)
    both = np.empty(2 * len(begin), np.int64)
    both[::2], both[1::2] = begin, end
    found: Vectors = of.reduceat(np.append(values, 0), both)[::2]
    return found


# Names of the columns, in order.
FEATURES = (
    "title f1", "title precision", "title recall", "name recall", "part f1", "slug f1", "known f1", "known share",
    "best f1", "best f1 place", "is title", "is part", "is known", "known links", "name pairs", "topic", "topic share",
    "subject most", "content pairs", "content pair times", "content least pair", "rarity mean", "rarity least",
    "rarity most", "rarity sum", "linked", "linked most", "linked first", "linked last", "linked length",
    "linked whole", "first opens", "first closes", "last opens", "last closes", "1 words", "2 words", "3 words",
    "4 words", "5 words", "6 words", "7 words", "8 words", "stop words", "stop share", "other words", "capital first",
    "capital share", "capitals", "code", "digits", "quote before", "quote after", "named first", "named last",
    "piece begins", "piece ends", "named follows", "named precedes", "word follows", "word precedes",
    "stop word follows", "stop word precedes", "capital within", "capital begins", "place", "repeated", "first time",
    "own", "own title", "subject", "subject near", "subject far", "subject place", "names near", "names far",
    "one stem", "names", "words of the text", "links known",
)  # fmt: skip
_AT = {name: at for at, name in enumerate(FEATURES)}
