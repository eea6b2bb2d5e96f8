"""Made-up audits: a site of any size with links that look like a site's, and the few odd ones."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, shortest_path

from internal_linker.arrays import Ints, Vectors
from internal_linker.audit_records import (
    RULES,
    Audit,
    Finding,
    GraphFigures,
    Measure,
    SectionMatrix,
    SiteGraph,
    Topic,
)

SITE = "https://www.slowkettle.example"
SECTIONS = ("/brewing", "/beans", "/gear", "/recipes", "/قهوه", "/journal", "/news", "/help", "/")
TOPICS = (
    ("pour, filter, bloom", "espresso, crema, shot", "water, kettle, scale"),
    ("roast, origin, washed", "ethiopia, kenya, floral"),
    ("grinder, burr, hopper", "machine, boiler, group", "cleaning, descaling"),
    ("cold brew, ice, summer", "milk, latte, foam"),
    ("قهوه، دم، آسیاب", "کافه، تهران، شیراز"),
    ("interview, café, barista", "trip, harvest, farm"),
    ("company, opening, team",),
    ("order, delivery, refund",),
    ("home, about, contact",),
)
ODD_TITLES = (
    "قهوه‌ی دمی با V60: راهنمای کامل",
    "طريقة تحضير القهوة (فرنسية)",
    "手冲咖啡的水温与研磨",
    "Why “slow” is <em>better</em> & cheaper",
)


def audit(pages: int = 60, *, links: int = 4, proposed: int = 5, seed: int = 7) -> Audit:
    """An audit of a made-up site with `links` existing and `proposed` proposed links a page, on average."""
    random = np.random.default_rng(seed)
    section = np.minimum(random.zipf(1.5, pages), len(SECTIONS)) - 1
    topic = random.integers(0, 9, pages) % np.array([len(names) for names in TOPICS])[section]
    titles = [f"{SECTIONS[of].strip('/').capitalize()} guide no. {row}" for row, of in enumerate(section)]
    titles[1 : len(ODD_TITLES) + 1] = ODD_TITLES[: max(pages - 1, 0)]
    existing = _with_home(_graph(random, pages, links * pages, section, skew=4.0), section, pages)
    offered = _without(_graph(random, pages, proposed * pages, section, skew=1.2), existing, pages)
    offered = SiteGraph(offered.sources, offered.targets, random.beta(6, 2.5, len(offered.sources)))
    return assembled(
        [f"{SITE}{SECTIONS[of].rstrip('/')}/page-{row}/" for row, of in enumerate(section)],
        titles,
        [SECTIONS[of] for of in section],
        [TOPICS[of][which] for of, which in zip(section, topic, strict=True)],
        existing,
        offered,
    )


def assembled(
    urls: Sequence[str],
    titles: Sequence[str],
    sections: Sequence[str],
    topics: Sequence[str],
    existing: SiteGraph,
    proposed: SiteGraph,
) -> Audit:
    """The audit of these pages and links: its figures are right but for PageRank, which is a rough one."""
    n = len(urls)
    both = SiteGraph(
        np.concatenate([existing.sources, proposed.sources]),
        np.concatenate([existing.targets, proposed.targets]),
        np.concatenate([existing.weights, proposed.weights]),
    )
    before, offered, after = (figures(graph, n) for graph in (existing, proposed, both))
    names = sorted(set(sections), key=lambda name: -list(sections).count(name))
    place = np.array([names.index(name) for name in sections], np.int64)
    return Audit(
        run_id="2026-11-20 0930" if len(proposed.sources) else "",
        site="www.slowkettle.example",
        home=0 if n else -1,
        urls=urls,
        titles=titles,
        sections=sections,
        topics=topics,
        communities=[
            Topic(name, topics.count(name), topics.index(name), (9, 14), (3, 7))
            for name in dict.fromkeys(topics)
        ],
        summary=_summary(n, existing, both, before, after),
        before=before,
        offered=offered,
        after=after,
        existing=existing,
        proposed=proposed,
        findings=findings(urls, before, after),
        histogram=_histogram(proposed.weights),
        thresholds=(0.65, 0.8),
        section_matrix=SectionMatrix(
            names, _matrix(existing, place, len(names)), _matrix(both, place, len(names))
        ),
    )


def no_links() -> SiteGraph:
    """The links of a site that has none."""
    return SiteGraph(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def figures(graph: SiteGraph, n: int) -> GraphFigures:
    """What can be counted, depths, and fifty rounds of PageRank."""
    links = sparse.csr_matrix((graph.weights, _pair(graph)), shape=(n, n))
    inlinks, outlinks = (np.diff(each.indptr) for each in (links.tocsc(), links))
    depth, rank = _depth(links, n), _pagerank(links, n)
    top = np.sort(rank)[::-1]
    return GraphFigures(
        inlinks=inlinks,
        outlinks=outlinks,
        depth=depth,
        pagerank=rank,
        orphans=np.flatnonzero(inlinks[1:] == 0) + 1,
        gini=float(1 + 1 / n - 2 * np.cumsum(top[::-1]).sum() / n) if n else 0.0,
        top_share=float(top[: -(-n // 10)].sum()),
        mean_depth=float(depth[depth >= 0].mean()) if n else 0.0,
        unreachable=int((depth < 0).sum()),
        reciprocal=int(links.astype(bool).multiply(links.T.astype(bool)).nnz // 2),
        components=connected_components(links)[0] if n else 0,
        cross_topic=0.3,
    )


def findings(urls: Sequence[str], before: GraphFigures, after: GraphFigures) -> list[Finding]:
    """The orphans, the deep pages, and a few of other rules."""
    lost = set(after.orphans.tolist())
    found = [
        Finding(
            "orphan",
            "error",
            urls[row],
            "",
            "No other page links here.",
            "stays" if row in lost else "mended",
        )
        for row in before.orphans.tolist()
    ]
    found += [
        Finding("deep", "note", urls[row], "", f"{before.depth[row]} clicks from the home page.")
        for row in np.flatnonzero(before.depth > 3).tolist()
    ]
    if len(urls) > 2:
        circle = "These two link to each other, and nobody else links to them."
        found.append(Finding("closed-circle", RULES["closed-circle"][0], urls[1], urls[2], circle, "mended"))
        many = '12 links have the anchor "قهوه" and lead here.'
        found.append(Finding("repeated-anchor", RULES["repeated-anchor"][0], urls[2], "", many, "new"))
    order = list(RULES)
    return sorted(
        found, key=lambda one: (("error", "warning", "note").index(one.severity), order.index(one.rule))
    )


def _graph(random: np.random.Generator, n: int, links: int, section: Ints, skew: float) -> SiteGraph:
    """Links that prefer early pages (the more, the greater `skew`) and, three times in four, the own section."""
    sources = random.integers(0, max(n, 1), links)
    targets = (max(n, 1) * random.random(links) ** skew).astype(np.int64)
    own = (section[sources] == section[targets]) | (random.random(links) < 0.25) if n else np.zeros(0, bool)
    ends = np.unique(np.stack([sources, targets], axis=1)[own & (sources != targets)], axis=0)
    return SiteGraph(ends[:, 0], ends[:, 1], np.ones(len(ends)))


def _with_home(graph: SiteGraph, section: Ints, n: int) -> SiteGraph:
    """The home page links to the first page of every section."""
    first = np.setdiff1d(np.unique(section, return_index=True)[1], [0])
    home = SiteGraph(np.zeros(len(first), np.int64), first, np.ones(len(first)))
    others = _without(graph, home, n)
    ends = np.concatenate([home.sources, others.sources]), np.concatenate([home.targets, others.targets])
    return SiteGraph(*ends, np.ones(len(ends[0])))


def _without(graph: SiteGraph, others: SiteGraph, n: int) -> SiteGraph:
    new = ~np.isin(graph.sources * n + graph.targets, others.sources * n + others.targets)
    return SiteGraph(graph.sources[new], graph.targets[new], graph.weights[new])


def _pair(graph: SiteGraph) -> tuple[Ints, Ints]:
    return graph.sources, graph.targets


def _depth(links: sparse.csr_matrix, n: int) -> Ints:
    if not n:
        return np.zeros(0, np.int64)
    clicks = shortest_path(links, unweighted=True, indices=0)
    return np.where(np.isfinite(clicks), clicks, -1).astype(np.int64)


def _pagerank(links: sparse.csr_matrix, n: int) -> Vectors:
    given = np.asarray(links.sum(axis=1)).ravel()
    rank = np.full(n, 1 / max(n, 1))
    for _ in range(50):
        sent = np.divide(rank, given, out=np.zeros(n), where=given > 0)
        rank = 0.15 / max(n, 1) + 0.85 * (links.T @ sent + rank[given == 0].sum() / max(n, 1))
    return rank


def _summary(
    n: int, existing: SiteGraph, both: SiteGraph, before: GraphFigures, after: GraphFigures
) -> list[Measure]:
    none = float("nan")
    return [
        Measure("Pages", n, n),
        Measure("Links", len(existing.sources), len(both.sources)),
        Measure("Orphans", len(before.orphans), len(after.orphans)),
        Measure("Pages that can't be reached", before.unreachable, after.unreachable),
        Measure("Mean click depth", before.mean_depth or none, after.mean_depth or none, 2),
        Measure("Gini of PageRank", before.gini, after.gini, 3),
        Measure("PageRank of the best tenth", before.top_share, after.top_share, 3),
        Measure("Pairs that link to each other", before.reciprocal, after.reciprocal),
        Measure("Groups without a link between them", before.components, after.components),
    ]


def _histogram(strengths: Vectors) -> tuple[Vectors, Ints]:
    counts, edges = np.histogram(strengths, bins=20, range=(0, 1))
    return edges, counts


def _matrix(graph: SiteGraph, section: Ints, size: int) -> Ints:
    cells = section[graph.sources] * size + section[graph.targets]
    return np.bincount(cells.astype(np.int64), minlength=size * size).reshape(size, size)
