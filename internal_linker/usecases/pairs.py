"""Find pairs of similar pages, and write them to files/."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from internal_linker.analysis.similarity.outputs import require_matrix, rows_of, write_matrix, write_tables
from internal_linker.analysis.similarity.pairs import (
    SimilarPages,
    histogram_sheet,
    orphaned_sheet,
    page_sheet,
    pairs_sheet,
    similar_pairs,
)
from internal_linker.analysis.similarity.similarity import Similarity
from internal_linker.core.arrays import Vectors
from internal_linker.core.ports import Progress
from internal_linker.core.sections import sections_of
from internal_linker.core.sequences import counted
from internal_linker.usecases.compare import compare
from internal_linker.usecases.import_crawl import compared_site
from internal_linker.usecases.options.similarity import PairsOptions
from internal_linker.usecases.project import Project


def pairs(project: Project, options: PairsOptions, progress: Progress, *, write: bool = True) -> SimilarPages:
    """Compare all pages with each other.

    Args:
        project: whose pages.
        options: how pages are compared, and which pairs are listed.
        progress: shows the steps.
        write: write pairs.csv, orphaned_content.csv, pairs.xlsx and the matrix, if one is wanted, to files/;
            otherwise only the cache changes.

    Raises:
        ConfigurationError: an option is wrong, or the matrix is too large for its format or needs a package.
        InputError: there are fewer than two pages, or more pairs than anybody can read.
        OutputError: a file can't be written; it stays as it was.
    """
    if options.full_matrix:
        require_matrix(options.full_matrix)
    with project.lock(), compared_site(project, options.files, progress) as site:
        result = _found(site, options, progress)
        return replace(result, files=_written(project, options, result, progress)) if write else result


def _found(project: Project, options: PairsOptions, progress: Progress) -> SimilarPages:
    compared = compare(project, options, progress)
    progress.start("Pairs", len(compared.pages), "pages")
    found = similar_pairs(
        compared.similarity,
        compared.languages,
        options.min_similarity,
        options.max_per_page,
        progress.advance,
        gives=compared.gives,
        takes=compared.takes,
        sections=np.unique(sections_of([page.key for page in compared.pages]), return_inverse=True)[1],
    )
    progress.finish(
        f"{len(found.first)} of {counted(found.found, 'pair')}, {counted(len(found.alone), 'page')} without a match"
    )
    return SimilarPages(
        compared,
        found,
        links=compared.linked(found.first, found.second),
        linked=compared.linked(found.second, found.first),
    )


def _written(
    project: Project, options: PairsOptions, result: SimilarPages, progress: Progress
) -> tuple[str, ...]:
    """Write all files; return their names."""
    files, pages = project.root / "files", result.compared.pages
    if options.full_matrix:
        require_matrix(options.full_matrix, len(pages))
    tables = {"pairs.csv": pairs_sheet(result), "orphaned_content.csv": orphaned_sheet(result)}
    tables["similarity_histogram.csv"] = histogram_sheet(result)
    sheets = [tables["pairs.csv"], page_sheet(result, options.max_per_page)]
    sheets += [tables["orphaned_content.csv"], tables["similarity_histogram.csv"]]
    matrix_rows = len(pages) if options.full_matrix else 0
    progress.start("Writing", rows_of([*tables.values(), *sheets]) + matrix_rows, "rows")
    remarks = write_tables(files, tables, "pairs.xlsx", sheets, progress.advance)
    names = [*tables, "pairs.xlsx"]
    if options.full_matrix:
        tiles = _tiles(result.compared.similarity, progress)
        name, more = write_matrix(files, options.full_matrix, [page.url for page in pages], tiles)
        names, remarks = [*names, name], [*remarks, *more]
    progress.finish(", ".join(names))
    for remark in remarks:
        progress.warn(remark)
    return tuple(names)


def _tiles(similarity: Similarity, progress: Progress) -> Iterator[Vectors]:
    for _, _, scores in similarity.tiles():
        yield scores
        progress.advance(len(scores))
