"""The evidence for selected links: how similar both pages are, and which pages link to the target already."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from internal_linker.match.candidates import Matches
from internal_linker.model.arrays import Bools, Ints, Pairs, Vectors, is_in, pairs_of, ranks
from internal_linker.model.evidence import NO_EVIDENCE, Evidence, topics
from internal_linker.model.records import Link, Recommendation
from internal_linker.model.sequences import Lazy, batched
from internal_linker.rank.rank import BLOCK, NEIGHBOURS, Ranking
from internal_linker.rank.shared_titles import SharedTitles
from internal_linker.text.words import words


class Explainer:
    """Finds the evidence for links of one ranking."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking

    def add_evidence(self, items: Iterable[tuple[int, Recommendation]]) -> Iterator[Recommendation]:
        """Yield recommendations, given with their sources' positions, with evidence for all links, held ones too."""
        for some in batched(items, BLOCK):
            linked = [(*item.links, *item.held) for _, item in some]
            targets = [[link.target.key for link in links] for links in linked]
            found = self.explain_links([position for position, _ in some], targets)
            for (_, item), links, evidence in zip(some, linked, found, strict=True):
                # Much faster than `dataclasses.replace`.
                done = [
                    Link(link.target, link.rank, link.origin, each)
                    for link, each in zip(links, evidence, strict=True)
                ]
                count = len(item.links)
                yield replace(item, links=tuple[Link, ...](done[:count]), held=tuple(done[count:]))

    def explain_links(
        self, positions: Sequence[int], targets: Sequence[Sequence[str]]
    ) -> list[list[Evidence]]:
        """Return the evidence for links from each source (its position) to the keys of its targets.

        There is no evidence for a page that is not listed.
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
                graph.linked_from(near).look_up(pairs),
                graph.degrees[pairs.rows],
                self._section_inlinks(texts, pairs),
                is_in(pairs.keys(n), graph.sources(texts).keys(n)),
                graph.cocited(texts).look_up(pairs),
            ]
        else:
            columns += [np.full(len(pairs.rows), count) for count in NO_EVIDENCE.counts[1:-1]]
        columns.append(self._last_resort(texts, pairs))
        return [column.astype(np.int64).tolist() for column in columns]

    def _last_resort(self, texts: Ints, pairs: Pairs) -> Ints:
        """Return (len(pairs),) the places in `evidence.RESERVATIONS`: of the source first, then of the template."""
        last, sources = self._ranking.last, texts[pairs.of]
        of_pair = np.where(last.are_siblings(sources, pairs.rows), 3, last.are_last(pairs.rows))
        return np.where(last.are_last(sources), 2, of_pair)

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
