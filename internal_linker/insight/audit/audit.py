"""The audit of a site: figures before and after adoption of the proposed links, clusters, and findings."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from internal_linker.insight.audit.links import Proposals, Proposed, SiteLinks, proposed_links, site_links
from internal_linker.insight.audit.page_clusters import PageClusters, page_clusters
from internal_linker.insight.audit.records import (
    MEASURES,
    OF_SOURCES,
    OF_TARGETS,
    Audit,
    Finding,
    GraphFigures,
    Limits,
    Rule,
    SectionMatrix,
)
from internal_linker.insight.audit.rules import (
    States,
    ambiguous_anchors,
    circle_findings,
    dense_findings,
    duplicate_findings,
    exact_copies,
    misleading_anchors,
    multiplied_findings,
    near_threshold_findings,
    page_findings,
    reciprocal_findings,
    repeated_anchors,
    target_findings,
)
from internal_linker.insight.graph import (
    SiteGraph,
    across,
    adopted,
    between,
    click_depth,
    closed_circles,
    components,
    degrees,
    gini,
    pagerank,
    reciprocal_pairs,
    top_share,
)
from internal_linker.model.arrays import Bools, Ints, Vectors
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.records import Collected, Duplicate, Page
from internal_linker.model.results import Column, ResultTable
from internal_linker.model.sections import grouped, sections_of
from internal_linker.model.urls import keys_meant, within_site
from internal_linker.text.words import word_count, words

if TYPE_CHECKING:
    from pandas import DataFrame


def figures(graph: SiteGraph, n: int, home: int, wanted: Bools) -> GraphFigures:
    """Compute the figures of a graph of n pages.

    Args:
        home: row of the home page; -1: clicks are unknown.
        wanted: (n,) whether a page without inlinks is an orphan.
    """
    inlinks, outlinks = degrees(graph, n)
    orphans = np.flatnonzero(wanted & (inlinks == 0))
    return GraphFigures(inlinks, outlinks, click_depth(graph, n, home), pagerank(graph, n), orphans)


def measures(graph: SiteGraph, state: GraphFigures, labels: Ints, limits: Limits) -> dict[str, float]:
    """Return the figures of a site by their keys in `MEASURES`, given (n,) each page's cluster, or -1."""
    n, depth = len(state.depth), state.depth
    reached = depth[depth > 0]
    found = {
        "pages": n,
        "links": state.outlinks.sum(),
        "unfollowed": (graph.weights == 0).sum(),
        "links-per-page": state.outlinks.mean(),
        "orphans": len(state.orphans),
        "few-inlinks": (state.inlinks < limits.min_inlinks).sum(),
        "no-outlinks": (state.outlinks == 0).sum(),
        "unreachable": (depth < 0).sum(),
        "depth": reached.mean() if len(reached) else 0.0,
        "max-depth": depth.max(),
        "deep": (depth > limits.clicks).sum(),
        "gini": gini(state.pagerank),
        "top-share": top_share(state.pagerank),
        "reciprocal": len(reciprocal_pairs(graph, n)),
        "crossing": across(graph, labels).mean() if len(graph.sources) else 0.0,
        "groups": components(graph, n),
    }
    if (depth < 0).all():
        found |= dict.fromkeys(("unreachable", "depth", "max-depth", "deep"), nan)
    return {key: float(value) for key, value in found.items()}


def summary(
    today: Mapping[str, float], after: Mapping[str, float], limits: Limits, *, links_known: bool
) -> "DataFrame":
    """Return the figures before and after adoption; without links today, only the number of pages is known."""
    from pandas import DataFrame

    rows = [
        (
            key,
            name.format(min_inlinks=limits.min_inlinks, clicks=limits.clicks),
            decimals,
            *((today[key], after[key]) if links_known or key == "pages" else (nan, nan)),
        )
        for key, (name, decimals, _) in MEASURES.items()
        if key != "unfollowed" or today[key]
    ]
    return DataFrame(rows, columns=["key", "name", "decimals", "before", "after"])


# The file that a server sends for a folder.
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|xhtml|shtml|php[0-9]?|aspx?|jsp|cfm)$", re.IGNORECASE)
# Bars of the histogram of strengths.
_BINS = 40


@dataclass(frozen=True)
class AuditInput:
    """The input of an audit."""

    # the pages, and the links with their targets as written, without following redirects
    collected: Collected
    proposals: Proposals  # the links of the last run, and editors' decisions
    # the last run's near-duplicates; None: the audit finds pages with exactly the same text
    duplicates: Iterable[Duplicate] | None
    excluded: Callable[..., str]  # returns the pattern that forbids links to one of these URLs, "" for none
    site: str  # host, or host and folder, of the site; "", or one that no page is of: the host of most pages
    home: str  # URL of the home page; "": it is detected
    limits: Limits  # the limits beyond which the audit reports a finding
    # returns (m,) the clusters of m pages and the field that they were compared by; None: too many pages
    similar: Callable[[Sequence[Page]], tuple[Ints, str] | None]
    # returns m language codes of pages, "" where unknown
    languages: Callable[[Sequence[Page]], Sequence[str]] = lambda pages: [page.lang for page in pages]
    # whether a page's section gets links, by its key; findings are about such pages only
    gives: Callable[[str], bool] = lambda _: True
    # whether links may lead to a page's section, by its key; likewise
    takes: Callable[[str], bool] = lambda _: True
    # how many links pages had in their text at an earlier run, by key
    earlier: Mapping[str, int] = field(default_factory=dict)


def inspect(material: AuditInput) -> Audit:
    """Audit the pages that have content of their own: no errors, redirects or canonicalised pages.

    Raises:
        InputError: there is no such page, or `home` is none of them.
    """
    pages = [page for page in material.collected.pages if page.is_visited]
    if not pages:
        raise InputError(
            "There is no page to audit: all pages in files/urls_rawdata.csv are errors, redirects or canonicalised."
        )
    n, rows = len(pages), {page.key: row for row, page in enumerate(pages)}
    today = site_links(material.collected, rows)
    lengths, digests = _lengths(pages)
    room = np.maximum(0, material.limits.density.most(lengths) - today.counts)
    offered = proposed_links(
        material.proposals, material.collected, rows, today.graph, limits=material.limits, room=room
    )
    both = adopted(today.graph, offered.adopted, n)
    site = _site(pages, material.site)
    home = home_row(pages, site, material)
    wanted = _wanted(pages, home, material)
    clusters = page_clusters(pages, both, material.similar, material.languages)
    labels, names = clusters.labels, clusters.names
    before, after = (figures(graph, n, home, wanted) for graph in (today.graph, both))
    sources = np.array([page.takes_links for page in pages]) & _plain(pages, home, material)
    seen = States([page.url for page in pages], wanted, sources, before, after, material.limits)
    copies = material.duplicates
    if copies is None:
        copies = exact_copies(pages, digests, before.inlinks.tolist())
    found = list(duplicate_findings(copies))
    if len(today.graph.sources):
        found += _findings(seen, pages, material, today, lengths=lengths, offered=offered, both=both)
    bad = {page.key: page for page in material.collected.pages if page.issue}
    urls = {page.key: page.url for page in material.collected.pages}
    aliases = material.collected.aliases
    links = ((link.source, link.target) for link in material.collected.links)
    found += target_findings(links, bad, aliases, urls, "stays")
    keys = [page.key for page in pages]
    found += multiplied_findings(today.counts, keys, seen.urls, material.earlier)
    found += near_threshold_findings(offered.candidates, seen.urls, material.limits)
    found += target_findings(offered.written, bad, aliases, urls, "new")
    sections = sections_of([page.key for page in pages])
    return Audit(
        run_id=offered.run,
        site=site,
        home=home,
        links_known=bool(len(today.graph.sources)),
        urls=seen.urls,
        titles=[page.title or page.h1 for page in pages],
        sections=sections,
        clusters=[names[label] if label >= 0 else "" for label in labels.tolist()],
        cluster_links=_cluster_links(clusters, seen.urls, before.pagerank, today.graph, both),
        clusters_by=clusters.by,
        summary=summary(
            measures(today.graph, before, labels, material.limits),
            measures(both, after, labels, material.limits),
            material.limits,
            links_known=bool(len(today.graph.sources)),
        ),
        before=before,
        after=after,
        after_by=material.proposals.adoption,
        existing=today.graph,
        proposed=offered.adopted,
        candidates=offered.candidates,
        counted_today=today.counted,
        counted_new=offered.counted,
        tiers=offered.tiers,
        findings=_sorted(_within(found, material)),
        histogram=_histogram(offered.strengths),
        thresholds=(material.limits.sidebar, material.limits.inline),
        section_matrix=_matrix(sections, today.graph, both),
    )


def _site(pages: Sequence[Page], given: str) -> str:
    """Return the given host (and folder) if any page is of it, else the host of most pages."""
    if given and any(within_site(page.key, given) for page in pages):
        return given
    hosts = Counter(page.key.split("/")[2] for page in pages)
    return max(hosts, key=hosts.__getitem__)


def home_row(pages: Sequence[Page], site: str, material: AuditInput) -> int:
    """Return the row of the home page: the one asked for, else the page at the site's address, else -1.

    Raises:
        ConfigurationError: the one asked for is no URL.
        InputError: it is none of the pages.
    """
    if material.home:
        rows = {page.key: row for row, page in enumerate(pages)}
        return page_row(material.home, "--home", material.collected, rows)
    found = [(_place(page.key), -row) for row, page in enumerate(pages)]
    for wanted in (site, site.partition("/")[0]):
        address = wanted.removeprefix("www.").rstrip("/")
        # Of several spellings, the shortest: an index file comes after its folder.
        at = [(len(pages[-row].key), -row) for place, row in found if place == address]
        if at:
            return min(at)[1]
    return -1


def _place(key: str) -> str:
    return _INDEX.sub("", key.partition("://")[2].removeprefix("www.")).rstrip("/")


def page_row(url: str, option: str, collected: Collected, rows: dict[str, int]) -> int:
    """Return the row of the page at this URL, or of the page that it leads to.

    Raises:
        ConfigurationError: it is no URL.
        InputError: it is none of the pages that an audit is of.
    """
    try:
        found = keys_meant(url, (*rows, *collected.aliases), collected.hosts.key)
    except ValueError as error:
        raise ConfigurationError(f"{option} {url}: {error}.") from None
    keys = {collected.aliases.get(key, key) for key in found}
    row = rows.get(keys.pop(), -1) if len(keys) == 1 else -1
    if row < 0:
        raise InputError(
            f"{option} {url} not found: use the URL of a page in files/urls_rawdata.csv that is not an error, redirect "
            "or canonicalised page."
        )
    return row


def _wanted(pages: Sequence[Page], home: int, material: AuditInput) -> Bools:
    free = np.array([page.issue is None and material.takes(page.key) for page in pages])
    return free & _plain(pages, home, material)


def _plain(pages: Sequence[Page], home: int, material: AuditInput) -> Bools:
    wanted = np.array([not material.excluded(page.url, page.key) for page in pages])
    if home >= 0:
        wanted[home] = False
    return wanted


_CLUSTERS = (
    Column("name", "Cluster", 40),
    Column("pages", "Pages", 10),
    Column("hub", "Strongest page", 60, "link"),
    Column("inner", "Links inside", 14),
    Column("inner_after", "... after", 14),
    Column("outer", "Links out and in", 16),
    Column("outer_after", "... after", 14),
)


def _cluster_links(
    clusters: PageClusters, urls: Sequence[str], pagerank: Vectors, before: SiteGraph, after: SiteGraph
) -> ResultTable:
    labels, count = clusters.labels, len(clusters.names)
    links = [between(graph, labels, count) for graph in (before, after)]
    inner = [np.diag(each) for each in links]
    outer = [each.sum(axis=0) + each.sum(axis=1) - 2 * np.diag(each) for each in links]
    members = [np.flatnonzero(labels == at) for at in range(count)]
    hubs = [urls[int(rows[pagerank[rows].argmax()])] for rows in members]
    columns = [*clusters.names], [*map(len, members)], hubs, *inner, *outer
    values = dict(zip((column.key for column in _CLUSTERS), columns, strict=True))
    return ResultTable("Clusters", _CLUSTERS, values)


def _findings(
    seen: States,
    pages: Sequence[Page],
    material: AuditInput,
    today: SiteLinks,
    *,
    lengths: Ints,
    offered: Proposed,
    both: SiteGraph,
) -> list[Finding]:
    n, limits = len(pages), material.limits
    home = int(np.flatnonzero(seen.before.depth == 0)[0]) if (seen.before.depth == 0).any() else -1
    found = list(page_findings(seen))
    found += circle_findings(seen, closed_circles(today.graph, n, home), offered.adopted)
    found += reciprocal_findings(seen, *(reciprocal_pairs(graph, n) for graph in (today.graph, both)))
    in_text, proposed = (degrees(graph, n)[1] for graph in (offered.in_text, offered.adopted))
    found += dense_findings(seen, today.counts, in_text, proposed, lengths)
    found += ambiguous_anchors(today.anchored, seen.urls)
    found += repeated_anchors(today.anchored, seen.urls, limits)
    profiles = [words(f"{page.title} {page.h1} {unquote(page.key.rpartition('/')[2])}") for page in pages]
    found += misleading_anchors(today.anchored, [*map(words, today.anchored.texts)], profiles, seen.urls)
    return found


def _lengths(pages: Sequence[Page]) -> tuple[Ints, list[bytes]]:
    lengths, digests = np.zeros(len(pages), np.int64), []
    for row, page in enumerate(pages):
        text = str(page.content).strip()
        lengths[row] = word_count(text)
        digests.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() if text else b"")
    return lengths, digests


def _within(found: Iterable[Finding], material: AuditInput) -> Iterator[Finding]:
    """Yield the findings about pages whose sections get links, or may be linked to, as the rule demands."""
    keys = {page.url: page.key for page in material.collected.pages}
    for one in found:
        ends = [keys.get(url, url) for url in (one.page, one.other) if url]
        if one.rule in OF_TARGETS:
            within = material.takes(ends[0])
        elif one.rule in OF_SOURCES:
            within = material.gives(ends[0])
        else:
            within = any(material.gives(key) or material.takes(key) for key in ends)
        if within:
            yield one


def _sorted(found: Iterable[Finding]) -> list[Finding]:
    order = {rule: at for at, rule in enumerate(Rule)}
    return sorted(found, key=lambda one: order[one.rule])


def _histogram(strengths: Vectors) -> tuple[Vectors, Ints]:
    counts, edges = np.histogram(strengths[np.isfinite(strengths)], _BINS, (0, 1))
    return edges, counts


def _matrix(sections: Sequence[str], before: SiteGraph, after: SiteGraph) -> SectionMatrix:
    names, labels = grouped(sections)
    return SectionMatrix(names, *(between(graph, labels, len(names)) for graph in (before, after)))
