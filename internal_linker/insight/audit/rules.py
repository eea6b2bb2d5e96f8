"""The rules of an audit: for pages, single links, targets and anchors."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from internal_linker.insight.audit.records import (
    Finding,
    FindingStatus,
    GraphFigures,
    Limits,
    Rule,
    finding_status,
)
from internal_linker.insight.graph import SiteGraph
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.edges import score_of
from internal_linker.model.reasons import NoTarget
from internal_linker.model.records import Duplicate, Page

# A page with fewer inlinks is not a hub, whatever the mean: sites with hardly any links have a tiny mean.
_HUB = 10
# Pages of a closed circle that its finding names.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class States:
    """The n pages before and after adoption of the proposed links."""

    urls: Sequence[str]  # n URLs in the user's own spelling
    wanted: Bools  # (n,) whether links should lead to the page: not excluded, not noindex, not the home page
    # (n,) whether the page should link to others: not excluded, noindex, only a target or the home page
    sources: Bools
    # before, after: the figures today, and with the proposed links
    before: GraphFigures
    after: GraphFigures
    limits: Limits  # the limits beyond which a page is a finding

    def found(
        self, rule: Rule, before: Bools, after: Bools, detail: Callable[[int], str]
    ) -> Iterator[Finding]:
        """Yield a finding for each page for which a condition holds before, after, or both."""
        for row in np.flatnonzero(before | after).tolist():
            yield Finding(
                rule,
                self.urls[row],
                detail(row),
                standing=finding_status(bool(before[row]), bool(after[row])),
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
    if (before.depth >= 0).any():
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
        yield Finding(
            Rule.CLOSED_CIRCLE, named[0], detail, named[1], finding_status(True, number not in entered)
        )


def reciprocal_findings(states: States, before: Ints, after: Ints) -> Iterator[Finding]:
    """Report pairs of pages that link to each other, from (p, 2) rows before and after."""
    today = set(map(tuple, before.tolist()))
    for one, other in after.tolist():
        yield Finding(
            Rule.RECIPROCAL,
            states.urls[one],
            "The two pages link to each other.",
            states.urls[other],
            finding_status((one, other) in today, True),
        )


def dense_findings(
    states: States, links: Ints, in_text: Ints, adopted: Ints, words: Ints
) -> Iterator[Finding]:
    """Find pages with more links than their text can carry, or than a page should have.

    Args:
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
    return "" if today == after else f"; after adoption: {after}"


def _pages(count: int) -> str:
    return (
        "1 page links"
        if count == 1
        else f"{count or 'No'} page{'s' if count else ''} link{'' if count else 's'}"
    )


# Strengths that differ by less from a threshold may be on its other side after the next change of a text or model.
_NEAR = 0.01
# A page has suddenly more links if it has so many times as many as before, and so many more: editors add a few.
_TIMES, _MORE = 2.0, 10


def near_threshold_findings(candidates: SiteGraph, urls: Sequence[str], limits: Limits) -> Iterator[Finding]:
    """Find proposed links whose tier is a close decision, the closest of a page first."""
    thresholds = {"anchors": limits.inline, "tier_sidebar": limits.sidebar}
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
            f"Its score of {score} is close to that of {name} ({bound}): decide on the link yourself.",
            urls[int(candidates.targets[at])],
            "new",
        )


def multiplied_findings(
    counts: Ints, keys: Sequence[str], urls: Sequence[str], earlier: Mapping[str, int]
) -> Iterator[Finding]:
    """Find pages whose text has suddenly many more links than at an earlier run (by key), given (n,) those of today."""
    for row, count in enumerate(counts.tolist()):
        before = earlier.get(keys[row], count)
        if count >= _TIMES * before and count >= before + _MORE:
            yield Finding(
                Rule.MULTIPLIED_LINKS,
                urls[row],
                f"{count} links in its text, {before} at an earlier run: check the template or the last edit.",
            )


# A page that is only a source breaks no rule: links to it are fine.
_BROKEN: Mapping[NoTarget, Rule] = {
    NoTarget.ERROR_STATUS: Rule.BROKEN_TARGET,
    NoTarget.REDIRECT_STATUS: Rule.REDIRECTED_TARGET,
    NoTarget.REDIRECT: Rule.REDIRECTED_TARGET,
    NoTarget.BAD_REDIRECT: Rule.REDIRECTED_TARGET,
    NoTarget.CANONICALISED: Rule.COPY_TARGET,
    NoTarget.BAD_CANONICAL: Rule.COPY_TARGET,
    NoTarget.NOINDEX: Rule.NOINDEX_TARGET,
}


def target_findings(
    links: Iterable[tuple[str, str]],
    bad: Mapping[str, Page],
    aliases: Mapping[str, str],
    urls: Mapping[str, str],
    standing: FindingStatus,
) -> Iterator[Finding]:
    """Report links to pages that no link should lead to, each pair once.

    Args:
        links: keys of source and target, the target as the link names it.
        bad: pages with an issue, by their keys.
        aliases: final targets by the keys of redirecting or canonicalised pages.
        standing: "stays" for today's links, "new" for proposed ones.
    """
    for source, target in dict.fromkeys(link for link in links if link[1] in bad):
        page, end = bad[target], aliases.get(target, "")
        if page.issue and (rule := _BROKEN.get(page.issue.kind)):
            remedy = f" Link to {urls.get(end, end)}." if end and end != source else ""
            detail = f"The link's target: {page.issue}.{remedy}"
            yield Finding(rule, urls.get(source, source), detail, page.url, standing)


def duplicate_findings(duplicates: Iterable[Duplicate]) -> Iterator[Finding]:
    """Report near-duplicates, each pair once, the page to keep second."""
    for pair in duplicates:
        detail = f"{pair.overlap:.0%} of their phrases are the same: keep the other; canonicalise or merge this one."
        yield Finding(Rule.DUPLICATE, pair.page, detail, pair.canonical)


def exact_copies(
    pages: Sequence[Page], digests: Sequence[bytes], inlinks: Sequence[int]
) -> Iterator[Duplicate]:
    """Yield pages with the same text, each with the one to keep: most inlinks, then the shorter URL, then A to Z.

    A page without text has an empty digest.
    """
    groups: dict[bytes, list[int]] = {}
    for row, digest in enumerate(digests):
        if digest:
            groups.setdefault(digest, []).append(row)
    for rows in groups.values():
        if len(rows) > 1:
            keep, *others = sorted(rows, key=lambda at: (-inlinks[at], len(pages[at].url), pages[at].url))
            yield from (Duplicate(pages[at].url, pages[keep].url, 1.0, 1.0, 1.0) for at in others)


# Cosine similarity, 0 to 1, of an anchor to the title words of the page that it names: two of three equally rare words
# give 0.8. And the upper bound for the target itself: a third of the anchor's words at best.
NAMES = 0.75
STRANGE = 0.4
# A word in more than this share of the titles, or in more than 50, doesn't distinguish pages.
_COMMON = 0.01
_FEW = 50
# Anchors compared with all titles at a time.
_BLOCK = 4096
# Targets that a finding names.
_NAMED_TARGETS = 4


@dataclass(frozen=True, slots=True)
class AnchoredLinks:
    """Links with anchors between the n pages, each source, target and anchor once."""

    # sources, targets: (m,) rows
    sources: Ints
    targets: Ints
    anchors: Ints  # (m,) positions in `texts`
    texts: Sequence[str]  # a anchors, each in its first spelling


def ambiguous_anchors(links: AnchoredLinks, urls: Sequence[str]) -> Iterator[Finding]:
    """Report anchors that lead to several pages, each once with the page that it leads to most often."""
    pairs, counts = _counted(links.anchors, links.targets, len(urls))
    order = np.lexsort((pairs[1], -counts, pairs[0]))
    starts = np.flatnonzero(np.diff(pairs[0][order], prepend=-1))
    for group in np.split(order, starts[1:]) if len(order) else []:
        if len(group) > 1:
            named = [urls[row] for row in pairs[1][group[:_NAMED_TARGETS]].tolist()]
            more = f" and {len(group) - _NAMED_TARGETS} more" if len(group) > _NAMED_TARGETS else ""
            text = links.texts[int(pairs[0][group[0]])]
            detail = f"“{text}” leads to {len(group)} pages: {', '.join(named)}{more}."
            yield Finding(Rule.AMBIGUOUS_ANCHOR, named[0], detail, named[1])


def repeated_anchors(links: AnchoredLinks, urls: Sequence[str], limits: Limits) -> Iterator[Finding]:
    """Report targets with the same anchor on more than `same_anchor` pages and in most of their links."""
    pairs, counts = _counted(links.targets, links.anchors, max(1, len(links.texts)))
    every = np.bincount(links.targets, minlength=len(urls))
    for at in np.flatnonzero((counts > limits.same_anchor) & (2 * counts > every[pairs[0]])).tolist():
        row, text = int(pairs[0][at]), links.texts[int(pairs[1][at])]
        detail = f"{counts[at]} of the {every[row]} links to it have the anchor “{text}”."
        yield Finding(Rule.REPEATED_ANCHOR, urls[row], detail)


def misleading_anchors(
    links: AnchoredLinks,
    anchor_words: Sequence[Sequence[str]],
    page_words: Sequence[Sequence[str]],
    urls: Sequence[str],
) -> Iterator[Finding]:
    """Report links whose anchor clearly names another page than their target, by the rare words of titles.

    `page_words` has the words of each page's title, H1 and URL.
    """
    anchors, pages = _weighed(anchor_words, page_words)
    pairs, _ = _counted(links.anchors, links.targets, len(urls))
    # Most anchors name their target: compare only the others with all titles.
    own = np.asarray(anchors[pairs[0]].multiply(pages[pairs[1]]).sum(axis=1)).ravel()
    strange = np.flatnonzero(own < STRANGE)
    for first in range(0, len(strange), _BLOCK):
        ours = strange[first : first + _BLOCK]
        best, most = _best((anchors[pairs[0][ours]] @ pages.T).tocsr())
        wrong = most >= NAMES
        yield from _misled(links, urls, ours[wrong], pairs, best[wrong])


def _misled(
    links: AnchoredLinks, urls: Sequence[str], which: Ints, pairs: tuple[Ints, Ints], better: Ints
) -> Iterator[Finding]:
    """Yield a finding for each link of these pairs of anchor and target, unless the anchor names its own page."""
    named = dict(
        zip(
            zip(pairs[0][which].tolist(), pairs[1][which].tolist(), strict=True), better.tolist(), strict=True
        )
    )
    if not named:
        return
    wanted = np.isin(links.anchors * len(urls) + links.targets, [one * len(urls) + two for one, two in named])
    ends = (part[wanted].tolist() for part in (links.sources, links.targets, links.anchors))
    for source, target, anchor in zip(*ends, strict=True):
        other = named[anchor, target]
        if other != source:
            detail = f"“{links.texts[anchor]}” leads to {urls[target]}, but names {urls[other]}."
            yield Finding(Rule.MISLEADING_ANCHOR, urls[source], detail, urls[target])


def _counted(one: Ints, other: Ints, n: int) -> tuple[tuple[Ints, Ints], Ints]:
    """Return the distinct pairs, ascending, and their counts; `other` is below n."""
    keys, counts = np.unique(one.astype(np.int64) * n + other, return_counts=True)
    return np.divmod(keys, n), counts


def _best(scores: sparse.csr_matrix) -> tuple[Ints, Vectors]:
    if not scores.shape[1]:
        return np.zeros(scores.shape[0], np.int64), np.zeros(scores.shape[0])
    best = np.asarray(scores.argmax(axis=1)).ravel()
    most = scores.max(axis=1).toarray().ravel()
    return best, most


def _weighed(
    anchors: Sequence[Sequence[str]], pages: Sequence[Sequence[str]]
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return unit rows of the words of anchors and pages that occur in few titles, weighted by rarity."""
    column: dict[str, int] = {}
    for title in pages:
        for word in title:
            column.setdefault(word, len(column))
    of_pages = _rows(pages, column)
    frequency = np.bincount(of_pages.indices, minlength=len(column))
    weights = np.log((1 + len(pages)) / (1 + frequency)) + 1
    weights[frequency > max(_FEW, _COMMON * len(pages))] = 0
    # A word of no title names no page: it makes an anchor longer and so less clear.
    unknown = np.array([float(any(word not in column for word in words)) for words in anchors])
    both = _unit(of_pages, weights), _unit(_rows(anchors, column), weights, unknown * weights.max(initial=0))
    return both[1], both[0]


def _rows(texts: Sequence[Sequence[str]], column: dict[str, int]) -> sparse.csr_matrix:
    known = [sorted({column[word] for word in words if word in column}) for words in texts]
    starts = np.cumsum([0, *map(len, known)])
    indices = np.array([at for row in known for at in row], np.int64)
    return sparse.csr_matrix(
        (np.ones(len(indices)), indices, starts), shape=(len(texts), max(1, len(column)))
    )


def _unit(rows: sparse.csr_matrix, weights: Vectors, beside: Vectors | float = 0.0) -> sparse.csr_matrix:
    """Weight the rows' words, and scale the rows to unit length together with what is `beside` them."""
    if not len(weights):
        return rows
    data = weights[rows.indices]
    rows = sparse.csr_matrix((data, rows.indices, rows.indptr), shape=rows.shape)
    rows.eliminate_zeros()
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() + np.square(beside)
    rows.data /= np.repeat(np.sqrt(squares).clip(min=1e-9), np.diff(rows.indptr))
    return rows
