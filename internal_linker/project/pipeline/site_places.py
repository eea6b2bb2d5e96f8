"""The places for links in all texts of a site, and the anchors there; shared with other processes on a large site."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from internal_linker.anchors.counted_site import CountedSite
from internal_linker.anchors.finder import Anchoring
from internal_linker.anchors.judge import JudgedPlaces
from internal_linker.anchors.variety import Variety
from internal_linker.match.compute.processes import OpenWorkers, Processes
from internal_linker.model.arrays import Ints, Pairs, Vectors, joined, pairs_of
from internal_linker.model.edges import Anchor
from internal_linker.model.house_rules import LinkRule
from internal_linker.model.ports import Progress, Wanted
from internal_linker.model.records import Collected, Source, Targets
from internal_linker.model.sequences import batched
from internal_linker.project.pipeline.columns import from_columns, to_columns
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.pipeline.run_input import known_rules
from internal_linker.project.pipeline.site_index import SiteIndex
from internal_linker.rank.promising_targets import Promising
from internal_linker.rank.rules import LinkRules
from internal_linker.text.phrases import is_among

T = TypeVar("T")
RULES = "config/link_rules.csv"
# Pages that this process does before it starts others: it takes them a second or two to begin.
_ALONE = 300
# A text of fewer words is nearly empty, such as "Coming soon": its links are for a related box.
NEARLY_EMPTY = 12
# Pages that another process takes at a time, and pages whose places are judged together.
_AT_ONCE, _TOGETHER = 64, 32
Found = Sequence[tuple[Anchor, ...]]


class SitePlaces(ExitStack):
    """Judges the places in the texts of a site, and proposes anchors at them.

    The other processes keep what they read, and end with the `with` block.

    Args:
        workers: opens the other processes; see `RunContext.workers`.
        warn: takes a note if they can't be started.
        least: the quality from which a place is good enough, 0 to 1.
    """

    def __init__(
        self,
        collected: Collected,
        anchoring: Anchoring,
        workers: OpenWorkers,
        warn: Callable[[str], None],
        least: float,
    ) -> None:
        super().__init__()
        self._collected, self._site = collected, anchoring
        self._workers, self._warn, self._least = workers, warn, least
        self._judged: dict[str, JudgedPlaces] = {}
        self._ruled: dict[str, JudgedPlaces] = {}
        self._pages = 0  # how many this process did

    @property
    def page_queries(self) -> Mapping[str, Sequence[str]]:
        """The queries by which people find each page, by its key."""
        return self._site.site.page_queries

    def judge(self, sources: Ints, promising: Promising) -> Vectors:
        """Return the quality of the best place for each promising target; see `promising.PlaceJudge`."""
        pages, quality = self._collected.pages, np.full(len(sources), np.nan, np.float32)
        starts = [*np.flatnonzero(np.diff(promising.of, prepend=-1)).tolist(), len(sources)]
        # A query has no text.
        parts = [slice(*ends) for ends in pairwise(starts) if sources[ends[0]] < len(pages)]
        keys = [pages[sources[part.start]].key for part in parts]
        asked = (
            (key, promising.rows[part], promising.columns[part].astype(np.float32))
            for key, part in zip(keys, parts, strict=True)
        )
        found = self._each(
            Anchoring.judged, ((some, self._least) for some in batched(asked, _TOGETHER)), _TOGETHER
        )
        judged = chain.from_iterable(each or () for each in found)
        for key, part, ours in zip(keys, parts, judged, strict=True):
            self._judged[key] = ours
            # The first of each target is its best.
            served, at = np.unique(ours.rows, return_index=True)
            where, there = is_among(promising.rows[part], served)
            quality[part][there] = ours.quality[at[where[there]]]
        return quality

    def ruled(self, sources: Sequence[Source], targets: Targets, *, whole: bool) -> Pairs:
        """Return the links that rules of the house ask for, and keep their places.

        A rule's links on the site count for its `most` pages.

        Args:
            whole: whether the sources are all pages, so that a rule without a place among them has no effect.

        Returns:
            Position of the source and row of the page, by source.
        """
        rows, count, standing = self._collected.rows, Counter[LinkRule](), set[LinkRule]()
        wanted = list[tuple[int, str, LinkRule, tuple[int, int]]]()
        for at, source in enumerate(sources if self._site.house else ()):
            for rule, place in self._site.always(source.key) if source.page else ():
                count[rule] += targets.links(source.end, rule.target)
                if place and source.key != rule.target:
                    standing.add(rule)
                if place and targets.new_to(source.end, rule.target) and targets.url_of(rule.target):
                    wanted.append((at, source.key, rule, place))
        for rule in self._site.house:
            none = f"{RULES}, row {rule.row} has no effect"
            if rule.mode != "never" and (barred := targets.barred.get(rule.target)):
                self._warn(f"{none}: no link may lead to {rule.target} ({barred}).")
            elif whole and rule.mode == "always" and not (rule in standing or count[rule]):
                self._warn(f"{none}: no page that may link has '{rule.phrase}' in its body text.")
        found, places = (
            [dict[int, None]() for _ in sources],
            defaultdict[str, dict[int, tuple[int, int]]](dict),
        )
        for at, key, rule, place in wanted:
            row = rows[rule.target]
            if row not in places[key]:
                if rule.most and count[rule] >= rule.most:
                    continue
                count[rule] += 1
                places[key][row] = place
            found[at][row] = None
        for key, ours in places.items():
            spans = np.array([*ours.values()], np.int32).reshape(-1, 2)
            quality = np.ones(len(ours), np.float32)
            asked = np.array([*ours], np.int32)
            self._ruled[key] = JudgedPlaces(asked, asked, spans[:, 0], spans[:, 1], quality)
        return pairs_of([[*each] for each in found])

    def _places_of(self, key: str) -> JudgedPlaces | None:
        """Return the places of a page: for each page that a rule has it link to, only the rule's."""
        judged, ruled = self._judged.get(key), self._ruled.get(key)
        if not (judged and ruled):
            return ruled or judged
        return joined([ruled, judged.without(ruled.rows)])

    def variety(self) -> Variety:
        """Return what proposes anchors at the judged places, varied over the site."""
        return self._site.variety(self.propose_each)

    def propose_each(self, wanted: Iterable[Wanted]) -> Iterator[Found]:
        """Yield the anchors of each page; see `ports.Anchors`."""
        tasks = ((*one, self._places_of(one[0]), self._least) if one[1] else None for one in wanted)
        return (found or () for found in self._each(Anchoring.propose, tasks))

    def _each(
        self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...] | None], pages: int = 1
    ) -> Iterator[T | None]:
        """Yield `work(anchoring, *task)` for each task of so many pages, None for each that is None."""
        rest = iter(tasks)
        for task in rest:
            if self._pages >= _ALONE:
                yield from self._shared(work, chain([task], rest), _AT_ONCE // pages)
                return
            self._pages += pages * (task is not None)
            yield work(self._site, *task) if task else None

    def _shared(
        self, work: Callable[..., T], tasks: Iterable[tuple[Any, ...] | None], at_once: int
    ) -> Iterator[T | None]:
        workers = self._others
        if workers is None:
            yield from (work(self._site, *task) if task else None for task in tasks)
            return
        ahead = deque[tuple[tuple[Any, ...] | None, ...]]()

        def batches() -> Iterator[tuple[Callable[..., T], list[tuple[Any, ...]]]]:
            for some in batched(tasks, at_once):
                ahead.append(some)
                yield work, [task for task in some if task]

        for found in workers.run(_Site.each, batches()):
            results = iter(found)
            yield from (next(results) if task else None for task in ahead.popleft())

    @cached_property
    def _others(self) -> Processes | None:
        workers = self.enter_context(self._workers("places", self._warn))
        if workers:
            workers.share(_Site(to_columns(self._collected), self._site))
        return workers


def site_places(
    collected: Collected, index: SiteIndex, context: RunContext, rules: LinkRules, progress: Progress
) -> SitePlaces:
    """Return what judges the places in the texts of a run."""
    anchoring = Anchoring(index.counted_site(collected))
    anchoring.least_words = NEARLY_EMPTY
    anchoring.house = known_rules(rules.house, RULES, collected, progress.warn)
    anchoring.most_same = rules.max_same_anchor
    return SitePlaces(collected, anchoring, context.workers, progress.warn, rules.least_place)


class _Site:
    """The site in another process."""

    def __init__(self, columns: dict[str, Any], anchoring: Anchoring) -> None:
        self._columns, self._counted = columns, anchoring.site.lasting()
        self._house, self._least_words = anchoring.house, anchoring.least_words

    @cached_property
    def _anchoring(self) -> Anchoring:
        site = CountedSite(from_columns(self._columns))
        site.resume(self._counted)
        found = Anchoring(site)
        found.house, found.least_words = self._house, self._least_words
        return found

    def each(self, work: Callable[..., T], tasks: Sequence[tuple[Any, ...]]) -> list[T]:
        return [work(self._anchoring, *task) for task in tasks]
