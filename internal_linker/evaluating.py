"""A site's pages and the links that its editors made -> how many of them each way of ranking finds again."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from internal_linker.errors import InputError
from internal_linker.learning import Lesson, teach
from internal_linker.ranking import LinkRules, Ranking
from internal_linker.recommending import recommend
from internal_linker.records import Collected, ExistingLink, Page, Source, Targets, Text, Vectors
from internal_linker.searching import Searched
from internal_linker.steps.measure import Measured, cold, hidden, measure, reach, without_anchors
from internal_linker.steps.signals import FIXED_WEIGHTS, Weights
from internal_linker.steps.text import page_text

# Candidates of each source among which the hidden links are looked for.
REACH = 50
AS_CONFIGURED = "as configured, in-links for everyone"

Truth = Mapping[str, Collection[str]]
# Source -> targets, best first; both as the user writes their URLs.
Orders = Mapping[str, Sequence[str]]
# Whether a link is hidden, by the source's and the target's URL.
Hides = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Row:
    """One way of ranking: its name, its figures, and the share of the hidden links among its first `REACH`."""

    name: str
    measured: Measured
    reach: float


@dataclass(frozen=True, slots=True)
class Hidden:
    """A site some of whose links are hidden.

    Attributes:
        pages: with the anchors of the hidden links cut from their text, if that was asked for.
        visible: the links that may be known.
        truth: source -> hidden targets, as the user writes their URLs.
        pairs: how many they are.
    """

    pages: tuple[Page, ...]
    visible: tuple[ExistingLink, ...]
    truth: Truth
    pairs: int


HIDINGS: Mapping[str, Hides] = {
    "all": lambda source, target: True,
    "half": hidden,
    "cold": lambda source, target: cold(target),
}


def hide(collected: Collected, hides: Hides, *, cut_anchors: bool) -> Hidden:
    """Hide links between two pages of one language, of those that `hides` chooses (`HIDINGS` has the usual ones).

    Raises:
        InputError: there is no link to hide.
    """
    pages = {page.key: page for page in collected.pages}
    truth: defaultdict[str, set[str]] = defaultdict(set)
    inner, visible = [], []
    for link in collected.links:
        source, target = pages.get(link.source), pages.get(link.target)
        if source is None or target is None or source is target:
            visible.append(link)
            continue
        inner.append(link)
        if not hides(source.url, target.url):
            visible.append(link)
        elif source.lang == target.lang and not target.not_target:
            truth[source.url].add(target.url)
    if not truth:
        raise InputError(
            "There is no link to look for: put the links that your editors made between the pages of "
            "files/urls_rawdata.csv into files/existing_links.csv (Source, Destination, Anchor)."
        )
    # The anchors of links that may be known go, too: so the texts are the same, and embedded once, whatever is hidden.
    read = without_anchors_of(inner, collected.pages) if cut_anchors else collected.pages
    return Hidden(read, tuple(visible), dict(truth), sum(map(len, truth.values())))


def without_anchors_of(links: Iterable[ExistingLink], pages: Iterable[Page]) -> tuple[Page, ...]:
    """The pages, each without the anchors of those of the links that stand on it."""
    anchors: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        anchors[link.source].append(link.anchor)
    return tuple(replace(page, content=without_anchors(page.content, anchors[page.key])) for page in pages)


def evaluate(
    site: Hidden, targets: Targets, vectors: Callable[[Sequence[Text]], Vectors], rules: LinkRules
) -> tuple[list[Row], Lesson | None]:
    """Rank every source in each way, and compare; with what the ranker learned of the visible links.

    Args:
        site: pages and truth.
        targets: where links may lead; it must not know of the hidden links.
        vectors: gives the texts' vectors, (n, d).
        rules: the configured ones.
    """
    ranking = site_ranking(site, targets, vectors, rules)
    taught, lesson = teach(ranking, site.visible)
    rows = [
        judge(name, site.truth, by_similarity(ranking.by(ours)))
        for name, ours in _ways(rules, with_links=bool(ranking.graph.size)).items()
    ]
    if lesson and lesson.used:
        rows.append(judge("+ what the links taught", site.truth, by_similarity(taught)))
    return [*rows, judge(AS_CONFIGURED, site.truth, as_proposed(taught, rules))], lesson


def _ways(rules: LinkRules, *, with_links: bool) -> dict[str, LinkRules]:
    """Each signal alone, then one more at a time, by the fixed weights."""
    alone = Weights(passage=0, time=0, votes=0, alike=0, unlinked=0)
    content = replace(FIXED_WEIGHTS, votes=0, alike=0, unlinked=0)
    ways = {
        "words": (1.0, alone),
        "embedding": (0.0, alone),
        "words + passages": (1.0, replace(alone, passage=content.passage)),
        "words + embedding": (rules.lexical_weight, alone),
        "words + embedding + passages": (rules.lexical_weight, replace(alone, passage=content.passage)),
        "+ time": (rules.lexical_weight, content),
    }
    if with_links:
        ways["+ known links"] = (rules.lexical_weight, FIXED_WEIGHTS)
    return {
        name: replace(rules, lexical_weight=share, weights=weights) for name, (share, weights) in ways.items()
    }


def site_ranking(
    site: Hidden, targets: Targets, vectors: Callable[[Sequence[Text]], Vectors], rules: LinkRules
) -> Ranking:
    """What ranks for every page of the site, knowing the visible links."""
    texts = [page_text(page) for page in site.pages]
    sources = tuple(Source(page.key, page.url, "", page, in_sheet=False) for page in site.pages)
    collected = Collected(site.pages, sources, (), 0, links=site.visible)
    return Ranking(collected, sources, targets, Searched(), texts, vectors(texts), rules)


def by_similarity(ranking: Ranking) -> Orders:
    """The candidates of each source as they are ranked for it alone."""
    return {
        source.url: [candidate.url for candidate in candidates]
        for source, candidates in zip(ranking.sources, ranking.of(range(len(ranking.sources))), strict=True)
    }


def as_proposed(ranking: Ranking, rules: LinkRules) -> Orders:
    """The links that a run would propose for each source, then its other candidates as they are ranked."""
    ranked = by_similarity(ranking)
    links = {
        one.source.url: [link.target.url for link in one.links]
        for one in recommend(ranking, Searched(), rules)
    }
    return {source: list(dict.fromkeys([*links[source], *others])) for source, others in ranked.items()}


def judge(name: str, truth: Truth, orders: Orders) -> Row:
    """How well one way of ranking finds the hidden links."""
    return Row(name, measure(truth, orders), reach(truth, orders, REACH))
