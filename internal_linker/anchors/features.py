"""The features of phrases as anchors, by which the learned model judges them, and those that need no target."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from internal_linker.anchors.keyphraseness import LONGEST, Habits
from internal_linker.anchors.site_words import SiteWords
from internal_linker.anchors.source_text import SourceText
from internal_linker.anchors.sums import between, extreme, totals
from internal_linker.core.arrays import Bools, Ints, Vectors
from internal_linker.text.phrases import is_among

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
# The columns of features by their names.
Columns = Mapping[str, Vectors | Bools | Ints]


def filled(features: Vectors, columns: Columns) -> Vectors:
    """Return the features with some of their columns, by name, replaced."""
    for name, values in columns.items():
        features[:, _AT[name]] = values
    return features


class SourceFeatures:
    """What the features of phrases take from a source's text, whatever the target.

    Args:
        habits: what the site's editors link.
    """

    def __init__(self, text: SourceText, words: SiteWords, habits: Habits) -> None:
        self.text, self._words, self._habits = text, words, habits

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

    def of(self, spans: Ints) -> Vectors:
        """Return (k, len(FEATURES)) float32 for some of the text's spans: their features, those of a target all 0."""
        first, last = (each[spans] for each in self.text.spans)
        columns = {
            **self._stem_features(first, last),
            **self._habit_features(first, last),
            **self._form_features(first, last),
            **self._place_features(first, last),
        }
        return filled(np.zeros((len(spans), len(FEATURES)), np.float32), columns)

    def _stem_features(self, first: Ints, last: Ints) -> Columns:
        """Return how rare a phrase's stems are, and how often the text and its title have them."""
        text = self.text
        begin, end = text.stem_at[first], text.stem_at[last + 1]
        count = np.maximum(end - begin, 1)
        titled = is_among(text.phrases.stems, np.unique(text.title.stems))[1]
        rarity, times, said = between(totals((self.rarity, np.log(text.times), titled)), begin, end)
        return {
            "rarity mean": rarity / count,
            "rarity least": extreme(np.minimum, self.rarity, begin, end),
            "rarity most": extreme(np.maximum, self.rarity, begin, end),
            "rarity sum": rarity,
            "own": times / count,
            "own title": said / count,
            "one stem": end - begin <= 1,
        }

    def _habit_features(self, first: Ints, last: Ints) -> Columns:
        """Return how the site's editors link a phrase's words, and where phrases of the site begin and end."""
        habits, words, text = self._habits, self._words, self.text.phrases.words
        length, inside = last - first + 1, habits.inside(text)
        return {
            "linked": between(totals((inside,)), first, last + 1)[0] / length,
            "linked most": extreme(np.maximum, inside, first, last + 1),
            "linked first": habits.first(text[first]),
            "linked last": habits.last(text[last]),
            "linked length": habits.lengths[np.minimum(length, LONGEST)],
            "linked whole": np.log1p(habits.times_linked(self.text.sets_of(first, last))),
            "first opens": words.opens(text[first]),
            "first closes": words.closes(text[first]),
            "last opens": words.opens(text[last]),
            "last closes": words.closes(text[last]),
            "links known": np.full(len(first), habits.known),
        }

    def _form_features(self, first: Ints, last: Ints) -> Columns:
        """Return a phrase's length and signs."""
        text, length = self.text, last - first + 1
        signs = totals((text.phrases.stops, text.capital, text.capitals, text.code, text.digits))
        stops, capital, capitals, code, digits = between(signs, first, last + 1)
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

    def _place_features(self, first: Ints, last: Ints) -> Columns:
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
