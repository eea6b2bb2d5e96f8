"""Export the pages' vectors from the cache to files/."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from internal_linker.insight.similarity.similarity import field_texts
from internal_linker.match.embed import BLOCK, all_texts, plan_embedding
from internal_linker.model.arrays import Bools, Vectors
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Progress
from internal_linker.model.records import Page, Text
from internal_linker.model.results import Columns, Result
from internal_linker.project.capabilities import capability
from internal_linker.project.compare import COLUMNS, titles_of
from internal_linker.project.options.similarity import CompareOptions, ExportVectorsOptions
from internal_linker.project.pipeline.context import RunContext
from internal_linker.project.project import Project
from internal_linker.sources.collect import collect, gather
from internal_linker.sources.tables.lists_csv import PAGE_VECTORS, ListCsv

FILES = {"content": "vectorized_urls.csv", "title": "vectorized_titles.csv", "h1": "vectorized_h1.csv"}
"""The files in files/, by what was embedded."""


@dataclass(frozen=True, repr=False)
class ExportResult(Result):
    """The pages whose vectors were exported, and those that have none."""

    urls: list[str]  # the n pages, in the input's order
    exported: Bools  # (n,) for each page, whether its vector is in the file
    file: str = "vectorized_urls.csv"  # the file's name
    remarks: tuple[str, ...] = ()  # what was unusual about the writing, one sentence each

    @property
    def found(self) -> int:
        """How many vectors were exported."""
        return int(self.exported.sum())

    @property
    def missing(self) -> int:
        """How many pages have no vector."""
        return len(self.urls) - self.found

    def tables(self) -> dict[str, Columns]:
        """Return `pages`: each page, and whether its vector is in the file."""
        return {"pages": {"page": self.urls, "exported": self.exported}}


@capability()
def export_vectors(
    project: Project, progress: Progress, options: ExportVectorsOptions | None = None
) -> ExportResult:
    """Write every page's vector to files/vectorized_urls.csv, as the command `export-vectors` does.

    Nothing is embedded or spent.

    Returns:
        `.found` and `.missing`, and which pages have a vector as a DataFrame: `.to_frame()`.

    Raises:
        ConfigurationError: the encoder's vectors are never kept.
        InputError: there are no pages.
        OutputError: the file can't be written; it stays as it was.
    """
    by = (options or ExportVectorsOptions()).by
    with project.context(progress, serp=False, deliver=False, read_only=True) as context:
        progress.start("Export", 0, "")
        _require_vectors(context)
        return _exported(project, context, by, progress)


def _require_vectors(context: RunContext) -> None:
    if context.encoder.pages is not None:
        raise ConfigurationError(f"The vectors come from {context.encoder.name}: there is nothing to export.")
    if context.encoder.corpus_bound:
        raise ConfigurationError(
            "Word statistics (LSA) produce vectors that are valid for one run only and are not stored. "
            'Set embedding_provider = "local" or "openai" in config/settings.toml and run again.'
        )


def _exported(project: Project, context: RunContext, by: str, progress: Progress) -> ExportResult:
    if context.pages is None:
        raise InputError("files/urls_rawdata.csv not found: put your pages there (URL, Title, Main Content).")
    pages, texts = _texts(context, by, progress)
    plan = plan_embedding(texts, context.encoder, context.vector_cache)
    kept = [row for row, key in enumerate(plan.hashes) if key and key not in plan.missing]

    def rows() -> Iterator[tuple[str, Vectors]]:
        for first in range(0, len(kept), BLOCK):
            block = kept[first : first + BLOCK]
            found = context.vector_cache.get(context.encoder, [plan.hashes[row] for row in block])
            yield from ((pages[row].url, found[plan.hashes[row]]) for row in block)

    remarks = ListCsv(project.file(FILES[by]), PAGE_VECTORS).write(rows())
    exported = np.zeros(len(pages), bool)
    exported[kept] = True
    return ExportResult([page.url for page in pages], exported, FILES[by], tuple(remarks))


def _texts(context: RunContext, by: str, progress: Progress) -> tuple[Sequence[Page], Sequence[Text]]:
    """Return the pages and the texts whose vectors are exported: as a run embeds them, or as `pairs` does."""
    if by == "content":
        assert context.pages is not None
        pages = collect(
            None, context.pages.stream(), queries_in_sheet=False, keep=context.keep, hosts=context.hosts
        ).pages
        return pages, all_texts(pages, {}, ())
    collected = gather(
        None,
        context.pages,
        None,
        queries_in_sheet=False,
        progress=progress,
        keep=context.keep,
        needed=[COLUMNS[by]],
        hosts=context.hosts,
    )
    linkable = [page for page in collected.pages if not page.issue]
    titles, _ = titles_of(linkable, CompareOptions())
    return linkable, field_texts(by, linkable, titles)
