"""The audit's rules for pages: orphans, deep and under-linked pages, dead ends, hubs and dense pages."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from internal_linker.analysis.audit.records import Finding, GraphFigures, Limits, Rule, standing
from internal_linker.analysis.graph.site_graph import SiteGraph
from internal_linker.core.arrays import Bools, Ints

# A page with fewer inlinks is not a hub, whatever the mean: sites with hardly any links have a tiny mean.
_HUB = 10
# Pages of a closed circle that its finding names.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class States:
    """The n pages before and after adoption of the proposed links.

    Attributes:
        urls: n URLs in the user's own spelling.
        wanted: (n,) whether links should lead to the page: not excluded, not noindex, not the home page.
        sources: (n,) whether the page should link to others: not excluded, noindex, only a target or the home page.
        before, after: the figures today, and with the proposed links.
        limits: the limits beyond which a page is a finding.
    """

    urls: Sequence[str]
    wanted: Bools
    sources: Bools
    before: GraphFigures
    after: GraphFigures
    limits: Limits

    def found(
        self, rule: Rule, before: Bools, after: Bools, detail: Callable[[int], str]
    ) -> Iterator[Finding]:
        """Yield a finding for each page for which a condition holds before, after, or both."""
        for row in np.flatnonzero(before | after).tolist():
            yield Finding(
                rule, self.urls[row], detail(row), standing=standing(bool(before[row]), bool(after[row]))
            )


def page_findings(states: States) -> Iterator[Finding]:
    """Find orphans, under-linked pages, dead ends and hubs; with a home page, also unreachable and deep pages."""
    before, after, limits = states.before, states.after, states.limits
    orphan = np.zeros(len(states.urls), np.bool_)
    orphan[before.orphans] = True
    wanted, others = states.wanted, states.wanted & ~orphan
    yield from states.found(Rule.ORPHAN, orphan, orphan & (after.inlinks == 0), _links_here(states))
    few = others & (before.inlinks < limits.min_inlinks)
    yield from states.found(
        Rule.UNDER_LINKED, few, few & (after.inlinks < limits.min_inlinks), _links_here(states)
    )
    if not isnan(before.max_depth):
        lost = others & (before.depth < 0)
        yield from states.found(Rule.UNREACHABLE, lost, lost & (after.depth < 0), _clicks(states))
        deep = wanted & (before.depth > limits.clicks)
        yield from states.found(Rule.DEEP, deep, deep & (after.depth > limits.clicks), _clicks(states))
    end = states.sources & (before.outlinks == 0)
    yield from states.found(Rule.DEAD_END, end, end & (after.outlinks == 0), _own_links(states))
    yield from _hubs(states)


def circle_findings(states: States, circles: Sequence[Ints], proposed: SiteGraph) -> Iterator[Finding]:
    """Report today's closed circles; a proposed link into a circle resolves it."""
    circle = np.full(len(states.urls), -1, np.int64)
    for number, rows in enumerate(circles):
        circle[rows] = number
    into = circle[proposed.targets]
    entered = set(into[into != circle[proposed.sources]].tolist())
    for number, rows in enumerate(circles):
        named = [states.urls[row] for row in rows[:_NAMED].tolist()]
        more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        these = f"{', '.join(named)}{more}"
        detail = f"{len(rows)} pages reach each other, but no other page links to any of them: {these}."
        yield Finding(Rule.CLOSED_CIRCLE, named[0], detail, named[1], standing(True, number not in entered))


def reciprocal_findings(states: States, before: Ints, after: Ints) -> Iterator[Finding]:
    """Report pairs of pages that link to each other, from (p, 2) rows before and after."""
    today = set(map(tuple, before.tolist()))
    for one, other in after.tolist():
        yield Finding(
            Rule.RECIPROCAL,
            states.urls[one],
            "The two pages link to each other.",
            states.urls[other],
            standing((one, other) in today, True),
        )


def dense_findings(
    states: States, links: Ints, in_text: Ints, adopted: Ints, words: Ints
) -> Iterator[Finding]:
    """Find pages with more links than their text can carry, or than a page should have.

    Args:
        states: the pages.
        links: (n,) links in each page's text today, to any page.
        in_text: (n,) adopted links that go into each page's text.
        adopted: (n,) all adopted links of each page; those beside the text count for the page only.
        words: (n,) words of each page's text; 0 if unknown, and then only the number of links counts.
    """
    density = states.limits.density
    most = density.most(words)
    crowded = links + adopted > density.links

    def detail(row: int) -> str:
        after = int(links[row] + (adopted if crowded[row] else in_text)[row])
        count, share = (
            int(links[row]),
            f", {100 * links[row] / words[row]:.1f} per 100 words" if words[row] else "",
        )
        limit = int(density.links if crowded[row] else most[row])
        return f"It has {count} link{'' if count == 1 else 's'}{share}, with a limit of {limit}{_then(count, after)}."

    yield from states.found(Rule.DENSE, links > most, (links + in_text > most) | crowded, detail)


def _hubs(states: States) -> Iterator[Finding]:
    if not states.limits.max_inlinks or not len(states.urls):
        return
    before, after = states.before.inlinks, states.after.inlinks

    def detail(row: int) -> str:
        today, then = (
            f"{count[row]} links ({count[row] / max(1, count.sum()):.2%} of all)" for count in (before, after)
        )
        return f"{today} lead here{_then(today, then)}."

    yield from states.found(Rule.HUB, _is_hub(before, states.limits), _is_hub(after, states.limits), detail)


def _is_hub(inlinks: Ints, limits: Limits) -> Bools:
    hub: Bools = inlinks > max(_HUB, limits.max_inlinks * inlinks.mean())
    return hub


def _links_here(states: States) -> Callable[[int], str]:
    before, after = states.before.inlinks, states.after.inlinks
    return lambda row: f"{_pages(before[row])} here{_then(before[row], after[row])}."


def _own_links(states: States) -> Callable[[int], str]:
    after = states.after.outlinks
    return lambda row: f"It links to no other page{f'; after adoption: {after[row]}' if after[row] else ''}."


def _clicks(states: States) -> Callable[[int], str]:
    def clicks(figures: GraphFigures, row: int) -> str:
        depth = int(figures.depth[row])
        return "none" if depth < 0 else f"{depth} click{'s' if depth > 1 else ''}"

    def both(row: int) -> str:
        today, then = clicks(states.before, row), clicks(states.after, row)
        return f"Path from the home page: {today}{_then(today, then)}."

    return both


def _then(today: object, after: object) -> str:
    """Return what adoption changes, "" if nothing."""
    return "" if today == after else f"; after adoption: {after}"


def _pages(count: int) -> str:
    return (
        "1 page links"
        if count == 1
        else f"{count or 'No'} page{'s' if count else ''} link{'' if count else 's'}"
    )
