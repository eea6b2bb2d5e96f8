"""A project -> its pages, and how similar they are by what a person wants them compared by."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from internal_linker.analysis.similarity.brands import found_brands, without_brands
from internal_linker.analysis.similarity.fields import FIELDS, Senses, likeness
from internal_linker.analysis.similarity.similarity import Similarity
from internal_linker.core.arrays import Bools, Ints, is_in
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Progress
from internal_linker.core.records import Page
from internal_linker.ingest.collect import gather
from internal_linker.matching.candidates import language_codes
from internal_linker.pipeline.context import Parts
from internal_linker.usecases.project import Project
from internal_linker.usecases.providers import content_words
from internal_linker.usecases.settings.sources import provider

# Where neither --encoder nor the settings name a model, contents are compared by their words alone: on 18f-blog they
# find the editors' links far better than the packaged model does (NDCG@5 0.38 to 0.26), in a thirtieth of the time.
_WITHOUT_A_MODEL = {"content": None}


@dataclass(frozen=True, slots=True)
class Comparison:
    """How pages are to be compared.

    Attributes:
        by: fields with their weights, as in "content", "title,content" or "title=1,h1=1,content=3".
        encoder: a name as embedding_provider has it; "": that of the settings.
        words: how much the words count beside the encoder, 0 to 1; None: fully, and alone for contents where no
            model was asked for.
        brands: what stands at the end of titles, outermost first; empty: it is found.
        keep_brands: whether titles are left as they are.
        limit: only so many pages, the first ones; 0: all.
        matryoshka: how many numbers of a vector count, from its beginning; 0: as the settings have it.
    """

    by: str = "content"
    encoder: str = ""
    words: float | None = None
    brands: Sequence[str] = ()
    keep_brands: bool = False
    limit: int = 0
    matryoshka: int = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """Pages that were compared.

    Attributes:
        pages: n of them.
        titles: theirs, without brand.
        similarity: of the pages.
        languages: (n,) codes, -1 where unknown.
        brands: what was taken from the titles.
        links: keys of the links between the pages, source * n + target, ascending.
        left_out: how many pages are none that a link may lead to, by the reason.
        gaps: what could not be had, in sentences.
    """

    pages: Sequence[Page]
    titles: Sequence[str]
    similarity: Similarity
    languages: Ints
    brands: Sequence[str]
    links: Ints
    left_out: Counter[str]
    gaps: Sequence[str]

    def linked(self, sources: Ints, targets: Ints) -> Bools:
        """(p,) whether each of these rows links to the other one today."""
        return is_in(sources.astype(np.int64) * len(self.pages) + targets, self.links)


def compare(project: Project, wish: Comparison, progress: Progress) -> Compared:
    """Read the project's pages and links, and compare the pages; vectors come from the cache or go into it.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are not two pages, or a file can't be read.
    """
    fields = fields_of(wish.by)
    lifts = _lifts(project, wish, fields)
    needless = all(lifts[name] is None for name in fields)
    project = _with_encoder(project, "lsa" if needless else wish.encoder, wish.matryoshka)
    with project.parts(progress, serp=False, deliver=False) as parts:
        progress.start("Input", 0, "pages")
        collected = gather(
            None, parts.pages, parts.links, None, queries_in_sheet=False, progress=progress, keep=parts.keep
        )
        left_out = Counter(str(page.issue) for page in collected.pages if page.issue)
        pages = [page for page in collected.pages if not page.issue]
        pages = pages[: wish.limit or None]
        progress.finish(f"{len(pages)} pages, {left_out.total()} left out, {collected.inner_links} links")
        if len(pages) < 2:
            raise InputError(
                f"files/urls_rawdata.csv: {len(pages)} pages that can be compared; it takes two."
            )
        titles, brands = _titles(pages, wish)
        senses = _senses(parts, project, lifts, progress)
        similarity, gaps = likeness(pages, titles, fields, senses, progress)
    rows = {page.key: row for row, page in enumerate(pages)}
    links = {
        rows[link.source] * len(pages) + rows[link.target]
        for link in collected.links
        if link.source in rows and link.target in rows
    }
    return Compared(
        pages,
        titles,
        similarity,
        language_codes([page.lang for page in pages]),
        brands,
        np.array(sorted(links), np.int64),
        left_out,
        gaps,
    )


def fields_of(by: str) -> dict[str, float]:
    """Each field of "title,content" or "title=1,content=3" with its weight.

    Raises:
        ConfigurationError: there is no such field, or a weight is no number above 0.
    """
    fields = {}
    for one in by.split(","):
        name, equals, weight = (part.strip().lower() for part in one.partition("="))
        if name not in FIELDS or name in fields:
            twice = "it is there twice" if name in fields else f"there is no field '{name}'"
            raise ConfigurationError(
                f"--by {by}: {twice}. Take {', '.join(FIELDS)}, as in title=1,content=3."
            )
        if equals and not (re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", weight) and float(weight) > 0):
            raise ConfigurationError(f"--by {by}: '{weight}' is no number above 0, as in {name}=2.")
        fields[name] = float(weight) if equals else FIELDS[name]
    return fields


def _lifts(project: Project, wish: Comparison, fields: Mapping[str, float]) -> dict[str, float | None]:
    """By the field, how much the words count beside the meaning; None: they alone count."""
    if wish.words is not None:
        return dict.fromkeys(fields, wish.words)
    asked = wish.encoder or project.settings.embedding_provider != "auto" or project.uses_openai
    return dict.fromkeys(fields, 1.0) | ({} if asked else _WITHOUT_A_MODEL)


def _with_encoder(project: Project, name: str, matryoshka: int) -> Project:
    changes: dict[str, object] = {"matryoshka_dimensions": matryoshka} if matryoshka else {}
    if name:
        try:
            changes["embedding_provider"] = provider(name)
        except ValueError as error:
            end = "" if str(error).endswith("?") else "."
            raise ConfigurationError(f"--encoder {name}: {error}{end}") from None
    return replace(project, settings=project.settings.model_copy(update=changes))


def _senses(parts: Parts, project: Project, lifts: Mapping[str, float | None], progress: Progress) -> Senses:
    by_words = parts.encoder.corpus_bound and parts.encoder.pages is None
    encoder = None if by_words else parts.encoder
    if encoder is None and project.settings.embedding_provider != "lsa":
        progress.warn("The packaged model can't be loaded: pages are compared by their words alone.")
    return Senses(encoder, parts.vector_cache, content_words(), lifts)


def _titles(pages: Sequence[Page], wish: Comparison) -> tuple[list[str], list[str]]:
    """The pages' titles without the brand, and what was taken for it; each language has its own."""
    if wish.keep_brands:
        return [page.title for page in pages], []
    brands = {lang: list(wish.brands) for lang in {page.lang for page in pages}}
    if not wish.brands:
        brands = {lang: found_brands([page.title for page in pages if page.lang == lang]) for lang in brands}
    titles = [without_brands(page.title, brands[page.lang]) for page in pages]
    return titles, list(dict.fromkeys(brand for each in brands.values() for brand in each))
