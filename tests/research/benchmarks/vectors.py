"""Vectors of real pages by the local encoder, kept in a cache folder; an interrupted run continues.

    python -m tests.research.benchmarks.vectors --cache DIR --corpus DIR ...   embeds the missing pages

A corpus is a folder with pages.csv, as tests.research.benchmarks.debian makes it. Pages in a language that the encoder
doesn't know are left out, as in any run. If others use the machine, run it with `nice -n 19`.
"""

import argparse
import csv
import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from internal_linker.match.embed import embed, encodable, page_text, plan_embedding
from internal_linker.match.encoders.minilm import LocalEncoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Page, Text
from internal_linker.model.urls import normal_form
from internal_linker.project.console import Reporter, open_console
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import open_database

STORE = "sqlite:///vectors.sqlite3"


@dataclass(frozen=True, slots=True)
class Embedded:
    """Real pages with a vector: `vectors` (n, 384) float32 unit rows, one per page."""

    pages: Sequence[Page]
    vectors: Vectors


def read_pages(folder: Path) -> list[Page]:
    """Return the pages of a corpus."""
    csv.field_size_limit(2**31 - 1)
    with (folder / "pages.csv").open(encoding="utf-8-sig", newline="") as file:
        return [
            Page(
                normal_form(row["URL"]),
                row["URL"],
                row["Title"],
                content=row.get("Main Content") or row.get("Content") or "",
                lang=row["Lang"],
            )
            for row in csv.DictReader(file)
        ]


def embedded(cache: Path, corpora: Sequence[Path]) -> Embedded:
    """Return the corpora's pages whose vectors are in the cache; of equal texts only the first."""
    encoder = LocalEncoder()
    pages, texts = _known(corpora, encoder)
    with closing(_Store(cache)) as store:
        found: dict[int, Vectors] = {}
        plan_embedding(
            texts,
            encoder,
            store.cache,
            lambda places, vectors: found.update(zip(places, vectors, strict=True)),
        )
    kept = sorted(found)
    vectors = np.array([found[at] for at in kept], np.float32).reshape(-1, encoder.dimensions)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Embedded([pages[at] for at in kept], vectors)


class _Store:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._engine = open_database(STORE, folder)
        self.cache = EmbeddingCache(self._engine, "float16")

    def close(self) -> None:
        self._engine.dispose()


def _known(corpora: Sequence[Path], encoder: LocalEncoder) -> tuple[list[Page], list[Text]]:
    """Return pages in the encoder's languages, sorted by a digest: any part is a fair sample."""
    pages = [page for folder in corpora for page in read_pages(folder)]
    pages.sort(key=lambda page: hashlib.sha256(page.url.encode()).digest())
    texts, _ = encodable([page_text(page) for page in pages], [page.lang for page in pages], encoder)
    both = [(page, text) for page, text in zip(pages, texts, strict=True) if text.whole]
    return [page for page, _ in both], [text for _, text in both]


def main() -> None:
    """Embed the missing pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    encoder = LocalEncoder()
    _, texts = _known(options.corpus, encoder)
    reporter = Reporter(open_console(stderr=True))
    with closing(_Store(options.cache)) as store, closing(reporter):
        embed(texts, encoder, store.cache, reporter)


if __name__ == "__main__":
    main()
