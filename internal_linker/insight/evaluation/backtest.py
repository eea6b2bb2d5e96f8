"""Backtest: the links added between two dates, and the ranks that a run at the earlier date would have given them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from internal_linker.insight.evaluation.holdout import (
    AS_CONFIGURED,
    Hidden,
    Orders,
    Row,
    as_proposed,
    by_similarity,
    judge,
    learned,
    without_anchors_of,
)
from internal_linker.model.arrays import Vectors
from internal_linker.model.errors import InputError
from internal_linker.model.ports import Progress
from internal_linker.model.records import AddedLink, Collected, ExistingLink, Page, Targets, Text
from internal_linker.rank.ranker import WORDS_AND_PASSAGES
from internal_linker.rank.rules import LinkRules

_OTHER_LANGUAGE = "into another language"
_OFF_THE_LIST = ("from a page that is not listed", "to a page that is not listed")


@dataclass(frozen=True, slots=True)
class LinkChanges:
    """Changes of a site's links between two dates; a link is a pair of pages, with any anchors."""

    added: int  # count of the links at the later date only
    removed: int  # count of the links at the earlier date only
    left_out: Mapping[str, int]  # count of the added links that no run could have proposed, by reason
    # anchors of all other added links, by the rows of source and target
    links: Mapping[tuple[int, int], Sequence[str]]

    @property
    def inner(self) -> int:
        """The count of added links from a listed page to a listed page of its language."""
        return self.added - sum(self.left_out.get(reason, 0) for reason in (*_OFF_THE_LIST, _OTHER_LANGUAGE))


def compare(
    collected: Collected, before: Iterable[ExistingLink], after: Iterable[ExistingLink], targets: Targets
) -> LinkChanges:
    """Return which links were added and removed, and which of the added links a run could have proposed.

    Args:
        targets: where links may lead, as of the earlier date.

    Raises:
        InputError: none of the added links could have been proposed.
    """
    rows, find = collected.rows, collected.find
    earlier = {(link.source, link.target) for link in before}
    later: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for link in after:
        later[link.source, link.target].append(link.anchor)
    added = {ends: anchors for ends, anchors in later.items() if ends not in earlier}
    why = {(start, end): _why_not(find(start), find(end), targets) for start, end in added}
    changes = LinkChanges(
        len(added),
        len(earlier - later.keys()),
        Counter(reason for reason in why.values() if reason),
        {(rows[start], rows[end]): added[start, end] for (start, end), reason in why.items() if not reason},
    )
    if not changes.links:
        raise InputError(_nothing_added(changes))
    return changes


def as_it_was(
    collected: Collected, before: Sequence[ExistingLink], changes: LinkChanges, *, cut_anchors: bool
) -> Hidden:
    """Return the site at the earlier date, with added links hidden; `cut_anchors` cuts their anchors from texts."""
    pages, added = collected.pages, list[ExistingLink]()
    truth: defaultdict[str, set[str]] = defaultdict(set)
    for (start, end), anchors in changes.links.items():
        source, target = pages[start], pages[end]
        truth[source.url].add(target.url)
        added += (ExistingLink(source.key, target.key, anchor) for anchor in anchors)
    read = without_anchors_of(added, pages) if cut_anchors else pages
    return Hidden(read, tuple(before), dict(truth), len(changes.links), collected.queries)


def backtest(
    site: Hidden,
    targets: Targets,
    vectors: Callable[[Sequence[Text]], Vectors],
    rules: LinkRules,
    progress: Progress,
) -> tuple[list[Row], Orders]:
    """Rank every source by words and passages, as a baseline, and as a run does; also return the run's order.

    Args:
        targets: where links may lead, as of the earlier date.
        vectors: a function that returns the texts' vectors, (n, d).
    """
    ranking, taught, _ = learned(site, targets, vectors, rules, progress)
    progress.start("Ranking", 3 * len(site.sources), "pages")
    words = by_similarity(ranking.with_ranker(WORDS_AND_PASSAGES), progress.advance)
    ours = as_proposed(taught, rules, progress.advance)
    progress.finish(f"{len(site.sources)} pages in 2 ways")
    return [judge("words + passages", site.truth, words), judge(AS_CONFIGURED, site.truth, ours)], ours


def placed(changes: LinkChanges, pages: Sequence[Page], orders: Orders) -> Iterator[AddedLink]:
    """Yield each added link with its first anchor and its target's rank in the source's order."""
    for (start, end), anchors in changes.links.items():
        source, target = pages[start].url, pages[end].url
        order = orders[source]
        place = order.index(target) + 1 if target in order else 0
        yield AddedLink(source, target, next(filter(None, anchors), ""), place)


def _why_not(source: Page | None, target: Page | None, targets: Targets) -> str:
    """Return why no run could have proposed this link, "" if one could."""
    if source is None:
        return _OFF_THE_LIST[0]
    if target is None:
        return _OFF_THE_LIST[1]
    if source.lang != target.lang:
        return _OTHER_LANGUAGE
    if not targets.new_to(source.key, target.key):
        return "from a copy of a page to that page"
    barred = targets.barred.get(target.key)
    return f"to a page that no link may lead to ({barred})" if barred else ""


def _nothing_added(changes: LinkChanges) -> str:
    if not changes.added:
        return (
            f"There are no links to measure: between the two tables, none were added and {changes.removed} were "
            "removed. Pass the earlier table with --before and the later one with --after."
        )
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(changes.left_out.items()))
    return (
        f"There are no links to measure: {changes.added} were added between the two tables, but {reasons}. Check that "
        "files/urls_rawdata.csv lists their pages and that the tables write the host as it does (https, www)."
    )
