"""The audit's rules for single proposed links."""

from collections.abc import Iterator, Sequence

import numpy as np

from internal_linker.analysis.audit.records import Finding, Limits, Rule
from internal_linker.analysis.graph.site_graph import SiteGraph

# Strengths that differ by less from a threshold may be on its other side after the next change of a text or model.
_NEAR = 0.02


def near_threshold_findings(candidates: SiteGraph, urls: Sequence[str], limits: Limits) -> Iterator[Finding]:
    """Find proposed links whose tier is a close decision, the closest of a page first."""
    thresholds = {"tier_inline": limits.inline, "tier_sidebar": limits.sidebar}
    apart = np.abs(candidates.weights[:, None] - np.array(list(thresholds.values())))
    nearest, closest = apart.argmin(axis=1), apart.min(axis=1)
    order = np.lexsort((closest, candidates.sources))
    for at in order[closest[order] <= _NEAR].tolist():
        name, threshold = [*thresholds.items()][int(nearest[at])]
        strength = float(candidates.weights[at])
        side = "above" if strength >= threshold else "below"
        yield Finding(
            Rule.NEAR_THRESHOLD,
            urls[int(candidates.sources[at])],
            f"The strength {strength:.3f} is just {side} {name} ({threshold:g}): decide on the link yourself.",
            urls[int(candidates.targets[at])],
            "new",
        )
