"""Proposed targets and the links that editors made -> how well they agree; and the rules that hide links for that.

URLs are compared as they are given: those of the truth and of the ranking must be written alike, as the
user's page list writes them.
"""

import hashlib
import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from internal_linker.core.arrays import Vectors
from internal_linker.text.scripts import INSIDE

# As many links as a page gets.
PLACES = 5
# Enough for an interval that stands to about half a point.
RESAMPLES = 1000
# The 26th lowest and the 26th highest of 1,000 resampled means: 95% lie between them.
LOW, HIGH = 25, 974
# Discount of each place in NDCG: 1, 0.63, 0.5, ...
GAINS = 1 / np.log2(np.arange(PLACES) + 2)
# A target in five is cold: four fifths of the links stay to learn from.
COLD = 5

# A shorter anchor that stands on the page as a part of words only is no link's text there: "C" in "CSS".
PART_LENGTH = 4


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
    """How well a ranking agrees with the hidden links, as a mean over the sources that have any.

    Attributes:
        sources: the measured sources, sorted.
        hit: share of sources with a hidden target among the first five.
        recall: share of a source's hidden targets among its first five.
        ndcg: NDCG of the first five, binary gains, 0 to 1.
        mrr: 1 / place of the first hidden target in the whole ranking, 0 without one.
        each: (n, 4) float64, the four values of every source, in this order.
    """

    sources: tuple[str, ...] = field(repr=False)
    hit: Estimate
    recall: Estimate
    ndcg: Estimate
    mrr: Estimate
    each: Vectors = field(repr=False, compare=False)


def measure(truth: Mapping[str, Collection[str]], ranked: Mapping[str, Sequence[str]]) -> Measured:
    """Compare the proposed targets with the hidden ones; a source that has none hidden isn't measured.

    Args:
        truth: source -> its hidden targets.
        ranked: source -> proposed targets, best first; the source itself, an empty target and a
            repeated one take no place, and a source that is missing here scores 0.
    """
    sources = tuple(sorted(source for source, wanted in truth.items() if wanted))
    each = np.array([_values(set(truth[one]), _places(one, ranked)) for one in sources], np.float64)
    each = each.reshape(len(sources), 4)
    hit, recall, ndcg, mrr = estimates(each)
    return Measured(sources, hit, recall, ndcg, mrr, each)


def paired(ours: Measured, theirs: Measured) -> Estimate:
    """How much higher our NDCG@5 is than theirs, source by source; sure if the interval leaves out 0.

    Raises:
        ValueError: they were not measured on the same sources.
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
    """Share, 0 to 1, of the hidden pairs whose target is among its source's first `k` candidates; NaN without any."""
    found = sum(len(set(wanted) & set(_places(one, candidates)[:k])) for one, wanted in truth.items())
    pairs = sum(len(set(wanted)) for wanted in truth.values())
    return found / pairs if pairs else float("nan")


def hidden(source_url: str, target_url: str) -> bool:
    """Whether a link is among the half that is hidden: chosen by the pair's hash, so everywhere the same."""
    return _hash(f"{source_url}\n{target_url}")[0] % 2 == 0


def cold(target_url: str) -> bool:
    """Whether a target is among the fifth none of whose links may be learned from."""
    return int.from_bytes(_hash(target_url)[:8]) % COLD == 0


def fold(source_url: str, n: int) -> int:
    """Which of `n` parts, from 0, a source page is in; it says nothing about whether the page is cold."""
    return int.from_bytes(_hash(source_url)[8:16]) % n


def without_anchors(text: str, anchors: Iterable[str]) -> str:
    """Put a space for every occurrence of the anchors, so that no link can be read off the page's text.

    No positions are known, so an anchor that is a common word ("here") goes wherever it stands. It must be
    a whole word or phrase in the same case; one that is nowhere so is cut out of longer words (a prefix may
    be written onto a link), else in any case. One run of white space equals another.
    """
    folded = text.casefold()
    phrases = {" ".join(anchor.split()) for anchor in anchors} - {""}
    # Most anchors of menus and footers aren't in the content: no pattern is compiled for them.
    phrases = {each for each in phrases if all(word in folded for word in each.casefold().split())}
    pieces, at = [], 0
    for start, end in sorted(span for phrase in phrases for span in spans(text, phrase)):
        if start >= at:
            pieces.append(text[at:start])
        at = max(at, end)
    return " ".join([*pieces, text[at:]])


def spans(text: str, phrase: str) -> list[tuple[int, int]]:
    """Where a phrase, its white space single blanks, stands in a text, as (start, end): see `without_anchors`."""
    exact = _found(text, phrase)
    if whole := [span for span in exact if _is_whole(text, span)]:
        return whole
    if exact and len(phrase) >= PART_LENGTH:
        return exact
    return [span for span in _found(text, phrase, re.IGNORECASE) if _is_whole(text, span)]


def estimates(each: Vectors) -> list[Estimate]:
    """Mean and interval of each column of (n, c) values; all columns share their resamples."""
    if not len(each):
        return [Estimate(float("nan"), float("nan"), float("nan"))] * each.shape[1]
    choices = _choices(len(each))
    means = np.sort([each[next(choices)].mean(axis=0) for _ in range(RESAMPLES)], axis=0)
    columns = np.stack([each.mean(axis=0), means[LOW], means[HIGH]], axis=1)
    return [Estimate(*column) for column in columns.tolist()]


def _places(source: str, ranked: Mapping[str, Sequence[str]]) -> list[str]:
    return [target for target in dict.fromkeys(ranked.get(source, ())) if target and target != source]


def _values(wanted: Collection[str], places: Sequence[str]) -> tuple[float, float, float, float]:
    """Hit, recall, NDCG (of the first five) and reciprocal rank of one source."""
    at = [place for place, target in enumerate(places) if target in wanted]
    top = [place for place in at if place < PLACES]
    ndcg = GAINS[top].sum() / GAINS[: len(wanted)].sum()
    return float(bool(top)), len(top) / len(wanted), float(ndcg), 1 / (at[0] + 1) if at else 0.0


def _choices(n: int) -> Iterator[NDArray[np.uint64]]:
    """Endless resamples, (n,) rows each, with repeats: the draws of `random.Random(0).choice`, many at a time.

    That generator draws 32 bits, keeps as many as `n` has, and tries again if they exceed it; so a
    plain script that resamples with the standard library arrives at the same interval.
    """
    key = random.Random(0).getstate()[1]
    bits = np.random.MT19937()
    bits.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(key[:-1], np.uint32), "pos": key[-1]},
    }
    drawn = np.empty(0, np.uint64)
    while True:
        while len(drawn) < n:
            fresh = bits.random_raw(2 * n) >> np.uint64(32 - n.bit_length())
            drawn = np.concatenate([drawn, fresh[fresh < n]])
        yield drawn[:n]
        drawn = drawn[n:]


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _found(text: str, phrase: str, flags: int = 0) -> list[tuple[int, int]]:
    pattern = r"\s+".join(map(re.escape, phrase.split()))
    return [match.span() for match in re.finditer(pattern, text, flags)]


def _is_whole(text: str, span: tuple[int, int]) -> bool:
    return not any(INSIDE.match(text, at) for at in span)
