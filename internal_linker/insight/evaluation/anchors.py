"""Agreement of the proposed anchors with those that editors chose for the same links."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.insight.evaluation.hygiene import Hygiene, ProposedAnchor, hygiene
from internal_linker.insight.evaluation.page_text import link_spans, word_length
from internal_linker.model.edges import Anchor, Edge
from internal_linker.model.records import Collected, ExistingLink, Page
from internal_linker.rank.metrics import Estimate, fold, ratios
from internal_linker.rank.rules import BALANCED
from internal_linker.text.words import normalise, words

# Folds of the source pages; anchors for each are learned from the links on the other folds' pages.
FOLDS = 5
# The lengths of anchors in words: 1 to 5, and 6 or more.
LENGTHS = ("1", "2", "3", "4", "5", "6+")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the first proposed anchors agree with the editors' anchors of the same pairs of pages."""

    pairs: int  # count of linked pairs of pages whose anchor is in the source's main content
    # count of the pages that they start from; the intervals allow for pairs of one page being alike
    sources: int
    absent: int  # count of linked pairs whose anchor isn't there; they are not measured
    # token F1 of the first anchor and the most similar of the editors' anchors, mean over the pairs, 0 to 1; a pair
    # without a proposed anchor in the text counts as 0
    f1: Estimate
    exact: Estimate  # share of the pairs, 0 to 1, in which the first anchor is an editor's anchor
    found: Estimate  # share of the pairs, 0 to 1, with an anchor in the text
    good: Estimate  # share of the pairs, 0 to 1, whose first anchor is good enough for a run to propose it
    # share of the anchors marked as verbatim, 0 to 1, that are in the text at their position
    verbatim: Estimate
    lengths: Sequence[Estimate]  # shares of the first anchors by their number of words, as `LENGTHS` has them
    editors_lengths: Sequence[Estimate]  # shares of the editors' anchors, likewise
    # the same of the pages of each language, if the pairs are in several
    by_language: Mapping[str, "Agreement"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProposedAnchors:
    """The anchors of the links that a run proposes, each link's first one."""

    pairs: int  # count of the proposed links
    anchors: int  # count of those with an anchor in the text
    found: Estimate  # their share of the pairs, 0 to 1
    # shares of the anchors in the text by their number of words, as `LENGTHS` has them
    lengths: Sequence[Estimate]
    hygiene: Hygiene  # what is wrong with anchors


@dataclass(frozen=True, slots=True)
class _Pair:
    """What was measured of one pair of pages."""

    source: str
    language: str
    f1: float
    exact: bool
    found: bool
    good: bool
    marked: int
    standing: int
    length: int
    editors_lengths: Counter[int]


def agreement(collected: Collected) -> Agreement | None:
    """Propose anchors for each pair of pages that editors linked, as if it weren't linked, and compare them.

    Returns None if no link between two pages of one language has its anchor in the source's main content.
    """
    site = CountedSite(collected)
    by_fold = [Anchoring(site.with_habits_of(partial(_outside, part))) for part in range(FOLDS)]
    links: defaultdict[tuple[str, str], list[ExistingLink]] = defaultdict(list)
    for link in collected.links:
        links[link.source, link.target].append(link)
    absent: Counter[str] = Counter()
    pairs: list[_Pair] = []
    for source, target in _linked(collected, links):
        content = str(source.content)
        texts = _editors_anchors(content, links[source.key, target.key])
        if texts:
            chooser = by_fold[fold(source.key, FOLDS)]
            pairs.append(_measured(source, target, content, texts, chooser))
        else:
            absent[source.lang] += 1
    if not pairs:
        return None
    languages = sorted({pair.language for pair in pairs})
    return _summary(
        pairs,
        absent.total(),
        {
            language: _summary([pair for pair in pairs if pair.language == language], absent[language], {})
            for language in languages
        }
        if len(languages) > 1
        else {},
    )


def proposals(
    collected: Collected, edges: Iterable[Edge], brands: Mapping[str, Sequence[str]]
) -> ProposedAnchors:
    """Measure the anchors of proposed links.

    Args:
        brands: the brands in the titles of each language, by language.
    """
    proposed = [
        ProposedAnchor(
            edge.source, edge.target, edge.anchors[0] if edge.anchors else Anchor("", verbatim=False)
        )
        for edge in edges
    ]
    rows: dict[str, int] = {}
    for one in proposed:
        rows.setdefault(one.source, len(rows))
    values, counts = np.zeros((len(rows), 1 + len(LENGTHS))), np.zeros((len(rows), 1 + len(LENGTHS)))
    anchors = 0
    for one in proposed:
        row, found = rows[one.source], bool(one.anchor.text) and one.anchor.verbatim
        values[row, 0] += found
        counts[row, 0] += 1
        if found:
            anchors += 1
            page = collected.find(one.source)
            language = page.lang if page else ""
            values[row, min(word_length(one.anchor.text, language), len(LENGTHS))] += 1
            counts[row, 1:] += 1
    found_share, *lengths = ratios(values, counts)
    return ProposedAnchors(len(proposed), anchors, found_share, lengths, hygiene(collected, proposed, brands))


def token_f1(ours: str, theirs: str) -> float:
    """Return the F1 of the folded words of two texts as multisets, 0 to 1; without words, whether the texts agree."""
    one, other = Counter(words(ours)), Counter(words(theirs))
    if not one or not other:
        return float(normalise(ours) == normalise(theirs))
    return 2 * (one & other).total() / (one.total() + other.total())


def _measured(source: Page, target: Page, content: str, texts: Sequence[str], chooser: Anchoring) -> _Pair:
    anchors = [one for one in chooser.propose_unlinked(source.key, target.key) if one.verbatim]
    first = anchors[0].text if anchors else ""
    return _Pair(
        source.key,
        source.lang,
        max(token_f1(first, text) for text in texts) if first else 0.0,
        any(normalise(first) == normalise(text) for text in texts),
        bool(first),
        bool(anchors) and anchors[0].quality >= BALANCED,
        len(anchors),
        sum(content.startswith(one.text, one.start) for one in anchors),
        word_length(first, source.lang),
        Counter(word_length(text, source.lang) for text in texts),
    )


def _editors_anchors(content: str, links: Sequence[ExistingLink]) -> list[str]:
    """Return the anchors of a pair's links that are in the content, as it has them, each once."""
    places = [place for link in links for place in link_spans(content, link)]
    found = {normalise(text): text for start, end in places if (text := content[start:end]).strip()}
    return list(found.values())


def _summary(pairs: Sequence[_Pair], absent: int, by_language: Mapping[str, Agreement]) -> Agreement:
    """Return the means and shares over pairs; the resamples of their intervals consist of whole source pages."""
    most = len(LENGTHS)
    rows: dict[str, int] = {}
    for pair in pairs:
        rows.setdefault(pair.source, len(rows))
    values = np.zeros((len(rows), 5 + 2 * most))
    counts = np.zeros_like(values)
    for pair in pairs:
        row = rows[pair.source]
        values[row, :5] += pair.f1, pair.exact, pair.found, pair.good, pair.standing
        counts[row, :5] += 1, 1, 1, 1, pair.marked
        if pair.found:
            values[row, 4 + min(pair.length, most)] += 1
            counts[row, 5 : 5 + most] += 1
        for length, count in pair.editors_lengths.items():
            values[row, 4 + most + min(length, most)] += count
            counts[row, 5 + most :] += count
    f1, exact, found, good, verbatim, *lengths = ratios(values, counts)
    return Agreement(
        len(pairs),
        len(rows),
        absent,
        f1,
        exact,
        found,
        good,
        verbatim,
        lengths[:most],
        lengths[most:],
        by_language,
    )


def _outside(part: int, source: str) -> bool:
    return fold(source, FOLDS) != part


def _linked(collected: Collected, links: Mapping[tuple[str, str], object]) -> Iterator[tuple[Page, Page]]:
    """Yield the linked pairs of two pages of one language, sorted by their keys."""
    for ends in sorted(links):
        source, target = map(collected.find, ends)
        if source and target and source is not target and source.lang == target.lang:
            yield source, target
