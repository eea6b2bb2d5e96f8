"""Encoders: what each adds to the words, for pages and for queries, and what it costs, as Markdown.

    python -m tests.research.quality.encoders --cache DIR   prints the tables of ENCODERS.md; DIR keeps the vectors

All links of both development sites are hidden and their anchors cut; the packaged ranker ranks. Every encoder reads
every page of these here; a run compares pages in a language that its encoder doesn't know by words alone. Queries are
the titles of hidden pages on English sites, as in `tests.research.quality.topics`. A message names each encoder that
isn't installed.
"""

import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from internal_linker.insight.evaluation.holdout import Hidden
from internal_linker.match.embed import encodable, page_text
from internal_linker.match.encoders.lsa import LsaEncoder
from internal_linker.match.encoders.minilm import FastEncoder, LocalEncoder
from internal_linker.match.encoders.multilingual import MultilingualEncoder
from internal_linker.model.arrays import Vectors, shortened
from internal_linker.model.errors import ConfigurationError
from internal_linker.model.ports import Encoder
from internal_linker.model.records import Collected, Text
from internal_linker.rank.metrics import Measured, measure, paired
from tests.research.quality import topics
from tests.research.quality.corpora import LAST, snapshot, without_link_texts
from tests.research.quality.weights import DEFAULT, cache_folder, embedder, first_five, head, row
from tests.support.corpora import DEVELOPMENT, no_vectors, ranking, site, whole_site

ALONE = "words alone"
ENCODERS: Mapping[str, Callable[[], Encoder]] = {
    "LSA": LsaEncoder,
    "fast": FastEncoder,
    "MiniLM": LocalEncoder,
    "multilingual": MultilingualEncoder,
}
WEIGHTS = (0.5, 0.65, 0.8)  # `lexical_weight` beside an encoder
FIRST = (256, 128, 64, 32)  # `matryoshka_dimensions`
# Sites in English on which queries are measured.
ENGLISH = ("18f-blog", "cloudgov", "giantswarm", "govuk", "hugodocs", "railway", "tts", "wsl")
SAMPLE = 40  # pages of each site that an encoder is timed on; LSA and the words need all pages


def columns(sites: Mapping[str, Hidden]) -> Iterator[tuple[str, str, Mapping[str, Collection[str]]]]:
    """Yield name, site and hidden links of each site, and of each language of a multilingual site."""
    for name, each in sites.items():
        yield name, name, each.truth
        languages = {page.url: page.lang for page in each.pages}
        several = sorted(set(languages.values()))
        for lang in several if len(several) > 1 else ():
            yield f"its {lang}", name, {url: of for url, of in each.truth.items() if languages[url] == lang}


def added(ours: Measured, alone: Measured) -> str:
    """Return NDCG@5 and its difference with the paired 95% interval; a star means surely not 0."""
    more = paired(ours, alone)
    star = "" if more.low <= 0 <= more.high else " *"
    return f"{ours.ndcg.mean:.4f}, {more.mean:+.4f} [{more.low:+.4f}, {more.high:+.4f}]{star}"


def gains(sites: Mapping[str, Hidden], names: Sequence[str], folder: Path | None) -> Iterator[str]:
    """Yield the lines of the first table."""
    truths = list(columns(sites))
    yield from head(["encoder", "lexical_weight", *(name for name, *_ in truths)])

    def measured(vectors: Mapping[str, Vectors], weight: float) -> list[Measured]:
        rules = replace(DEFAULT, lexical_weight=weight)
        found = {name: first_five(ranking(each, vectors[name], rules), each) for name, each in sites.items()}
        return [measure(truth, found[name]) for _, name, truth in truths]

    alone = measured({name: no_vectors(each.pages) for name, each in sites.items()}, 1.0)
    yield row([ALONE, "1", *(str(each.ndcg) for each in alone)])
    for name in names:
        encoder = ENCODERS[name]()
        with embedder(folder) as embedded:
            vectors = {key: embedded([*map(page_text, each.pages)], encoder) for key, each in sites.items()}
        for weight in WEIGHTS:
            ours = measured(vectors, weight)
            yield row([name, str(weight), *(added(*pair) for pair in zip(ours, alone, strict=True))])


def queries(names: Sequence[str], folder: Path | None) -> Iterator[str]:
    """Yield the lines of a table: how well the titles of hidden pages find the pages that these link to."""
    sites = {name: _whole(name) for name in ENGLISH}
    yield from head(["encoder", *ENGLISH])

    def no_meaning(texts: Sequence[Text], languages: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 1), np.float32)

    alone = [topics.measured(each, no_meaning)[1] for each in sites.values()]
    yield row([ALONE, *(str(each.ndcg) for each in alone)])
    for name in names:
        encoder = ENCODERS[name]()
        with embedder(folder) as embedded:
            meaning = partial(_vectors, embedded, encoder)
            ours = [topics.measured(each, meaning)[1] for each in sites.values()]
        yield row([name, *(added(*pair) for pair in zip(ours, alone, strict=True))])


def _vectors(
    embedded: Callable[[Sequence[Text], Encoder], Vectors],
    encoder: Encoder,
    texts: Sequence[Text],
    languages: Sequence[str],
) -> Vectors:
    return embedded(encodable(texts, languages, encoder)[0], encoder)


def _whole(name: str) -> Collected:
    if name in DEVELOPMENT:
        return whole_site(name)
    read = snapshot(name, LAST)
    return replace(read, pages=without_link_texts(read))


def cut(read: Hidden, folder: Path | None) -> Iterator[str]:
    """Yield the lines of the second table: the loss from shortening MiniLM's vectors, on an English site."""
    encoder, rules = LocalEncoder(), replace(DEFAULT, lexical_weight=DEFAULT.lexical_weight)
    with embedder(folder) as embedded:
        vectors = embedded([*map(page_text, read.pages)], encoder)

    def measured(some: Vectors) -> Measured:
        return measure(read.truth, first_five(ranking(read, some, rules), read))

    whole = measured(vectors)
    yield from head(["dimensions", "NDCG@5, difference from all of them"])
    yield row([str(encoder.dimensions), str(whole.ndcg)])
    for first in FIRST:
        yield row([str(first), added(measured(shortened(vectors, first)), whole)])


def cost(name: str, site_name: str) -> str:
    """Return seconds and processor seconds a page, and this process's peak memory (known on Linux only)."""
    read = site(site_name)
    texts = [page_text(page) for page in read.pages]
    if name != ALONE:
        encoder = ENCODERS[name]()
        list(encoder.encode(texts[:1]))  # what is loaded late isn't a cost per page
        texts = texts if encoder.corpus_bound else texts[:: len(texts) // SAMPLE][:SAMPLE]
    began, worked = time.perf_counter(), time.process_time()
    if name == ALONE:
        rules = replace(DEFAULT, lexical_weight=1.0)
        list(ranking(read, no_vectors(read.pages), rules).rank_sources(range(len(texts))))
    else:
        list(encoder.encode(texts))
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    status = Path("/proc/self/status")
    peak = re.search(r"VmHWM:\s+(\d+)", status.read_text()) if status.exists() else None
    memory = f"{int(peak[1]) / 1024:.0f} MB" if peak else "?"
    return f"{seconds / len(texts):.4f} s, {processor / len(texts):.4f} s, {memory}"


def installed(encoders: Mapping[str, Callable[[], Encoder]]) -> Iterator[str]:
    """Yield the names of installed encoders; print a message for each missing one."""
    for name, make in encoders.items():
        try:
            make()
            yield name
        except ConfigurationError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def main() -> None:
    """Print the tables."""
    folder = cache_folder(__doc__)
    names = list(installed(ENCODERS))
    sites = {name: site(name) for name in DEVELOPMENT}
    for table in (gains(sites, names, folder), queries(names, folder), cut(sites[DEVELOPMENT[0]], folder)):
        for line in table:
            print(line, flush=True)
        print()
    print(*head(["encoder", *DEVELOPMENT]), sep="\n")
    for name in (ALONE, *names):
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
            print(row([name, *fresh.map(cost, [name] * len(DEVELOPMENT), DEVELOPMENT)]))


if __name__ == "__main__":
    main()
