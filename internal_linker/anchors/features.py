"""The features of phrases as anchors for a target: what the learned model judges them by."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Candidates:
    """The phrases of a source's text that share a word with a target, and their features.

    Attributes:
        first, last: (n,) the first and last word of each phrase.
        sets: (n,) uint64 the set of each phrase's stems, see `stem_set`.
        named: (n,) whether the phrase has a stem of the target's names.
        whole: (n,) whether the target's names or content have all of its words, function words aside; the last one
            may be another if a phrase ends there anyway, as before a function word.
        features: (n, len(FEATURES)) float32.
    """

    first: Ints
    last: Ints
    sets: Ints
    named: Bools
    whole: Bools
    features: Vectors

    def at(self, chosen: Bools) -> "Candidates":
        """Return some of the phrases."""
        return Candidates(*(getattr(self, name)[chosen] for name in Candidates.__slots__))


@dataclass(frozen=True, slots=True)
class _Matches:
    """What a source's text shares with a target.

    Attributes:
        rarity: (m,) rarity of each stem.
        names: (k, m) its rarity where the stem is one of each name's, else 0.
        topic, subject: (m,) the stem's weight in the target's content.
        named, told: (n,) whether each word has a stem of a name, and one of the topic.
    """

    rarity: Vectors
    names: Vectors
    topic: Vectors
    subject: Vectors
    named: Bools
    told: Bools


def candidates(source: SourceText, target: TargetNames, words: SiteWords, habits: Habits) -> Candidates:
    """Return the phrases of a source's text that could be anchors for a target, with their features."""
    matches = _matches(source, target, words)
    first, last = source.spans
    n = len(source.closed)
    shared = _sums(matches.named | matches.told, first, last + 1) > 0
    first, last = first[shared], last[shared]
    begin, end = source.stem_at[first], source.stem_at[last + 1]
    if len(first) > MOST_PHRASES:
        best = matches.names.max(axis=0, initial=0)
        rough = best + 0.3 * matches.topic * matches.rarity
        rough = rough - 0.5 * matches.rarity * (rough == 0)
        order = np.argsort(-_sums(rough, begin, end), kind="stable")[:MOST_PHRASES]
        order.sort()
        first, last, begin, end = first[order], last[order], begin[order], end[order]
    sets = source.sets[end] - source.sets[begin]
    columns = {
        **_name_features(source, target, matches, (begin, end), sets),
        **_content_features(target, source, matches, (begin, end)),
        **_habit_features(source, habits, words, (first, last), sets),
        **_form_features(source, matches, first, last),
        **_place_features(source, matches, (first, last), (begin, end), sets),
    }
    columns["names"] = np.full(len(first), len(target.names) / 10)
    columns["words of the text"] = np.full(len(first), np.log1p(n) / 10)
    columns["links known"] = np.full(len(first), habits.known)
    features = np.zeros((len(first), len(FEATURES)), np.float32)
    for at, name in enumerate(FEATURES):
        features[:, at] = columns[name]
    known = matches.named | (np.bincount(source.phrases.owners, matches.subject, n) > 0)
    named = _sums(matches.named, first, last + 1) > 0
    follows = np.append(source.phrases.stops[1:], True) | source.pieces[1]
    foreign = np.append(0, np.cumsum(~known & ~source.phrases.stops))
    whole = (foreign[last] == foreign[first]) & known[first] & (known | follows)[last]
    return Candidates(first, last, sets, named, whole, features)


def _matches(source: SourceText, target: TargetNames, words: SiteWords) -> _Matches:
    phrases = source.phrases
    stems, n = phrases.stems, len(source.closed)
    rarity = words.rarity(stems)
    names = np.zeros((len(target.names), len(stems)), np.float32)
    for at, name in enumerate(target.names):
        names[at] = np.where(is_among(stems, name.stems)[1], rarity, 0)
    topic, subject = _weights(stems, target.topic), _weights(stems, target.subject)
    named = np.bincount(phrases.owners, names.any(axis=0), n) > 0
    told = np.bincount(phrases.owners, topic, n) > 0
    return _Matches(rarity, names, topic, subject, named, told)


def _weights(stems: Hashes, weighted: tuple[Hashes, Vectors]) -> Vectors:
    known, weights = weighted
    at, there = is_among(stems, known)
    found: Vectors = (
        np.where(there, weights[at], np.float32(0)) if len(known) else np.zeros(len(stems), np.float32)
    )
    return found


def _name_features(
    source: SourceText, target: TargetNames, matches: _Matches, within: tuple[Ints, Ints], sets: Ints
) -> dict[str, Vectors]:
    """Return how much of each name a phrase says, and how much else it says."""
    begin, end = within
    names, nothing = target.names, np.zeros(len(begin))
    total = np.maximum(_sums(matches.rarity, begin, end), 1e-6)
    shared = [
        np.minimum(_sums(row, begin, end), name.weight)
        for row, name in zip(matches.names, names, strict=True)
    ]
    recall = [each / name.weight for each, name in zip(shared, names, strict=True)]
    f1 = [2 * each / (total + name.weight) for each, name in zip(shared, names, strict=True)]
    of = {kind: [at for at, name in enumerate(names) if name.kind is kind] for kind in Kind}

    def best(rows: Sequence[Vectors], *kinds: Kind) -> Vectors:
        most: Vectors = np.max([nothing, *(rows[at] for kind in kinds for at in of[kind])], axis=0)
        return most

    links = np.array([names[at].links for at in of[Kind.KNOWN]])
    known = [f1[at] for at in of[Kind.KNOWN]]
    exactly = {name.whole: name.links for name in names if name.kind is Kind.KNOWN}
    times = np.array([exactly.get(each, 0) for each in sets.tolist()]) if exactly else nothing
    any_best = best(f1, *Kind)
    place = np.empty(len(begin))
    place[np.argsort(-any_best, kind="stable")] = np.arange(len(begin))
    pairs, wanted = source.phrases.pairs, [name.pairs for name in names if name.kind is not Kind.SLUG]
    both = is_among(pairs, np.unique(np.concatenate([np.empty(0, np.uint32), *wanted])))[1]
    return {
        "title f1": best(f1, Kind.TITLE),
        "title precision": best([each / total for each in shared], Kind.TITLE),
        "title recall": best(recall, Kind.TITLE),
        "name recall": best(recall, Kind.TITLE, Kind.PART),
        "part f1": best(f1, Kind.PART),
        "slug f1": best(f1, Kind.SLUG),
        "known f1": best(f1, Kind.KNOWN),
        "known share": np.dot(links, known) / links.sum() if len(links) else nothing,
        "best f1": any_best,
        "best f1 place": np.log1p(place),
        "is title": _is_one_of(sets, [name.whole for name in names if name.kind is Kind.TITLE]),
        "is part": _is_one_of(sets, [name.whole for name in names if name.kind in (Kind.PART, Kind.SLUG)]),
        "is known": times > 0,
        "known links": np.log1p(times),
        "name pairs": _sums(both, begin, np.maximum(end - 1, begin)) / np.maximum(end - begin - 1, 1),
    }


def _content_features(
    target: TargetNames, source: SourceText, matches: _Matches, within: tuple[Ints, Ints]
) -> dict[str, Vectors]:
    """Return how much a phrase says of what the target's content says."""
    begin, end = within
    count = np.maximum(end - begin, 1)
    pairs = source.phrases.pairs
    at, there = is_among(pairs, target.pairs)
    times = np.where(there, target.times[at], 0) if len(target.pairs) else np.zeros(len(pairs))
    last = np.maximum(end - 1, begin)
    return {
        "topic": _sums(matches.topic * matches.rarity, begin, end),
        "topic share": _sums(matches.topic, begin, end) / count,
        "subject most": _extreme(np.maximum, matches.subject, begin, end),
        "content pairs": _sums(there, begin, last) / np.maximum(count - 1, 1),
        "content pair times": _sums(times, begin, last) / np.maximum(count - 1, 1),
        "content least pair": np.where(
            count > 1, _extreme(np.minimum, np.append(times, 0), begin, np.maximum(last, begin + 1)), 0
        ),
        "rarity mean": _sums(matches.rarity, begin, end) / count,
        "rarity least": _extreme(np.minimum, matches.rarity, begin, end),
        "rarity most": _extreme(np.maximum, matches.rarity, begin, end),
        "rarity sum": _sums(matches.rarity, begin, end),
    }


def _habit_features(
    source: SourceText, habits: Habits, words: SiteWords, span: tuple[Ints, Ints], sets: Ints
) -> dict[str, Vectors]:
    """Return how the site's editors link the phrase's words, and where phrases of the site begin and end."""
    first, last = span
    text = source.phrases.words
    length, inside = last - first + 1, habits.inside(text)
    return {
        "linked": _sums(inside, first, last + 1) / length,
        "linked most": _extreme(np.maximum, inside, first, last + 1),
        "linked first": habits.first(text[first]),
        "linked last": habits.last(text[last]),
        "linked length": habits.lengths[np.minimum(length, LONGEST)],
        "linked whole": np.log1p(habits.times_linked(sets)),
        "first opens": words.opens(text[first]),
        "first closes": words.closes(text[first]),
        "last opens": words.opens(text[last]),
        "last closes": words.closes(text[last]),
    }


def _form_features(
    source: SourceText, matches: _Matches, first: Ints, last: Ints
) -> dict[str, Vectors | Bools]:
    """Return the phrase's length and signs."""
    length, stops = last - first + 1, source.phrases.stops
    unwanted = ~(matches.named | matches.told | stops)
    opening, closing = source.quoted
    return {
        **{f"{words} words": length == words for words in range(1, 9)},
        "stop words": _sums(stops, first, last + 1),
        "stop share": _sums(stops, first, last + 1) / length,
        "other words": _sums(unwanted, first, last + 1),
        "capital first": source.capital[first],
        "capital share": _sums(source.capital, first, last + 1) / length,
        "capitals": _sums(source.capitals, first, last + 1) > 0,
        "code": _sums(source.code, first, last + 1) > 0,
        "digits": _sums(source.digits, first, last + 1) > 0,
        "quote before": opening[first],
        "quote after": closing[last],
        "named first": matches.named[first],
        "named last": matches.named[last],
    }


def _place_features(
    source: SourceText, matches: _Matches, span: tuple[Ints, Ints], within: tuple[Ints, Ints], sets: Ints
) -> dict[str, Vectors | Bools]:
    """Return what stands around the phrase, and where it stands in the text."""
    (first, last), (begin, end), phrases = span, within, source.phrases
    n, stops = len(source.closed), phrases.stops
    begins, ends = source.pieces
    before, after = ~begins[first], ~ends[last]
    previous, following = np.maximum(first - 1, 0), np.minimum(last + 1, n - 1)
    subject = np.bincount(phrases.owners, matches.subject, n).astype(np.float32)
    names = np.bincount(phrases.owners, matches.names.max(axis=0, initial=0), n).astype(np.float32)
    _, which, times = np.unique(sets, return_inverse=True, return_counts=True)
    earliest = np.full(len(times), n)
    np.minimum.at(earliest, which, first)
    count = np.maximum(end - begin, 1)
    titled = is_among(phrases.stems, np.unique(source.title.stems))[1]
    far = _around(subject, first, last, _FAR)
    everywhere = np.arange(n)
    most = _sums(subject, np.maximum(everywhere - _FAR, 0), np.minimum(everywhere + _FAR + 1, n)).max(
        initial=0
    )
    said = _sums(subject, first, last + 1)
    return {
        "piece begins": begins[first],
        "piece ends": ends[last],
        "named follows": after & matches.named[following],
        "named precedes": before & matches.named[previous],
        "word follows": after & ~stops[following],
        "word precedes": before & ~stops[previous],
        "stop word follows": after & stops[following],
        "stop word precedes": before & stops[previous],
        "capital within": source.capital[first] & before,
        "capital begins": source.capital[first] & begins[first],
        "place": first / max(n, 1),
        "repeated": np.log(times[which]),
        "first time": earliest[which] == first,
        "own": _sums(np.log(source.distinct[1]), begin, end) / count,
        "own title": _sums(titled, begin, end) / count,
        "subject": said / (last - first + 1),
        "subject near": _around(subject, first, last, _NEAR),
        "subject far": far,
        "subject place": (far + said) / max(float(most), 1e-6),
        "names near": _around(names, first, last, _NEAR) / _NEAR,
        "names far": _around(names, first, last, _FAR) / _FAR,
        "one stem": end - begin <= 1,
    }


def _around(values: Vectors, first: Ints, last: Ints, words: int) -> Vectors:
    """Return the sum of the values of the words around each phrase."""
    n = len(values)
    wide = _sums(values, np.maximum(first - words, 0), np.minimum(last + 1 + words, n))
    return wide - _sums(values, first, last + 1)


def _is_one_of(sets: Ints, names: Sequence[int]) -> Bools:
    return np.isin(sets, np.array(names, np.uint64))


def _sums(values: Vectors | Bools, begin: Ints, end: Ints) -> Vectors:
    """Return the sum of the values from each `begin` up to, but without, its `end`."""
    total = np.zeros(len(values) + 1)
    np.cumsum(values, out=total[1:])
    return total[end] - total[begin]


def _extreme(of: np.ufunc, values: Vectors, begin: Ints, end: Ints) -> Vectors:
    """Return the least or greatest of the values from each `begin` up to, but without, its later `end`."""
    if not len(begin):
        return np.zeros(0)
    both = np.column_stack((begin, end)).ravel()
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
