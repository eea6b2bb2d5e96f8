"""Comparing, grouping and auditing pages, and measuring relevance on a site's own links."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from internal_linker.api.opening import opened_project, opened_site, shown_reporter, writable
from internal_linker.usecases.option_records import takes
from internal_linker.usecases.options.evaluation import (
    AuditOptions,
    BacktestOptions,
    CalibrateOptions,
    EvaluateOptions,
)
from internal_linker.usecases.options.similarity import ClustersOptions, ExportVectorsOptions, PairsOptions

if TYPE_CHECKING:
    from pandas import DataFrame

    from internal_linker.analysis.similarity.clusters import Clustering
    from internal_linker.analysis.similarity.pairs import SimilarPages
    from internal_linker.usecases.audit import AuditResult, LinkPaths
    from internal_linker.usecases.calibrate import Calibration
    from internal_linker.usecases.evaluate import AnchorEvaluation, Backtest, Evaluation
    from internal_linker.usecases.export_vectors import ExportResult


@takes(PairsOptions)
def pairs(
    project: "str | Path | DataFrame" = ".",
    *,
    links: "DataFrame | None" = None,
    write: bool = False,
    progress: bool = False,
    **options: Any,
) -> "SimilarPages":
    """Find pairs of similar pages, as the command `pairs` does.

    Args:
        project: the folder with config/ and files/, or a DataFrame of pages: URL, Title, Main Content, ...
        links: with a DataFrame of pages: existing links: Source, Destination, Anchor.

    Returns:
        `.pairs` and `.orphaned`, the DataFrames `.frames["pairs"]` and `.frames["orphaned_content"]`, and in
        `.compared.similarity.tiles()` all similarities.
    """
    from internal_linker.usecases import pairs as usecase

    with shown_reporter(progress) as reporter, opened_site(project, links) as opened:
        return usecase.pairs(opened, PairsOptions(**options), reporter, write=writable(project, write))


@takes(ClustersOptions)
def clusters(
    project: "str | Path | DataFrame" = ".",
    *,
    links: "DataFrame | None" = None,
    write: bool = False,
    progress: bool = False,
    **options: Any,
) -> "Clustering":
    """Group similar pages into named clusters, as the command `clusters` does.

    Args:
        project: the folder with config/ and files/, or a DataFrame of pages: URL, Title, Main Content, ...
        links: with a DataFrame of pages: existing links: Source, Destination, Anchor.

    Returns:
        `.clusters`, `.pages` and `.missing_links`, each a DataFrame in `.frames`, too.
    """
    from internal_linker.usecases import clusters as usecase

    with shown_reporter(progress) as reporter, opened_site(project, links) as opened:
        return usecase.clusters(opened, ClustersOptions(**options), reporter, write=writable(project, write))


@takes(AuditOptions)
def audit(
    project: str | Path = ".", *, write: bool = False, progress: bool = False, **options: Any
) -> "AuditResult":
    """Audit the site's links: today's, the last run's, and both together, as the command `audit` does.

    Returns:
        `.audit`, `.failed`, and the DataFrames `.frames["findings"]`, `.frames["summary"]` and `.frames["pages"]`.
    """
    from internal_linker.usecases import audit as usecase

    with shown_reporter(progress) as reporter:
        return usecase.audit(opened_project(project), AuditOptions(**options), reporter, write=write)


@takes()
def link_paths(
    start: str,
    end: str,
    project: str | Path = ".",
    *,
    home: str = "",
    after: str = "in-text",
    progress: bool = False,
) -> "LinkPaths":
    """Find the shortest paths of links between two pages, as `audit --path` does.

    Args:
        start: URL of the first page.
        end: URL of the last page.
        home: URL of the home page; "": it is detected.
        after: which proposed links are adopted: "accepted", "in-text" or "all".

    Returns:
        `.today` and `.after` adoption of the proposed links.
    """
    from internal_linker.usecases import audit as usecase

    with shown_reporter(progress) as reporter:
        return usecase.link_paths(opened_project(project), start, end, reporter, home=home, after=after)


@takes(ExportVectorsOptions)
def export_vectors(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "ExportResult":
    """Write every page's vector to files/vectorized_urls.csv, as the command `export-vectors` does.

    Returns:
        `.found` and `.missing`, and which pages have a vector as a DataFrame: `.to_frame()`.

    Raises:
        InternalLinkerError: there are no pages, or no vectors that are kept.
    """
    from internal_linker.usecases import export_vectors as usecase

    with shown_reporter(progress) as reporter:
        return usecase.export_vectors(opened_project(project), reporter, ExportVectorsOptions(**options))


@takes(EvaluateOptions)
def evaluate(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Evaluation":
    """Measure relevance on links that editors made, as the command `evaluate` does.

    Returns:
        `.measurements`, and their figures as a DataFrame: `.to_frame()`.
    """
    from internal_linker.usecases import evaluate as usecase

    with shown_reporter(progress) as reporter:
        return usecase.evaluate(opened_project(project), EvaluateOptions(**options), reporter)


@takes()
def evaluate_anchors(project: str | Path = ".", *, progress: bool = False) -> "AnchorEvaluation":
    """Compare proposed anchors with the editors', and look for flaws in those of a run, as `evaluate --anchors` does.

    Returns:
        `.agreement` and `.proposals`, and their figures as DataFrames: `.frames`.
    """
    from internal_linker.usecases import evaluate as usecase

    with shown_reporter(progress) as reporter:
        return usecase.evaluate_anchors(opened_project(project), reporter)


@takes(BacktestOptions)
def backtest(
    before: str | Path,
    after: str | Path,
    project: str | Path = ".",
    *,
    write: bool = False,
    progress: bool = False,
    **options: Any,
) -> "Backtest":
    """Measure relevance on the links that were added between two crawls, as the command `backtest` does.

    Args:
        before: CSV of the site's links at a date.
        after: CSV of its links at a later date.
        write: write files/backtest.csv, too.

    Returns:
        The DataFrames `.frames["figures"]` and `.frames["links"]`.
    """
    from internal_linker.usecases import evaluate as usecase

    with shown_reporter(progress) as reporter:
        wanted = BacktestOptions(before=Path(before), after=Path(after), **options)
        return usecase.backtest(opened_project(project), wanted, reporter, write=write)


@takes(CalibrateOptions)
def calibrate(project: str | Path = ".", *, progress: bool = False, **options: Any) -> "Calibration":
    """Fill files/labels.csv and measure precision and recall by threshold, as the command `calibrate` does.

    Returns:
        `.tier_inline` and `.tier_sidebar`, and the curve as a DataFrame: `.to_frame()`.
    """
    from internal_linker.usecases import calibrate as usecase

    with shown_reporter(progress) as reporter:
        return usecase.calibrate(opened_project(project), CalibrateOptions(**options), reporter)
