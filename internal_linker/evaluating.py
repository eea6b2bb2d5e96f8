"""A site's pages and the links that its editors made -> how many of them each way of ranking finds again."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from internal_linker.errors import InputError
from internal_linker.ranking import PASSAGE_WEIGHT, LinkRules, Ranking
from internal_linker.recommending import recommend
from internal_linker.records import Collected, ExistingLink, Page, Source, Targets, Text, Vectors
from internal_linker.searching import Searched
from internal_linker.steps.measure import Measured, hidden, measure, reach, without_anchors
from internal_linker.steps.text import page_text

# Candidates of each source among which the hidden links are looked for.
REACH = 50
AS_CONFIGURED = "as configured, in-links for everyone"

Truth = Mapping[str, Collection[str]]
# Source -> targets, best first; both as the user writes their URLs.
Orders = Mapping[str, Sequence[str]]


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


def hide(collected: Collected, *, half: bool, cut_anchors: bool) -> Hidden:
    """Hide all links between two pages of one language, or the half that their hash chooses.

    Raises:
        InputError: there is no link to hide.
    """
    pages = {page.key: page for page in collected.pages}
    truth: defaultdict[str, set[str]] = defaultdict(set)
    gone, visible = [], []
    for link in collected.links:
        source, target = pages.get(link.source), pages.get(link.target)
        if (
            source is None
            or target is None
            or source is target
            or (half and not hidden(source.url, target.url))
        ):
            visible.append(link)
            continue
        gone.append(link)
        if source.lang == target.lang and not target.not_target:
            truth[source.url].add(target.url)
    if not truth:
        raise InputError(
            "There is no link to look for: put the links that your editors made between the pages of "
            "files/urls_rawdata.csv into files/existing_links.csv (Source, Destination, Anchor)."
        )
    read = without_anchors_of(gone, collected.pages) if cut_anchors else collected.pages
    return Hidden(read, tuple(visible), dict(truth), sum(map(len, truth.values())))


def without_anchors_of(links: Iterable[ExistingLink], pages: Iterable[Page]) -> tuple[Page, ...]:
    """The pages, each without the anchors of those of the links that stand on it."""
    anchors: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        anchors[link.source].append(link.anchor)
    return tuple(replace(page, content=without_anchors(page.content, anchors[page.key])) for page in pages)


def evaluate(
    site: Hidden, targets: Targets, vectors: Callable[[Sequence[Text]], Vectors], rules: LinkRules
) -> list[Row]:
    """Rank every source in each way, and compare.

    Args:
        site: pages and truth.
        targets: where links may lead; it must not know of the hidden links.
        vectors: gives the texts' vectors, (n, d).
        rules: the configured ones.
    """
    ranking = rankings(site, targets, vectors)
    ways = {
        "words": (1.0, 0.0),
        "embedding": (0.0, 0.0),
        "words + passages": (1.0, PASSAGE_WEIGHT),
        "words + embedding": (rules.lexical_weight, 0.0),
        "words + embedding + passages": (rules.lexical_weight, PASSAGE_WEIGHT),
    }
    rows = []
    for name, (lexical, passages) in ways.items():
        ours = replace(rules, lexical_weight=lexical, passage_weight=passages)
        rows.append(judge(name, site.truth, by_similarity(ranking(ours))))
    return [*rows, judge(AS_CONFIGURED, site.truth, as_proposed(ranking(rules), rules))]


def rankings(
    site: Hidden, targets: Targets, vectors: Callable[[Sequence[Text]], Vectors]
) -> Callable[[LinkRules], Ranking]:
    """What ranks for every page of the site by any rules; the texts are embedded once, now."""
    texts = [page_text(page) for page in site.pages]
    embedded = vectors(texts)
    sources = tuple(Source(page.key, page.url, "", page, in_sheet=False) for page in site.pages)
    collected = Collected(site.pages, sources, (), 0)
    return lambda rules: Ranking(collected, sources, targets, Searched(), texts, embedded, rules)


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
