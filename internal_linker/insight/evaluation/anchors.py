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
from internal_linker.model.arrays import Ints, Vectors
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


# The source page of a pair, and what was measured of it.
_Measured = tuple[Page, tuple[Vectors, Vectors]]


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
    pairs: list[_Measured] = []
    for source, target in _linked(collected, links):
        content = str(source.content)
        texts = _editors_anchors(content, links[source.key, target.key])
        if texts:
            chooser = by_fold[fold(source.key, FOLDS)]
            pairs.append((source, _measured(source, target, content, texts, chooser)))
        else:
            absent[source.lang] += 1
    if not pairs:
        return None
    languages = sorted({source.lang for source, _ in pairs})
    return _summary(
        pairs,
        absent.total(),
        {
            language: _summary([pair for pair in pairs if pair[0].lang == language], absent[language], {})
            for language in languages
        }
        if len(languages) > 1
        else {},
    )


def proposals(
    collected: Collected, edges: Iterable[Edge], brands: Mapping[str, Sequence[str]]
) -> ProposedAnchors:
    """Measure the anchors of proposed links; `brands` are those in page titles, by language."""
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


def _measured(
    source: Page, target: Page, content: str, texts: Sequence[str], chooser: Anchoring
) -> tuple[Vectors, Vectors]:
    """Return what a pair adds to sums and to counts, (5 + 2 * lengths,): measures, and lengths of both anchors."""
    anchors = [one for one in chooser.propose_unlinked(source.key, target.key) if one.verbatim]
    first = anchors[0].text if anchors else ""
    measures = (
        max(token_f1(first, text) for text in texts) if first else 0.0,
        any(normalise(first) == normalise(text) for text in texts),
        bool(first),
        bool(anchors) and anchors[0].quality >= BALANCED,
        sum(content.startswith(one.text, one.start) for one in anchors),
    )
    ours, theirs = (_by_length(some, source.lang) for some in ([first] if first else [], texts))
    most = len(LENGTHS)
    counts = np.repeat([1, len(anchors), bool(first), len(texts)], [4, 1, most, most])
    return np.concatenate([measures, ours, theirs]), counts


def _by_length(texts: Sequence[str], language: str) -> Ints:
    """Return how many texts have each of `LENGTHS`."""
    lengths = [min(word_length(text, language), len(LENGTHS)) - 1 for text in texts]
    return np.bincount(np.array(lengths, np.int64), minlength=len(LENGTHS))


def _editors_anchors(content: str, links: Sequence[ExistingLink]) -> list[str]:
    """Return the anchors of a pair's links that are in the content, as it has them, each once."""
    places = [place for link in links for place in link_spans(content, link)]
    found = {normalise(text): text for start, end in places if (text := content[start:end]).strip()}
    return list(found.values())


def _summary(pairs: Sequence[_Measured], absent: int, by_language: Mapping[str, Agreement]) -> Agreement:
    """Return the means and shares over pairs; the resamples of their intervals consist of whole source pages."""
    rows: dict[str, int] = {}
    places = [rows.setdefault(source.key, len(rows)) for source, _ in pairs]
    sums = np.zeros((2, len(rows), 5 + 2 * len(LENGTHS)))
    for part, each in enumerate(sums):
        np.add.at(each, places, [found[part] for _, found in pairs])
    f1, exact, found, good, verbatim, *lengths = ratios(*sums)
    return Agreement(
        len(pairs),
        len(rows),
        absent,
        f1,
        exact,
        found,
        good,
        verbatim,
        lengths[: len(LENGTHS)],
        lengths[len(LENGTHS) :],
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
