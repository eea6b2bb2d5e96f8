"""Opportunities: pages that would earn clicks at better positions, and the pages that should link to them."""

from collections.abc import Mapping, Sequence

import numpy as np

from internal_linker.analysis.audit.records import Audit, Opportunity
from internal_linker.core.needs import QueryGain

# Nobody works through more; the report shows the first of them.
MOST_OPPORTUNITIES = 1000
SOURCES_SHOWN = 3
GAIN_MEANS = (
    "A page at positions 4 to 20 gains these clicks in 28 days if it moves up by three places, by the site’s own click "
    "curve."
)


def opportunities(audit: Audit, gains: Sequence[QueryGain], rows: Mapping[str, int]) -> list[Opportunity]:
    """Return the gains of audited pages with the proposed links to each page, in the order of the gains.

    Args:
        audit: the audit, whose candidates are links that don't exist yet and that no editor rejected.
        gains: what pages would earn from queries, largest first.
        rows: the row of each audited page, by its key.
    """
    links = audit.candidates
    wanted = sorted({rows[one.page] for one in gains if one.page in rows})
    at = np.flatnonzero(np.isin(links.targets, wanted))
    at = at[np.lexsort((links.sources[at], -links.weights[at], links.targets[at]))]
    start, end = (np.searchsorted(links.targets[at], wanted, side=side) for side in ("left", "right"))
    sources = {
        row: tuple(links.sources[at[first : min(last, first + SOURCES_SHOWN)]].tolist())
        for row, first, last in zip(wanted, start.tolist(), end.tolist(), strict=True)
    }
    return [
        Opportunity(
            rows[one.page],
            one.query,
            one.impressions,
            one.clicks,
            one.position,
            one.gain,
            sources[rows[one.page]],
        )
        for one in gains
        if one.page in rows
    ]
