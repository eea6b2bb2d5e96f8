"""A ranker learned from editors' links on many sites: weights and trees over features of a source's candidates."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from internal_linker.model.arrays import Ints, Vectors
from internal_linker.rank.calibration import UNCALIBRATED, LinkProbability
from internal_linker.rank.list_scales import scale_values, scaled_names, standard
from internal_linker.rank.pair_features import PAIR_FEATURES
from internal_linker.rank.trees import NO_TREES, Trees, read_trees

PACKAGED = "ranker.json"
# The last one is the sum of the trees.
COLUMNS = (*scaled_names(PAIR_FEATURES), "trees")
# Deviations from the mean beyond which a value counts no more: raw values of an unusual site would decide alone.
_MOST = 6.0
# Cosines of one encoder mean nothing beside those of another: only z-scores and ranks of them count.
OF_ENCODERS = [COLUMNS.index(f"raw {name}") for name in ("embedding", "embedding without hubness")]
_INLINKS = PAIR_FEATURES.index("inlinks")


@dataclass(frozen=True, slots=True)
class LearnedRanker:
    """A linear model over `COLUMNS`, of which the last one is a sum of trees over the others."""

    # means, deviations: (c,) of each column among the pairs that it learned from; 1 for one that never differed
    means: Vectors
    deviations: Vectors
    weights: Vectors  # (c,) weight of each column, per deviation
    # what a page without known links to it gains, in standard deviations of a source's scores
    bonus: float = 0.0
    calibration: LinkProbability = UNCALIBRATED  # the probability of a link by the scores
    trees: Trees = NO_TREES  # see `trees`; their sum has a weight, as any column

    def score(self, features: Vectors, of: Ints) -> Vectors:
        """Return (m,) float64 scores, in standard deviations above the mean of a source's candidates.

        Args:
            features: (m, len(PAIR_FEATURES)) features, NaN where unknown.
            of: (m,) position of each candidate's source, ascending.
        """
        return self.score_of(features, scale_values(features, of), of)

    def score_of(self, features: Vectors, columns: Vectors, of: Ints) -> Vectors:
        """Return `score` where the features' `scale_values` are known."""
        score: Vectors = standard(self.standardised(columns) @ self.weights, of)
        score += self.bonus * np.isnan(features[:, _INLINKS])
        return score

    def standardised(self, columns: Vectors) -> Vectors:
        """Return (m, c) float32 columns in deviations from the mean, at most 6; 0 where unknown or a raw cosine.

        The given columns lack the sum of the trees.
        """
        found = np.column_stack([columns, self.trees.predict(columns)]) - self.means
        # In place: further arrays of this size take as long as what is computed.
        found /= self.deviations
        np.copyto(found, 0, where=np.isnan(found))
        np.clip(found, -_MOST, _MOST, out=found)
        found[:, OF_ENCODERS] = 0
        return found.astype(np.float32)


@cache
def packaged_ranker() -> LearnedRanker:
    """Return the ranker that comes with the program."""
    return read_ranker(resources.files(__package__).joinpath(PACKAGED).read_text("utf-8"))


def by_features(weights: Mapping[str, float]) -> LearnedRanker:
    """Return a ranker with weights set by hand, each for the z-score of one of `PAIR_FEATURES`."""
    found = np.zeros(len(COLUMNS))
    for name, weight in weights.items():
        found[COLUMNS.index(f"z {name}")] = weight
    return LearnedRanker(np.zeros(len(COLUMNS)), np.ones(len(COLUMNS)), found)


# What search by words alone would propose: the baseline of measurements.
WORDS_AND_PASSAGES = by_features({"words": 1.0, "passage": 0.6})


def read_ranker(text: str) -> LearnedRanker:
    """Read a ranker from JSON.

    Raises:
        ValueError: it is for other features.
    """
    known = json.loads(text)
    rows = {row["name"]: row for row in known["columns"]}
    if tuple(rows) != COLUMNS:
        raise ValueError("the ranker is for other features: train it again")
    means, deviations, weights = (
        np.array([row[name] for row in rows.values()]) for name in ("mean", "deviation", "weight")
    )
    calibration = LinkProbability(**known["calibration"])
    return LearnedRanker(means, deviations, weights, known["bonus"], calibration, read_trees(known["trees"]))


def written_ranker(ranker: LearnedRanker, about: Mapping[str, Any]) -> str:
    """Return a ranker as JSON, a line for each column and tree, after what is said `about` it."""
    each = zip(COLUMNS, ranker.means, ranker.deviations, ranker.weights, strict=True)
    rows = [
        {"name": name, "mean": _short(mean), "deviation": _short(deviation), "weight": _short(weight)}
        for name, mean, deviation, weight in each
    ]
    calibration = asdict(ranker.calibration)
    known = {**about, "calibration": calibration, "bonus": ranker.bonus, "columns": rows}
    known["trees"] = ranker.trees.rows()
    return (
        "{\n  "
        + ",\n  ".join(f"{json.dumps(name)}: {_lines(value)}" for name, value in known.items())
        + "\n}\n"
    )


def _lines(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"
    return json.dumps(value)


def _short(value: float) -> float:
    return float(f"{value:.5g}")
