"""The weighed candidates of a run: the next run weighs a source again only where its list may change."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.core.arrays import NO_PAIRS, Bools, Ints, Pairs, Vectors, both, is_in, ranks
from internal_linker.matching.candidates import Matches
from internal_linker.matching.near_duplicates import Pair
from internal_linker.ranking.evidence import NOTHING_GIVEN, Given
from internal_linker.ranking.fusion import Ranked
from internal_linker.ranking.rank import BLOCK, NEIGHBOURS, Ranking
from internal_linker.ranking.reverse_candidates import offers

# The number of most similar sources that each page is offered to.
OFFERS = 10
# To weigh fewer sources takes three seconds.
LEAST_SOURCES = 1000
# Share of the pages that may have changed since all sources were weighed: the statistics by which unchanged pages are
# compared move with the texts.
MOST_CHANGED = 0.05
# A changed page enters a list only if it is among this many most similar pages of the source, by vectors or by words,
# or if the source names it.
CLOSE = 20
# Some sources are weighed in any case. If more than this share of them have a score that differs by more than this from
# the one that was kept, all are weighed: it is half of what a new link must score more than one of the last run.
CHECKED, MOST_DIFFERING, MOST_DIFFERENT = 50, 0.2, 0.15


@dataclass(frozen=True, slots=True)
class Facts:
    """Digests of what the candidates of n pages and s sources depend on."""

    rules: str  # of the program, the settings, the model and the weights
    pages: Sequence[str]  # (n,) of each page: its text, language and links, and whether it may be a target
    sources: Sequence[str]  # (s,) of each source: its page or query, and its search results


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of s sources on a site of n pages, as far as they are known."""

    known: Bools  # (s,) of which sources they are known
    ranked: Ranked  # the candidates
    near: Ints  # (s, `NEIGHBOURS`) int32 rows of the most similar pages; -1 past the last one
    # (s, 2) float32 similarity, by vectors and by words, of the page in place `CLOSE`; -inf if there are fewer, inf
    # without vectors
    floors: Vectors
    below_floor: Ints  # (s,) how many search results are below `serp_floor`
    offered: Pairs  # row of a page and row of a source that it is offered to
    duplicates: Mapping[tuple[int, int], Pair]  # near-duplicates by their rows
    hubness: Vectors  # (2, n) `Site.known_hubness` of the pages
    evidence: Given  # for the links that were chosen
    changed: float  # share of the pages that changed since all sources were weighed

    def weighed(self, ranking: Ranking, facts: Facts) -> "Weighed":
        """Return the candidates of all sources for the next run; those of a query without a page are not kept."""
        are_pages = np.array([bool(source.page) for source in ranking.sources], np.bool_)
        keys = [page.key for page in ranking.site.pages]
        sources = [source.identity for source in ranking.sources]
        return Weighed(facts, keys, sources, replace(self, known=are_pages))

    @classmethod
    def none(cls, sources: int, pages: int) -> "Candidates":
        """Return the candidates of so many sources of which none are known."""
        none = np.empty(0, np.int64)
        return cls(
            np.zeros(sources, np.bool_),
            Ranked(none, none, none, *[np.empty(0, np.float32)] * 4),
            np.full((sources, NEIGHBOURS), -1, np.int32),
            np.full((sources, 2), -np.inf, np.float32),
            np.zeros(sources, np.int64),
            NO_PAIRS,
            {},
            np.full((2, pages), np.nan, np.float32),
            NOTHING_GIVEN,
            0.0,
        )


@dataclass(frozen=True, slots=True)
class Weighed:
    """The candidates of a run, for the next one."""

    facts: Facts  # what they depend on
    keys: Sequence[str]  # (n,) the keys of the pages
    sources: Sequence[tuple[str, str]]  # (s,) the identities of the sources
    candidates: Candidates  # those that may become links, of all sources that are pages

    def today(self, ranking: Ranking, facts: Facts) -> Candidates | None:
        """Return what is still known, by the rows and positions of another run; None if that is nothing.

        Args:
            facts: what its candidates depend on.
        """
        if facts.rules != self.facts.rules or len(facts.sources) < LEAST_SOURCES:
            return None
        n, before = len(facts.pages), self.candidates
        row_of = np.array([*(ranking.rows.get(key, -1) for key in self.keys), -1], np.int64)
        states = [facts.pages[row] if row >= 0 else "" for row in row_of[:-1].tolist()]
        same = np.array([ours == now for ours, now in zip(self.facts.pages, states, strict=True)] + [False])
        new = np.ones(n, np.bool_)
        new[row_of[same]] = False
        gone = len(self.keys) - int((row_of >= 0).sum())
        changed = before.changed + (int(new.sum()) + gone) / max(1, n)
        if changed > MOST_CHANGED:
            return None
        found, place_of = Candidates.none(len(facts.sources), n), self._places(ranking, facts, same)
        here = np.flatnonzero(place_of >= 0)
        there = place_of[here]
        found.near[there], found.floors[there] = row_of[before.near[here]], before.floors[here]
        found.below_floor[there], found.known[there] = before.below_floor[here], True
        found.known[_touched(ranking, new, found.floors)] = False
        place_of[here[~found.known[there]]] = -1
        ranked = before.ranked.at(place_of[before.ranked.of] >= 0)
        ranked = replace(ranked, of=place_of[ranked.of], targets=row_of[ranked.targets])
        pages = np.zeros(n, np.bool_)
        pages[ranking.source_rows[found.known]] = True
        stays = np.flatnonzero(same[:-1] & pages[row_of[:-1]])
        found.hubness[:, row_of[stays]] = before.hubness[:, stays]
        offered = before.offered.at(same[before.offered.of] & (row_of[before.offered.rows] >= 0))
        return replace(
            found,
            ranked=ranked.at(np.argsort(ranked.of, kind="stable")),
            offered=Pairs(row_of[offered.of], row_of[offered.rows]),
            duplicates={
                (min(pair), max(pair)): each
                for (one, other), each in before.duplicates.items()
                if same[one] and same[other]
                for pair in [(int(row_of[one]), int(row_of[other]))]
            },
            evidence=before.evidence.moved(place_of, row_of),
            changed=changed,
        )

    def _places(self, ranking: Ranking, facts: Facts, same: Bools) -> Ints:
        """Return (s,) the positions of these sources in another run; -1 for one that changed, or beside changed pages.

        `same` says which pages did not change, (n + 1,), and ends with False for what is not a page.
        """
        ranked, near, n = self.candidates.ranked, self.candidates.near, len(same) - 1
        stays = self.candidates.known & ~((near >= 0) & ~same[near]).any(axis=1)
        stays[ranked.of[~same[np.minimum(ranked.targets, n)]]] = False
        now = {source.identity: at for at, source in reversed([*enumerate(ranking.sources)])}
        found = np.full(len(self.sources), -1)
        for before in np.flatnonzero(stays).tolist():
            at = now.get(self.sources[before], -1)
            if at >= 0 and ranking.sources[at].page and facts.sources[at] == self.facts.sources[before]:
                found[before] = at
        return found


@dataclass(frozen=True, slots=True)
class History:
    """What connects the candidates of one run with those of the last one and the next one."""

    # returns the candidates of the last run; None: there are none. Nobody holds on to them, since Windows keeps a
    # file that is mapped into memory from being replaced.
    read: Callable[[], Weighed | None]
    facts: Facts  # what those of this run depend on
    keep: Callable[[Weighed], None]  # receives those of this run

    def known(self, ranking: Ranking) -> Candidates | None:
        """Return `Weighed.today` of the last run."""
        before = self.read()
        return before.today(ranking, self.facts) if before else None


class Weighing:
    """Weighs the candidates of all sources of a run, unless nothing near a source changed since the last one.

    Args:
        ranking: the ranking of the s sources.
        counts: (s,) which sources pages may be offered to.
        offering: whether pages are offered to the sources most similar to them.
        advance: a function to call after each source.
    """

    def __init__(self, ranking: Ranking, counts: Bools, offering: bool, advance: Callable[[], None]) -> None:
        self._ranking, self._counts, self._offering, self._advance = ranking, counts, offering, advance
        self._told = 0

    def of(self, history: History | None) -> Candidates:
        """Return the candidates of all sources; `known` says which were not weighed again.

        Without a history, all sources are weighed, and nothing but the candidates is returned.
        """
        s, keep = len(self._ranking.sources), history is not None
        nothing = Candidates.none(s, len(self._ranking.site.pages))
        known = history.known(self._ranking) if history else None
        found = self._weighed(known or nothing, keep=keep)
        if known and _differs(known, found.ranked):
            found = self._weighed(nothing, keep=keep)
        self._tell(s)
        return found

    def _tell(self, done: int) -> None:
        for _ in range(done - self._told):
            self._advance()
        self._told = max(self._told, done)

    def _weighed(self, known: Candidates, *, keep: bool) -> Candidates:
        ranking, s = self._ranking, len(known.known)
        if keep:
            # A lookup has what the index knows.
            ranking.site.know_duplicates(known.duplicates)
            ranking.site.know(known.hubness)
        again = ~known.known
        again[_checked(known.known)] = True
        offered = NO_PAIRS
        if self._offering:
            offered, receiving = self._offered(known)
            again[receiving] = True
        positions = np.flatnonzero(again)
        rest = known.ranked.at(~again[known.ranked.of])
        parts = {name: [getattr(rest, name)] for name in Ranked.__slots__}
        near, floors = known.near.copy(), known.floors.copy()
        weighed = ranking.weighed(positions.tolist(), self._by_position(offered, again))
        for first, (block, similar) in zip(range(0, len(positions), BLOCK), weighed, strict=True):
            here = positions[first : first + BLOCK]
            placed = replace(block, of=here[block.of])
            for name, some in parts.items():
                some.append(getattr(placed, name))
            if keep:
                near[here], floors[here] = _nearest(similar, len(here)), _floors(similar, len(here))
            self._tell(s - len(positions) + first + len(here))
        # One after the other: all parts and the whole would be the most that a run has in memory.
        ranked = Ranked(*(np.concatenate(parts.pop(name)) for name in Ranked.__slots__))
        if len(rest.of):
            ranked = ranked.at(np.argsort(ranked.of, kind="stable"))
        below = known.below_floor.copy()
        below[again] = 0
        for position, count in ranking.below_floor_of.items():
            below[position] = count
        ranking.below_floor_of.update(
            zip(np.flatnonzero(below).tolist(), below[below > 0].tolist(), strict=True)
        )
        return Candidates(
            ~again,
            ranked,
            near,
            floors,
            below,
            offered,
            ranking.site.near_duplicates,
            ranking.site.known_hubness[:, : known.hubness.shape[1]],
            known.evidence.at(~again[known.evidence.links.of]),
            known.changed,
        )

    def _offered(self, known: Candidates) -> tuple[Pairs, Ints]:
        """Return row of a page and row of a source that it is offered to, and positions of sources for which it is new.

        A page whose own candidates are known stays offered to the same sources.
        """
        ranking, among = self._ranking, np.flatnonzero(self._counts)
        again, n = ranking.linkable.copy(), len(ranking.linkable)
        again[ranking.source_rows[known.known]] = False
        stays = known.offered.at(~again[known.offered.of] & ranking.linkable[known.offered.of])
        found = offers(ranking, OFFERS, among.tolist(), np.flatnonzero(again))
        new = Pairs(found.of, ranking.source_rows[found.rows])
        receiving = found.rows[~is_in(new.keys(n), known.offered.keys(n))]
        return both(stays, new), receiving

    def _by_position(self, offered: Pairs, wanted: Bools) -> Mapping[int, Sequence[int]]:
        """Return the rows of the pages that are offered to each of the wanted sources, ascending, by its position."""
        among = np.flatnonzero(self._counts & wanted)
        at = dict(zip(self._ranking.source_rows[among].tolist(), among.tolist(), strict=True))
        offered = offered.at(is_in(offered.rows, np.array([*at], np.int64)))
        found = defaultdict[int, list[int]](list)
        for page, source in sorted(zip(offered.of.tolist(), offered.rows.tolist(), strict=True)):
            found[at[source]].append(page)
        return found


def _touched(ranking: Ranking, new: Bools, floors: Vectors) -> Bools:
    """Return (s,) which sources a changed page may be linked from: they name it, or it is similar enough.

    Args:
        new: (n,) which pages changed.
        floors: (s, 2) the similarities above which a page is similar enough.
    """
    rows, n = ranking.source_rows, len(new)
    named = ranking.named(rows)
    touched = np.zeros(len(rows), np.bool_)
    touched[named.of[(named.rows < n) & np.append(new, False)[np.minimum(named.rows, n)]]] = True
    # Several sources may be one page, which has the same similar pages for all of them.
    lowest = np.full((n, 2), np.inf, np.float32)
    pages = rows < n
    np.minimum.at(lowest, rows[pages], floors[pages])
    close = ranking.site.closer(np.flatnonzero(new), lowest)
    touched[pages] |= close[rows[pages]]
    return touched


def _checked(known: Bools) -> Ints:
    """Return the positions of some known sources, spread evenly."""
    places = np.flatnonzero(known)
    return places[:: max(1, len(places) // CHECKED)][:CHECKED]


def _differs(known: Candidates, now: Ranked) -> bool:
    """Return whether too many of the checked sources have a candidate with another score than before."""
    checked = _checked(known.known)
    before, now = (each.at(is_in(each.of, checked)) for each in (known.ranked, now))
    if not len(now.of):
        return False
    n = 1 + int(max(before.targets.max(initial=0), now.targets.max(initial=0)))
    wanted, keys = (Pairs(each.of, each.targets).keys(n) for each in (before, now))
    order = np.argsort(keys)
    at = order[np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)]
    there = keys[at] == wanted
    moved = np.abs(now.score[at[there]] - before.score[there])
    differing = np.unique(before.of[there][moved > MOST_DIFFERENT])
    return len(differing) > MOST_DIFFERING * len(checked)


def _nearest(similar: Matches, count: int) -> Ints:
    """Return (count, `NEIGHBOURS`) int32 rows of the most similar pages of each text; -1 past the last one."""
    found = np.full((count, NEIGHBOURS), -1, np.int32)
    place = ranks(similar.of)
    first = place < NEIGHBOURS
    found[similar.of[first], place[first]] = similar.rows[first]
    return found


def _floors(similar: Matches, count: int) -> Vectors:
    """Return (count, 2) float32 `Candidates.floors` of each text; inf for a text without a vector."""
    found = np.full((count, 2), -np.inf, np.float32)
    for column, signal in enumerate((similar.similarity, similar.lexical)):
        has = np.bincount(similar.of, np.isfinite(signal), count) > 0
        known = np.nan_to_num(signal, nan=-np.inf)
        order = np.lexsort((-known, similar.of))
        last = order[ranks(similar.of[order]) == CLOSE - 1]
        found[similar.of[last], column] = np.where(has[similar.of[last]], known[last], np.inf)
    return found
