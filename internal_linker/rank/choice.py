"""The choice of links over the whole site, from the ranked candidates of all sources."""

from math import ceil

import numpy as np

from internal_linker.model.arrays import NO_PAIRS, Bools, Ints, Pairs, Vectors, is_in, ranks
from internal_linker.model.edges import strengths
from internal_linker.rank.allocation import Edges, spread
from internal_linker.rank.fusion import Ranked
from internal_linker.rank.priorities import by_need
from internal_linker.rank.rank import Ranking
from internal_linker.rank.rules import LinkRules
from internal_linker.rank.stability import Preferences, arrange_links, best

# Rounds in which the weaker directions of pairs give way; each frees places, where new pairs may arise.
ROUNDS = 10
# Of 10,000 pages with five links each, `spread` takes 3 seconds with this multiple of the average as the cap, and 140
# with the average.
EASY = 1.2


class Chooser:
    """Chooses the links of all sources.

    Args:
        ranked: the candidates of s sources, m in all.
        counts: (s,) which sources' links count as inlinks; the limits don't apply to the others.
        liked: what the last run means for the candidates.
        bonus: (m,) what needs add to their scores; `liked.worth` has it.
        ruled: the links that rules of the house ask for; they come first.

    Attributes:
        one_way: how many links come last because the link in the other direction is better.
        full: (s,) which sources lost candidates because their pages get `max_new_inlinks` links from others.
        by_need: position of a source and number of a target that it links to because of the target's need.
    """

    def __init__(
        self,
        ranked: Ranked,
        ranking: Ranking,
        counts: Bools,
        rules: LinkRules,
        liked: Preferences,
        *,
        bonus: Vectors,
        ruled: Pairs = NO_PAIRS,
    ) -> None:
        self._ranked, self._counts, self._rules, self._liked = ranked, counts, rules, liked
        # With the fusion "fill", search results come first by the user's own setting: they stay.
        top = ranks(ranked.of) < rules.links_per_page
        n = 1 + int(max(ranked.targets.max(initial=0), ruled.rows.max(initial=0)))
        is_ruled = is_in(Pairs(ranked.of, ranked.targets).keys(n), ruled.keys(n))
        self._first = top & (is_ruled | ((ranked.serp_rank > 0) & (rules.fusion == "fill")))
        self._rows, self._pages = ranking.source_rows[ranked.of], len(ranking.site.pages)
        last = ranking.last.links(self._rows, ranked.targets, ranked.score)
        self._last, self._poor = last, ranking.last.are_last(self._rows)
        self._goals = [
            (ranking.rows[goal.target], goal) for goal in rules.goals if goal.target in ranking.rows
        ]
        # A list stays where nothing changed.
        self._stays = liked.settled & (liked.place >= 0)
        self.one_way, self._bonus, self.by_need = 0, bonus, NO_PAIRS
        self.full = np.zeros(len(counts), np.bool_)

    def chosen_first(self, accepted: Pairs) -> Ranked:
        """Return the candidates of each source, reordered: those that become links before the others.

        Accepted links (position of the source, row of the page) have places and count in any case.
        """
        ranked, n = (
            self._ranked,
            1 + int(max(self._ranked.targets.max(initial=0), accepted.rows.max(initial=0))),
        )
        keys = Pairs(ranked.of, ranked.targets).keys(n)
        ours = is_in(keys, accepted.keys(n))
        new = self._counts[ranked.of] & ~ours
        counts = np.bincount(accepted.rows[self._counts[accepted.of]], minlength=n)
        self._first &= ~self._beyond(new & self._first, self._first, counts)
        kept = self._first | ours
        missing = accepted.at(self._counts[accepted.of] & ~is_in(accepted.keys(n), keys))
        last = self._last & ~kept
        for _ in range(ROUNDS):
            chosen = self._chosen(kept, last, missing, new)
            weaker = self._weaker_directions(chosen, kept, last)
            last = last | weaker
            self.one_way += int(weaker.sum())
            if not weaker.any():
                break
        needy = by_need(ranked, chosen, last | self._first, self._bonus, self._rules.links_per_page)
        self.by_need = Pairs(ranked.of[needy], ranked.targets[needy])
        beyond = self._beyond(new, chosen, counts)
        self.full[ranked.of[beyond]] = True
        ranked = arrange_links(ranked, chosen, self._first, last, self._liked, self._rules.links_per_page)
        return ranked.at(~is_in(Pairs(ranked.of, ranked.targets).keys(n), keys[beyond]))

    def _beyond(self, some: Bools, chosen: Bools, accepted: Ints) -> Bools:
        """Mark those of some candidates whose pages have enough better ones; chosen ones are the best.

        Enough are `max_new_inlinks`, or fewer where the page's own goal says so.
        """
        found, targets = np.zeros(len(some), np.bool_), self._ranked.targets
        if not (self._rules.max_new_inlinks or self._goals):
            return found
        most = np.full(1 + int(targets.max(initial=0)), self._rules.max_new_inlinks or len(some))
        for row, goal in self._goals:
            if goal.most and row < len(most):
                most[row] = min(most[row], max(0, goal.most - accepted[row]))
        at = np.flatnonzero(some)
        at = at[np.lexsort((-self._liked.worth[at], ~chosen[at], targets[at]))]
        found[at[ranks(targets[at]) >= most[targets[at]]]] = True
        return found

    def _chosen(self, kept: Bools, last: Bools, missing: Pairs, new: Bools) -> Bools:
        """Mark the candidates that become links.

        Args:
            kept: (m,) which candidates become links in any case, where the limits of in-links apply.
            last: (m,) which candidates are of last resort.
            missing: further links that are kept in any case.
            new: (m,) which candidates `max_new_inlinks` limits.
        """
        rules, worth = self._rules, self._liked.worth
        limited = self._counts[self._ranked.of] & bool(
            rules.min_inlinks or rules.max_inlinks or rules.max_new_inlinks or rules.goals
        )
        drop = 2.0 * (float(np.ptp(worth)) + 1.0) if len(worth) else 0.0
        worth = worth - np.where(last & ~self._stays, drop, 0.0)
        chosen, free = np.zeros(len(last), np.bool_), ~limited
        chosen[free] = best(self._ranked.of[free], self._first[free], worth[free], rules.links_per_page)
        if limited.any():
            enough = self._from_others(limited & ~last)
            worth = worth - np.where(self._poor & enough, drop, 0.0)
            chosen[limited] = self._spread(worth, kept, np.flatnonzero(limited), missing, new)
        return chosen

    def _from_others(self, proposed: Bools) -> Bools:
        """Return (m,) whether a candidate has enough other possible sources than those of last resort."""
        targets = self._ranked.targets
        possible = np.bincount(targets[proposed & ~self._poor], minlength=1 + int(targets.max(initial=0)))
        enough: Bools = possible[targets] >= self._rules.min_inlinks
        return enough

    def _spread(self, worth: Vectors, kept: Bools, here: Ints, missing: Pairs, new: Bools) -> Bools:
        """Return (len(here),) which of the candidates that count become links, within the limits of in-links."""
        ranked, rules, counts = self._ranked, self._rules, self._counts
        wanted = np.concatenate([ranked.targets[here], missing.rows])
        # Numbered without gaps; to sort all candidates, as np.unique does, takes ten times as long.
        there = np.bincount(wanted) > 0
        places = np.cumsum(there)
        targets, count = places[wanted] - 1, int(places.max(initial=0))
        edges = Edges(
            sources=np.concatenate([ranked.of[here], missing.of]),
            targets=targets,
            scores=np.concatenate([worth[here], np.zeros(len(missing.of))]),
            fixed=np.concatenate([kept[here], np.ones(len(missing.of), np.bool_)]),
        )
        mean = rules.links_per_page * int(counts.sum()) / max(1, count)
        # A source without enough chosen links still takes others: its number of links matters more than this cap.
        most = max(rules.min_inlinks, ceil(rules.max_inlinks * mean)) if rules.max_inlinks else len(counts)
        least, limits = np.full(count, rules.min_inlinks), np.full(count, most)
        for row, goal in self._goals:
            if row < len(there) and there[row]:
                at = places[row] - 1
                least[at], limits[at] = goal.least, goal.most or max(limits[at], goal.least)
        if rules.max_new_inlinks:
            old = np.concatenate([~new[here], np.ones(len(missing.of), np.bool_)])
            # What is still too much is left out afterwards.
            new_links = max(rules.max_new_inlinks, ceil(EASY * mean))
            limits = np.minimum(limits, new_links + np.bincount(targets[old], minlength=count))
        return spread(
            edges,
            len(counts),
            count,
            count=rules.links_per_page,
            min_inlinks=np.minimum(least, limits),
            max_inlinks=limits,
            # Nobody gives up a link for one of last resort.
            floor=float(self._liked.worth.min()) if len(here) else 0.0,
        )[: len(here)]

    def _weaker_directions(self, chosen: Bools, kept: Bools, last: Bools) -> Bools:
        """Mark the weaker link of each pair of pages that would link to each other, unless both are clearly good."""
        found = np.zeros(len(chosen), np.bool_)
        rules, ranked = self._rules.last, self._ranked
        if not rules.one_way:
            return found
        places = np.flatnonzero(chosen & (self._rows < self._pages) & (ranked.targets < self._pages))
        ends = self._rows[places].astype(np.int64), ranked.targets[places].astype(np.int64)
        keys, back = ends[0] * self._pages + ends[1], ends[1] * self._pages + ends[0]
        order = np.argsort(keys, kind="stable")
        at = order[np.searchsorted(keys, back, sorter=order).clip(max=max(0, len(keys) - 1))]
        both = np.flatnonzero(keys[at] == back) if len(keys) else np.empty(0, np.int64)
        ours, theirs = places[both], places[at[both]]
        scores = np.nan_to_num(ranked.score.astype(np.float64))
        good = np.minimum(strengths(scores[ours]), strengths(scores[theirs])) >= rules.one_way
        # Of two links, one that stays in any case is the stronger; of equal ones, that of the earlier page.
        stays = kept | self._stays
        equal = scores[ours] == scores[theirs]
        weaker = (scores[ours] < scores[theirs]) | (equal & (self._rows[ours] > self._rows[theirs]))
        weaker |= stays[theirs]
        given_up = weaker & ~good & ~stays[ours] & ~last[ours] & ~last[theirs]
        found[ours[given_up]] = True
        return found
