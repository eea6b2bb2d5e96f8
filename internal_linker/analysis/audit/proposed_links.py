"""The proposed links of an audit as people read them: with anchor, sentence, score and reason."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from internal_linker.analysis.audit.link_details import ends_of
from internal_linker.analysis.audit.records import Audit, ProposedLink, Rule
from internal_linker.core.arrays import Ints
from internal_linker.core.edges import Edge, is_link, tier_of, why
from internal_linker.review.rows import reason, warning

# As many links as the review shows: writing them takes seconds. links.csv has all.
MOST_LINKS = 20_000
# Findings about pages that one more link mends.
MENDED_BY_A_LINK = (Rule.ORPHAN, Rule.UNDER_LINKED)


class ProposedLinks:
    """Collects the links to show of an audit while the stored edges pass by.

    Shown are the strongest links, and the strongest ones to orphans and to pages with too few links.

    Args:
        audit: the audit.
        aliases: final pages by the keys of redirecting or canonicalised pages.
        rows: the row of each audited page, by its key.
        most: how many of the strongest links are shown, and how many of those to weak pages.
    """

    def __init__(
        self, audit: Audit, aliases: Mapping[str, str], rows: Mapping[str, int], *, most: int = MOST_LINKS
    ) -> None:
        self._aliases, self._rows = aliases, rows
        self._limits = audit.thresholds
        links = audit.candidates
        self._weights = {
            (int(links.sources[at]), int(links.targets[at])): float(links.weights[at])
            for at in _shown(audit, most).tolist()
        }
        self._edges: dict[tuple[int, int], Edge] = {}

    def passing(self, edges: Iterable[Edge]) -> Iterator[Edge]:
        """Yield the edges, and keep those of links that are shown."""
        for edge in edges:
            ends = ends_of(edge.source, edge.target, self._aliases, self._rows)
            if ends in self._weights and is_link(edge):
                before = self._edges.get(ends)
                # Of a link that was proposed for several spellings of a page, the latest counts.
                if before is None or before.last_run <= edge.last_run:
                    self._edges[ends] = edge
            yield edge

    def links(self) -> list[ProposedLink]:
        """Return the links, strongest first."""
        found = [self._link(ends, weight) for ends, weight in self._weights.items()]
        return sorted(found, key=lambda one: (-one.strength, one.source, one.target))

    def _link(self, ends: tuple[int, int], weight: float) -> ProposedLink:
        edge = self._edges.get(ends)
        if edge is None:
            sidebar, inline = self._limits
            return ProposedLink(*ends, strength=weight, tier=tier_of(weight, inline, sidebar))
        chosen = edge.chosen
        shown = ProposedLink(
            *ends,
            strength=weight,
            tier=edge.tier,
            anchor=chosen.text,
            sentence=chosen.sentence,
            why=reason(warning(edge), why(edge)),
            status=edge.status,
        )
        return shown if np.isnan(edge.strength) else replace(shown, strength=edge.strength)


def rows_of(audit: Audit, rules: Sequence[Rule]) -> dict[int, Rule]:
    """Return the pages that these rules have findings about, by row."""
    rules_by_url = {one.page: one.rule for one in audit.findings if one.rule in rules}
    return {row: rules_by_url[url] for row, url in enumerate(audit.urls) if url in rules_by_url}


def _shown(audit: Audit, most: int) -> Ints:
    """Return the positions of the candidates that are shown."""
    links = audit.candidates
    order = np.argsort(-links.weights, kind="stable")
    to_weak = order[np.isin(links.targets[order], [*rows_of(audit, MENDED_BY_A_LINK)])]
    shown: Ints = np.union1d(order[:most], to_weak[:most])
    return shown
