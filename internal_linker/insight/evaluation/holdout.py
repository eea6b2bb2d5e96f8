"""Hold-out evaluation: hide links that editors made, and measure how many of them each way of ranking finds."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from internal_linker.match.embed import all_texts
from internal_linker.model.arrays import Bools, Vectors
from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress
from internal_linker.model.records import (
    Collected,
    ExistingLink,
    Fusion,
    Page,
    Searched,
    Source,
    Targets,
    Text,
)
from internal_linker.rank.adaptation import TOO_FEW, Adaptation, adapted
from internal_linker.rank.metrics import Measured, estimates, measure, reach, text_digest
from internal_linker.rank.rank import Ranking
from internal_linker.rank.ranker import by_features
from internal_linker.rank.recommend import recommend
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.simulated_arrivals import simulated_arrivals
from internal_linker.text.spans import without_anchors

# One target in five is cold: about four fifths of the links remain to learn from.
COLD = 5
# The number of each source's first candidates in which hidden links are counted as reached.
REACH = 50
ALL_SIGNALS, NO_LINKS = "all signals", "all signals, known links ignored"
LEARNED = "+ weights adapted to the site"
AS_CONFIGURED = "as configured, inlinks for everyone"
# What some ways are the same as, where no model is used, or no link is known.
SAME = {LEARNED: ALL_SIGNALS, ALL_SIGNALS: NO_LINKS}
_FUSIONS: Mapping[str, Fusion] = {"filled up": "fill", "blended": "blend"}

Truth = Mapping[str, Collection[str]]
# The targets of each source, best first; all URLs in the user's spelling.
Orders = Mapping[str, Sequence[str]]
# Decides whether a link is hidden, by the source's and the target's URL.
Hides = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """One way of ranking: its name, its figures, and the share of the hidden links among its first `REACH`."""

    name: str
    measured: Measured
    reach: float


@dataclass(frozen=True)
class Hidden:
    """A site with some of its links hidden."""

    # the pages; if requested, the anchors of the links between them are cut from their text
    pages: Sequence[Page]
    visible: Sequence[ExistingLink]  # the links that may be known
    truth: Truth  # hidden targets of each source, with URLs in the user's spelling
    pairs: int  # count of the hidden links
    queries: Mapping[str, str] = field(default_factory=dict)  # the known main queries, by the page's key

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """All pages as sources to rank for."""
        return tuple(
            Source(page.key, page.url, self.queries.get(page.key, ""), page, in_sheet=False)
            for page in self.pages
        )


def hidden(source_url: str, target_url: str) -> bool:
    """Return whether a link is in the hidden half, chosen by the pair's hash and so the same on every computer."""
    return text_digest(f"{source_url}\n{target_url}")[0] % 2 == 0


def cold(target_url: str) -> bool:
    """Return whether a target is in the cold fifth: the ranker may learn from none of the links to it."""
    return int.from_bytes(text_digest(target_url)[:8]) % COLD == 0


HIDINGS: Mapping[str, Hides] = {
    "all": lambda source, target: True,
    "half": hidden,
    "cold": lambda source, target: cold(target),
}


def hide(collected: Collected, hides: Hides, *, cut_anchors: bool) -> Hidden:
    """Hide the links between two pages of one language that `hides` chooses (`HIDINGS` has the usual choices).

    Raises:
        InputError: no link can be hidden.
    """
    truth: defaultdict[str, set[str]] = defaultdict(set)
    visible = list[ExistingLink]()
    for link in collected.links:
        source, target = collected.find(link.source), collected.find(link.target)
        if source is None or target is None or source is target:
            visible.append(link)
            continue
        if not hides(source.url, target.url):
            visible.append(link)
        elif source.lang == target.lang and target.issue is None:
            truth[source.url].add(target.url)
    if not truth:
        raise InputError(
            "There are no links to hide: put the links that your editors made between the pages of "
            "files/urls_rawdata.csv into files/existing_links.csv (Source, Destination, Anchor)."
        )
    pages = readable(collected, cut_anchors=cut_anchors)
    return Hidden(pages, tuple(visible), dict(truth), sum(map(len, truth.values())), collected.queries)


def readable(collected: Collected, *, cut_anchors: bool) -> Sequence[Page]:
    """Return the pages, without the anchors of the links between them if these are to be cut.

    The anchors of known links are cut, too: so texts don't depend on what is hidden, and are embedded only once.
    """
    inner = (link for link in collected.links if link.target in collected.rows and link.source != link.target)
    return without_anchors_of(inner, collected.pages) if cut_anchors else collected.pages


def without_anchors_of(links: Iterable[ExistingLink], pages: Iterable[Page]) -> Sequence[Page]:
    """Return the pages, each without the anchors of its links among `links`."""
    anchors: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        anchors[link.source].append(link.anchor)
    return tuple(
        replace(page, content=without_anchors(str(page.content), anchors[page.key]))
        if page.key in anchors
        else page
        for page in pages
    )


def evaluate(
    site: Hidden,
    targets: Targets,
    vectors: Callable[[Sequence[Text]], Vectors],
    rules: LinkRules,
    *,
    searched: Searched,
    progress: Progress,
) -> tuple[list[Row], Adaptation | None, tuple[Vectors, Bools]]:
    """Rank every source in each way and compare; also return what the ranker learned, and which links it expects.

    Of m pairs of pages whose sources have hidden links, these are the probabilities that editors add the link, and
    which are hidden links, both (m,).

    Args:
        targets: where links may lead; it must not contain the hidden links.
        vectors: a function that returns the texts' vectors, (n, d).
    """
    ranking, taught, adaptation = learned(site, targets, vectors, rules, progress)
    ways = _ways(ranking)
    if adaptation and adaptation.used:
        ways[LEARNED] = taught
    expected = _expected(taught, site.truth)
    fused: dict[str, Ranking] = {}
    if searched.targets:
        taught = taught.searching(searched)
        fused = {f"search results, {name}": taught.with_fusion(way) for name, way in _FUSIONS.items()}
    # The last way ranks twice: for each source alone, and with links spread over the site.
    ranked = (len(ways) + len(fused) + 1) * len(site.truth)
    progress.start("Ranking", ranked + len(site.sources), "pages")
    orders = {name: by_similarity(way, progress.advance, site.truth) for name, way in ways.items()}
    if searched.targets:
        orders["search results"] = {
            source.url: [hit.url for hit in searched.targets.get(position, ())]
            for position, source in enumerate(site.sources)
        }
    orders |= {name: by_similarity(way, progress.advance, site.truth) for name, way in fused.items()}
    orders[AS_CONFIGURED] = as_proposed(taught, rules, progress.advance, site.truth)
    progress.finish(f"{len(site.truth)} pages in {len(orders)} ways")
    progress.start("Measuring", len(orders), "ways")
    rows = []
    for name, order in orders.items():
        rows.append(judge(name, site.truth, order))
        progress.advance()
    progress.finish(f"on {site.pairs} hidden links")
    return rows, adaptation, expected


def _expected(ranking: Ranking, truth: Truth) -> tuple[Vectors, Bools]:
    places = [at for at, source in enumerate(ranking.sources) if source.url in truth]
    pairs = [
        (each.probability, each.url in truth[ranking.sources[at].url])
        for at, candidates in zip(places, ranking.rank_sources(places), strict=True)
        for each in candidates
    ]
    return np.array([pair[0] for pair in pairs], float), np.array([pair[1] for pair in pairs], bool)


def _ways(ranking: Ranking) -> dict[str, Ranking]:
    """Return rankings by each signal alone, among the candidates of all, then by all signals of the packaged ranker."""
    alone = {"words": "words", "passages": "passage"}
    if ranking.site.has_vectors:
        alone["embedding"] = "embedding"
    if ranking.site.has_dates:
        alone["time"] = "time"
    if ranking.graph.size:
        alone |= {"votes of similar pages": "votes", "similarity to linked pages": "linked similarity"}
    ways = {name: ranking.with_ranker(by_features({feature: 1.0})) for name, feature in alone.items()}
    ways[NO_LINKS] = ranking.without_links()
    if ranking.graph.size:
        ways[ALL_SIGNALS] = ranking
    return ways


def learned(
    site: Hidden,
    targets: Targets,
    vectors: Callable[[Sequence[Text]], Vectors],
    rules: LinkRules,
    progress: Progress,
) -> tuple[Ranking, Ranking, Adaptation | None]:
    """Return the site's ranking, the ranking that learned from the visible links, and its cross-validation."""
    texts = all_texts(site.pages, {}, ())
    rows = vectors(texts)
    progress.start("Learning", 0, "links")
    ranking = site_ranking(site, targets, texts, rows, rules)
    taught, adaptation = adapted(ranking, site.visible)
    progress.finish(f"from {adaptation.links} links" if adaptation else TOO_FEW)
    return ranking, taught, adaptation


def site_ranking(
    site: Hidden, targets: Targets, texts: Sequence[Text], vectors: Vectors, rules: LinkRules
) -> Ranking:
    """Return a ranking for every page of the site that knows the visible links."""
    collected = Collected(site.pages, site.sources, (), 0, links=site.visible)
    return Ranking(collected, site.sources, targets, Searched(), texts=texts, vectors=vectors, rules=rules)


def by_similarity(
    ranking: Ranking, advance: Callable[[], None] = lambda: None, among: Collection[str] | None = None
) -> Orders:
    """Return the candidates of each source as they rank for it alone.

    Args:
        advance: called after each source.
        among: URLs of the sources to rank for; None: of all.
    """
    places = [at for at, source in enumerate(ranking.sources) if among is None or source.url in among]
    orders = {}
    for at, candidates in zip(places, ranking.rank_sources(places), strict=True):
        orders[ranking.sources[at].url] = [candidate.url for candidate in candidates]
        advance()
    return orders


def as_proposed(
    ranking: Ranking,
    rules: LinkRules,
    advance: Callable[[], None] = lambda: None,
    among: Collection[str] | None = None,
) -> Orders:
    """Return the links that a run over all sources would propose, then the other candidates by rank.

    Args:
        advance: called twice for each source in `among`, and once for each other one.
    """
    ranked = by_similarity(ranking, advance, among)
    links = {
        one.source.url: [link.target.url for link in one.links]
        for one in recommend(ranking, Searched(), rules, advance)
    }
    return {source: list(dict.fromkeys([*links[source], *others])) for source, others in ranked.items()}


def judge(name: str, truth: Truth, orders: Orders) -> Row:
    """Measure how well one way of ranking finds the hidden links."""
    return Row(name, measure(truth, orders), reach(truth, orders, REACH))


def arrivals(collected: Collected, *, cut_anchors: bool) -> Iterator[Hidden]:
    """Yield the site as it was before each group of its pages was new; all with the same texts.

    Args:
        cut_anchors: whether to cut the anchors of all links between the pages from their text.
    """
    pages = readable(collected, cut_anchors=cut_anchors)
    for found in simulated_arrivals(collected.rows, collected.links):
        truth: defaultdict[str, set[str]] = defaultdict(set)
        for source, target in ((collected.page(one), collected.page(other)) for one, other in found.added):
            if source.lang == target.lang and target.issue is None:
                truth[source.url].add(target.url)
        if truth:
            yield Hidden(pages, found.known, dict(truth), sum(map(len, truth.values())), collected.queries)


def together(groups: Sequence[tuple[Hidden, Sequence[Row]]]) -> list[Row]:
    """Return the figures over several groups of new pages; those of a page are the mean of its groups.

    Ways of ranking that some groups lack are left out, unless they would be the same as another way there.
    """
    by_name = [{row.name: row for row in rows} for _, rows in groups]
    pairs = [hidden.pairs for hidden, _ in groups]
    found = []
    names = dict.fromkeys(name for rows in sorted(by_name, key=len, reverse=True) for name in rows)
    for name in names:
        known = [row for each in by_name if (row := _found(name, each))]
        if len(known) == len(groups):
            found.append(_mean(name, known, pairs))
    return found


def _found(name: str, rows: Mapping[str, Row]) -> Row | None:
    """Return the figures of a way, or of the one that is the same where there is nothing to learn from."""
    return rows.get(name) or (_found(SAME[name], rows) if name in SAME else None)


def _mean(name: str, rows: Sequence[Row], pairs: Sequence[int]) -> Row:
    """Return one way's figures over all groups, which have so many links to be found."""
    each = defaultdict[str, list[Vectors]](list)
    for row in rows:
        for source, values in zip(row.measured.sources, row.measured.each, strict=True):
            each[source].append(values)
    sources = tuple(sorted(each))
    values = np.array([np.mean(each[source], axis=0) for source in sources])
    hit, recall, ndcg, mrr = estimates(values)
    reach = sum(row.reach * count for row, count in zip(rows, pairs, strict=True)) / sum(pairs)
    return Row(name, Measured(sources, hit, recall, ndcg, mrr, values), reach)
