"""Calibration of thresholds: a stratified sample of pairs to label, and precision and recall by threshold."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import nan, sqrt
from typing import TYPE_CHECKING

import numpy as np

from internal_linker.insight.evaluation.labels import LabelRow
from internal_linker.model.arrays import Bools, Vectors

if TYPE_CHECKING:
    from pandas import DataFrame

# The number of sections, the largest ones, that are strata; all others are one stratum, since each needs a label.
SECTIONS = 6
# The reported thresholds; finer ones would follow chance.
THRESHOLDS = tuple(step / 20 for step in range(1, 20))
# A proposed threshold has at least this number of labelled pairs above it: the interval of ten is up to 53 points wide.
LEAST_PAIRS = 10
# 95% of a normal distribution lie within this number of standard deviations.
_Z = 1.96

Stratum = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Judged:
    """Labelled pairs; all arrays are (n,)."""

    strengths: Vectors  # strengths, 0 to 1
    weights: Vectors  # how many pairs of the site each pair represents
    good: Bools = field(repr=False)  # whether each pair is good


def draw(pairs: Sequence[LabelRow], drawn: Iterable[LabelRow], count: int) -> list[LabelRow]:
    """Choose up to `count` further pairs: first one of each stratum (band and section) that has none.

    After that, a stratum gets pairs in proportion to the square root of its size: a compromise between equal counts,
    the best for bands, and proportional counts, the best for the whole. The same pairs give the same choice, in an
    order that is independent of the pairs' properties: the first half of the choice is a sample, too.
    """
    sections = _largest(pairs)
    had = list(drawn)
    known = {pair.ends for pair in had}
    strata: defaultdict[Stratum, list[LabelRow]] = defaultdict(list)
    for pair in sorted(pairs, key=_chance, reverse=True):
        strata[_stratum(pair, sections)].append(pair)
    sizes = {stratum: len(members) for stratum, members in strata.items()}
    taken = Counter(_stratum(pair, sections) for pair in had)
    left = {stratum: [one for one in members if one.ends not in known] for stratum, members in strata.items()}
    found: list[LabelRow] = []
    while len(found) < count and any(left.values()):
        stratum = max(
            (each for each, members in left.items() if members),
            key=lambda each: (not taken[each], sqrt(sizes[each]) / (taken[each] + 1), each),
        )
        found.append(left[stratum].pop())
        taken[stratum] += 1
    return sorted(found, key=_chance)


def weights(pairs: Sequence[LabelRow], labelled: Sequence[LabelRow]) -> Vectors:
    """Return how many pairs each labelled pair represents: 1 / the labelled share of its stratum.

    The other strata of a band represent a stratum without a labelled pair. A labelled pair that is no longer in
    `pairs` counts as an additional pair.
    """
    sections = _largest(pairs)
    there = {pair.ends for pair in pairs}
    everything = [*pairs, *(pair for pair in labelled if pair.ends not in there)]
    sizes = Counter(_stratum(pair, sections) for pair in everything)
    counts = Counter(_stratum(pair, sections) for pair in labelled)
    bands, covered = Counter[str](), Counter[str]()
    for stratum, size in sizes.items():
        bands[stratum[0]] += size
        covered[stratum[0]] += size if counts[stratum] else 0
    own = [_stratum(pair, sections) for pair in labelled]
    return np.array(
        [sizes[each] / counts[each] * bands[each[0]] / covered[each[0]] for each in own], np.float64
    )


def curve(judged: Judged) -> "DataFrame":
    """Compute precision and recall at each of the `THRESHOLDS`.

    Returns:
        `threshold`, the least strength; `pairs`, how many labelled ones have it; `precision`, the share of them that
        are good, and `recall`, the share of the good ones that are among them, 0 to 1, NaN without a pair. Both have
        95% Wilson intervals: `precision_low` and so on.
    """
    from pandas import DataFrame

    rows = []
    for threshold in THRESHOLDS:
        above = judged.strengths >= threshold
        precision = _share(judged.good[above], judged.weights[above])
        recall = _share(above[judged.good], judged.weights[judged.good])
        rows.append((threshold, int(above.sum()), *precision, *recall))
    shares = [f"{name}{end}" for name in ("precision", "recall") for end in ("", "_low", "_high")]
    return DataFrame(rows, columns=["threshold", "pairs", *shares])


def threshold_for(points: "DataFrame", wanted: float) -> float:
    """Return the least threshold of a `curve` with this precision, 0 to 1, and at least `LEAST_PAIRS` pairs, or NaN."""
    good = (points["pairs"] >= LEAST_PAIRS) & (points["precision"] >= wanted)
    return float(points["threshold"][good].min())


def _share(counted: Bools, weights: Vectors) -> tuple[float, float, float]:
    """Return the weighted share of the counted pairs with its interval.

    The interval is Wilson's, for the effective sample size of the weighted pairs (Kish), which never exceeds the number
    of pairs that they represent. Of 300 samples of 100 pairs, 96% or more had an interval that contains the true share:
    no bootstrap is needed.
    """
    total = float(weights.sum())
    if not total:
        return nan, nan, nan
    n = min(total**2 / float((weights**2).sum()), total)
    share = min(float(weights[counted].sum()) / total, 1.0)
    spread = _Z**2 / n
    middle = (share + spread / 2) / (1 + spread)
    half = _Z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    # Rounding must not put the share outside its own interval.
    return share, max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def _largest(pairs: Iterable[LabelRow]) -> Collection[str]:
    counts = Counter(pair.section for pair in pairs)
    return sorted(counts, key=lambda section: (-counts[section], section))[:SECTIONS]


def _stratum(pair: LabelRow, sections: Collection[str]) -> Stratum:
    return pair.band, pair.section if pair.section in sections else ""


def _chance(pair: LabelRow) -> bytes:
    """Return a sort key that is independent of the pair's properties: a hash of its ends."""
    return blake2b("\n".join(pair.ends).encode(), digest_size=8).digest()
