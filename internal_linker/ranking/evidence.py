"""The evidence for selected links: how similar both pages are, and which pages link to the target already."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from internal_linker.core.arrays import NO_PAIRS, Bools, Ints, Pairs, Vectors, is_in, pairs_of, ranks
from internal_linker.core.evidence import NO_EVIDENCE, Evidence, topics
from internal_linker.core.records import Link, Recommendation
from internal_linker.core.sequences import Lazy, batched
from internal_linker.matching.candidates import Matches
from internal_linker.ranking.rank import BLOCK, NEIGHBOURS, Ranking
from internal_linker.ranking.shared_titles import SharedTitles
from internal_linker.text.words import words


@dataclass(frozen=True, slots=True)
class Given:
    """The evidence for m links."""

    links: Pairs  # position of the source and row of the target of each link, each once
    counts: Ints  # (m, c) the counts of `Evidence.of_counts`
    words: Sequence[str]  # (m,) the words that both titles have in common

    def at(self, places: Bools) -> "Given":
        """Return the evidence for the links at these positions."""
        words = [self.words[place] for place in np.flatnonzero(places).tolist()]
        return Given(self.links.at(places), self.counts[places], words)

    def moved(self, place_of: Ints, row_of: Ints) -> "Given":
        """Return the same in other numbers of sources and pages; links with a number below 0 are left out."""
        moved = replace(self, links=Pairs(place_of[self.links.of], row_of[self.links.rows]))
        return moved.at((moved.links.of >= 0) & (moved.links.rows >= 0))


_COUNTS = len(NO_EVIDENCE.counts)
NOTHING_GIVEN = Given(NO_PAIRS, np.empty((0, _COUNTS), np.int64), ())


class Gathering:
    """Gathers the evidence for the links of all sources, in order; links to what is not a page are left out.

    Args:
        rows: the row of each page, by its key.
    """

    def __init__(self, rows: Mapping[str, int]) -> None:
        self._rows, self._sources = rows, 0
        self._of, self._targets, self._counts = array("q"), array("q"), array("q")
        self._words: list[str] = []

    def passing(self, items: Iterable[Recommendation]) -> Iterator[Recommendation]:
        """Yield the recommendations of all sources, in order, and add their links."""
        for item in items:
            self._add(item)
            yield item

    def _add(self, item: Recommendation) -> None:
        for link in (*item.links, *item.held):
            if (row := self._rows.get(link.target.key)) is not None:
                self._of.append(self._sources)
                self._targets.append(row)
                self._counts.extend(link.evidence.counts)
                self._words.append(link.evidence.title_words)
        self._sources += 1

    def given(self) -> Given:
        """Return the evidence gathered so far."""
        of, targets, counts = (np.array(each, np.int64) for each in (self._of, self._targets, self._counts))
        return Given(Pairs(of, targets), counts.reshape(-1, _COUNTS), self._words)


class Explainer:
    """Finds the evidence for links of one ranking.

    Args:
        ranking: the ranking that the links come from.
        known: the evidence for some of the links, which is not found again.
    """

    def __init__(self, ranking: Ranking, known: Given = NOTHING_GIVEN) -> None:
        self._ranking, self._known = ranking, known
        n = len(ranking.linkable)
        self._places = dict(zip(known.links.keys(n).tolist(), range(len(known.words)), strict=True))

    def explained(self, items: Iterable[tuple[int, Recommendation]]) -> Iterator[Recommendation]:
        """Yield recommendations whose links, held ones too, have their evidence.

        Args:
            items: recommendations with the positions of their sources.
        """
        for some in batched(items, BLOCK):
            linked = [(*item.links, *item.held) for _, item in some]
            targets = [[link.target.key for link in links] for links in linked]
            known = [self._given(position, keys) for (position, _), keys in zip(some, targets, strict=True)]
            wanted = [at for at, evidence in enumerate(known) if evidence is None]
            found = iter(self.of([some[at][0] for at in wanted], [targets[at] for at in wanted]))
            for (_, item), links, ours in zip(some, linked, known, strict=True):
                evidence = next(found) if ours is None else ours
                # Much faster than `dataclasses.replace`.
                done = [
                    Link(link.target, link.rank, link.origin, each)
                    for link, each in zip(links, evidence, strict=True)
                ]
                count = len(item.links)
                yield replace(item, links=tuple[Link, ...](done[:count]), held=tuple(done[count:]))

    def _given(self, position: int, targets: Sequence[str]) -> list[Evidence] | None:
        """Return the evidence for all links of a source if it is known."""
        rows, n = self._ranking.rows, len(self._ranking.linkable)
        found = list[Evidence]()
        for key in targets:
            place = self._places.get(position * n + rows[key]) if key in rows else None
            if place is None:
                return None
            found.append(Evidence.of_counts(self._known.counts[place].tolist(), self._known.words[place]))
        return found

    def of(self, positions: Sequence[int], targets: Sequence[Sequence[str]]) -> list[list[Evidence]]:
        """Return the evidence for links from each source to its targets.

        Args:
            positions: positions of the sources in the ranking.
            targets: keys of the targets of each source; there is no evidence for a page that is not listed.
        """
        rows = self._ranking.rows
        found = [[Evidence() for _ in keys] for keys in targets]
        listed = [
            (at, place) for at, keys in enumerate(targets) for place, key in enumerate(keys) if key in rows
        ]
        if not listed:
            return found
        pairs = pairs_of([[rows[key] for key in keys if key in rows] for keys in targets])
        ours = [self._title_words(position) for position in positions]
        columns = self._columns(self._ranking.source_rows[list(positions)], pairs)
        for (at, place), values in zip(listed, zip(*columns, strict=True), strict=True):
            shared = self._titles.shared(ours[at], rows[targets[at][place]])
            found[at][place] = Evidence.of_counts(values, shared)
        return found

    @cached_property
    def _titles(self) -> SharedTitles:
        pages, common = self._ranking.pages, self._ranking.common_title_words
        titles = Lazy(len(pages), lambda row: pages[row].title or pages[row].h1)
        return SharedTitles(titles, Lazy(len(pages), lambda row: pages[row].lang), common)

    def _title_words(self, position: int) -> Sequence[str]:
        """Return the words of the title of a source, or of a query that has no page."""
        row, source = int(self._ranking.source_rows[position]), self._ranking.sources[position]
        if source.page:
            return self._titles.words(row)
        return [] if source.key else words(source.query)

    def _columns(self, texts: Ints, pairs: Pairs) -> list[list[int]]:
        """Return the counts of `Evidence.of_counts`, in order, for pairs of a text and a page."""
        ranking, graph, n = self._ranking, self._ranking.graph, len(self._ranking.linkable)
        matches = ranking.site.matches(texts, ranking.linkable, ranking.rules.lexical_weight, pairs)
        columns: list[Ints | Vectors | Bools] = [topics(_scores(matches, pairs, n))]
        if graph.size:
            near = matches.at(np.isfinite(matches.score) & (ranks(matches.of) < NEIGHBOURS)).pairs
            columns += [
                np.bincount(near.of, minlength=len(texts))[pairs.of],
                graph.linked_from(near).of(pairs),
                graph.degrees[pairs.rows],
                self._section_inlinks(texts, pairs),
                is_in(pairs.keys(n), graph.sources(texts).keys(n)),
                graph.cocited(texts).of(pairs),
            ]
        else:
            columns += [np.full(len(pairs.rows), count) for count in NO_EVIDENCE.counts[1:-1]]
        columns.append(self._last_resort(texts, pairs))
        return [column.astype(np.int64).tolist() for column in columns]

    def _last_resort(self, texts: Ints, pairs: Pairs) -> Ints:
        """Return (len(pairs),) the places in `evidence.RESERVATIONS`; a template outranks what one page is like."""
        last, sources = self._ranking.last, texts[pairs.of]
        of_page = np.where(last.of(pairs.rows), 1, np.where(last.of(sources), 2, 0))
        return np.where(last.are_siblings(sources, pairs.rows), 3, of_page)

    def _section_inlinks(self, texts: Ints, pairs: Pairs) -> Ints:
        """Return (len(pairs),) how many pages of the text's section link to the page; -1 if it is in none."""
        sections, linking = self._ranking.sections, self._ranking.graph.sources(pairs.rows)
        # Sources without a page follow the pages.
        of = np.append(sections, -1)[texts.clip(max=len(sections))][pairs.of]
        same = of[linking.of] == sections[linking.rows]
        return np.where(of >= 0, np.bincount(linking.of[same], minlength=len(of)), -1)


def _scores(matches: Matches, pairs: Pairs, n: int) -> Vectors:
    """Return (len(pairs),) the scores of the pairs among the matches; NaN where there is none."""
    keys, wanted = matches.pairs.keys(n), pairs.keys(n)
    if not len(keys):
        return np.full(len(wanted), np.nan)
    order = np.argsort(keys)
    at = order[np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)]
    scores: Vectors = np.where(keys[at] == wanted, matches.score[at], np.nan)
    return scores
