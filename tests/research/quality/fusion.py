"""Search results first, or ranked with the similar pages: what both reach with good and poor searches, as Markdown.

    python -m tests.research.quality.fusion              prints the table of FUSION.md

Half of the links are hidden, and both settings look for them. From the other half, and from the texts, the product
advises whether to set `fusion = "blend"`. A search in titles (BM25, the title three times) stands for the SERP; it is
spoilt in several ways, or its results begin with some of the editors' links.
"""

import argparse
import csv
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from random import Random
from statistics import fmean

import numpy as np

from internal_linker.insight.evaluation.holdout import HIDINGS, hide
from internal_linker.model.records import Collected, Page, Searched, SerpTarget
from internal_linker.model.urls import normal_form
from internal_linker.rank.fusion_choice import FusionEvidence, fusion_evidence, pages_to_compare
from internal_linker.rank.metrics import Estimate, Measured, measure, paired
from internal_linker.rank.rank import Ranking
from tests.research.quality.arrivals import EVERY
from tests.research.quality.corpora import HISTORY, LAST, snapshot, without_link_texts
from tests.research.quality.weights import DEFAULT, head, row
from tests.support.corpora import ABSENT, CORPORA, no_vectors, present, ranking, whole_site

# Sources that are measured: more take long.
MOST = 100
# Search results of a query, as on the first page of a search engine.
FIRST = 10
# The usual parameters of BM25, and how often the title counts.
_SATURATION, _LENGTH, _TITLES = 1.2, 0.75, 3

HEADER = [
    "search", "fill", "blend", "blend / fill surely better",
    "advised: blend better / all / fill better", "by texts alone", "results below serp_floor",
]  # fmt: skip

# The rows of the pages that each page's search finds, best first.
Hits = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Case:
    """What both settings reach with one search on a site.

    Attributes:
        fill, blend: figures on the hidden links.
        gain: NDCG@5 of "blend" less that of "fill".
        evidence: what the product knows.
    """

    fill: Measured
    blend: Measured
    gain: Estimate
    evidence: FusionEvidence


def title_search(name: str, site: Collected) -> Hits:
    """Return what a search for each page's main query (its title, where there is none) finds."""
    if name in HISTORY:
        found = bm25(site.pages, [page.title or page.h1 for page in site.pages])
    else:
        folder = CORPORA / name
        lines = map(json.loads, (folder / "serp.jsonl").read_text(encoding="utf-8").splitlines())
        answers = {(line["query"], line["lang"]): line["urls"] for line in lines}
        with (folder / "main_queries.csv").open(encoding="utf-8-sig", newline="") as file:
            queries = {normal_form(line["URL"]): line["Main Query"] for line in csv.DictReader(file)}
        urls = (answers.get((queries.get(page.key, ""), page.lang), ()) for page in site.pages)
        found = [[site.rows[key] for key in map(normal_form, ours) if key in site.rows] for ours in urls]
    return [
        [hit for hit in hits if hit != at and site.pages[hit].lang == site.pages[at].lang]
        for at, hits in enumerate(found)
    ]


def bm25(pages: Sequence[Page], queries: Sequence[str], top: int = 20) -> list[list[int]]:
    """Return the rows of the pages that match each query best."""
    texts = [Counter(_words(f"{page.title} " * _TITLES + str(page.content))) for page in pages]
    lengths = np.array([text.total() for text in texts])
    lengths = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / lengths.mean())
    postings = defaultdict[str, list[tuple[int, int]]](list)
    for at, text in enumerate(texts):
        for word, count in text.items():
            postings[word].append((at, count))
    found = []
    for query in queries:
        scores = np.zeros(len(pages))
        for word in {*_words(query)} & postings.keys():
            rows, counts = np.array(postings[word]).T
            rarity = math.log(1 + (len(pages) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += rarity * counts / (counts + lengths[rows])
        best = np.argsort(-scores, kind="stable")[:top]
        found.append(best[scores[best] > 0].tolist())
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def searches(hits: Hits, links: Sequence[Sequence[int]]) -> Iterator[tuple[str, Hits]]:
    """Yield a search by its name: the given one, spoilt ones, and some that know the editors' links."""
    random, pages = Random(0), len(hits)
    yield "search in titles", hits
    yield "its first result only", [found[:1] for found in hits]
    for share in (0.25, 0.5, 1):
        name = f"{share:.0%} of the queries answered for another page"
        yield name, [hits[random.randrange(pages)] if random.random() < share else found for found in hits]
    mixed = [[random.randrange(pages) if random.random() < 0.5 else hit for hit in found] for found in hits]
    yield "half of the results at random", mixed
    yield "without the first five results", [found[5:] for found in hits]
    popular = [hit for hit, _ in Counter(chain.from_iterable(hits)).most_common(FIRST)]
    yield "the same ten pages first", [[*popular, *found] for found in hits]
    for share in (0.2, 0.4, 0.6, 0.8):
        ours = [[target for target in targets if random.random() < share] for targets in links]
        yield (
            f"{share:.0%} of the editors' links first",
            [[*first, *found] for first, found in zip(ours, hits, strict=True)],
        )


def cases(name: str) -> Iterator[tuple[str, Case]]:
    """Yield what both settings reach on a site, by the name of the search."""
    site = snapshot(name, LAST) if name in HISTORY else whole_site(name)
    links = [list[int]() for _ in site.pages]
    for link in site.links:
        source, target = site.rows.get(link.source, -1), site.rows.get(link.target, -1)
        if min(source, target) >= 0 and source != target and target not in links[source]:
            links[source].append(target)
    hidden = hide(site, HIDINGS["half"], cut_anchors=False)
    # The product only knows texts with the anchors of the links that it looks for; the hidden ones are cut here.
    cut = hide(replace(site, pages=without_link_texts(site)), HIDINGS["half"], cut_anchors=False)
    base, whole = (ranking(each, no_vectors(each.pages), DEFAULT) for each in (cut, hidden))
    places = [at for at, source in enumerate(base.sources) if source.url in cut.truth]
    places = sorted(Random(1).sample(places, min(MOST, len(places))))
    truth = {base.sources[at].url: cut.truth[base.sources[at].url] for at in places}
    sources = [replace(source, query=source.url) for source in whole.sources]
    for search, found in searches(title_search(name, site), links):
        hits = [[*dict.fromkeys(hit for hit in ours if hit != at)] for at, ours in enumerate(found)]
        new = [
            [hit for hit in ours if site.pages[hit].key not in base.targets.linked.get(source.end, ())]
            for source, ours in zip(base.sources, hits, strict=True)
        ]
        results = _searched(site, dict(enumerate(new)))
        with_search = base.searching(results)
        fill, blend = (
            measure(truth, _orders(with_search.with_fusion(way), places)) for way in ("fill", "blend")
        )
        ranked = whole.searching(results).with_fusion("fill")
        for _ in ranked.rank_sources(places):
            pass
        some = pages_to_compare(sources, cut.visible)
        again = _searched(site, {at: hits[site.rows[source.key]] for at, source in enumerate(some)})
        count = sum(len(results.targets[at]) for at in places)
        evidence = fusion_evidence(ranked, some, cut.visible, again, count)
        yield search, Case(fill, blend, paired(blend, fill), evidence)


def _searched(site: Collected, hits: Mapping[int, Sequence[int]]) -> Searched:
    """Return the first results of each position."""
    return Searched(
        {
            at: tuple(
                SerpTarget(site.pages[hit].key, site.pages[hit].url, rank)
                for rank, hit in enumerate(found[:FIRST], 1)
            )
            for at, found in hits.items()
        }
    )


def _orders(ranked: Ranking, places: Sequence[int]) -> dict[str, list[str]]:
    return {
        ranked.sources[at].url: [candidate.url for candidate in candidates]
        for at, candidates in zip(places, ranked.rank_sources(places), strict=True)
    }


def table(found: Mapping[str, Sequence[Case]]) -> Iterator[str]:
    """Yield the lines of the table: means of the sites, and on how many of them a setting is surely better (95%)."""
    yield from head(HEADER)
    for search, every in found.items():
        better = [one for one in every if one.gain.low > 0]
        worse = [one for one in every if one.gain.high < 0]
        far = [one.evidence.far / one.evidence.results for one in every if one.evidence.results]
        ndcg = [(one.fill.ndcg.mean, one.blend.ndcg.mean) for one in every]
        yield row(
            [
                search,
                *(f"{fmean(each):.3f}" for each in zip(*ndcg, strict=True)),
                f"{len(better)} / {len(worse)}",
                *(
                    " / ".join(str(_advised(some, texts)) for some in (better, every, worse))
                    for texts in (False, True)
                ),
                f"{min(far):.0%} to {max(far):.0%}",
            ]
        )


def _advised(some: Sequence[Case], texts: bool) -> int:
    """Return for how many cases the product advises "blend", or would by texts alone."""
    known = (replace(one.evidence, pages=0) if texts else one.evidence for one in some)
    return sum(bool(each.sentence) for each in known)


def main() -> None:
    """Measure the sites and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sites", nargs="+", choices=EVERY, default=EVERY, metavar="SITE", help="by default all"
    )
    options = parser.parse_args()
    if not all(map(present, EVERY)):
        sys.exit(f"{ABSENT}.")
    found = defaultdict[str, list[Case]](list)
    for name in options.sites:
        for search, case in cases(name):
            found[search].append(case)
        print(f"{name} measured", file=sys.stderr, flush=True)
    print(*table(found), sep="\n")


if __name__ == "__main__":
    main()
