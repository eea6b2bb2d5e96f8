"""The judge of places: how likely editors are to link a phrase of a page's text to a target."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import numpy as np

from internal_linker.model.arrays import Bools, Ints, Vectors, ranks
from internal_linker.rank.promising_targets import PAIR_COLUMNS
from internal_linker.rank.trees import Trees, read_trees

PACKAGED = "judge.json"
# Wordings of each target that are judged, the most promising ones, and mentions of each of which the first natural one
# is judged.
WORDINGS, MENTIONS = 5, 4
# What a phrase says of a target's names: the highest F1 of their words, weighed by rarity, the highest share of a
# title's words, whether it is a title, or the anchor of known links, how rare their rarest word is, 0 to 1, and the
# highest F1 with known anchors. What makes a phrase promising: their weights.
NAME_COLUMNS = {
    "name f1": 1.0, "title share": 0.5, "is title": 0.3, "is known": 0.4, "rarest": 0.0, "known f1": 0.0,
}  # fmt: skip
# Whether the words follow each other in a name, and what of the target's names and subject is beside and around them:
# see `Comparison.around`.
TARGET_COLUMNS = ("name pairs", "names around", "subject around", "named beside")
# See `SourceFeatures.compute_phrase_features`.
PHRASE_COLUMNS = (
    "rarity", "linked", "most linked", "linked last", "short line", "words", "function words", "capitals", "digits",
    "code", "capital beside", "word before", "word after", "position",
)  # fmt: skip
# Of all phrases for one target, and of all phrases of the page.
PAGE_COLUMNS = ("natural", "promise", "target's highest name f1", "target's highest promise", "place")
COLUMNS = (*NAME_COLUMNS, *TARGET_COLUMNS, *PHRASE_COLUMNS, *PAGE_COLUMNS, *PAIR_COLUMNS)
# The highest quality of words that are not natural for their target: readers would publish 13% of such places.
UNNATURAL = 0.19
# The columns that say, besides the trees, whether a reader would publish a place.
ACCEPTED = (
    "natural", "rarest", "raw named", "short line", "promise", "name pairs", "rank inlinks", "capital beside",
    "word after",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinkPlaces:
    """n phrases of a page's text at which links to its targets may stand."""

    of: Ints  # (n,) the number of the target
    starts: Ints  # (n,) the first character's place in the page's plain main content
    ends: Ints  # (n,) one past the last one's
    natural: Bools  # (n,) whether the words are natural for the target, see `rules.natural`
    preferred: Bools  # (n,) whether a rule of the house prefers the words
    columns: Vectors  # (n, c) float32: `COLUMNS`, without the last ones before `known`

    def known(self, pairs: Vectors) -> "LinkPlaces":
        """Return the places with what is known of the two pages: (t, len(PAIR_COLUMNS)) float32, NaN where unknown."""
        promise = self.columns[:, COLUMNS.index("promise")]
        place = np.log1p(_places(promise, np.zeros(len(promise), np.int64)))
        columns = np.concatenate([self.columns, place[:, None], pairs[self.of]], axis=1, dtype=np.float32)
        return replace(self, columns=columns)

    def with_preferred(self, quality: Vectors) -> Vectors:
        """Return (n,) the quality of each place; preferred ones are a little better than the target's best."""
        best = highest(quality, self.of, int(self.of.max(initial=-1)) + 1)
        return np.where(self.preferred, np.nextafter(best[self.of], np.float32(2)), quality)


_NONE = np.empty(0, np.int64)
NO_PLACES = LinkPlaces(
    _NONE,
    _NONE,
    _NONE,
    _NONE > 0,
    _NONE > 0,
    np.empty((0, len(COLUMNS) - len(PAIR_COLUMNS) - 1), np.float32),
)


def promise_of(names: Vectors) -> Vectors:
    """Return (n,) how promising phrases are by their (n, len(NAME_COLUMNS)) columns."""
    promise: Vectors = names @ np.array([*NAME_COLUMNS.values()], np.float32)
    return promise


def promising(of: Ints, sets: Ints, first: Ints, promise: Vectors, count: int) -> tuple[Ints, Ints]:
    """Return the first mentions of the most promising wordings of each target, and (k,) the number of each one's.

    Args:
        of: (n,) the targets of phrases.
        sets: (n,) the set of stems of each: its wording.
        first: (n,) its first word.
        count: how many wordings of each target.
    """
    order = np.lexsort((first, sets, of))
    begins = np.append(True, (np.diff(of[order]) != 0) | (np.diff(sets[order]) != 0))[: len(order)]
    wording, at = np.cumsum(begins) - 1, np.flatnonzero(begins)
    best = np.maximum.reduceat(promise[order], at) if len(at) else promise
    kept = (_places(best, of[order[at]])[wording] < count) & (ranks(wording) < MENTIONS)
    return order[kept], wording[kept]


def _places(values: Vectors, of: Ints) -> Ints:
    """Return (n,) the position of each value among those of its group, the highest first, from 0."""
    order = np.lexsort((-np.nan_to_num(values), of))
    found = np.empty(len(order), np.int64)
    found[order] = ranks(of[order])
    return found


def highest(values: Vectors, of: Ints, count: int) -> Vectors:
    """Return (count,) the highest value of each group, -1 without any."""
    found = np.full(count, -1, np.float32)
    np.maximum.at(found, of, values)
    return found


@dataclass(frozen=True, slots=True)
class Judge:
    """What was learned from editors' links and from readers; tests/research/quality/PLACES.md has its card."""

    trees: Trees  # their sum says how much rather an editor links one place of a page than another
    # the weights of that sum ("judge"), of some columns and of one ("level") in the logit of the probability that a
    # reader would publish a place unread
    accepted: Mapping[str, float]

    def quality(self, columns: Vectors) -> Vectors:
        """Return (n,) how likely it is that each place can be published unread, 0 to 1."""
        logit = self.accepted["level"] + self.accepted["judge"] * self.trees.predict(columns)
        # Where nobody looked for names of the target in the text, the words themselves may be one.
        is_name = columns[:, [COLUMNS.index("is title"), COLUMNS.index("is known")]].max(axis=1, initial=0)
        for name in ACCEPTED:
            values = columns[:, COLUMNS.index(name)]
            unknown = is_name if name == "raw named" else 0.0
            logit = logit + self.accepted[name] * np.where(np.isnan(values), unknown, values)
        quality = 1 / (1 + np.exp(-logit))
        natural = columns[:, COLUMNS.index("natural")] > 0
        found: Vectors = np.where(natural, quality, UNNATURAL * quality)
        return found


@dataclass(frozen=True, slots=True)
class JudgedPlaces:
    """n places in a page's text for links to some targets, the best first."""

    asked: Ints  # (t,) the rows of all targets that were judged, with a place or without
    rows: Ints  # (n,) int32 the row of the target
    # starts, ends: (n,) int32 as in `LinkPlaces`
    starts: Ints
    ends: Ints
    quality: Vectors  # (n,) float32 how likely an editor is to accept the place, 0 to 1

    def without(self, rows: Ints) -> "JudgedPlaces":
        """Return the places for other targets than these rows."""
        others = ~np.isin(self.rows, rows)
        places = self.rows[others], self.starts[others], self.ends[others]
        return JudgedPlaces(self.asked, *places, self.quality[others])


@cache
def packaged_judge() -> Judge:
    """Return the judge that comes with the program."""
    return read_judge(resources.files(__package__).joinpath(PACKAGED).read_text("utf-8"))


def read_judge(text: str) -> Judge:
    """Read a judge from JSON.

    Raises:
        ValueError: it is for other columns.
    """
    known = json.loads(text)
    if tuple(known["columns"]) != COLUMNS:
        raise ValueError("the judge is for other columns: train it again")
    return Judge(read_trees(known["trees"]), known["accepted"])
