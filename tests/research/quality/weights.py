"""The weights of terms, and of words beside an encoder: what alternatives reach on both development sites, as Markdown.

    python -m tests.research.quality.weights --cache DIR   prints the table of WEIGHTS.md; DIR keeps the vectors

All links are hidden and their anchors cut; the packaged ranker ranks, which learned with the product's own weights. A
site in a language that the packaged model doesn't know is ranked without vectors, as in any run.
"""

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from internal_linker.insight.evaluation.holdout import Hidden
from internal_linker.match.embed import embed, encodable, page_text
from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.match.tfidf import FIXED_TERMS
from internal_linker.model.arrays import Vectors, unit_rows
from internal_linker.model.ports import Encoder
from internal_linker.model.records import Text
from internal_linker.project.console import Reporter, open_console
from internal_linker.project.settings.settings import Settings
from internal_linker.rank.metrics import TOP, Measured, measure, paired
from internal_linker.rank.rank import Ranking
from internal_linker.rank.rules import LinkRules
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import open_database
from tests.support.corpora import ABSENT, DEVELOPMENT, present, ranking, site

DEFAULT = LinkRules(TOP, "fill", Settings.model_fields["lexical_weight"].default)
OWN = "the product's own"
HEADER = ["weights", *DEVELOPMENT, "mean", "mean - own"]

# Each site's hidden targets by source.
Truths = Mapping[str, Mapping[str, Collection[str]]]
# Each site's first five targets by source.
Ranked = Mapping[str, Mapping[str, Sequence[str]]]


def variants() -> dict[str, LinkRules]:
    """Return all measured rules by name, the product's own first."""
    words = {f"lexical_weight {share}": replace(DEFAULT, lexical_weight=share) for share in (0.5, 0.8, 1.0)}
    terms = {f"title_count {n}": replace(FIXED_TERMS, title_count=n) for n in (1, 3, 15)}
    terms |= {
        f"common_share {share}": replace(FIXED_TERMS, common_share=share) for share in (0.1, 0.2, 0.5, 1)
    }
    terms |= {f"idf_power {power}": replace(FIXED_TERMS, idf_power=power) for power in (1, 1.5, 2.5, 3)}
    terms |= {f"passage {n}": replace(FIXED_TERMS, passage=n) for n in (40, 60, 150, 250)}
    return {OWN: DEFAULT, **words, **{name: replace(DEFAULT, terms=each) for name, each in terms.items()}}


def table(truths: Truths, found: Mapping[str, Ranked]) -> Iterator[str]:
    """Yield the lines of the table; a star marks a sure difference from the product's own (paired 95% interval)."""
    default = _measured(truths, found[OWN])
    yield from head(HEADER)
    for name, ranked in found.items():
        yield _line(name, _measured(truths, ranked), default)


def _measured(truths: Truths, ranked: Ranked) -> list[Measured]:
    return [measure(truth, ranked[name]) for name, truth in truths.items()]


def _mean(measured: Sequence[Measured]) -> float:
    return fmean(each.ndcg.mean for each in measured)


def _line(name: str, ours: Sequence[Measured], default: Sequence[Measured]) -> str:
    cells = []
    for one, other in zip(ours, default, strict=True):
        difference = paired(one, other)
        cells.append(f"{one.ndcg}{'' if difference.low <= 0 <= difference.high else ' *'}")
    return row([name, *cells, f"{_mean(ours):.4f}", f"{_mean(ours) - _mean(default):+.4f}"])


def head(cells: Sequence[str]) -> Iterator[str]:
    """Return the two lines that open a Markdown table."""
    yield row(cells)
    yield row(["---"] * len(cells))


def row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


@contextmanager
def embedder(folder: Path | None) -> Iterator[Callable[[Sequence[Text], Encoder], Vectors]]:
    """Yield a function that returns a vector per text, from the folder's cache if it was computed before."""
    engine = open_database("sqlite:///vectors.sqlite3" if folder else "sqlite://", folder or Path())
    cache, reporter = EmbeddingCache(engine, "float16"), Reporter(open_console(stderr=True))
    yield lambda texts, encoder: unit_rows(embed(texts, encoder, cache, reporter).vectors)
    reporter.close()
    engine.dispose()


def _found(site: Hidden, vectors: Vectors) -> dict[str, dict[str, list[str]]]:
    """Return the first five targets of each source that has hidden links, by the weights' name."""
    return {name: first_five(ranking(site, vectors, rules), site) for name, rules in variants().items()}


def first_five(ranked: Ranking, site: Hidden) -> dict[str, list[str]]:
    """Return the first five targets of each source that has hidden links."""
    places = [at for at, source in enumerate(ranked.sources) if source.url in site.truth]
    return {
        ranked.sources[at].url: [candidate.url for candidate in candidates[:TOP]]
        for at, candidates in zip(places, ranked.rank_sources(places), strict=True)
    }


def cache_folder(about: str | None) -> Path | None:
    """Return the folder of a command's option `--cache`; `about` describes the command.

    Raises:
        SystemExit: the development sites are missing.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="folder that keeps the vectors for the next time"
    )
    folder: Path | None = parser.parse_args().cache
    if not all(map(present, DEVELOPMENT)):
        raise SystemExit(f"{ABSENT}.")
    return folder


def opened(about: str | None) -> tuple[dict[str, Hidden], dict[str, Vectors]]:
    """Return both development sites and their vectors, as the command line asks for them."""
    folder = cache_folder(about)
    sites = {name: site(name) for name in DEVELOPMENT}
    vectors, encoder = {}, LocalEncoder()
    with embedder(folder) as embedded:
        for name, each in sites.items():
            texts = [page_text(page) for page in each.pages]
            known, _ = encodable(texts, [page.lang for page in each.pages], encoder)
            vectors[name] = embedded(known, encoder)
    return sites, vectors


def main() -> None:
    """Rank both sites with all weights and print the table."""
    sites, vectors = opened(__doc__)
    by_site = {name: _found(each, vectors[name]) for name, each in sites.items()}
    found = {weights: {name: each[weights] for name, each in by_site.items()} for weights in variants()}
    for line in table({name: each.truth for name, each in sites.items()}, found):
        print(line)


if __name__ == "__main__":
    main()
