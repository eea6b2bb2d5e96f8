"""Group similar pages into named clusters, and write them to files/."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from internal_linker.adapters.files.plain_text import shortened
from internal_linker.analysis.similarity.chosen_names import ChosenName, renamed
from internal_linker.analysis.similarity.cluster_records import PageMap
from internal_linker.analysis.similarity.cluster_tables import missing_sheet, page_sheet, summary_sheet
from internal_linker.analysis.similarity.clusters import (
    METHODS,
    Clustering,
    communities,
    count_bounds,
    described,
    k_means,
)
from internal_linker.analysis.similarity.outputs import rows_of, write_cluster_page, write_tables
from internal_linker.analysis.similarity.similarity import ComparedPages
from internal_linker.core.arrays import Ints
from internal_linker.core.errors import ConfigurationError, InputError
from internal_linker.core.ports import Progress
from internal_linker.core.urls import NormalForms
from internal_linker.usecases.compare import compare
from internal_linker.usecases.import_crawl import compared_site
from internal_linker.usecases.options.similarity import ClustersOptions
from internal_linker.usecases.project import Project


def clusters(
    project: Project, options: ClustersOptions, progress: Progress, *, write: bool = True
) -> Clustering:
    """Group similar pages.

    Args:
        project: whose pages.
        options: how pages are compared and grouped.
        progress: shows the steps.
        write: write clusters.csv, cluster_links.csv, clusters.xlsx and clusters.html to files/; otherwise only
            the cache changes.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are fewer than two pages, or nothing to compare them by.
        OutputError: a file can't be written; it stays as it was.
    """
    with project.lock(), compared_site(project, options.files, progress) as site:
        result = _found(site, options, progress)
        return replace(result, files=_written(project, result, progress)) if write else result


def _found(project: Project, options: ClustersOptions, progress: Progress) -> Clustering:
    bounds = count_bounds(str(options.k))
    _check_method(options)
    with ThreadPoolExecutor(1, thread_name_prefix="load") as loading:
        loading.submit(import_module, "internal_linker.analysis.similarity.kmeans")
        compared = compare(project, options, progress)
    from internal_linker.analysis.similarity.kmeans import Tried, points_of

    progress.start("Points", 0, "pages")
    points = points_of(compared.similarity)
    known = int(points.any(axis=1).sum())
    progress.finish(f"{known} pages in {points.shape[1]} dimensions")
    if not known:
        raise InputError(
            f"No page has any words to compare{options.by and f' (--by {options.by})'}. Choose other fields with --by."
        )
    tried: list[Tried] = []
    if options.method == "communities":
        labels = communities(compared, options.min_similarity, progress)
    else:
        labels, tried = k_means(compared, points, bounds, progress)
    found = described(
        compared,
        points,
        labels,
        progress,
        site=project.site,
        method=options.method,
        copies=_copies(project, compared),
    )
    computed = [each.name for each in found.clusters]
    return Clustering(compared, tried, renamed(found, chosen_names(project)), points, computed)


def names_file(project: Project) -> Path:
    """Return where the names are that people gave to clusters."""
    return project.file("cluster_names.json")


def chosen_names(project: Project) -> list[ChosenName]:
    """Return the names that people gave to clusters.

    Raises:
        InputError: their file can't be read.
    """
    path = names_file(project)
    if not path.exists():
        return []
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return [ChosenName(str(each["name"]), frozenset(map(str, each["urls"]))) for each in told]
    except (OSError, ValueError, TypeError, LookupError):
        raise InputError(
            "files/cluster_names.json can't be read, so clusters would lose the names that they were given. Restore "
            "it, or delete it to use computed names."
        ) from None


def _written(project: Project, result: Clustering, progress: Progress) -> tuple[str, ...]:
    """Write all files; return their names."""
    from internal_linker.analysis.similarity.page_map import drawn, places

    files, found = project.root / "files", result.found
    tables = {"clusters.csv": page_sheet(found), "cluster_links.csv": missing_sheet(found)}
    sheets = [summary_sheet(found), *tables.values()]
    rows = drawn(found.labels, found.hubs)
    progress.start("Map", 0, "pages")
    page_map = PageMap(rows, places(result.points[rows]))
    progress.finish(f"{len(rows)} pages")
    progress.start("Writing", rows_of([*tables.values(), *sheets]), "rows")
    remarks = write_tables(files, tables, "clusters.xlsx", sheets, progress.advance)
    page, more = write_cluster_page(files, found, page_map)
    names = [*tables, "clusters.xlsx", page]
    progress.finish(", ".join(names))
    for remark in [*remarks, *more]:
        progress.warn(remark)
    return tuple(names)


def _check_method(options: ClustersOptions) -> None:
    if options.method not in METHODS:
        raise ConfigurationError(f"--method {shortened(options.method)}: choose {' or '.join(METHODS)}.")
    if options.method == "communities" and options.k:
        raise ConfigurationError(
            f"--k {options.k}: the number of communities can't be set. Leave out --k, or use --method kmeans."
        )


def _copies(project: Project, compared: ComparedPages) -> Ints:
    """Return the keys, source * n + target, of links between near-duplicates of the last run."""
    forms = NormalForms(of=project.settings.hosts.identity)
    n, rows = len(compared.pages), {forms[page.url]: row for row, page in enumerate(compared.pages)}
    with project.graph() as (_, runs):
        kept = runs.duplicates() or ()
        found = [(rows.get(forms[one.page]), rows.get(forms[one.canonical])) for one in kept]
    pairs = [(one, other) for one, other in found if one is not None and other is not None]
    return np.array([key for one, other in pairs for key in (one * n + other, other * n + one)], np.int64)
