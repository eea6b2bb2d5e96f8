"""Compare all pages of a project by their titles, first headings or contents."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from internal_linker.insight.similarity.similarity import (
    FIELDS,
    ComparedPages,
    Encoders,
    field_similarity,
    field_texts,
)
from internal_linker.match.candidates import language_codes
from internal_linker.match.embed import encodable, plan_embedding
from internal_linker.model.arrays import Ints
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Encoder, Progress
from internal_linker.model.progress import Tracker
from internal_linker.model.reasons import NoTarget
from internal_linker.model.records import Page, Text
from internal_linker.model.sections import verify
from internal_linker.model.sequences import counted
from internal_linker.project.options.similarity import CompareOptions
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.project import Project
from internal_linker.project.providers import content_words
from internal_linker.project.sections import chosen_sections, named_sections, scope_of
from internal_linker.project.settings.sources import provider
from internal_linker.sources.collect import gather
from internal_linker.sources.tables.columns import Kind, filled
from internal_linker.text.brands import found_brands, without_brands
from internal_linker.text.language import page_languages

# Where neither --encoder nor the settings name a model, contents are compared by their words alone: on 18f-blog they
# find the editors' links far better than the packaged model does (NDCG@5 0.38 to 0.26), in a thirtieth of the time.
_WITHOUT_A_MODEL = {"content": None}
# An audit groups so many pages as `clusters` does; more would take longer than all its other steps.
MOST_GROUPED = 10_000
# Pages of a large site whose language is detected.
_SAMPLED = 500
# Why a page is not compared.
OUTSIDE = "outside the sections"
# The columns that the fields are in.
COLUMNS = {"title": Kind.TITLE, "h1": Kind.H1, "content": Kind.CONTENT}


def compare(project: Project, options: CompareOptions, progress: Progress) -> ComparedPages:
    """Read the project's pages and links, and compare the pages; vectors come from the cache or go into it.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are fewer than two pages, or a file can't be read.
    """
    fields = fields_of(options.by) if options.by else _own_fields(project, progress)
    lifts = _lifts(project, options, fields)
    needless = all(lifts[name] is None for name in fields)
    project = _with_encoder(project, "lsa" if needless else options.encoder, options.matryoshka)
    if options.matryoshka and project.settings.embedding_provider == "lsa":
        raise ConfigurationError(
            f"--matryoshka {options.matryoshka}: there are no vectors to cut, since the pages are compared by their "
            "words alone. Choose an encoder, as in --encoder local, or leave it out."
        )
    with project.context(progress, serp=False, deliver=False) as context:
        progress.start("Input", 0, "pages")
        collected = gather(
            None,
            context.pages,
            context.links,
            queries_in_sheet=False,
            progress=progress,
            keep=context.keep,
            needed=[COLUMNS[name] for name in fields],
            hosts=context.hosts,
        )
        roles = _roles(project, options, collected.pages, progress)
        left_out = Counter(role for role in roles if isinstance(role, str))
        able = [
            (page, role) for page, role in zip(collected.pages, roles, strict=True) if isinstance(role, Able)
        ]
        able = able[: options.limit or None]
        pages = [page for page, _ in able]
        progress.finish(
            f"{counted(len(pages), 'page')}, {left_out.total()} left out, {counted(collected.inner_links, 'link')}"
        )
        if len(pages) < 2:
            name = context.pages.name if context.pages else "files/urls_rawdata.csv"
            raise InputError(f"{name}: at least two pages are needed, and only {len(pages)} can be compared.")
        titles, brands = titles_of(pages, options)
        encoders = _encoders(context, project, lifts, progress)
        similarity, gaps = field_similarity(pages, titles, fields, encoders, progress)
    rows = {page.key: row for row, page in enumerate(pages)}
    links = {
        (rows[link.source] * len(pages) + rows[link.target], link.followed)
        for link in collected.links
        if link.source in rows and link.target in rows
    }
    return ComparedPages(
        pages,
        titles,
        similarity,
        language_codes([page.lang for page in pages]),
        np.array([role.gives for _, role in able], np.bool_),
        np.array([role.takes for _, role in able], np.bool_),
        brands,
        np.array(sorted({link for link, _ in links}), np.int64),
        np.array(sorted({link for link, followed in links if followed}), np.int64),
        left_out,
        gaps,
    )


class Able(NamedTuple):
    """What a page can be in a link: whether it gets links, and whether links may lead to it."""

    gives: bool
    takes: bool


def _roles(
    project: Project, options: CompareOptions, pages: Sequence[Page], progress: Progress
) -> list[Able | str]:
    """Return what each page can be in a link, or why it can be neither source nor target."""
    keys, scope = [page.key for page in pages], scope_of(project.settings)
    verify(named_sections(project.settings), keys, progress.warn)
    chosen = chosen_sections(options.sections, keys)
    found: list[Able | str] = []
    for page in pages:
        inside = chosen.hold(page.key)
        gives = inside and page.takes_links and scope.gives(page.key)
        takes = inside and page.issue is None and scope.targets.hold(page.key)
        other = page.issue if page.issue and page.issue.kind is not NoTarget.SOURCE_ONLY else OUTSIDE
        found.append(Able(gives, takes) if gives or takes else str(other))
    return found


def _own_fields(project: Project, progress: Progress) -> dict[str, float]:
    """Return the field to compare by if nobody names one: the content or, if no page has any, the title or the H1."""
    table = project.table("urls_rawdata.csv", [])
    if table is None or filled(table, Kind.CONTENT):
        return fields_of("content")
    name = "title" if filled(table, Kind.TITLE) or not filled(table, Kind.H1) else "h1"
    progress.warn(
        f"{table.name} has no content, so pages are compared by {name}. To choose another field, use --by."
    )
    return fields_of(name)


def fields_of(by: str) -> dict[str, float]:
    """Return each field of "title,content" or "title=1,content=3" with its weight.

    Raises:
        ConfigurationError: a field is unknown, or a weight is not a number above 0.
    """
    fields = {}
    for one in by.split(","):
        name, equals, weight = (part.strip().lower() for part in one.partition("="))
        if name not in FIELDS or name in fields:
            problem = f"'{name}' is given twice" if name in fields else f"unknown field '{name}'"
            raise ConfigurationError(
                f"--by {by}: {problem}. Choose from {', '.join(FIELDS)}, as in title=1,content=3."
            )
        if equals and not (re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", weight) and float(weight) > 0):
            raise ConfigurationError(f"--by {by}: '{weight}' is not a number above 0, as in {name}=2.")
        fields[name] = float(weight) if equals else FIELDS[name]
    return fields


def _lifts(project: Project, options: CompareOptions, fields: Mapping[str, float]) -> dict[str, float | None]:
    """Return how much words count beside the meaning, by field; None: only words count."""
    if options.words is not None:
        return dict.fromkeys(fields, options.words)
    asked = options.encoder or project.settings.embedding_provider != "auto" or project.clients.uses_openai
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


def _encoders(
    context: RunContext, project: Project, lifts: Mapping[str, float | None], progress: Progress
) -> Encoders:
    by_words = context.encoder.corpus_bound and context.encoder.pages is None
    encoder = None if by_words else context.encoder
    if encoder is None and project.settings.embedding_provider != "lsa":
        progress.warn("The packaged model can't be loaded: pages are compared by their words alone.")
    return Encoders(encoder, context.vector_cache, content_words(), lifts)


def titles_of(pages: Sequence[Page], options: CompareOptions) -> tuple[list[str], list[str]]:
    """Return the pages' titles without brands, and the brands; each language has its own."""
    if options.keep_brands:
        return [page.title for page in pages], []
    brands = {lang: list(options.brands) for lang in {page.lang for page in pages}}
    if not options.brands:
        brands = {lang: found_brands([page.title for page in pages if page.lang == lang]) for lang in brands}
    titles = [without_brands(page.title, brands[page.lang]) for page in pages]
    return titles, list(dict.fromkeys(brand for each in brands.values() for brand in each))


def languages_of(pages: Sequence[Page]) -> list[str]:
    """Return the pages' language codes; of a large site, a page without a code gets the language of most pages."""
    given = [page.lang for page in pages]
    if len(pages) <= MOST_GROUPED or all(given):
        return page_languages([f"{page.title}\n{page.content}" for page in pages], given)
    some = [page for page in pages if not page.lang][:: max(1, len(pages) // _SAMPLED)]
    found = Counter(page_languages([f"{page.title}\n{page.content}" for page in some], [""] * len(some)))
    usual = found.most_common(1)[0][0]
    return [lang or usual for lang in given]


def clusters_of(
    pages: Sequence[Page], context: RunContext, project: Project, progress: Progress
) -> tuple[Ints, str] | None:
    """Group pages as `clusters` does by default, without spending or caching anything.

    A model counts only if all its vectors are in the cache or in a file; otherwise pages are grouped by their words.

    Returns:
        (n,) clusters from 0, the largest first, -1 for a page without words; and the field that the pages were compared
        by. None: there are too many pages to compare in passing.
    """
    from internal_linker.insight.similarity.kmeans import by_means, ordered, points_of

    if len(pages) > MOST_GROUPED:
        return None
    has = {
        "content": any(str(page.content).strip() for page in pages),
        "title": any(page.title.strip() for page in pages),
    }
    name = next((field for field, known in has.items() if known), "h1")
    titles, _ = titles_of(pages, CompareOptions())
    lift = _lifts(project, CompareOptions(), {name: 1.0})[name]
    encoder = context.encoder
    if lift is not None and not _is_free(encoder, pages, field_texts(name, pages, titles), context):
        lift = None
    encoders = Encoders(encoder, context.vector_cache, content_words(), {name: lift})
    similarity, _ = field_similarity(pages, titles, {name: 1.0}, encoders, Tracker(progress, notes_only=True))
    points = points_of(similarity)
    if not points.any():
        return np.full(len(pages), -1, np.int64), name
    labels, _ = by_means(points, language_codes([page.lang for page in pages]), None)
    return ordered(points, labels).labels, name


def _is_free(encoder: Encoder, pages: Sequence[Page], texts: Sequence[Text], context: RunContext) -> bool:
    """Return whether all vectors are in a file or in the cache."""
    if encoder.pages is not None:
        return True
    known, _ = encodable(texts, [page.lang for page in pages], encoder)
    return not encoder.corpus_bound and not plan_embedding(known, encoder, context.vector_cache).missing
