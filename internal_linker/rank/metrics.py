"""Metrics of a ranking against the links that editors made: hit rate, recall, NDCG and MRR with intervals.

URLs are compared as strings: the truth and the ranking must both use the spellings of the user's page list.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from internal_linker.model.arrays import Vectors

# The first links of a ranking that are measured: a page gets five by default.
TOP = 5
# Enough that the bounds of an interval vary by about half a point.
RESAMPLES = 1000
# Positions of the 26th lowest and the 26th highest of 1,000 resampled means: 95% lie between them.
LOW, HIGH = 25, 974
# Discount of each rank in NDCG: 1, 0.63, 0.5, ...
GAINS = 1 / np.log2(np.arange(TOP) + 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over sources and its 95% bootstrap interval; all NaN without a source."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Measured:
    """How well a ranking agrees with the hidden links, as a mean over the sources that have hidden links."""

    sources: tuple[str, ...] = field(repr=False)  # the measured sources, sorted
    hit: Estimate  # share of the sources with a hidden target among the first five
    recall: Estimate  # share of a source's hidden targets among its first five
    ndcg: Estimate  # NDCG of the first five, binary gains, 0 to 1
    mrr: Estimate  # 1 / rank of the first hidden target in the whole ranking, 0 without one
    # (n, 4) float64 the four values of every source, in this order
    each: Vectors = field(repr=False, compare=False)


def measure(truth: Mapping[str, Collection[str]], ranked: Mapping[str, Sequence[str]]) -> Measured:
    """Compare the proposed targets with the hidden ones; sources without a hidden target are not measured.

    The source itself, empty and repeated targets take no rank, and a source that is missing scores 0.
    """
    sources = tuple(sorted(source for source, wanted in truth.items() if wanted))
    each = np.array([_values(set(truth[one]), _ranked_targets(one, ranked)) for one in sources], np.float64)
    each = each.reshape(len(sources), 4)
    hit, recall, ndcg, mrr = estimates(each)
    return Measured(sources, hit, recall, ndcg, mrr, each)


def paired(ours: Measured, theirs: Measured) -> Estimate:
    """Return how much higher NDCG@5 is in `ours` than in `theirs`, source by source; sure if the interval excludes 0.

    Raises:
        ValueError: the two were not measured on the same sources.
    """
    if ours.sources != theirs.sources:
        raise ValueError(
            f"Only measurements of the same sources can be paired: {len(ours.sources)} here, "
            f"{len(theirs.sources)} there, {len({*ours.sources} & {*theirs.sources})} in both."
        )
    return estimates(ours.each[:, 2:3] - theirs.each[:, 2:3])[0]


def reach(
    truth: Mapping[str, Collection[str]], candidates: Mapping[str, Sequence[str]], k: int = 50
) -> float:
    """Return the share, 0 to 1, of hidden pairs whose target is among the source's first `k` candidates; NaN without
    any.
    """
    found = sum(len(set(wanted) & set(_ranked_targets(one, candidates)[:k])) for one, wanted in truth.items())
    pairs = sum(len(set(wanted)) for wanted in truth.values())
    return found / pairs if pairs else float("nan")


def fold(source_url: str, n: int) -> int:
    """Return which of `n` folds, from 0, a source page is in, independently of whether the page is cold."""
    return int.from_bytes(text_digest(source_url)[8:16]) % n


def estimates(each: Vectors) -> list[Estimate]:
    """Return the mean and interval of each column of (n, c) values; all columns share their resamples."""
    if not len(each):
        return [Estimate(float("nan"), float("nan"), float("nan"))] * each.shape[1]
    rng, n = np.random.default_rng(0), len(each)
    # One resample at a time: that bounds the memory.
    resamples = (each.take(rng.integers(n, size=n), axis=0) for _ in range(RESAMPLES))
    means = np.sort([resample.mean(axis=0) for resample in resamples], axis=0)
    columns = np.stack([each.mean(axis=0), means[LOW], means[HIGH]], axis=1)
    return [Estimate(*column) for column in columns.tolist()]


def ratios(values: Vectors, counts: Vectors) -> list[Estimate]:
    """Return the ratio of (n, c) sums and counts of n clusters, and its interval, for each column; NaN without counts.

    Unlike the mean of `estimates`, this resamples whole clusters, such as the pairs of a page, which are alike; all
    columns share their resamples.
    """
    rng, n = np.random.default_rng(0), len(values)
    whole = np.full(values.shape[1], np.nan)
    np.divide(values.sum(axis=0), counts.sum(axis=0), out=whole, where=counts.sum(axis=0) > 0)
    resampled = []
    for _ in range(RESAMPLES if n else 0):
        rows = rng.integers(n, size=n)
        total, count = values.take(rows, axis=0).sum(axis=0), counts.take(rows, axis=0).sum(axis=0)
        # A resample without any count says nothing about the spread.
        resampled.append(np.divide(total, count, out=whole.copy(), where=count > 0))
    ordered = np.sort(resampled, axis=0) if resampled else np.tile(whole, (HIGH + 1, 1))
    columns = np.stack([whole, ordered[LOW], ordered[HIGH]], axis=1)
    return [Estimate(*column) for column in columns.tolist()]


def _ranked_targets(source: str, ranked: Mapping[str, Sequence[str]]) -> list[str]:
    return [target for target in dict.fromkeys(ranked.get(source, ())) if target and target != source]


def _values(wanted: Collection[str], targets: Sequence[str]) -> tuple[float, float, float, float]:
    """Return hit, recall, NDCG (of the first five) and reciprocal rank of one source."""
    at = [rank for rank, target in enumerate(targets) if target in wanted]
    top = [rank for rank in at if rank < TOP]
    ndcg = GAINS[top].sum() / GAINS[: len(wanted)].sum()
    return float(bool(top)), len(top) / len(wanted), float(ndcg), 1 / (at[0] + 1) if at else 0.0


def text_digest(text: str) -> bytes:
    """Return the SHA-256 digest of a text, which is the same on every computer."""
    return hashlib.sha256(text.encode()).digest()
