"""The audit's rules for single proposed links, and for the links of a page beside those at an earlier run."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from internal_linker.analysis.audit.records import Finding, Limits, Rule
from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.arrays import Ints
from internal_linker.core.edges import score_of

# Strengths that differ by less from a threshold may be on its other side after the next change of a text or model.
_NEAR = 0.01
# A page has suddenly more links if it has so many times as many as before, and so many more: editors add a few.
_TIMES, _MORE = 2.0, 10


def near_threshold_findings(candidates: SiteGraph, urls: Sequence[str], limits: Limits) -> Iterator[Finding]:
    """Find proposed links whose tier is a close decision, the closest of a page first."""
    thresholds = {"tier_inline": limits.inline, "tier_sidebar": limits.sidebar}
    apart = np.abs(candidates.weights[:, None] - np.array(list(thresholds.values())))
    nearest, closest = apart.argmin(axis=1), apart.min(axis=1)
    order = np.lexsort((closest, candidates.sources))
    for at in order[closest[order] <= _NEAR].tolist():
        name, threshold = [*thresholds.items()][int(nearest[at])]
        strength = float(candidates.weights[at])
        score, bound = score_of(strength), score_of(threshold)
        yield Finding(
            Rule.NEAR_THRESHOLD,
            urls[int(candidates.sources[at])],
            f"Its score of {score} is close to the threshold {name} ({bound}): decide on the link yourself.",
            urls[int(candidates.targets[at])],
            "new",
        )


def multiplied_findings(
    counts: Ints, keys: Sequence[str], urls: Sequence[str], earlier: Mapping[str, int]
) -> Iterator[Finding]:
    """Find pages whose text has suddenly many more links.

    Args:
        counts: (n,) links in each page's text today.
        keys: n keys.
        urls: n URLs in the user's own spelling.
        earlier: the number of links that pages had at an earlier run, by key.
    """
    for row, count in enumerate(counts.tolist()):
        before = earlier.get(keys[row], count)
        if count >= _TIMES * before and count >= before + _MORE:
            yield Finding(
                Rule.MULTIPLIED_LINKS,
                urls[row],
                f"{count} links in its text, {before} at an earlier run: check the template or the last edit.",
            )
