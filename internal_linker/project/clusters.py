"""Group a project's pages into clusters: as files, and kept so that they can be shown and renamed."""

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from internal_linker.insight.html.document import ReportFile
from internal_linker.insight.similarity.cluster_records import (
    ChosenName,
    MissingLinks,
    PageMap,
    SiteClusters,
    cluster_tables,
    is_same,
    rename_clusters,
    urls_of,
)
from internal_linker.insight.similarity.clusters import (
    Clustering,
    communities,
    count_bounds,
    describe_clusters,
    k_means,
)
from internal_linker.insight.similarity.report.html import chart_data, write_report
from internal_linker.insight.similarity.similarity import ComparedPages
from internal_linker.model.arrays import Ints
from internal_linker.model.errors import ConfigurationError, InputError
from internal_linker.model.ports import Progress
from internal_linker.model.progress import Stop, Tracker
from internal_linker.model.results import Columns, Result
from internal_linker.model.urls import NormalForms
from internal_linker.project.capabilities import capability
from internal_linker.project.compare import compare
from internal_linker.project.import_crawl import compared_site
from internal_linker.project.options.similarity import ClustersOptions
from internal_linker.project.project import Project
from internal_linker.sources.tables.xlsx_writer import write_tables, write_xlsx
from internal_linker.store.files.atomic import replace_whole, require_in_place
from internal_linker.store.files.index_folder import read_arrays, write_arrays
from internal_linker.store.files.plain_text import shortened


@capability(tables=("links",))
def clusters(
    project: Project, options: ClustersOptions, progress: Progress, *, write: bool = True
) -> Clustering:
    """Group similar pages into named clusters, as the command `clusters` does.

    Args:
        write: write clusters.csv, cluster_links.csv, clusters.xlsx and clusters.html to files/; otherwise only
            the cache changes.

    Returns:
        `.clusters`, `.pages` and `.missing_links`, each a DataFrame in `.frames`, too.

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
        loading.submit(import_module, "internal_linker.insight.similarity.kmeans")
        compared = compare(project, options, progress)
    from internal_linker.insight.similarity.kmeans import Tried, points_of

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
    found = describe_clusters(
        compared,
        points,
        labels,
        progress,
        site=project.site,
        method=options.method,
        copies=_copies(project, compared),
    )
    return Clustering(compared, tried, rename_clusters(found, chosen_names(project)), points)


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
    files, found = project.root / "files", result.found
    sheets = cluster_tables(found)
    tables = dict(zip(("clusters.csv", "cluster_links.csv"), sheets[1:], strict=True))
    page_map = _page_map(result, progress)
    progress.start("Writing", sum(map(len, [*tables.values(), *sheets])), "rows")
    remarks = write_tables(files, tables, "clusters.xlsx", sheets, progress.advance)
    names = [*tables, "clusters.xlsx", "clusters.html"]
    remarks += write_report(ReportFile(files / "clusters.html"), found, page_map)
    progress.finish(", ".join(names))
    for remark in remarks:
        progress.warn(remark)
    return tuple(names)


def _page_map(result: Clustering, progress: Progress) -> PageMap:
    from internal_linker.insight.similarity.page_map import places, select_shown_pages

    rows = select_shown_pages(result.found.labels, result.found.hubs)
    progress.start("Map", 0, "pages")
    page_map = PageMap(rows, places(result.points[rows]))
    progress.finish(f"{len(rows)} pages")
    return page_map


def _check_method(options: ClustersOptions) -> None:
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


# Characters of a name: more fit in no chart.
_LONGEST_NAME = 80
# Two changes at once would lose one of them, or write a file in two halves.
_CHANGING = threading.Lock()


@dataclass(frozen=True, repr=False)
class ClusterView(Result):
    """The clusters of a site with a map."""

    made: str  # when the pages were grouped, as ISO 8601
    found: SiteClusters  # the clusters, with the names that people chose
    page_map: PageMap  # the pages on a map

    def tables(self) -> dict[str, Columns]:
        """Return `clusters`, the largest first; `pages`, in the input's order; `missing_links`, cluster by cluster."""
        return self.found.columns()

    def charts(self) -> Mapping[str, Any]:
        """Return what a map and a tree show: `clusters`, `dots` and `branches`, as plain lists, numbers and texts."""
        return chart_data(self.found, self.page_map)


def clusters_file(project: Project) -> Path:
    """Return where the result is kept."""
    return project.file("clusters.npz")


def group_pages(
    project: Project, options: ClustersOptions, progress: Progress, should_stop: Stop = lambda: False
) -> ClusterView:
    """Group all pages, and keep the result in files/clusters.npz; vectors come from the cache or go into it.

    Raises:
        ConfigurationError: an option is wrong.
        InputError: there are fewer than two pages, or nothing to compare them by.
        Interrupted: the work was stopped.
        RunActive: a run holds the project.
    """
    progress = Tracker(
        progress, should_stop=should_stop, cancelled="Grouping was cancelled; the earlier result stays."
    )
    grouped = clusters(project, options, progress, write=False)
    page_map = _page_map(grouped, progress)
    made = datetime.now().astimezone().isoformat(timespec="seconds")
    with _CHANGING:
        # Clusters may have been renamed in the meantime.
        view = ClusterView(made, rename_clusters(grouped.found, chosen_names(project)), page_map)
        _store(project, view)
    return view


def grouped_pages(project: Project) -> ClusterView | None:
    """Return the result of the last `group_pages`, with the names chosen since; None without one."""
    from pandas import DataFrame

    stored = read_arrays(clusters_file(project))
    if stored is None:
        return None
    facts, arrays = stored
    try:
        values: dict[str, Any] = {name: facts[name] for name in ("site", "by", "urls", "titles")}
        values |= {name: arrays[name] for name in ("labels", "distances", "hubs", "similarities")}
        ends = arrays["sources"], arrays["targets"], arrays["reasons"]
        found = SiteClusters(
            **values,
            clusters=DataFrame(facts["clusters"]).assign(computed=facts["computed"]),
            missing=MissingLinks(*ends, facts["missing_left_out"]),
        )
        return ClusterView(facts["made"], found, PageMap(arrays["map_rows"], arrays["places"]))
    except (KeyError, TypeError, ValueError):  # a file of another version
        return None


def rename_cluster(project: Project, number: int, name: str) -> ClusterView:
    """Give a cluster another name, which it keeps when the site is grouped again, here and by the command clusters.

    Args:
        number: the cluster's number, from 1.
        name: its name; "": the computed one.

    Raises:
        ConfigurationError: the name is too long, or another cluster has it.
        InputError: there is no such cluster.
        OutputError: the name can't be stored.
    """
    with _CHANGING:
        return _renamed(project, number, name)


def write_clusters(view: ClusterView, path: Path) -> list[str]:
    """Write clusters, pages and missing links as a workbook; return what was unusual.

    Raises:
        OutputError: the file can't be written.
    """
    return write_xlsx(path, cluster_tables(view.found))


def _renamed(project: Project, number: int, name: str) -> ClusterView:
    view = grouped_pages(project)
    if view is None or not 1 <= number <= len(view.found.clusters):
        raise InputError(f"There is no cluster {number}. Group the pages again.")
    given = shortened(name, 10 * _LONGEST_NAME)
    if len(given) > _LONGEST_NAME:
        raise ConfigurationError(f"A cluster's name can have {_LONGEST_NAME} characters, not {len(given)}.")
    computed = view.found.clusters["computed"][number - 1]
    given = given or computed
    others = view.found.clusters["name"].drop(number - 1).str.casefold()
    if given.casefold() in {*others}:
        raise ConfigurationError(f"Another cluster is named {given} already. Choose another name.")
    urls = urls_of(view.found, number - 1)
    kept = [each for each in chosen_names(project) if not is_same(each.urls, urls)]
    if given != computed:
        kept.append(ChosenName(given, urls))
    _store_names(project, kept)
    view = replace(view, found=rename_clusters(view.found, kept))
    _store(project, view)
    return view


def _store_names(project: Project, names: Sequence[ChosenName]) -> None:
    def write(file: TextIO) -> None:
        json.dump([{"name": each.name, "urls": sorted(each.urls)} for each in names], file, indent=1)

    path = names_file(project)
    require_in_place(path, replace_whole(path, write))


def _store(project: Project, view: ClusterView) -> None:
    found = view.found
    facts = {
        "made": view.made,
        "computed": [*found.clusters["computed"]],
        "site": found.site,
        "by": found.by,
        "urls": list(found.urls),
        "titles": list(found.titles),
        "clusters": found.clusters.drop(columns="computed").to_dict("records"),
        "missing_left_out": found.missing.left_out,
    }
    arrays = {
        "labels": found.labels,
        "distances": found.distances,
        "hubs": found.hubs,
        "similarities": found.similarities,
        "sources": found.missing.sources,
        "targets": found.missing.targets,
        "reasons": found.missing.reasons,
        "map_rows": view.page_map.rows,
        "places": view.page_map.places,
    }
    write_arrays(clusters_file(project), facts, arrays)
