"""Arrivals: how well a run ranks the links that editors added next, beside links hidden at random, as Markdown.

    python -m tests.research.quality.arrivals   prints the tables of ARRIVALS.md

--unseen DIR          ranks each site by weights from other families' sites
--save FILE.json      also keeps what each page reaches
--against FILE.json   also compares with what was kept, page by page

`arrivals`: the pages are those of a date; known are the links of the date before, so that no link from or to a new
page is known; to be found are the links added in between. `none`, `half` and `new pages`: at the last date, all
links are hidden, or half of them, or all links to a fifth of the pages together. Only links in the text count. The
anchors of all links, known and hidden, are cut from the texts. Other mentions of a target stay.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import numpy as np

from internal_linker.insight.evaluation.holdout import Hidden, Truth, hide
from internal_linker.match.embed import encodable, page_text
from internal_linker.model.arrays import Vectors
from internal_linker.model.ports import Encoder
from internal_linker.model.records import Collected, Page, Text
from internal_linker.rank.adaptation import adapted
from internal_linker.rank.metrics import HIGH, LOW, RESAMPLES, Estimate, estimates, measure
from internal_linker.rank.rank import Ranking
from internal_linker.rank.ranker import LearnedRanker, read_ranker
from tests.research.quality.corpora import HISTORY, LAST, dates, drawn, family, snapshot, without_link_texts
from tests.research.quality.encoders import ENCODERS
from tests.research.quality.weights import DEFAULT, embedder, head, row
from tests.support.corpora import ABSENT, DEVELOPMENT, no_vectors, present, ranking, whole_site

ARRIVALS = "arrivals"
# Settings of links that are hidden at random, by the product's name for what is hidden.
HIDDEN = {"none": "all", "half": "half", "new pages": "cold"}
SETTINGS = (ARRIVALS, *HIDDEN)
AGES = tuple(f"{source} source, {target} target" for source in ("old", "new") for target in ("old", "new"))
INLINKS = ("no known in-link", "1 or 2 known in-links", "3 or more known in-links")
# Random halves and fifths of each site: the ones that `evaluate` hides, and others, since small sites have few links.
DRAWS = 3
# Links of each page among which recall is counted.
RECALL = 10
# A site of which fewer pages existed before was rewritten: its links are those of `none`.
LEAST_OLD = 0.2
# Two pages of one title are the same if they have this share of their words in common (Jaccard).
SAME_WORDS = 0.5
EVERY = (*DEVELOPMENT, *HISTORY)

# NDCG@5 and recall@10 of each page, by site.
Reached = Mapping[str, Mapping[str, tuple[float, float]]]


@dataclass(frozen=True)
class Trial:
    """A site with links to be found.

    Attributes:
        hidden: the pages, the known links, and the links to be found.
        truths: the links to be found, by setting, and by class of links.
    """

    hidden: Hidden
    truths: Mapping[str, Truth]


def trials(name: str) -> Iterator[Trial]:
    """Yield a site's trials in all settings; those of links hidden at random share their pages."""
    history = name in HISTORY
    for before, after in pairwise(dates(name)) if history else ():
        trial = arrivals(snapshot(name, before), snapshot(name, after))
        if trial:
            yield trial
    last = snapshot(name, LAST) if history else whole_site(name)
    read = replace(last, pages=without_link_texts(last))
    for setting, hiding in HIDDEN.items():
        for number in range(1 if hiding == "all" else DRAWS):
            hidden = hide(read, drawn(hiding, number), cut_anchors=False)
            yield Trial(hidden, {setting: hidden.truth})


def arrivals(before: Collected, after: Collected) -> Trial | None:
    """Return a site with the links that were added between two dates; None without any, or if it was rewritten."""
    moved = same_pages(before, after)
    if len(moved) < LEAST_OLD * len(after.pages):
        return None
    old = frozenset(moved.values())
    known = tuple(
        replace(link, source=moved[link.source], target=moved[link.target], start=-1)
        for link in before.links
        if link.source in moved and link.target in moved
    )
    ends = {(link.source, link.target) for link in known}
    inlinks = Counter(target for _, target in ends)
    truths = defaultdict[str, defaultdict[str, set[str]]](lambda: defaultdict(set))
    for source, target in sorted({(link.source, link.target) for link in after.links} - ends):
        pages = after.find(source), after.find(target)
        if source == target or not pages[0] or not pages[1] or pages[0].lang != pages[1].lang:
            continue
        ages = ("old" if source in old else "new"), ("old" if target in old else "new")
        of_target = INLINKS[min(2, (inlinks[target] + 1) // 2)]
        for truth in (ARRIVALS, "{} source, {} target".format(*ages), of_target):
            truths[truth][pages[0].url].add(pages[1].url)
    if not truths:
        return None
    wanted = truths[ARRIVALS]
    read = Hidden(without_link_texts(after), known, wanted, sum(map(len, wanted.values())))
    return Trial(read, truths)


def same_pages(before: Collected, after: Collected) -> dict[str, str]:
    """Return the keys of pages at the earlier date, with their keys at the later one; they differ if a page moved.

    A page moved if its title is that of no other page that vanished or appeared, and most of its words are the same.
    """
    found = {page.key: page.key for page in before.pages if page.key in after.rows}
    vanished, appeared = (
        _by_title(page for page in site.pages if page.key not in found) for site in (before, after)
    )
    for title in vanished.keys() & appeared.keys() - {""}:
        if len(vanished[title]) == len(appeared[title]) == 1:
            one, other = vanished[title][0], appeared[title][0]
            words, others = ({*re.findall(r"\w+", str(page.content))} for page in (one, other))
            if len(words & others) >= SAME_WORDS * len(words | others):
                found[one.key] = other.key
    return found


def _by_title(pages: Iterable[Page]) -> dict[str, list[Page]]:
    found = defaultdict[str, list[Page]](list)
    for page in pages:
        found[page.title].append(page)
    return found


def first_links(
    ranked: Ranking, sources: Collection[str], every: Collection[str] = ()
) -> dict[str, list[str]]:
    """Return the first targets of each of these sources (URLs), as many as are measured.

    Args:
        ranked: the ranking.
        sources: URLs of the sources.
        every: targets that may be left out of a list later, which is that much longer.
    """
    places = [at for at, source in enumerate(ranked.sources) if source.url in sources]
    return {
        ranked.sources[at].url: [candidate.url for candidate in candidates[: RECALL + len(every)]]
        for at, candidates in zip(places, ranked.rank_sources(places), strict=True)
    }


def reached(
    truth: Truth, every: Truth, orders: Mapping[str, Sequence[str]]
) -> dict[str, tuple[float, float]]:
    """Return NDCG@5 and recall@10 of each source.

    Args:
        truth: the targets of one class of links.
        every: the targets of all classes; those of another class are neither hits nor misses.
        orders: targets of each source, best first.
    """
    ours = {
        source: [target for target in orders[source] if target in wanted or target not in every[source]]
        for source, wanted in truth.items()
    }
    measured = measure(truth, ours)
    recall = (
        len({*truth[source]} & {*ours[source][:RECALL]}) / len(truth[source]) for source in measured.sources
    )
    return dict(zip(measured.sources, zip(measured.each[:, 2].tolist(), recall, strict=True), strict=True))


def as_run(
    hidden: Hidden, vectors: Vectors, site: Ranking | None = None, ranker: LearnedRanker | None = None
) -> Ranking:
    """Return the ranking of a run that knows the visible links, with what it learns from them.

    Args:
        hidden: pages and links.
        vectors: (pages, d) unit rows.
        site: a ranking of the same pages, whose index serves again.
        ranker: ranks instead of the packaged one.
    """
    known = site.with_links(hidden.visible, site.sources) if site else ranking(hidden, vectors, DEFAULT)
    return adapted(known.with_ranker(ranker) if ranker else known, hidden.visible)[0]


def measured(
    some: Iterable[Trial],
    vectors: Callable[[Sequence[Page]], Vectors],
    ranker: LearnedRanker | None = None,
) -> dict[str, dict[str, tuple[float, float]]]:
    """Return NDCG@5 and recall@10 of each page of a site, by setting and class; the mean of a page's trials."""
    found = defaultdict[str, defaultdict[str, list[tuple[float, float]]]](lambda: defaultdict(list))
    last: tuple[Sequence[Page], Ranking] | None = None
    for trial in some:
        pages, every = trial.hidden.pages, trial.hidden.truth
        same = last[1] if last and last[0] is pages else None
        ranked = as_run(trial.hidden, no_vectors(pages) if same else vectors(pages), same, ranker)
        last = pages, ranked
        most = max(every.values(), key=len)
        orders = first_links(ranked, every, most)
        for name, truth in trial.truths.items():
            for source, values in reached(truth, every, orders).items():
                found[name][source].append(values)
    return {
        name: {
            source: (fmean(a for a, _ in each), fmean(b for _, b in each)) for source, each in pages.items()
        }
        for name, pages in found.items()
    }


def macro(sites: Sequence[Vectors]) -> Estimate:
    """Return the mean of the sites' means and its 95% interval: sites are resampled, and the pages of each.

    Args:
        sites: (n,) the values of each site's pages.
    """
    if not sites:
        return Estimate(float("nan"), float("nan"), float("nan"))
    rng = np.random.default_rng(0)
    means = np.array(
        [values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1) for values in sites]
    )
    drawn_sites = rng.integers(len(sites), size=(RESAMPLES, len(sites)))
    resampled = np.sort(means[drawn_sites, np.arange(RESAMPLES)[:, None]].mean(axis=1))
    return Estimate(
        fmean(float(values.mean()) for values in sites), float(resampled[LOW]), float(resampled[HIGH])
    )


def column(found: Reached, which: int) -> dict[str, Vectors]:
    """Return the values of each site's pages, sorted by page: NDCG@5 (0) or recall@10 (1)."""
    return {
        name: np.array([pages[page][which] for page in sorted(pages)])
        for name, pages in found.items()
        if pages
    }


def differences(ours: Reached, theirs: Reached) -> dict[str, Vectors]:
    """Return how much higher NDCG@5 is in `ours`, for each page of the sites that are in both.

    Raises:
        ValueError: a site was measured on other pages.
    """
    found = {}
    for name in (site for site in ours if site in theirs):
        if ours[name].keys() != theirs[name].keys():
            raise ValueError(f"{name} was measured on other pages: measure both with the same trials.")
        found[name] = np.array([ours[name][page][0] - theirs[name][page][0] for page in sorted(ours[name])])
    return found


def tables(found: Mapping[str, Reached]) -> Iterator[str]:
    """Yield the lines of the tables: each site in each setting, the macro means, and the classes of arrivals."""
    names = list(dict.fromkeys(name for setting in SETTINGS for name in found.get(setting, {})))
    for which, title in enumerate(("NDCG@5", f"recall@{RECALL}")):
        columns = {setting: column(found.get(setting, {}), which) for setting in SETTINGS}
        yield from head([title, *SETTINGS])
        for name in names:
            values = (columns[setting].get(name) for setting in SETTINGS)
            yield row(
                [name, *("" if each is None else f"{each.mean():.3f} ({len(each)})" for each in values)]
            )
        yield row(["mean of the sites", *(str(macro([*each.values()])) for each in columns.values())])
        yield ""
    yield from head(["arrivals", "sites", "pages", "NDCG@5", f"recall@{RECALL}"])
    for name in (ARRIVALS, *AGES, *INLINKS):
        both = [[*column(found.get(name, {}), which).values()] for which in (0, 1)]
        pages = sum(map(len, both[0]))
        yield row([name, str(len(both[0])), str(pages), *(str(macro(each)) for each in both)])


def comparison(ours: Mapping[str, Reached], theirs: Mapping[str, Reached]) -> Iterator[str]:
    """Yield the lines of a table: how much higher NDCG@5 is in `ours`; a star marks a sure difference (95%)."""
    settings = [name for name in (*SETTINGS, *AGES, *INLINKS) if name in ours and name in theirs]
    each = {name: differences(ours[name], theirs[name]) for name in settings}
    names = list(dict.fromkeys(site for values in each.values() for site in values))
    yield from head(["NDCG@5, difference", *settings])
    for name in names:
        found = ((each[setting].get(name)) for setting in settings)
        yield row([name, *("" if one is None else signed(estimates(one[:, None])[0]) for one in found)])
    yield row(["mean of the sites", *(signed(macro([*each[setting].values()])) for setting in settings)])


def signed(more: Estimate) -> str:
    """Return a difference with its interval, and a star if that excludes 0."""
    star = "" if more.low <= 0 <= more.high else " *"
    return f"{more.mean:+.4f} [{more.low:+.3f}, {more.high:+.3f}]{star}"


def encoded(
    embedded: Callable[[Sequence[Text], Encoder], Vectors], encoder: Encoder | None
) -> Callable[[Sequence[Page]], Vectors]:
    """Return a function that returns a vector per page; zeros in a language that the encoder doesn't know."""

    def vectors(pages: Sequence[Page]) -> Vectors:
        if encoder is None:
            return no_vectors(pages)
        texts, _ = encodable([*map(page_text, pages)], [page.lang for page in pages], encoder)
        return embedded(texts, encoder)

    return vectors


def main() -> None:
    """Measure the sites and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sites", nargs="+", choices=EVERY, default=EVERY, metavar="SITE", help="by default all"
    )
    parser.add_argument(
        "--encoder", choices=[*ENCODERS], help="by default, pages are compared by their words alone"
    )
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="folder that keeps the vectors for the next time"
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="JSON file to keep what each page reaches")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="file of an earlier --save to compare with"
    )
    parser.add_argument(
        "--unseen",
        type=Path,
        metavar="DIR",
        help="folder of `tests.research.quality.train_ranker --families`; by default, the packaged ranker ranks",
    )
    options = parser.parse_args()
    if not all(map(present, EVERY)):
        sys.exit(f"{ABSENT}.")
    found = defaultdict[str, dict[str, dict[str, tuple[float, float]]]](dict)
    with embedder(options.cache) as embedded:
        vectors = encoded(embedded, ENCODERS[options.encoder]() if options.encoder else None)
        for name in options.sites:
            unseen = options.unseen and read_ranker(
                (options.unseen / f"{family(name)}.json").read_text("utf-8")
            )
            for setting, pages in measured(trials(name), vectors, unseen).items():
                found[setting][name] = pages
            print(f"{name} measured", file=sys.stderr, flush=True)
    print(*tables(found), sep="\n")
    if options.save:
        options.save.write_text(json.dumps(found), encoding="utf-8")
    if options.against:
        print("", *comparison(found, json.loads(options.against.read_text(encoding="utf-8"))), sep="\n")


if __name__ == "__main__":
    main()
