"""Export the pages' vectors from the cache to files/vectorized_urls.csv."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from internal_linker.core.arrays import Bools, Vectors
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Progress
from internal_linker.core.results import Columns, Result
from internal_linker.embeddings.embed import BLOCK, all_texts, plan_embedding
from internal_linker.ingest.collect import collect
from internal_linker.pipeline.context import RunContext
from internal_linker.usecases.project import Project


@dataclass(frozen=True, repr=False)
class ExportResult(Result):
    """The pages whose vectors were exported, and those that have none.

    Attributes:
        urls: the n pages, in the input's order.
        exported: (n,) for each page, whether its vector is in the file.
        remarks: what was unusual about the writing, one sentence each.
    """

    urls: list[str]
    exported: Bools
    remarks: tuple[str, ...] = ()

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


def export_vectors(project: Project, progress: Progress) -> ExportResult:
    """Write every page's vector to files/vectorized_urls.csv; nothing is embedded and nothing spent.

    Raises:
        ConfigurationError: the encoder's vectors are never kept.
        InputError: there are no pages.
        OutputError: the file can't be written; it stays as it was.
    """
    with project.context(progress, serp=False, deliver=False, read_only=True) as context:
        progress.start("Export", 0, "")
        _require_vectors(context)
        return _exported(project, context)


def _require_vectors(context: RunContext) -> None:
    if context.encoder.pages is not None:
        raise ConfigurationError(f"The vectors come from {context.encoder.name}: there is nothing to export.")
    if context.encoder.corpus_bound:
        raise ConfigurationError(
            "Word statistics (LSA) produce vectors that are valid for one run only and are not stored. "
            'Set embedding_provider = "local" or "openai" in config/settings.toml and run again.'
        )


def _exported(project: Project, context: RunContext) -> ExportResult:
    if context.pages is None:
        raise InputError("files/urls_rawdata.csv not found: put your pages there (URL, Title, Main Content).")
    pages = collect(
        None, context.pages.stream(), queries_in_sheet=False, keep=context.keep, hosts=context.hosts
    ).pages
    plan = plan_embedding(all_texts(pages, {}, ()), context.encoder, context.vector_cache)
    kept = [row for row, key in enumerate(plan.hashes) if key and key not in plan.missing]

    def rows() -> Iterator[tuple[str, Vectors]]:
        for first in range(0, len(kept), BLOCK):
            block = kept[first : first + BLOCK]
            found = context.vector_cache.get(context.encoder, [plan.hashes[row] for row in block])
            yield from ((pages[row].url, found[plan.hashes[row]]) for row in block)

    remarks = project.vectors_csv().write(rows())
    exported = np.zeros(len(pages), bool)
    exported[kept] = True
    return ExportResult([page.url for page in pages], exported, tuple(remarks))
