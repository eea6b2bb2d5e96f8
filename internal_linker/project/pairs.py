"""Find similar pages: as files, and kept so that a cut-off can be moved over them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from internal_linker.insight.similarity.cut_off import LOWEST, MOST_MATCHES, STEPS, SimilarityView
from internal_linker.insight.similarity.pairs import BARS, SimilarPages, SimilarPairs, similar_pairs
from internal_linker.insight.similarity.similarity import ComparedPages, Similarity
from internal_linker.model.arrays import Vectors
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker
from internal_linker.model.sections import sections_of
from internal_linker.model.sequences import counted
from internal_linker.project.capabilities import capability
from internal_linker.project.compare import compare
from internal_linker.project.import_crawl import compared_site
from internal_linker.project.options.similarity import CompareOptions, PairsOptions
from internal_linker.project.project import Project
from internal_linker.sources.tables.matrix import require_matrix, write_matrix
from internal_linker.sources.tables.xlsx_writer import write_tables, write_xlsx
from internal_linker.store.files.index_folder import read_arrays, write_arrays


@capability(tables=("links",))
def pairs(project: Project, options: PairsOptions, progress: Progress, *, write: bool = True) -> SimilarPages:
    """Find pairs of similar pages, as the command `pairs` does.

    Args:
        write: write pairs.csv, orphaned_content.csv, pairs.xlsx and the matrix, if one is wanted, to files/;
            otherwise only the cache changes.

    Returns:
        `.pairs` and `.orphaned`, the DataFrames `.frames["pairs"]` and `.frames["orphaned_content"]`, and in
        `.compared.similarity.tiles()` all similarities.

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
    found = _similar(compared, options.min_similarity, options.max_per_page, progress)
    progress.finish(
        f"{len(found.first)} of {counted(found.found, 'pair')}, {counted(len(found.alone), 'page')} without a match"
    )
    return SimilarPages(
        compared,
        found,
        links=compared.linked(found.first, found.second),
        linked=compared.linked(found.second, found.first),
    )


def _similar(
    compared: ComparedPages, at_least: float, most: int, progress: Progress, *, bars: int = BARS
) -> SimilarPairs:
    progress.start("Pairs", len(compared.pages), "pages")
    return similar_pairs(
        compared.similarity,
        compared.languages,
        at_least,
        most,
        progress.advance,
        gives=compared.gives,
        takes=compared.takes,
        sections=np.unique(sections_of([page.key for page in compared.pages]), return_inverse=True)[1],
        bars=bars,
    )


def _written(
    project: Project, options: PairsOptions, result: SimilarPages, progress: Progress
) -> tuple[str, ...]:
    files, pages = project.root / "files", result.compared.pages
    if options.full_matrix:
        require_matrix(options.full_matrix, len(pages))
    pairs, alone, histogram = result.pairs_table, result.orphaned_table, result.histogram_table
    tables = {"pairs.csv": pairs, "orphaned_content.csv": alone, "similarity_histogram.csv": histogram}
    sheets = [pairs, result.page_table(options.max_per_page), alone, histogram]
    matrix_rows = len(pages) if options.full_matrix else 0
    progress.start("Writing", sum(map(len, [*tables.values(), *sheets])) + matrix_rows, "rows")
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


_ARRAYS = ("first", "second", "scores", "links", "linked", "histogram")
_FACTS = ("made", "by", "encoder", "urls", "titles", "left_out")


def similar_file(project: Project) -> Path:
    """Return where the result is kept."""
    return project.file("similar_pages.npz")


def find_similar(
    project: Project, options: CompareOptions, progress: Progress, should_stop: Stop = lambda: False
) -> SimilarityView:
    """Compare all pages, and keep the result in files/similar_pages.npz; vectors come from the cache or go into it.

    Args:
        options: how pages are compared; `files` must be empty.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are fewer than two pages.
        Interrupted: the work was stopped.
        RunActive: a run holds the project.
    """
    progress = Tracker(
        progress, should_stop=should_stop, cancelled="The comparison was cancelled; the earlier result stays."
    )
    with project.lock():
        compared = compare(project, options, progress)
        found = _similar(compared, LOWEST, MOST_MATCHES, progress, bars=STEPS)
        progress.finish(counted(found.found, "pair"))
        view = SimilarityView(
            made=datetime.now().astimezone().isoformat(timespec="seconds"),
            by=[field.name for field in compared.similarity.fields],
            encoder=options.encoder,
            urls=[page.url for page in compared.pages],
            titles=list(compared.titles),
            first=found.first,
            second=found.second,
            scores=found.scores,
            links=compared.linked(found.first, found.second),
            linked=compared.linked(found.second, found.first),
            histogram=found.histogram,
            left_out=dict(compared.left_out),
        )
        facts = {name: getattr(view, name) for name in _FACTS}
        write_arrays(similar_file(project), facts, {name: getattr(view, name) for name in _ARRAYS})
    return view


def similar_pages(project: Project) -> SimilarityView | None:
    """Return the result of the last `find_similar`; None without one."""
    stored = read_arrays(similar_file(project))
    if stored is None:
        return None
    facts, arrays = stored
    values: dict[str, Any] = {**facts, **arrays}
    if not all(name in values for name in (*_ARRAYS, *_FACTS)):
        return None
    return SimilarityView(**{name: values[name] for name in (*_FACTS, *_ARRAYS)})


def write_similar(view: SimilarityView, path: Path, cut_off: float, *, unlinked: bool = False) -> list[str]:
    """Write the pairs and the off-topic pages of a cut-off as a workbook; return what was unusual.

    Raises:
        ConfigurationError: the cut-off is out of range.
        OutputError: the file can't be written.
    """
    return write_xlsx(path, view.result_tables(cut_off, unlinked=unlinked))
