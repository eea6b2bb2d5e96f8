"""A site's pages and the links that its editors made -> how many of them each way of ranking finds again."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
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

Truth = Mapping[str, Collection[str]]


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
    anchors: defaultdict[str, list[str]] = defaultdict(list)
    visible = []
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
        anchors[source.key].append(link.anchor)
        if source.lang == target.lang and not target.not_target:
            truth[source.url].add(target.url)
    if not truth:
        raise InputError(
            "There is no link to look for: put the links that your editors made between the pages of "
            "files/urls_rawdata.csv into files/existing_links.csv (Source, Destination, Anchor)."
        )
    cut = tuple(
        replace(page, content=without_anchors(page.content, anchors[page.key])) if cut_anchors else page
        for page in collected.pages
    )
    return Hidden(cut, tuple(visible), dict(truth), sum(map(len, truth.values())))


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
    texts = [page_text(page) for page in site.pages]
    embedded = vectors(texts)
    ways = {
        "words": (1.0, 0.0),
        "embedding": (0.0, 0.0),
        "words + passages": (1.0, PASSAGE_WEIGHT),
        "words + embedding": (rules.lexical_weight, 0.0),
        "words + embedding + passages": (rules.lexical_weight, PASSAGE_WEIGHT),
    }
    sources = tuple(Source(page.key, page.url, "", page, in_sheet=False) for page in site.pages)
    collected = Collected(site.pages, sources, (), 0)
    rows = []
    for name, (lexical, passages) in ways.items():
        ours = replace(rules, lexical_weight=lexical, passage_weight=passages, min_inlinks=0, max_inlinks=0)
        rows.append(
            _row(name, site.truth, Ranking(collected, sources, targets, Searched(), texts, embedded, ours))
        )
    ranking = Ranking(collected, sources, targets, Searched(), texts, embedded, rules)
    spread = {
        one.source.url: [link.target.url for link in one.links]
        for one in recommend(ranking, Searched(), rules)
    }
    rows.append(Row("as configured, in-links for everyone", measure(site.truth, spread), rows[-1].reach))
    return rows


def _row(name: str, truth: Truth, ranking: Ranking) -> Row:
    ranked = {
        source.url: [candidate.url for candidate in candidates]
        for source, candidates in zip(ranking.sources, ranking.of(range(len(ranking.sources))), strict=True)
    }
    return Row(name, measure(truth, ranked), reach(truth, ranked, REACH))
