"""Queries without a page: how well the title of a hidden page finds the pages that it links to, as Markdown.

    python -m tests.research.quality.topics --cache DIR   prints the table of TOPICS.md; DIR keeps the vectors

A fourth of the pages is hidden at a time, with all of their links; the title of each is a query. Candidates are ranked
by their topic alone, as in the product, and by the packaged ranker, known links included.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from internal_linker.match.embed import all_texts, encodable
from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Collected, Searched, Source, Targets, Text
from internal_linker.rank.metrics import Measured, fold, measure, paired
from internal_linker.rank.rank import BLOCK, Ranking
from tests.research.quality.weights import DEFAULT, cache_folder, embedder, head, row
from tests.support.corpora import DEVELOPMENT, whole_site

FOLDS = 4
HEADER = ["site", "queries", "all signals", "topic alone", "difference"]
Embeds = Callable[[Sequence[Text], Sequence[str]], Vectors]


def without(site: Collected, part: int) -> tuple[Collected, dict[str, set[str]]]:
    """Return the site without one part of its pages, and for the title of each of them the pages that it links to."""
    hidden = {page.key for page in site.pages if fold(f"topic {page.key}", FOLDS) == part}
    truth: defaultdict[str, set[str]] = defaultdict(set)
    for link in site.links:
        title = site.title(link.source) if link.source in hidden else ""
        if title and link.target in site.rows and link.target not in hidden:
            truth[title].add(link.target)
    pages = tuple(page for page in site.pages if page.key not in hidden)
    links = tuple(link for link in site.links if not {link.source, link.target} & hidden)
    return replace(site, pages=pages, sources=(), links=links), dict(truth)


def measured(site: Collected, embeds: Embeds) -> tuple[Measured, Measured]:
    """Return what the candidates of all titles reach by all signals, and by their topic alone."""
    truth: dict[str, set[str]] = {}
    by_all: dict[str, list[str]] = {}
    by_topic: dict[str, list[str]] = {}
    for part in range(FOLDS):
        rest, wanted = without(site, part)
        queries, names = [*wanted], [f"{part} {title}" for title in wanted]
        ranking = _ranking(rest, queries, embeds)
        positions = range(len(queries))
        truth |= zip(names, wanted.values(), strict=True)
        found = ([one.key for one in ours] for ours in ranking.rank_sources(positions))
        by_topic |= zip(names, found, strict=True)
        blocks = ranking.features(positions, [ranking])
        for first, ((chosen,), (features,)) in zip(range(0, len(queries), BLOCK), blocks, strict=True):
            matches, some = chosen.matches, names[first : first + BLOCK]
            best = matches.at(np.lexsort((-ranking.ranker.score(features, matches.of), matches.of)))
            for name, rows in zip(some, best.pairs.lists(len(some)), strict=True):
                by_all[name] = [rest.pages[at].key for at in rows.tolist()]
    return measure(truth, by_all), measure(truth, by_topic)


def table(sites: dict[str, Collected], embeds: Embeds) -> Iterator[str]:
    """Yield the lines of the table of TOPICS.md."""
    yield from head(HEADER)
    for name, site in sites.items():
        by_all, by_topic = measured(site, embeds)
        cells = [name, str(len(by_all.sources)), str(by_all.ndcg), str(by_topic.ndcg)]
        yield row([*cells, str(paired(by_topic, by_all))])


def _ranking(site: Collected, queries: Sequence[str], embeds: Embeds) -> Ranking:
    sources = [Source("", "", query, None, in_sheet=False) for query in queries]
    texts = all_texts(site.pages, {}, queries)
    targets = Targets({page.key: page.url for page in site.pages}, {})
    vectors = embeds(texts, [page.lang for page in site.pages])
    return Ranking(site, sources, targets, Searched(), texts=texts, vectors=vectors, rules=DEFAULT)


def main() -> None:
    """Rank the pages of both sites for the titles of hidden ones, and print the table."""
    folder = cache_folder(__doc__)
    sites = {name: whole_site(name) for name in DEVELOPMENT}
    encoder = LocalEncoder()
    with embedder(folder) as embedded:

        def embeds(texts: Sequence[Text], languages: Sequence[str]) -> Vectors:
            vectors = embedded(encodable(texts, languages, encoder)[0], encoder)
            # A query is in the language of the site.
            if not any(language.startswith("en") for language in languages):
                vectors[:] = 0
            return vectors

        for line in table(sites, embeds):
            print(line)


if __name__ == "__main__":
    main()
