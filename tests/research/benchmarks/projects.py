"""Project folders for benchmarks, from synthetic pages or a corpus, and their changes between two runs."""

import csv
import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from internal_linker.match.embed import text_hash
from internal_linker.match.encoders.minilm import FastEncoder
from internal_linker.model.arrays import Vectors
from internal_linker.model.records import Text
from internal_linker.project.settings.settings import Settings
from internal_linker.store.embeddings import EmbeddingCache
from internal_linker.store.engine import open_database
from tests.research.benchmarks.vectors import read_pages
from tests.support.synthetic_pages import Row, topics_of, url_of

ROOT = Path(__file__).resolve().parents[3]
PAGES_A_PUT = 2000
# Pages of a topic have a cosine of about 0.5 with each other, as real ones do.
NOISE = 1.0


def fill_sample(project: Path) -> list[str]:
    """Write the sample site's input and return its URLs."""
    _folders(project)
    for name in ("urls_rawdata.csv", "main_queries.csv"):
        shutil.copy(ROOT / "files" / name, project / "files" / name)
    shutil.copy(ROOT / "config" / "excluded_urls.txt", project / "config")
    with (project / "files" / "urls_rawdata.csv").open(encoding="utf-8-sig", newline="") as file:
        urls = [row["URL"] for row in csv.DictReader(file)]
    return _settle(project, urls)


def fill(project: Path, pages: Sequence[Row], links: Iterable[Sequence[str]] = ()) -> list[str]:
    """Write the input of those pages, each with its title as its query, and of those links; return the URLs."""
    _folders(project)
    _write(project / "files" / "urls_rawdata.csv", ("URL", "Title", "Main Content", "Lang"), pages)
    queries = ((url, title.lower()) for url, title, *_ in pages)
    _write(project / "files" / "main_queries.csv", ("URL", "Main Query"), queries)
    there = [*links]
    if there:
        _write(project / "files" / "existing_links.csv", ("Source", "Destination", "Anchor"), there)
    return _settle(project, [url for url, *_ in pages])


def corpus(folder: Path) -> list[Row]:
    """Return the pages of a folder with pages.csv."""
    return [(page.url, page.title, str(page.content), page.lang) for page in read_pages(folder)]


def synthetic_links(count: int, each: int) -> Iterator[tuple[str, str, str]]:
    """Return this many links from each page to others of its topic, to a few of them much more often."""
    dice = random.Random(11)
    for number in range(count):
        others = range(number % topics_of(count), count, topics_of(count))
        for _ in range(each):
            place = int(len(others) * dice.random() ** 2)
            yield url_of(number), url_of(others[place]), "more"


def changed(pages: Sequence[Row], share: float) -> list[Row]:
    """Return the same pages, with this share of them, spread evenly, given a text in another word order."""
    dice, every = random.Random(13), max(1, round(1 / share))
    return [
        (url, title, " ".join(dice.sample(text.split(), len(text.split()))), lang)
        if at % every == 0
        else page
        for at, page in enumerate(pages)
        for url, title, text, lang in [page]
    ]


def fill_cache(project: Path, pages: Sequence[Row]) -> None:
    """Put a vector for each page into the project's cache, as from the default encoder; similar within a topic."""
    encoder, dice = FastEncoder(), np.random.default_rng(3)
    centres = dice.standard_normal((topics_of(len(pages)), encoder.dimensions)).astype(np.float32)
    engine = open_database(Settings.model_fields["store_url"].default, project)
    cache = EmbeddingCache(engine, Settings.model_fields["embedding_storage"].default)
    for first in range(0, len(pages), PAGES_A_PUT):
        some = pages[first : first + PAGES_A_PUT]
        topics = np.arange(first, first + len(some)) % len(centres)
        vectors = _units(centres[topics] + NOISE * dice.standard_normal((len(some), encoder.dimensions)))
        hashes = (text_hash(Text(title, text)) for _, title, text, _ in some)
        cache.put(encoder, dict(zip(hashes, vectors, strict=True)))
    engine.dispose()


def clustered(count: int, dimensions: int, topics: int = 200) -> Vectors:
    """Return (count, dimensions) float32 unit rows around this many topics, in random order."""
    dice = np.random.default_rng(5)
    centres = dice.standard_normal((topics, dimensions), np.float32)
    rows = np.empty((count, dimensions), np.float32)
    for first in range(0, count, PAGES_A_PUT):
        part = rows[first : first + PAGES_A_PUT]
        noise = NOISE * dice.standard_normal(part.shape, np.float32)
        part[:] = _units(centres[dice.integers(topics, size=len(part))] + noise)
    return rows


def _units(rows: Vectors) -> Vectors:
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _settle(project: Path, urls: list[str]) -> list[str]:
    host = urlsplit(urls[0]).netloc
    (project / "config" / "settings.toml").write_text(
        f'search_query_template = "site:{host} {{main_query}}"\nmax_serp_credits = 1000000\n',
        encoding="utf-8",
    )
    return urls


def _folders(project: Path) -> None:
    (project / "files").mkdir(exist_ok=True)
    (project / "config").mkdir(exist_ok=True)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
